// The FAISS files of a generation: document vectors in docs.faiss, and chunk vectors in shards
// chunks-NNNN.faiss with one inverted list per document. FAISS stays inside the .cc files.
//
// Both are IndexIVFScalarQuantizer, inner product, by_residual = false, QT_8bit_uniform with the
// fixed range [-range, range] (no training, so a vector's bytes do not depend on the corpus), lists
// stored as `ilar`, so that FAISS (C++ or Python) maps them. FORMAT.md, "FAISS files".
#ifndef STORAGE_VECTOR_FILES_H_
#define STORAGE_VECTOR_FILES_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rag::storage {

// No vector has more dimensions.
inline constexpr std::uint32_t kMaxVectorDim = 1 << 16;

// A row found: id as stored (chunk ordinal in its document, or document ordinal).
struct VectorHit {
  std::uint32_t id = 0;
  float score = 0;  // inner product with the stored (8-bit) vector
};

// Quantises rows of dim float32 to dim bytes each, as FAISS's QT_8bit_uniform with range [-range,
// range] does. INVALID_ARGUMENT when a component is not finite. Threads: const methods may run
// concurrently.
class VectorCodec {
 public:
  VectorCodec(std::uint32_t dim, float range);
  ~VectorCodec();
  VectorCodec(const VectorCodec&) = delete;
  VectorCodec& operator=(const VectorCodec&) = delete;
  [[nodiscard]] std::uint32_t dim() const;
  // `rows`: n x dim, row-major. Appends n x dim bytes to `codes`.
  absl::Status Encode(std::span<const float> rows, std::vector<std::uint8_t>& codes) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What the manifest needs to check a FAISS file before FAISS reads it: the bytes before the list
// data.
struct VectorFileInfo {
  std::uint64_t header_bytes = 0;
  std::uint64_t num_lists = 0;
  std::uint64_t num_rows = 0;
};

// Streams one shard of chunk vectors: list by list, in document order. Memory: 8 bytes a row of the
// longest list. Rows are spooled to `path`.tmp, because the table of list sizes precedes the lists
// in the file. Threads: one thread.
class ChunkShardWriter {
 public:
  static absl::StatusOr<std::unique_ptr<ChunkShardWriter>> Create(const std::filesystem::path& path,
                                                                  std::uint32_t dim, float range);
  virtual ~ChunkShardWriter() = default;
  // The next rows of the document that is being added: n x dim bytes from VectorCodec; the ids of
  // its rows are 0, 1, 2 …
  virtual absl::Status AddRows(std::span<const std::uint8_t> codes) = 0;
  // Closes its list, which may be empty.
  virtual absl::Status FinishDocument() = 0;
  // Both: a whole document.
  absl::Status AddDocument(std::span<const std::uint8_t> codes) {
    const absl::Status status = AddRows(codes);
    return status.ok() ? FinishDocument() : status;
  }
  virtual absl::StatusOr<VectorFileInfo> Finish() = 0;
};

// Collects document-level vectors and writes docs.faiss: one list (an exact scan) up to
// kExactRows rows, else about sqrt(n) lists around centroids of FAISS's k-means (fixed seed, one
// thread: the bytes do not depend on the number of threads). Memory: dim + 4 bytes a row, 8 more a
// row and the k-means sample while Finish runs. Threads: one thread.
class DocumentVectorsWriter {
 public:
  static constexpr std::uint64_t kExactRows = 20'000;
  DocumentVectorsWriter(std::uint32_t dim, float range);
  ~DocumentVectorsWriter();
  // Centroids of an earlier file, n x dim with n > 1, instead of training new ones. Call before
  // Add.
  void UseCentroids(std::vector<float> centroids);
  // n x dim bytes from VectorCodec, all with the id `document`. `lists`: the list of each row in
  // the file that the centroids come from, which is its nearest; empty where that is not known.
  void Add(std::uint32_t document, std::span<const std::uint8_t> codes,
           std::span<const std::uint32_t> lists = {});
  // For a row that precedes others but is known after them: keeps a place for it and returns that,
  // and fills it, with dim bytes. REQUIRES: filled before Finish.
  std::size_t AddPlace(std::uint32_t document);
  void Fill(std::size_t place, std::span<const std::uint8_t> code);
  absl::StatusOr<VectorFileInfo> Finish(const std::filesystem::path& path);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A mapped FAISS file. REQUIRES: size and header checksum have been checked (storage::CheckFile).
// Threads: const methods may run concurrently.
class VectorFile {
 public:
  // `name` stands for the path in messages; the path itself when empty.
  static absl::StatusOr<std::unique_ptr<VectorFile>> Open(const std::filesystem::path& path,
                                                          std::string_view name = "");
  virtual ~VectorFile() = default;
  [[nodiscard]] virtual std::uint32_t dim() const = 0;
  [[nodiscard]] virtual std::uint64_t num_lists() const = 0;
  [[nodiscard]] virtual std::uint64_t num_rows() const = 0;
  [[nodiscard]] virtual std::uint64_t list_size(std::uint64_t list) const = 0;

  // The best k rows of one list: score descending, then id ascending (ties at the k-th place
  // included by the lowest ids). INVALID_ARGUMENT when the query's width is not dim() or a
  // component is not finite; OUT_OF_RANGE when there is no such list.
  [[nodiscard]] virtual absl::StatusOr<std::vector<VectorHit>> SearchList(
      std::uint64_t list, std::span<const float> query, std::size_t k) const = 0;

  // The best k distinct ids over the `probes` lists nearest to the query (all of them when there is
  // only one list); an id's score is its best row's. Same order and errors as SearchList; also
  // FAILED_PRECONDITION when the file has several lists and no centroids (a shard of chunks).
  [[nodiscard]] virtual absl::StatusOr<std::vector<VectorHit>> SearchDistinct(
      std::span<const float> query, std::size_t k, std::size_t probes) const = 0;

  // The centroids around which the lists lie, num_lists x dim, unit length; none when there is only
  // one list, or when lists are documents.
  [[nodiscard]] virtual std::vector<float> Centroids() const = 0;
  // The rows of a list as float32, n x dim, and their ids; for export and verification. No ids when
  // there is no such list; an id that no writer made (damage) reads as 0xFFFFFFFF.
  [[nodiscard]] virtual absl::StatusOr<std::vector<float>> ReadList(std::uint64_t list) const = 0;
  [[nodiscard]] virtual std::vector<std::uint32_t> ReadListIds(std::uint64_t list) const = 0;
  // The codes of a list as they are stored, n x dim bytes, mapped: valid as long as this object.
  // OUT_OF_RANGE when there is no such list.
  [[nodiscard]] virtual absl::StatusOr<std::span<const std::uint8_t>> ListCodes(
      std::uint64_t list) const = 0;
  // The rows as float32 one by one, in memory for one row: calls `visit` until it returns an error,
  // which is passed on.
  [[nodiscard]] virtual absl::Status ScanList(
      std::uint64_t list,
      const std::function<absl::Status(std::uint32_t id, std::span<const float> row)>& visit)
      const = 0;
};

}  // namespace rag::storage

#endif  // STORAGE_VECTOR_FILES_H_
