// Reads whole documents from a generation, to carry them over into the next one.
#ifndef STORAGE_BUNDLE_READER_H_
#define STORAGE_BUNDLE_READER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/document_bundle.h"
#include "storage/index_reader.h"

namespace rag::storage {

// Reading in ascending order passes through the files once. Lifetime: borrows the reader. Memory:
// 16 bytes a document vector. Threads: one thread.
class BundleReader {
 public:
  // Compares the checksums of the files that have none inside (vectors, term table) with the
  // manifest, so that damage is never carried over: DATA_LOSS.
  static absl::StatusOr<std::unique_ptr<BundleReader>> Open(const IndexReader& reader);

  // Takes parts before the last one. Their parents come before their chunks.
  using PartSink = std::function<absl::Status(const BundlePart& part)>;

  // Hands what does not fit into one part of some megabytes to `on_part`, and returns the last one.
  // DATA_LOSS when something of the document is missing or damaged; errors of `on_part`.
  absl::StatusOr<DocumentBundle> Read(std::uint32_t document, const PartSink& on_part);
  // For documents that are known to be small.
  absl::StatusOr<DocumentBundle> ReadWhole(std::uint32_t document);

 private:
  // A row of docs.faiss.
  struct Row {
    std::uint32_t document = 0;
    std::uint32_t list = 0;
    std::uint32_t place = 0;
  };
  explicit BundleReader(const IndexReader& reader) : reader_(reader) {}
  absl::Status ListRows();
  class DocumentScan;
  // Calls `visit` with the values of a family under the document's ordinal, in key order.
  absl::Status ReadFamily(std::string_view family, std::uint32_t document,
                          const std::function<absl::Status(std::string_view value)>& visit);

  const IndexReader& reader_;
  std::map<std::string, std::unique_ptr<RecordCursor>, std::less<>> cursors_;  // by family
  std::vector<Row> rows_;  // ascending by document, then in the order of the file
};

}  // namespace rag::storage

#endif  // STORAGE_BUNDLE_READER_H_
