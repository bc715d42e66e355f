#include "indexer/walk.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "indexer/characters.h"

namespace rag::indexer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadBytes = std::size_t{1} << 18;

std::string ErrnoMessage(int code) { return std::generic_category().message(code); }

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// A folder still to be read.
struct Folder {
  std::string source;  // "" for the root
  fs::path path;
};

class Walker {
 public:
  WalkResult Walk(const fs::path& root) {
    folders_.push_back({"", root});
    while (!folders_.empty()) {
      const Folder folder = std::move(folders_.back());
      folders_.pop_back();
      ReadFolder(folder);
    }
    const auto by_source = [](const auto& a, const auto& b) { return a.source < b.source; };
    std::sort(result_.files.begin(), result_.files.end(), by_source);
    std::sort(result_.skipped.begin(), result_.skipped.end(), by_source);
    return std::move(result_);
  }

 private:
  void ReadFolder(const Folder& folder) {
    std::error_code error;
    fs::directory_iterator entry(folder.path, error);
    while (!error && entry != fs::directory_iterator()) {
      AddEntry(folder, *entry);
      entry.increment(error);
    }
    if (error) Skip(folder.source, SkipReason::kUnreadable, error.message());
  }

  void AddEntry(const Folder& folder, const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().native();
    std::string source = folder.source.empty() ? name : absl::StrCat(folder.source, "/", name);
    if (name[0] == '.') return Skip(std::move(source), SkipReason::kHidden);
    std::error_code error;
    switch (entry.symlink_status(error).type()) {
      case fs::file_type::regular:
        result_.files.push_back({std::move(source), entry.path()});
        break;
      case fs::file_type::directory:
        folders_.push_back({std::move(source), entry.path()});
        break;
      case fs::file_type::symlink:
        Skip(std::move(source), SkipReason::kSymlink);
        break;
      case fs::file_type::none:
      case fs::file_type::not_found:
        Skip(std::move(source), SkipReason::kUnreadable,
             error ? error.message() : ErrnoMessage(ENOENT));
        break;
      default:
        Skip(std::move(source), SkipReason::kSpecial);
        break;
    }
  }

  void Skip(std::string source, SkipReason reason, std::string detail = "") {
    result_.skipped.push_back({std::move(source), reason, std::move(detail)});
  }

  std::vector<Folder> folders_;
  WalkResult result_;
};

LoadedFile Skipped(const CorpusFile& file, SkipReason reason, std::string detail = "") {
  LoadedFile out;
  out.skipped = {file.source, reason, std::move(detail)};
  return out;
}

// Reads to the end, whatever size the file had when it was opened. Stops after a block with a NUL
// byte: such a file is no text, and may be a huge sparse one. Returns errno, or 0.
int ReadText(int fd, std::string& bytes) {
  for (;;) {
    const std::size_t size = bytes.size();
    bytes.resize(size + kReadBytes);
    const ssize_t count = ::read(fd, bytes.data() + size, kReadBytes);
    bytes.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0 || bytes.find('\0', size) != std::string::npos) return 0;
  }
}

bool IsBlankText(std::string_view text) {
  for (std::size_t pos = ByteOrderMarkSize(text); pos < text.size();) {
    const CodePoint c = DecodeAt(text, pos);
    if (!IsWhiteSpace(c.value)) return false;
    pos += c.size_bytes;
  }
  return true;
}

// Why these bytes are not to be indexed.
std::optional<std::pair<SkipReason, std::string>> Refusal(std::string_view bytes) {
  const std::size_t nul = bytes.find('\0');
  if (nul != std::string_view::npos) {
    return std::pair(SkipReason::kBinary, absl::StrCat("NUL byte at offset ", nul));
  }
  const std::size_t valid = ValidUtf8Prefix(bytes);
  if (valid < bytes.size()) {
    return std::pair(SkipReason::kInvalidUtf8, absl::StrCat("not UTF-8 at offset ", valid));
  }
  if (IsBlankText(bytes)) return std::pair(SkipReason::kBlank, std::string());
  return std::nullopt;
}

