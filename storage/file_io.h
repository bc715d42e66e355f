// Files: whole reads and durable writes, mappings, checksums. Every error names the path.
#ifndef STORAGE_FILE_IO_H_
#define STORAGE_FILE_IO_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/manifest.h"

namespace rag::storage {

// "PATH: cannot ACTION: REASON; REMEDY" for an errno: RESOURCE_EXHAUSTED ("PATH: disk full: ...")
// for a full disk or quota, NOT_FOUND when the file or a folder of its path does not exist,
// PERMISSION_DENIED, otherwise INTERNAL.
absl::Status SystemError(const std::filesystem::path& path, std::string_view action, int error);

// NOT_FOUND when the file does not exist, otherwise as SystemError.
absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path);
// The first `n` bytes; DATA_LOSS when the file is shorter.
absl::StatusOr<std::string> ReadPrefix(const std::filesystem::path& path, std::uint64_t n);
// The last `n` bytes, or all of a shorter file.
absl::StatusOr<std::string> ReadSuffix(const std::filesystem::path& path, std::uint64_t n);

// Creates or truncates, writes, fsyncs and closes. RESOURCE_EXHAUSTED when the disk is full.
absl::Status WriteFileDurably(const std::filesystem::path& path, std::string_view bytes);
// Writes beside the target, fsyncs, renames over it, fsyncs the folder: the target is old or new.
absl::Status ReplaceFile(const std::filesystem::path& path, std::string_view bytes);
absl::Status SyncFile(const std::filesystem::path& path);
absl::Status SyncFolder(const std::filesystem::path& path);

// Size and XXH3-128 of the file, and XXH3-64 of its first `header_bytes`. `root` / `relative` is
// read.
absl::StatusOr<formats::FileEntry> DescribeFile(const std::filesystem::path& root,
                                                const std::string& relative,
                                                std::uint64_t header_bytes);
// DATA_LOSS unless the file exists with the entry's size and, where the entry has one, its header
// checksum. Reads the header only. Message: file, expected, found, remedy.
absl::Status CheckFile(const std::filesystem::path& root, const formats::FileEntry& entry);

// Takes the pages that lie within a mapped range out of memory: they are read again from the file
// when they are needed. For ranges that are large and used once.
void ForgetPages(std::span<const std::uint8_t> mapped);

// A file held open for later, so that it can be read after its name is gone. Movable; closed on
// destruction. Threads: immutable after Open.
class HeldFile {
 public:
  static absl::StatusOr<HeldFile> Open(const std::filesystem::path& path);
  HeldFile(HeldFile&& other) noexcept;
  HeldFile& operator=(HeldFile&& other) noexcept;
  ~HeldFile();
  // A name by which this process can open it anew (Linux: /proc/self/fd/N); valid while it is held.
  [[nodiscard]] std::filesystem::path path() const;

 private:
  explicit HeldFile(int fd) : fd_(fd) {}
  int fd_ = -1;
};

// A read-only mapping of a whole file. Movable; unmapped on destruction. An empty file maps to "".
// Threads: immutable after Open.
class MappedFile {
 public:
  static absl::StatusOr<MappedFile> Open(const std::filesystem::path& path);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace rag::storage

#endif  // STORAGE_FILE_IO_H_
