#include "storage/file_io.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "formats/checksum.h"
#include "formats/status_macros.h"

namespace rag::storage {
namespace {

constexpr std::size_t kStreamBytes = 256 * 1024;
constexpr std::size_t kFirstReadBytes = 4096;
constexpr mode_t kFileMode = 0666;  // the umask decides

template <typename Call>
auto RetryInterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  // False with errno set when the close failed. Not repeated after EINTR: Linux has freed the
  // number.
  bool Close() { return close(std::exchange(fd_, -1)) == 0 || errno == EINTR; }

 private:
  int fd_;
};

absl::StatusOr<Descriptor> OpenDescriptor(const std::filesystem::path& path, int flags) {
  const int fd = RetryInterrupted([&] { return open(path.c_str(), flags | O_CLOEXEC, kFileMode); });
  if (fd < 0) return SystemError(path, "open", errno);
  return Descriptor(fd);
}

// Bytes read, at most `n`; 0 at the end of the file.
absl::StatusOr<std::size_t> ReadSome(const Descriptor& file, const std::filesystem::path& path,
                                     char* to, std::size_t n) {
  const ssize_t got = RetryInterrupted([&] { return read(file.get(), to, n); });
  if (got < 0) return SystemError(path, "read", errno);
  return static_cast<std::size_t>(got);
}

// The size of a regular file.
absl::StatusOr<std::uint64_t> RegularFileSize(const Descriptor& file,
                                              const std::filesystem::path& path) {
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return SystemError(path, "stat", errno);
  if (!S_ISREG(info.st_mode)) {
    return absl::InternalError(absl::StrCat(path.string(), ": not a regular file"));
  }
  return static_cast<std::uint64_t>(info.st_size);
}

absl::Status WriteAll(const Descriptor& file, const std::filesystem::path& path,
                      std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put =
        RetryInterrupted([&] { return write(file.get(), bytes.data(), bytes.size()); });
    if (put < 0) return SystemError(path, "write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return absl::OkStatus();
}

absl::Status Sync(const Descriptor& file, const std::filesystem::path& path) {
  if (RetryInterrupted([&] { return fsync(file.get()); }) != 0) {
    return SystemError(path, "sync", errno);
  }
  return absl::OkStatus();
}

absl::Status Damaged(const std::filesystem::path& path, std::string_view what) {
  return absl::DataLossError(
      absl::StrCat(path.string(), ": ", absl::string_view(what.data(), what.size()),
                   "; the index is damaged, rebuild it with rag-index build"));
}

// REQUIRES: the file had these bytes a moment ago.
absl::StatusOr<std::string> ReadRange(const Descriptor& file, const std::filesystem::path& path,
                                      std::uint64_t offset, std::uint64_t n) {
  std::string bytes(n, '\0');
  std::size_t used = 0;
  while (used < bytes.size()) {
    const ssize_t got = RetryInterrupted([&] {
      return pread(file.get(), bytes.data() + used, bytes.size() - used,
                   static_cast<off_t>(offset + used));
    });
    if (got < 0) return SystemError(path, "read", errno);
    if (got == 0) return Damaged(path, "became shorter while it was read");
    used += static_cast<std::size_t>(got);
  }
  return bytes;
}

// What a user can do about an errno; empty where nothing general can be said.
absl::string_view RemedyOf(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "; give this user access to it and to the folders above";
    case EROFS:
      return "; it is on a file system that is mounted read-only, name another folder";
    case EMFILE:
      return "; raise the limit of open files (ulimit -n)";
    case EFBIG:
      return "; raise the limit of file sizes (ulimit -f)";
    case EIO:
      return "; the disk may be failing, look into the system's log";
    case ENOMEM:
      return "; raise the limit of memory (ulimit -v) or end other programs";
    default:
      return "";
  }
}

}  // namespace

absl::Status SystemError(const std::filesystem::path& path, std::string_view action, int error) {
  const std::string reason =
      absl::StrCat("cannot ", absl::string_view(action.data(), action.size()), ": ",
                   std::generic_category().message(error));
  if (error == ENOSPC || error == EDQUOT) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path.string(), ": disk full: ", reason, "; make room and try again"));
  }
  const std::string message = absl::StrCat(path.string(), ": ", reason, RemedyOf(error));
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(message);
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(message);
  return absl::InternalError(message);
}

absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path) {
  RAG_ASSIGN_OR_RETURN(const Descriptor file, OpenDescriptor(path, O_RDONLY));
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return SystemError(path, "stat", errno);
  // The size is a hint only (it is 0 for a pipe); one byte more lets the usual file end at once.
  std::string bytes(std::max(static_cast<std::size_t>(info.st_size) + 1, kFirstReadBytes), '\0');
  std::size_t used = 0;
  while (true) {
    RAG_ASSIGN_OR_RETURN(const std::size_t got,
                         ReadSome(file, path, bytes.data() + used, bytes.size() - used));
    if (got == 0) break;
    used += got;
    if (used == bytes.size()) bytes.resize(2 * used);
  }
  bytes.resize(used);
  return bytes;
}

absl::StatusOr<std::string> ReadPrefix(const std::filesystem::path& path, std::uint64_t n) {
  RAG_ASSIGN_OR_RETURN(const Descriptor file, OpenDescriptor(path, O_RDONLY));
  RAG_ASSIGN_OR_RETURN(const std::uint64_t size, RegularFileSize(file, path));
  if (size < n) return Damaged(path, absl::StrCat("needs ", n, " bytes, the file has ", size));
  return ReadRange(file, path, 0, n);
}

