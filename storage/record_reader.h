// Read-only access to the record store of a published generation.
#ifndef STORAGE_RECORD_READER_H_
#define STORAGE_RECORD_READER_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rag::storage {

// Walks the entries of a family in key order. Lifetime: must not outlive its RecordReader. Threads:
// one thread.
class RecordCursor {
 public:
  virtual ~RecordCursor() = default;
  // False behind the last entry and at damage, which status() tells apart.
  [[nodiscard]] virtual bool Valid() const = 0;
  // REQUIRES: Valid(). The views live until Next().
  [[nodiscard]] virtual std::string_view key() const = 0;
  [[nodiscard]] virtual std::string_view value() const = 0;
  virtual void Next() = 0;
  // To the first entry whose key is not below `key`.
  virtual void Seek(std::string_view key) = 0;
  [[nodiscard]] virtual absl::Status status() const = 0;
};

// What a family takes on disk, and what its keys and values took before RocksDB compressed them.
struct FamilySize {
  std::uint64_t file_bytes = 0;
  std::uint64_t raw_bytes = 0;
};

// Opens without starting threads or writing anything. Threads: const methods may run concurrently.
class RecordReader {
 public:
  // REQUIRES: sizes and checksums of the folder's files have been checked against the manifest.
  static absl::StatusOr<std::unique_ptr<RecordReader>> Open(const std::filesystem::path& folder);
  virtual ~RecordReader() = default;

  // NOT_FOUND when there is no such key; DATA_LOSS when RocksDB reports damage.
  [[nodiscard]] virtual absl::StatusOr<std::string> Get(std::string_view family,
                                                        std::string_view key) const = 0;
  // Calls `visit` with the number of each key and its value, in the order of `keys` (which need not
  // be sorted), until it returns an error, which is passed on. Nothing is copied: views live until
  // visit returns. The first absent key ends it: DATA_LOSS.
  [[nodiscard]] virtual absl::Status MultiVisit(
      std::string_view family, std::span<const std::string> keys,
      const std::function<absl::Status(std::size_t i, std::string_view value)>& visit) const = 0;
  // The values of MultiVisit, copied.
  [[nodiscard]] absl::StatusOr<std::vector<std::string>> MultiGet(
      std::string_view family, std::span<const std::string> keys) const;
  // Calls `visit` for every entry whose key starts with `prefix`, in key order, until it returns an
  // error, which is passed on. Views live until visit returns.
  [[nodiscard]] virtual absl::Status Scan(
      std::string_view family, std::string_view prefix,
      const std::function<absl::Status(std::string_view key, std::string_view value)>& visit)
      const = 0;
  // At the first entry of the family.
  [[nodiscard]] virtual absl::StatusOr<std::unique_ptr<RecordCursor>> NewCursor(
      std::string_view family) const = 0;
  // From RocksDB's own notes: reads no entry.
  [[nodiscard]] virtual absl::StatusOr<FamilySize> SizeOf(std::string_view family) const = 0;
};

}  // namespace rag::storage

#endif  // STORAGE_RECORD_READER_H_
