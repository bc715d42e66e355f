#include "indexer/stored_text.h"

#include <utility>
#include <vector>

#include "formats/chunk_group.h"
#include "formats/records.h"
#include "formats/status_macros.h"

namespace rag::indexer {

absl::StatusOr<StoredText> ReadStoredText(const storage::DocumentBundle& bundle) {
  StoredText text;
  text.title = bundle.document.title;
  for (const std::string& parent : bundle.parents) {
    RAG_ASSIGN_OR_RETURN(formats::ParentRecord record, formats::DecodeParent(parent));
    text.parents.push_back(std::move(record));
  }
  for (const std::string& group : bundle.chunk_groups) {
    RAG_ASSIGN_OR_RETURN(std::vector<formats::ChunkRecord> chunks,
                         formats::DecodeChunkGroup(group));
    for (formats::ChunkRecord& chunk : chunks) {
      text.chunks.push_back({std::move(chunk.text), chunk.parent});
    }
  }
  return text;
}

}  // namespace rag::indexer
