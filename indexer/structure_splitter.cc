#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "indexer/characters.h"
#include "indexer/markdown_blocks.h"
#include "indexer/splitter.h"
#include "indexer/text_cuts.h"

namespace rag::indexer {
namespace {

using formats::ChunkKind;
using formats::ParentKind;
using formats::Span;

constexpr std::size_t kNumKinds = 6;
constexpr std::size_t kMaxHeadingLevel = 6;

// Blocks from a heading to the next one.
struct Section {
  std::size_t first_block = 0;
  std::size_t end_block = 0;
  std::uint8_t level = 0;
  std::string heading_path;
  bool only_headings = false;
  bool named = true;  // its last heading has a title
};

// The titles of the headings above a place, by level.
class HeadingPath {
 public:
  using Titles = std::array<std::string, kMaxHeadingLevel + 1>;
  explicit HeadingPath(Titles titles) : titles_(std::move(titles)) {}

  void Enter(std::uint8_t level, const std::string& title) {
    titles_[level] = title;
    for (std::size_t below = level + std::size_t{1}; below <= kMaxHeadingLevel; ++below) {
      titles_[below].clear();
    }
  }

  [[nodiscard]] std::string Joined() const {
    std::string out;
    for (const std::string& title : titles_) {
      if (title.empty()) continue;
      if (!out.empty()) out += " > ";
      out += title;
    }
    return out;
  }

  [[nodiscard]] std::uint8_t level() const {
    std::uint8_t level = kMaxHeadingLevel;
    while (level > 0 && titles_[level].empty()) --level;
    return level;
  }

  [[nodiscard]] const Titles& titles() const { return titles_; }

 private:
  Titles titles_;
};

// A heading with nothing under it but a deeper heading opens that one's section, so that it is not
// left in a chunk without text. So does a heading without a title.
bool Continues(const Section& section, const TextBlock& heading) {
  return section.only_headings && (heading.heading_level > section.level || !section.named);
}

// `path`: the headings above the first block.
std::vector<Section> MakeSections(const std::vector<TextBlock>& blocks, HeadingPath path) {
  std::vector<Section> sections;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const TextBlock& block = blocks[i];
    if (block.heading_level == 0) {
      if (sections.empty()) {
        sections.emplace_back().level = path.level();
        sections.back().heading_path = path.Joined();
      }
      sections.back().only_headings = false;
    } else {
      path.Enter(block.heading_level, block.title);
      if (sections.empty() || !Continues(sections.back(), block)) {
        sections.emplace_back().first_block = i;
      }
      Section& section = sections.back();
      section.level = block.heading_level;
      section.heading_path = path.Joined();
      section.only_headings = true;
      section.named = !block.title.empty();
    }
    sections.back().end_block = i + 1;
  }
  return sections;
}

// Packs the blocks of one section into chunks; see splitter.h for the rules.
class ChunkPacker {
 public:
  ChunkPacker(std::string_view text, const StructureSizes& sizes, std::uint32_t parent,
              std::vector<SplitChunk>& chunks)
      : text_(text), sizes_(sizes), parent_(parent), chunks_(chunks) {}

  void Add(const TextBlock& block, std::uint64_t end) {
    const Span body = TrimBlank(text_, {block.start, end});
    if (body.empty()) return;
    const bool heading = block.heading_level > 0;
    const bool whole_if_possible = heading || block.atom;
    const std::uint64_t size = Count(body.start, body.end);
    const std::uint64_t lead = LeadBefore(body.start);
    const std::uint64_t hard = sizes_.hard_max;
    const std::uint64_t soft = whole_if_possible ? hard : sizes_.cap;
    const bool fits = whole_if_possible ? size <= hard : size <= std::min(soft, hard - lead);
    if (fits) {
      AddPiece(body, size, block.kind, heading);
      return;
    }
    const CutLimits limits{soft, hard, lead};
    const std::vector<Span> pieces = whole_if_possible
                                         ? CutSpan(text_, body, limits, CutAt::kLineEnds)
                                         : CutProse(text_, body, limits);
    for (const Span& piece : pieces) {
      AddPiece(piece, Count(piece.start, piece.end), block.kind, heading);
    }
  }

  void Finish() {
    if (!open_) return;
    const auto largest = std::max_element(size_of_kind_.begin(), size_of_kind_.end());
    const auto kind = static_cast<ChunkKind>(largest - size_of_kind_.begin());
    chunks_.push_back({range_, kind, parent_});
    open_ = false;
  }

 private:
  [[nodiscard]] std::uint64_t Count(std::uint64_t start, std::uint64_t end) const {
    return CountCodePoints(text_.substr(start, end - start));
  }

  // Code points of the headings that the block at `start` should be joined to. Headings that would
  // take more than half of a chunk are left alone.
  [[nodiscard]] std::uint64_t LeadBefore(std::uint64_t start) const {
    if (!open_ || !only_headings_) return 0;
    const std::uint64_t lead = range_size_ + Count(range_.end, start);
    return lead <= sizes_.hard_max / 2 ? lead : 0;
  }

