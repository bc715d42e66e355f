#include "indexer/relabel.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "formats/chunk_group.h"
#include "formats/forward_index.h"
#include "formats/status_macros.h"
#include "indexer/chunk_costs.h"

namespace rag::indexer {

absl::Status Relabel(std::string source, std::string doc_id, const models::TokenCounter& counter,
                     storage::DocumentBundle& bundle) {
  bundle.document.source = std::move(source);
  bundle.document.doc_id = std::move(doc_id);
  std::vector<formats::ChunkRecord> chunks;
  for (const std::string& group : bundle.chunk_groups) {
    RAG_ASSIGN_OR_RETURN(std::vector<formats::ChunkRecord> some, formats::DecodeChunkGroup(group));
    std::move(some.begin(), some.end(), std::back_inserter(chunks));
  }
  for (std::string& encoded : bundle.segments) {
    RAG_ASSIGN_OR_RETURN(formats::ForwardSegment segment, formats::DecodeForwardSegment(encoded));
    if (segment.first_chunk + segment.chunks.size() > chunks.size()) {
      return absl::DataLossError(
          absl::StrCat(bundle.document.source, ": terms of more chunks than there are"));
    }
    for (std::uint32_t i = 0; i < segment.chunks.size(); ++i) {
      const std::uint32_t number = segment.first_chunk + i;
      const formats::ChunkRecord& chunk = chunks[number];
      SetChunkCosts({.source = bundle.document.source,
                     .doc_id = bundle.document.doc_id,
                     .chunk = number,
                     .line_start = chunk.line_start,
                     .line_end = chunk.line_end},
                    chunk.text, counter, segment.chunks[i]);
    }
    encoded = formats::Encode(segment);
  }
  return absl::OkStatus();
}

}  // namespace rag::indexer
