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
  // visit returns. Any absent key is an error: DATA_LOSS, before the first visit.
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
};

}  // namespace rag::storage

#endif  // STORAGE_RECORD_READER_H_
