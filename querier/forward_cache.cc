#include "querier/forward_cache.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/status_macros.h"

namespace rag::querier {

using storage::IndexReader;

absl::Status ForwardCache::Load(std::span<const IndexReader::ChunkRef> chunks) {
  std::vector<Key> missing;
  for (const IndexReader::ChunkRef& ref : chunks) {
    const Key key{ref.document, ref.chunk / formats::kSegmentChunks};
    if (!segments_.contains(key)) missing.push_back(key);
  }
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  return reader_.VisitSegments(missing, [&](std::size_t i, std::string_view bytes) -> absl::Status {
    absl::StatusOr<formats::ForwardSegmentView> view =
        formats::ForwardSegmentView::Parse(bytes, question_.wanted);
    if (!view.ok()) {
      return Damaged(missing[i].document, std::string(view.status().message()));
    }
    segments_.emplace(missing[i], *std::move(view));
    return absl::OkStatus();
  });
}

absl::StatusOr<const formats::ForwardSegmentView*> ForwardCache::SegmentOf(std::uint32_t document,
                                                                           std::uint32_t chunk) {
  const Key key{document, chunk / formats::kSegmentChunks};
  auto found = segments_.find(key);
  if (found == segments_.end()) {
    const IndexReader::ChunkRef ref{document, chunk};
    RAG_RETURN_IF_ERROR(Load(std::span(&ref, 1)));
    found = segments_.find(key);
  }
  const formats::ForwardSegmentView& view = found->second;
  if (chunk < view.first_chunk() || chunk - view.first_chunk() >= view.num_chunks()) {
    return Damaged(document, absl::StrCat("chunk ", chunk, " is not in its segment"));
  }
  return &view;
}

absl::Status ForwardCache::Damaged(std::uint32_t document, const std::string& what) const {
  return absl::DataLossError(absl::StrCat(
      (reader_.folder() / storage::kRecordsFolder).string(), ": terms of document ", document, ": ",
      what, "; the index is damaged, rebuild it with rag-index build"));
}

absl::StatusOr<std::uint64_t> ForwardCache::Cost(std::uint32_t document, std::uint32_t chunk,
                                                 formats::HeaderStyle style) {
  RAG_ASSIGN_OR_RETURN(const formats::ForwardSegmentView* view, SegmentOf(document, chunk));
  return view->cost(chunk - view->first_chunk(), style);
}

}  // namespace rag::querier
