// The forward segments that one query has looked at.
#ifndef QUERIER_FORWARD_CACHE_H_
#define QUERIER_FORWARD_CACHE_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/forward_index.h"
#include "querier/question.h"
#include "storage/index_reader.h"

namespace rag::querier {

// Reads a segment once, with the postings of the question's terms only.
// Lifetime: borrows both arguments. Threads: one thread.
class ForwardCache {
 public:
  ForwardCache(const storage::IndexReader& reader, const Question& question)
      : reader_(reader), question_(question) {}

  // Reads all the segments that hold these chunks with one request.
  absl::Status Load(std::span<const storage::IndexReader::ChunkRef> chunks);
  // The segment of a chunk, read now when it was not loaded. Valid as long as the cache.
  absl::StatusOr<const formats::ForwardSegmentView*> SegmentOf(std::uint32_t document,
                                                               std::uint32_t chunk);
  // Cost of a chunk in units of the index's token counter.
  absl::StatusOr<std::uint64_t> Cost(std::uint32_t document, std::uint32_t chunk,
                                     formats::HeaderStyle style);

 private:
  using Key = storage::IndexReader::ChunkRef;  // chunk = number of the segment
  [[nodiscard]] absl::Status Damaged(std::uint32_t document, const std::string& what) const;

  const storage::IndexReader& reader_;
  const Question& question_;
  std::map<Key, formats::ForwardSegmentView> segments_;
};

}  // namespace rag::querier

#endif  // QUERIER_FORWARD_CACHE_H_
