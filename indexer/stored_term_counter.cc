#include "indexer/stored_term_counter.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "formats/chunk_group.h"
#include "formats/records.h"
#include "formats/status_macros.h"

namespace rag::indexer {

absl::Status StoredTermCounter::Add(const storage::BundlePart& part) {
  for (const std::string& parent : part.parents) {
    RAG_ASSIGN_OR_RETURN(const formats::ParentRecord record, formats::DecodeParent(parent));
    stats_.AddSection(TermsOf(record.heading_path, analyzer_));
    ++num_sections_;
  }
  for (const std::string& group : part.chunk_groups) {
    RAG_ASSIGN_OR_RETURN(const std::vector<formats::ChunkRecord> chunks,
                         formats::DecodeChunkGroup(group));
    for (const formats::ChunkRecord& chunk : chunks) {
      if (chunk.parent >= num_sections_) {
        return absl::DataLossError(
            absl::StrCat("a chunk names parent ", chunk.parent, " of ", num_sections_));
      }
      stats_.AddChunk(TermsOf(chunk.text, analyzer_), chunk.parent);
    }
  }
  return absl::OkStatus();
}

DocumentStats StoredTermCounter::Finish(std::string_view title) {
  stats_.SetTitle(TermsOf(title, analyzer_));
  return stats_.Take();
}

}  // namespace rag::indexer