  void AddPiece(Span piece, std::uint64_t size, ChunkKind kind, bool heading) {
    std::uint64_t joined = 0;
    if (open_) {
      joined = range_size_ + Count(range_.end, piece.end);
      const bool packs = only_headings_ || blocks_size_ + size <= sizes_.target;
      if (!packs || joined > sizes_.hard_max) Finish();
    }
    if (!open_) {
      open_ = true;
      range_ = piece;
      range_size_ = size;
      blocks_size_ = 0;
      only_headings_ = true;
      size_of_kind_.fill(0);
    } else {
      range_.end = piece.end;
      range_size_ = joined;
    }
    blocks_size_ += size;
    if (heading) return;
    only_headings_ = false;
    size_of_kind_[static_cast<std::size_t>(kind)] += size;
  }

  std::string_view text_;
  const StructureSizes& sizes_;
  std::uint32_t parent_;
  std::vector<SplitChunk>& chunks_;
  // The chunk that is being filled, sizes in code points.
  bool open_ = false;
  bool only_headings_ = false;
  Span range_;
  std::uint64_t range_size_ = 0;
  std::uint64_t blocks_size_ = 0;  // without what separates them
  std::array<std::uint64_t, kNumKinds> size_of_kind_{};
};

class StructureSplitter : public Splitter {
 public:
  explicit StructureSplitter(const StructureSizes& sizes) : sizes_(sizes) {}

  [[nodiscard]] std::string Id() const override {
    return absl::StrCat("structure-v2/target=", sizes_.target, "/cap=", sizes_.cap,
                        "/max=", sizes_.hard_max);
  }

  [[nodiscard]] SplitDocument Split(std::string_view text, formats::MediaType type) const override {
    SplitDocument out;
    SplitState state;
    static_cast<void>(SplitPart(text, type, /*all=*/true, state, out));
    return out;
  }

  [[nodiscard]] std::uint64_t SplitPart(std::string_view text, formats::MediaType type, bool all,
                                        SplitState& state, SplitDocument& part) const override {
    const std::size_t mark_size = state.started ? 0 : ByteOrderMarkSize(text);
    const std::uint64_t size = SplitBody(text.substr(mark_size), type, all, state, part);
    if (size == 0 && !all) return 0;
    for (SplitChunk& chunk : part.chunks) Shift(chunk.range, mark_size);
    for (formats::ParentRecord& parent : part.parents) Shift(parent.range, mark_size);
    return mark_size + size;
  }

 private:
  static void Shift(Span& range, std::size_t by) {
    range.start += by;
    range.end += by;
  }

  // Where a part ends of which more may follow: before the last section, else before the last block
  // that stands by itself. 0 when there is no such place.
  static std::size_t EndBlock(const std::vector<TextBlock>& blocks,
                              const std::vector<Section>& sections) {
    if (sections.size() > 1) return sections.back().first_block;
    std::size_t end = blocks.empty() ? 0 : blocks.size() - 1;
    while (end > 0 && !blocks[end].resumable) --end;
    return end;
  }

  // Returns the size of the part; 0 also when more text is needed.
  [[nodiscard]] std::uint64_t SplitBody(std::string_view text, formats::MediaType type, bool all,
                                        SplitState& state, SplitDocument& out) const {
    const bool markdown = type == formats::MediaType::kMarkdown;
    std::vector<TextBlock> blocks =
        markdown ? MarkdownBlocks(text, !state.started) : ParagraphBlocks(text);
    HeadingPath path(state.titles);
    std::vector<Section> sections = MakeSections(blocks, path);
    if (!all) {
      const std::size_t end = EndBlock(blocks, sections);
      if (end == 0) return 0;
      text = text.substr(0, blocks[end].start);
      blocks.resize(end);
      if (sections.size() > 1) sections.pop_back();
      sections.back().end_block = end;
    }
    const auto start_of = [&](std::size_t block) {
      return block < blocks.size() ? blocks[block].start : text.size();
    };
    for (const TextBlock& block : blocks) {
      if (block.heading_level == 0) continue;
      if (!state.has_headings) out.title = block.title;
      path.Enter(block.heading_level, block.title);
      state.has_headings = true;
    }
    state.titles = path.titles();
    state.started = true;
    for (const Section& section : sections) {
      formats::ParentRecord parent;
      parent.kind = state.has_headings ? ParentKind::kSection : ParentKind::kDocument;
      parent.range = {start_of(section.first_block), start_of(section.end_block)};
      parent.first_chunk = static_cast<std::uint32_t>(out.chunks.size());
      parent.level = section.level;
      parent.heading_path = section.heading_path;
      ChunkPacker packer(text, sizes_, static_cast<std::uint32_t>(out.parents.size()), out.chunks);
      for (std::size_t i = section.first_block; i < section.end_block; ++i) {
        packer.Add(blocks[i], start_of(i + 1));
      }
      packer.Finish();
      parent.num_chunks = static_cast<std::uint32_t>(out.chunks.size()) - parent.first_chunk;
      if (parent.num_chunks > 0) out.parents.push_back(std::move(parent));
    }
    return text.size();
  }

  StructureSizes sizes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Splitter>> MakeStructureSplitter(const StructureSizes& sizes) {
  if (sizes.target == 0 || sizes.target > sizes.cap || sizes.cap > sizes.hard_max) {
    return absl::InvalidArgumentError(
        absl::StrCat("chunk sizes: want 0 < target <= cap <= hard maximum, found target ",
                     sizes.target, ", cap ", sizes.cap, ", hard maximum ", sizes.hard_max));
  }
  return std::make_unique<StructureSplitter>(sizes);
}

}  // namespace rag::indexer