absl::StatusOr<std::string> ReadSuffix(const std::filesystem::path& path, std::uint64_t n) {
  RAG_ASSIGN_OR_RETURN(const Descriptor file, OpenDescriptor(path, O_RDONLY));
  RAG_ASSIGN_OR_RETURN(const std::uint64_t size, RegularFileSize(file, path));
  n = std::min(n, size);
  return ReadRange(file, path, size - n, n);
}

absl::Status WriteFileDurably(const std::filesystem::path& path, std::string_view bytes) {
  RAG_ASSIGN_OR_RETURN(Descriptor file, OpenDescriptor(path, O_WRONLY | O_CREAT | O_TRUNC));
  RAG_RETURN_IF_ERROR(WriteAll(file, path, bytes));
  RAG_RETURN_IF_ERROR(Sync(file, path));
  if (!file.Close()) return SystemError(path, "close", errno);
  return absl::OkStatus();
}

absl::Status ReplaceFile(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  absl::Status status = WriteFileDurably(temporary, bytes);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = SystemError(path, "replace", errno);
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  const std::filesystem::path folder = path.parent_path();
  return SyncFolder(folder.empty() ? "." : folder);
}

absl::Status SyncFile(const std::filesystem::path& path) {
  RAG_ASSIGN_OR_RETURN(const Descriptor file, OpenDescriptor(path, O_RDONLY));
  return Sync(file, path);
}

absl::Status SyncFolder(const std::filesystem::path& path) {
  RAG_ASSIGN_OR_RETURN(const Descriptor folder, OpenDescriptor(path, O_RDONLY | O_DIRECTORY));
  if (RetryInterrupted([&] { return fsync(folder.get()); }) == 0) return absl::OkStatus();
  // File systems that cannot sync a folder (some network and FUSE ones) say EINVAL; nothing to do.
  return errno == EINVAL ? absl::OkStatus() : SystemError(path, "sync", errno);
}

absl::StatusOr<formats::FileEntry> DescribeFile(const std::filesystem::path& root,
                                                const std::string& relative,
                                                std::uint64_t header_bytes) {
  const std::filesystem::path path = root / relative;
  formats::FileEntry entry;
  entry.path = relative;
  entry.header_bytes = header_bytes;
  if (header_bytes > 0) {
    RAG_ASSIGN_OR_RETURN(const std::string header, ReadPrefix(path, header_bytes));
    entry.header_xxh3 = formats::ToHex(formats::Xxh3(header));
  }
  RAG_ASSIGN_OR_RETURN(const Descriptor file, OpenDescriptor(path, O_RDONLY));
  formats::Xxh128Stream whole;
  std::vector<char> buffer(kStreamBytes);
  while (true) {
    RAG_ASSIGN_OR_RETURN(const std::size_t got, ReadSome(file, path, buffer.data(), buffer.size()));
    if (got == 0) break;
    whole.Update(std::string_view(buffer.data(), got));
    entry.size_bytes += got;
  }
  entry.xxh128 = whole.Hex();
  return entry;
}

absl::Status CheckFile(const std::filesystem::path& root, const formats::FileEntry& entry) {
  const std::filesystem::path path = root / entry.path;
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return Damaged(path, "is missing, the manifest names it");
    }
    return SystemError(path, "stat", errno);
  }
  if (!S_ISREG(info.st_mode)) return Damaged(path, "is not a regular file");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size != entry.size_bytes) {
    return Damaged(path,
                   absl::StrCat("size is ", size, " bytes, the manifest says ", entry.size_bytes));
  }
  if (entry.header_bytes == 0) return absl::OkStatus();
  RAG_ASSIGN_OR_RETURN(const std::string header, ReadPrefix(path, entry.header_bytes));
  const std::string found = formats::ToHex(formats::Xxh3(header));
  if (found != entry.header_xxh3) {
    return Damaged(path, absl::StrCat("checksum of the first ", entry.header_bytes, " bytes is ",
                                      found, ", the manifest says ", entry.header_xxh3));
  }
  return absl::OkStatus();
}

absl::StatusOr<HeldFile> HeldFile::Open(const std::filesystem::path& path) {
  const int fd = RetryInterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); });
  if (fd < 0) return SystemError(path, "open", errno);
  return HeldFile(fd);
}

HeldFile::HeldFile(HeldFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

HeldFile& HeldFile::operator=(HeldFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

HeldFile::~HeldFile() {
  if (fd_ >= 0) close(fd_);
}

std::filesystem::path HeldFile::path() const { return absl::StrCat("/proc/self/fd/", fd_); }

absl::StatusOr<MappedFile> MappedFile::Open(const std::filesystem::path& path) {
  RAG_ASSIGN_OR_RETURN(const Descriptor file, OpenDescriptor(path, O_RDONLY));
  RAG_ASSIGN_OR_RETURN(const std::uint64_t size, RegularFileSize(file, path));
  MappedFile mapped;
  if (size == 0) return mapped;
  void* const start = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (start == MAP_FAILED) return SystemError(path, "map", errno);
  mapped.bytes_ = std::string_view(static_cast<const char*>(start), size);
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, std::string_view())) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

void ForgetPages(std::span<const std::uint8_t> mapped) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped.data());
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t end = (begin + mapped.size()) / page * page;
  // Advice: nothing depends on its success.
  if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace rag::storage
