#include "querier/damage.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "formats/forward_index.h"
#include "formats/status_macros.h"
#include "querier/forward_cache.h"

namespace rag::querier {
namespace {

using storage::IndexReader;

// Chunks read at a time: their number is the record's word, which may be damaged.
constexpr std::uint32_t kChunksAtOnce = formats::kSegmentChunks;

absl::Status ReadChunks(const IndexReader& reader, const Question& question, std::uint32_t document,
                        const formats::DocumentRecord& record) {
  for (std::uint32_t first = 0; first < record.num_chunks;) {
    const std::uint32_t end = first + std::min(kChunksAtOnce, record.num_chunks - first);
    std::vector<IndexReader::ChunkRef> refs;
    for (std::uint32_t chunk = first; chunk < end; ++chunk) refs.push_back({document, chunk});
    ForwardCache cache(reader, question);
    RAG_RETURN_IF_ERROR(cache.Load(refs));
    const std::vector<std::uint32_t> chunks_per_group(refs.size(), record.chunks_per_group);
    RAG_RETURN_IF_ERROR(reader.Chunks(refs, chunks_per_group).status());
    first = end;
  }
  return absl::OkStatus();
}

}  // namespace

bool DamagedDocuments::Find(const IndexReader& reader, const Question& question,
                            std::span<const std::uint32_t> documents) {
  const std::size_t before = ordinals_.size();
  for (const std::uint32_t document : documents) {
    const absl::StatusOr<formats::DocumentRecord> record = reader.Document(document);
    const absl::Status status =
        record.ok() ? ReadChunks(reader, question, document, *record) : record.status();
    if (!absl::IsDataLoss(status) || !ordinals_.insert(document).second) continue;
    documents_.push_back({record.ok() ? std::optional<std::string>(record->source) : std::nullopt,
                          std::string(status.message())});
  }
  return ordinals_.size() > before;
}

}  // namespace rag::querier
