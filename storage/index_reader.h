// A published generation, opened for queries: the one object that the query side needs.
#ifndef STORAGE_INDEX_READER_H_
#define STORAGE_INDEX_READER_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/forward_index.h"
#include "formats/manifest.h"
#include "formats/records.h"
#include "formats/term_table.h"
#include "storage/file_io.h"
#include "storage/record_reader.h"
#include "storage/vector_files.h"

namespace rag::storage {

struct OpenOptions {
  // Goes on without chunk shards of a wrong size or with a damaged header; damage() names them.
  bool skip_damaged_shards = false;
};

// Opening checks the manifest, the size of every file and the checksum of every header; chunk
// shards are opened when first used. Threads: const methods may run concurrently.
class IndexReader {
 public:
  // Opens the generation that CURRENT names. NOT_FOUND: no index; DATA_LOSS: damaged;
  // FAILED_PRECONDITION: another format version. Messages say what to do.
  static absl::StatusOr<std::unique_ptr<IndexReader>> Open(const std::filesystem::path& index,
                                                           const OpenOptions& options = {});
  // Opens that generation, whether or not it is the current one; for tools. The same errors, but a
  // generation that is not there is DATA_LOSS.
  static absl::StatusOr<std::unique_ptr<IndexReader>> OpenGeneration(
      const std::filesystem::path& index, std::uint64_t number, const OpenOptions& options = {});

  [[nodiscard]] const formats::Manifest& manifest() const { return manifest_; }
  [[nodiscard]] std::uint64_t generation() const { return manifest_.generation; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // Why each shard that opening skipped is damaged. What needs one of them is DATA_LOSS.
  [[nodiscard]] const std::vector<std::string>& damage() const { return damage_; }
  [[nodiscard]] const formats::TermTableView& terms() const { return terms_; }
  [[nodiscard]] const RecordReader& records() const { return *records_; }
  [[nodiscard]] const VectorFile& document_vectors() const { return *document_vectors_; }
  // Best k chunks inside one document by the chunk vectors: ids are chunk ordinals.
  [[nodiscard]] absl::StatusOr<std::vector<VectorHit>> SearchDocument(std::uint32_t document,
                                                                      std::span<const float> query,
                                                                      std::size_t k) const;
  // Chunks of one document, as its list has them.
  [[nodiscard]] absl::StatusOr<std::uint64_t> NumChunks(std::uint32_t document) const;
  // The shard that holds a document, opened on first use.
  [[nodiscard]] absl::StatusOr<const VectorFile*> ChunkShard(std::uint32_t shard) const;

  [[nodiscard]] absl::StatusOr<formats::DocumentRecord> Document(std::uint32_t document) const;
  // In the order of `documents`.
  [[nodiscard]] absl::StatusOr<std::vector<formats::DocumentRecord>> Documents(
      std::span<const std::uint32_t> documents) const;
  struct ChunkRef {
    std::uint32_t document = 0;
    std::uint32_t chunk = 0;
    friend auto operator<=>(const ChunkRef&, const ChunkRef&) = default;
  };
  // In the order of `refs`, which may be any; each chunk group is read and unpacked once.
  [[nodiscard]] absl::StatusOr<std::vector<formats::ChunkRecord>> Chunks(
      std::span<const ChunkRef> refs) const;
  // The same, without reading document records: `chunks_per_group` has the member of that name of
  // each ref's document. REQUIRES: as many as refs.
  [[nodiscard]] absl::StatusOr<std::vector<formats::ChunkRecord>> Chunks(
      std::span<const ChunkRef> refs, std::span<const std::uint32_t> chunks_per_group) const;
  [[nodiscard]] absl::StatusOr<formats::ParentRecord> Parent(std::uint32_t document,
                                                             std::uint32_t parent) const;
  // Calls `visit` with each encoded forward segment, in the order of `refs` (ChunkRef::chunk is the
  // segment here), as RecordReader::MultiVisit does.
  [[nodiscard]] absl::Status VisitSegments(
      std::span<const ChunkRef> refs,
      const std::function<absl::Status(std::size_t i, std::string_view segment)>& visit) const;
  // The same, copied.
  [[nodiscard]] absl::StatusOr<std::vector<std::string>> Segments(
      std::span<const ChunkRef> refs) const;

 private:
  IndexReader() = default;
  absl::Status CheckFiles(const OpenOptions& options);
  absl::Status OpenShards();

  std::filesystem::path folder_;
  formats::Manifest manifest_;
  MappedFile terms_file_;
  formats::TermTableView terms_;
  std::unique_ptr<RecordReader> records_;
  std::unique_ptr<VectorFile> document_vectors_;
  std::map<std::string, absl::Status> damaged_shards_;  // by name
  std::vector<std::string> damage_;
  // Absent for damaged ones. Held, as a generation may be removed while it is read.
  std::vector<std::optional<HeldFile>> shard_files_;
  mutable std::mutex shards_mutex_;
  mutable std::vector<std::unique_ptr<VectorFile>> shards_;
};

// The manifest of a generation; nothing else is opened. DATA_LOSS: missing, damaged or another
// generation's; FAILED_PRECONDITION: another format version.
absl::StatusOr<formats::Manifest> ReadManifest(const std::filesystem::path& index,
                                               std::uint64_t number);

// File names in a generation's folder.
inline constexpr std::string_view kManifestFile = "MANIFEST.json";
inline constexpr std::string_view kDocumentVectorsFile = "docs.faiss";
inline constexpr std::string_view kTermsFile = "model/terms.bin";
inline constexpr std::string_view kRecordsFolder = "records";
std::string ChunkShardFile(std::uint32_t shard);  // "chunks-0003.faiss"

}  // namespace rag::storage

#endif  // STORAGE_INDEX_READER_H_
