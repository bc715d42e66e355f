// A file that is written front to back through a buffer, for contents too large for memory.
#ifndef STORAGE_OUTPUT_FILE_H_
#define STORAGE_OUTPUT_FILE_H_

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rag::storage {

// Errors name the path; RESOURCE_EXHAUSTED when the disk is full. Does not fsync. Threads: one
// thread.
class OutputFile {
 public:
  // Creates or truncates.
  static absl::StatusOr<OutputFile> Create(const std::filesystem::path& path);

  absl::Status Append(std::span<const std::uint8_t> bytes);
  // Appends everything that `source` holds.
  absl::Status AppendFile(const std::filesystem::path& source);
  // Flushes and closes: only then is it known that the bytes were written. REQUIRES: not closed
  // yet.
  absl::Status Close();

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using Handle = std::unique_ptr<std::FILE, Closer>;

  OutputFile(std::filesystem::path path, Handle file)
      : path_(std::move(path)), file_(std::move(file)) {}

  std::filesystem::path path_;
  Handle file_;
};

}  // namespace rag::storage

#endif  // STORAGE_OUTPUT_FILE_H_
