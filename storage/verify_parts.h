// The steps of storage/verify.h, one a file; for it alone.
#ifndef STORAGE_VERIFY_PARTS_H_
#define STORAGE_VERIFY_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "formats/keys.h"
#include "formats/records.h"
#include "formats/span.h"
#include "storage/index_reader.h"
#include "storage/verify.h"

namespace rag::storage {

// Collects up to `limit` problems and counts the rest. Threads: one thread.
class ProblemList {
 public:
  explicit ProblemList(std::size_t limit) : limit_(limit) {}

  // "PLACE: WHAT".
  void Add(std::string_view place, std::string_view what);
  // The message of a failed status that names a file of `index`, without what every message of a
  // damaged index repeats. What may not be read is not damaged: it becomes the failure().
  void Add(const std::filesystem::path& index, const absl::Status& status);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // The first PERMISSION_DENIED.
  [[nodiscard]] const absl::Status& failure() const { return failure_; }
  [[nodiscard]] std::vector<std::string> Take() { return std::move(problems_); }

 private:
  std::size_t limit_;
  std::uint64_t size_ = 0;
  absl::Status failure_;
  std::vector<std::string> problems_;
};

// What is checked, and where findings go.
struct VerifyJob {
  const std::filesystem::path& index;
  std::string generation;  // the name of its folder
  const formats::Manifest& manifest;
  const VerifyOptions& options;
  ProblemList& problems;
  VerifyReport& report;

  void Progress(const char* phase, std::uint64_t done, std::uint64_t total,
                const char* unit) const {
    if (options.progress) options.progress({phase, done, total, unit});
  }
};

// Sizes and checksums of the files that the manifest names (headers only when quick).
void VerifyFiles(const VerifyJob& job);

// What the vectors of a document must be like; learnt from its record.
struct DocumentShape {
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;  // its record is damaged
  std::uint32_t num_chunks = kUnknown;
  std::uint32_t num_rows = kUnknown;  // of docs.faiss
};

// Every record, key counts, digests and totals. The result has an element a document.
std::vector<DocumentShape> VerifyRecords(const VerifyJob& job, const IndexReader& reader);
void VerifyVectors(const VerifyJob& job, const IndexReader& reader,
                   const std::vector<DocumentShape>& documents);
void VerifyTermTable(const VerifyJob& job, const formats::TermTableView& terms);

// What must hold inside one document. Takes the document's entries, family by family, each in key
// order. Threads: one thread.
class DocumentCheck {
 public:
  // `record`: null when it is damaged; then only what needs no record is checked. Borrows all.
  DocumentCheck(const VerifyJob& job, std::uint32_t document, const formats::DocumentRecord* record)
      : job_(job), document_(document), record_(record) {}

  // In this order; `item` is the part of the key behind the document.
  void Parent(std::uint32_t item, std::string_view value);
  // The chunks in it; of one that does not decode, as many as there should be.
  std::uint32_t ChunkGroup(std::uint32_t item, std::string_view value);
  void Node(std::uint32_t level, std::uint32_t item, std::string_view value);
  void Segment(std::uint32_t item, std::string_view value);
  // After the last entry.
  void Finish();

 private:
  void Problem(std::string_view family, std::string_view item, std::string_view what);
  void CheckRecord();
  // Whether `item` is the next one of 0, 1, 2 …
  void CheckDense(std::string_view family, std::uint32_t item, std::uint32_t& next);
  void CheckCount(std::string_view family, std::uint64_t found, std::uint64_t expected);
  void CheckInside(std::string_view family, std::string_view item, formats::Span span);
  void CheckInside(std::string_view family, std::string_view item, const formats::Summary& summary);
  // Chunks that a group should have, as far as the document record tells: else 0.
  [[nodiscard]] std::uint32_t ChunksExpected(std::uint32_t group) const;
  void Chunk(std::uint64_t item, const absl::StatusOr<formats::ChunkRecord>& chunk);
  // Against the chunk before.
  void CheckOrder(std::string_view item, formats::Span range);
  void FinishLevel();

  struct Children {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  const VerifyJob& job_;
  std::uint32_t document_;
  const formats::DocumentRecord* record_;
  std::vector<Children> parents_;
  std::uint64_t tiled_chunks_ = 0;  // by the parents so far
  std::uint32_t next_parent_ = 0;
  std::uint32_t next_group_ = 0;
  std::uint64_t next_chunk_ = 0;
  formats::Span chunk_before_;  // empty before the first
  std::uint32_t level_ = 0;
  std::uint32_t next_node_ = 0;
  std::uint64_t tiled_children_ = 0;        // by the nodes of level_ so far
  std::vector<std::uint32_t> level_sizes_;  // of the finished levels
  std::uint32_t next_segment_ = 0;
  std::uint64_t segment_chunks_ = 0;
};

}  // namespace rag::storage

#endif  // STORAGE_VERIFY_PARTS_H_
