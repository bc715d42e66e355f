#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "formats/chunk_group.h"
#include "formats/forward_index.h"
#include "storage/verify_parts.h"

namespace rag::storage {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

std::string Show(formats::Span span) { return absl::StrCat("[", span.start, ", ", span.end, ")"); }

// Whether the id of a splitter names an overlap that is not 0: "recursive-v1/size=400/overlap=50".
bool ChunksMayOverlap(std::string_view splitter) {
  constexpr std::string_view kOverlap = "/overlap=";
  const std::size_t at = splitter.find(kOverlap);
  if (at == std::string_view::npos) return false;
  const std::string_view value = splitter.substr(at + kOverlap.size());
  return !value.empty() && value[0] >= '1' && value[0] <= '9';
}

}  // namespace

void DocumentCheck::Problem(std::string_view family, std::string_view item, std::string_view what) {
  std::string place = absl::StrCat(job_.generation, "/records: ", View(family), " ", document_);
  if (!item.empty()) absl::StrAppend(&place, "/", View(item));
  if (record_ != nullptr) absl::StrAppend(&place, " of ", record_->source);
  job_.problems.Add(place, what);
}

void DocumentCheck::CheckDense(std::string_view family, std::uint32_t item, std::uint32_t& next) {
  if (item != next) {
    Problem(family, absl::StrCat(item), absl::StrCat("expected ", next, " next"));
  }
  next = item + 1;
}

void DocumentCheck::CheckCount(std::string_view family, std::uint64_t found,
                               std::uint64_t expected) {
  if (found == expected) return;
  Problem(family, "", absl::StrCat("found ", found, ", the document record says ", expected));
}

void DocumentCheck::CheckInside(std::string_view family, std::string_view item,
                                formats::Span span) {
  if (record_ == nullptr || span.end <= record_->size_bytes) return;
  Problem(
      family, item,
      absl::StrCat("range ", Show(span), " exceeds the file's ", record_->size_bytes, " bytes"));
}

void DocumentCheck::CheckInside(std::string_view family, std::string_view item,
                                const formats::Summary& summary) {
  if (!summary.spans.empty()) CheckInside(family, item, summary.spans.back());
}

void DocumentCheck::Parent(std::uint32_t item, std::string_view value) {
  CheckDense(formats::kParentsFamily, item, next_parent_);
  const std::string name = absl::StrCat(item);
  const absl::StatusOr<formats::ParentRecord> parent = formats::DecodeParent(value);
  if (!parent.ok()) {
    parents_.push_back({});
    Problem(formats::kParentsFamily, name, std::string(parent.status().message()));
    return;
  }
  parents_.push_back({parent->first_chunk, parent->num_chunks});
  CheckInside(formats::kParentsFamily, name, parent->range);
  if (parent->first_chunk != tiled_chunks_) {
    Problem(formats::kParentsFamily, name,
            absl::StrCat("starts at chunk ", parent->first_chunk, ", the parents before it end at ",
                         tiled_chunks_));
  }
  tiled_chunks_ = std::uint64_t{parent->first_chunk} + parent->num_chunks;
}

std::uint32_t DocumentCheck::ChunksExpected(std::uint32_t group) const {
  if (record_ == nullptr || record_->chunks_per_group == 0) return 0;
  const std::uint64_t first = std::uint64_t{group} * record_->chunks_per_group;
  if (first >= record_->num_chunks) return 0;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(record_->num_chunks - first, record_->chunks_per_group));
}

std::uint32_t DocumentCheck::ChunkGroup(std::uint32_t item, std::string_view value) {
  const std::string name = absl::StrCat("group ", item);
  if (item != next_group_) {
    Problem(formats::kChunksFamily, name, absl::StrCat("expected group ", next_group_, " next"));
    // Those behind a gap keep their numbers.
    if (record_ != nullptr) next_chunk_ = std::uint64_t{item} * record_->chunks_per_group;
  }
  next_group_ = item + 1;
  const std::uint32_t expected = ChunksExpected(item);
  const absl::StatusOr<formats::ChunkGroupView> group = formats::ChunkGroupView::Parse(value);
  if (!group.ok()) {
    Problem(formats::kChunksFamily, name, std::string(group.status().message()));
    next_chunk_ += expected;
    return expected;
  }
  if (record_ != nullptr && group->num_chunks() != expected) {
    Problem(formats::kChunksFamily, name,
            absl::StrCat("has ", group->num_chunks(), " chunks, expected ", expected));
  }
  for (std::uint32_t i = 0; i < group->num_chunks(); ++i) Chunk(next_chunk_++, group->chunk(i));
  return group->num_chunks();
}

