// The temporary file between the two passes of a build: length-prefixed blobs, written once, read
// once in the same order.
#ifndef INDEXER_SPILL_H_
#define INDEXER_SPILL_H_

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rag::indexer {

// Threads: one thread.
class Spill {
 public:
  static absl::StatusOr<Spill> Create(const std::filesystem::path& path);
  absl::Status Append(std::string_view blob);
  // Ends writing; Next() starts at the first blob.
  absl::Status Rewind();
  // The next blob, or nullopt at the end.
  absl::StatusOr<std::optional<std::string>> Next();

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  Spill(std::filesystem::path path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  [[nodiscard]] absl::Status Error(std::string_view what) const;

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::uint64_t blobs_left_ = 0;
};

}  // namespace rag::indexer

#endif  // INDEXER_SPILL_H_
