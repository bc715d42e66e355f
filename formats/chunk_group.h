// Consecutive chunk records of a document, compressed together: a value of the record store. An
// unchanged document's groups can be copied as they are. FORMAT.md, "Chunk groups".
#ifndef FORMATS_CHUNK_GROUP_H_
#define FORMATS_CHUNK_GROUP_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/records.h"

namespace rag::formats {

// What a group may take before compression. No reader allocates more.
inline constexpr std::uint64_t kMaxChunkGroupBytes = std::uint64_t{1} << 30;

// How many chunks the writer puts into a group: about 16 KiB of text, which is what compresses well
// and what a question for one chunk can afford to unpack. A choice of the writer, not of the
// format: the document record says it. At least 1.
std::uint32_t ChunksPerGroup(std::uint64_t text_bytes, std::uint32_t num_chunks);

// Groups of `num_chunks` chunks; 0 where there are none. REQUIRES: chunks_per_group > 0 unless
// num_chunks is 0.
std::uint32_t NumChunkGroups(std::uint32_t num_chunks, std::uint32_t chunks_per_group);

// The same chunks give the same bytes, with one version of zstd. INVALID_ARGUMENT when they take
// more than kMaxChunkGroupBytes. REQUIRES: there is at least one chunk.
absl::StatusOr<std::string> EncodeChunkGroup(std::span<const ChunkRecord> chunks);

// Every chunk of a group. As ChunkGroupView for damage.
absl::StatusOr<std::vector<ChunkRecord>> DecodeChunkGroup(std::string_view bytes);

// What a group takes before compression, by its header alone.
absl::StatusOr<std::uint64_t> ChunkGroupContentBytes(std::string_view bytes);

// A group whose chunks are decoded one by one. Owns what it unpacked. Bytes may be damaged: any
// input gives a value or DATA_LOSS. Threads: const methods may run concurrently.
class ChunkGroupView {
 public:
  static absl::StatusOr<ChunkGroupView> Parse(std::string_view bytes);

  // At least 1.
  [[nodiscard]] std::uint32_t num_chunks() const {
    return static_cast<std::uint32_t>(chunks_.size());
  }
  // REQUIRES: i < num_chunks(), counted from the first of the group.
  [[nodiscard]] absl::StatusOr<ChunkRecord> chunk(std::uint32_t i) const {
    return DecodeChunk(chunks_[i]);
  }

 private:
  std::unique_ptr<char[]> content_;
  std::vector<std::string_view> chunks_;  // encoded, in content_
};

}  // namespace rag::formats

#endif  // FORMATS_CHUNK_GROUP_H_