void DocumentCheck::Chunk(std::uint64_t item, const absl::StatusOr<formats::ChunkRecord>& chunk) {
  const std::string name = absl::StrCat(item);
  if (!chunk.ok()) {
    Problem(formats::kChunksFamily, name, std::string(chunk.status().message()));
    return;
  }
  CheckInside(formats::kChunksFamily, name, chunk->range);
  CheckOrder(name, chunk->range);
  chunk_before_ = chunk->range;
  const bool known = chunk->parent < parents_.size();
  const Children family = known ? parents_[chunk->parent] : Children();
  if (!known || item < family.first || item - family.first >= family.count) {
    Problem(formats::kChunksFamily, name,
            absl::StrCat("names parent ", chunk->parent, known ? ", which does not have it" : "",
                         known ? "" : ", which does not exist"));
  }
}

void DocumentCheck::CheckOrder(std::string_view item, formats::Span range) {
  if (range.start >= chunk_before_.end) return;
  std::string problem = absl::StrCat("range ", Show(range), " ");
  if (!ChunksMayOverlap(job_.manifest.build.splitter)) {
    absl::StrAppend(&problem, "starts before ", chunk_before_.end, ", where the chunk before ends");
  } else if (range.start <= chunk_before_.start || range.end <= chunk_before_.end) {
    absl::StrAppend(&problem, "does not go on from ", Show(chunk_before_), ", the chunk before");
  } else {
    return;
  }
  Problem(formats::kChunksFamily, item, problem);
}

void DocumentCheck::Node(std::uint32_t level, std::uint32_t item, std::string_view value) {
  const std::string name = absl::StrCat(level, "/", item);
  if (level != level_) FinishLevel();
  if (level != level_) {
    Problem(formats::kSummariesFamily, name, absl::StrCat("expected level ", level_, " next"));
    level_ = level;
  }
  CheckDense(formats::kSummariesFamily, item, next_node_);
  const absl::StatusOr<formats::SummaryNode> node = formats::DecodeSummaryNode(value);
  if (!node.ok()) {
    Problem(formats::kSummariesFamily, name, std::string(node.status().message()));
    return;
  }
  CheckInside(formats::kSummariesFamily, name, node->summary);
  if (node->first_child != tiled_children_ || node->num_children == 0) {
    Problem(formats::kSummariesFamily, name,
            absl::StrCat("has ", node->num_children, " children from ", node->first_child,
                         " on, the nodes before it end at ", tiled_children_));
  }
  tiled_children_ = std::uint64_t{node->first_child} + node->num_children;
}

void DocumentCheck::FinishLevel() {
  const std::uint64_t below = level_sizes_.empty() ? next_chunk_ : level_sizes_.back();
  if (tiled_children_ != below) {
    Problem(formats::kSummariesFamily, absl::StrCat(level_),
            absl::StrCat("the level covers ", tiled_children_, " of ", below, " children"));
  }
  level_sizes_.push_back(next_node_);
  next_node_ = 0;
  tiled_children_ = 0;
  ++level_;
}

void DocumentCheck::Segment(std::uint32_t item, std::string_view value) {
  CheckDense(formats::kTermsFamily, item, next_segment_);
  const std::string name = absl::StrCat(item);
  const absl::StatusOr<formats::ForwardSegment> segment = formats::DecodeForwardSegment(value);
  if (!segment.ok()) {
    Problem(formats::kTermsFamily, name, std::string(segment.status().message()));
    return;
  }
  const std::uint64_t expected = std::uint64_t{item} * formats::kSegmentChunks;
  if (segment->first_chunk != expected || segment_chunks_ != expected) {
    Problem(
        formats::kTermsFamily, name,
        absl::StrCat("starts at chunk ", segment->first_chunk, ", the segments before it end at ",
                     segment_chunks_, ", expected ", expected));
  }
  segment_chunks_ = segment->first_chunk + segment->chunks.size();
}

void DocumentCheck::CheckRecord() {
  CheckInside(formats::kDocumentsFamily, "", record_->summary);
  CheckCount(formats::kParentsFamily, next_parent_, record_->num_parents);
  CheckCount(formats::kChunksFamily, next_chunk_, record_->num_chunks);
  CheckCount(formats::kTermsFamily, next_segment_, record_->num_segments);
  if (level_sizes_ != record_->level_sizes) {
    Problem(formats::kSummariesFamily, "",
            absl::StrCat("found ", level_sizes_.size(), " levels, the document record says ",
                         record_->level_sizes.size(), ", or levels of other sizes"));
  }
}

void DocumentCheck::Finish() {
  if (next_node_ > 0) FinishLevel();
  if (tiled_chunks_ != next_chunk_) {
    Problem(formats::kParentsFamily, "",
            absl::StrCat("cover ", tiled_chunks_, " chunks of ", next_chunk_));
  }
  if (segment_chunks_ != next_chunk_) {
    Problem(formats::kTermsFamily, "",
            absl::StrCat("segments cover ", segment_chunks_, " chunks of ", next_chunk_));
  }
  if (record_ != nullptr) CheckRecord();
}

}  // namespace rag::storage