LoadedFile Load(const CorpusFile& file) {
  // O_NONBLOCK: a pipe that took the file's place must not make us wait for a writer.
  const FileDescriptor fd(
      ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (fd.get() < 0) {
    const int code = errno;
    if (code == ELOOP) return Skipped(file, SkipReason::kSymlink);
    if (code == ENXIO) return Skipped(file, SkipReason::kSpecial);
    return Skipped(file, SkipReason::kUnreadable, ErrnoMessage(code));
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) {
    return Skipped(file, SkipReason::kUnreadable, ErrnoMessage(errno));
  }
  if (!S_ISREG(status.st_mode)) return Skipped(file, SkipReason::kSpecial);
  LoadedFile out;
  if (const int code = ReadText(fd.get(), out.bytes); code != 0) {
    return Skipped(file, SkipReason::kUnreadable, ErrnoMessage(code));
  }
  if (auto refusal = Refusal(out.bytes)) {
    return Skipped(file, refusal->first, std::move(refusal->second));
  }
  out.bytes.shrink_to_fit();
  out.ok = true;
  return out;
}

char LowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

std::string_view FileName(std::string_view source) {
  return source.substr(source.rfind('/') + 1);  // npos + 1 == 0: no folder
}

}  // namespace

std::string_view ToString(SkipReason reason) {
  switch (reason) {
    case SkipReason::kHidden:
      return "hidden";
    case SkipReason::kSymlink:
      return "symlink";
    case SkipReason::kSpecial:
      return "special";
    case SkipReason::kUnreadable:
      return "unreadable";
    case SkipReason::kBinary:
      return "binary";
    case SkipReason::kInvalidUtf8:
      return "invalid-utf8";
    case SkipReason::kBlank:
      return "blank";
  }
  return "unknown";
}

absl::StatusOr<WalkResult> WalkCorpus(const fs::path& root) {
  std::error_code error;
  const fs::file_status status = fs::status(root, error);
  if (status.type() == fs::file_type::not_found) {
    return absl::NotFoundError(absl::StrCat(root.native(), ": no such folder"));
  }
  if (error) return absl::PermissionDeniedError(absl::StrCat(root.native(), ": ", error.message()));
  if (status.type() != fs::file_type::directory) {
    return absl::InvalidArgumentError(absl::StrCat(root.native(), ": not a folder"));
  }
  const fs::directory_iterator readable(root, error);
  if (error) return absl::PermissionDeniedError(absl::StrCat(root.native(), ": ", error.message()));
  return Walker().Walk(root);
}

LoadedFile LoadTextFile(const CorpusFile& file) {
  try {
    return Load(file);
  } catch (const std::bad_alloc&) {
    return Skipped(file, SkipReason::kUnreadable, ErrnoMessage(ENOMEM));
  } catch (const std::length_error&) {
    return Skipped(file, SkipReason::kUnreadable, ErrnoMessage(EFBIG));
  }
}

formats::MediaType MediaTypeOf(std::string_view source) {
  static constexpr std::array<std::string_view, 4> kMarkdown = {"md", "markdown", "mdown", "mkd"};
  const std::string_view name = FileName(source);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return formats::MediaType::kPlainText;
  std::string extension(name.substr(dot + 1));
  std::transform(extension.begin(), extension.end(), extension.begin(), LowerAscii);
  const bool markdown = std::find(kMarkdown.begin(), kMarkdown.end(), extension) != kMarkdown.end();
  return markdown ? formats::MediaType::kMarkdown : formats::MediaType::kPlainText;
}

std::string FileStem(std::string_view source) {
  const std::string_view name = FileName(source);
  const std::size_t dot = name.rfind('.');
  return std::string(dot == std::string_view::npos || dot == 0 ? name : name.substr(0, dot));
}

}  // namespace rag::indexer
