#include "indexer/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/checksum.h"
#include "formats/coding.h"
#include "formats/status_macros.h"
#include "storage/file_io.h"

namespace rag::indexer {
namespace {

constexpr std::string_view kMagic = "RAGJRNL1";
constexpr std::size_t kHeadBytes = 4 + 8 + 8;
constexpr std::size_t kChecksumBytes = 8;
// Keys are sources and hashes; a longer one is damage.
constexpr std::size_t kMaxKeyBytes = 1 << 20;

std::uint64_t HeadChecksum(std::string_view sizes, std::string_view key) {
  std::string bytes(sizes);
  bytes += key;
  return formats::Xxh3(bytes);
}

}  // namespace

struct Journal::EntryHead {
  std::uint32_t key_bytes = 0;
  std::uint64_t value_bytes = 0;
  std::uint64_t checksum = 0;

  [[nodiscard]] std::uint64_t size() const {
    return kHeadBytes + key_bytes + value_bytes + kChecksumBytes;
  }
  [[nodiscard]] std::string Sizes() const {
    formats::ByteWriter out;
    out.Fixed32(key_bytes);
    out.Fixed64(value_bytes);
    return out.Take();
  }
  static EntryHead Decode(std::string_view bytes) {
    formats::ByteReader in(bytes, "journal entry");
    EntryHead head;
    head.key_bytes = in.Fixed32();
    head.value_bytes = in.Fixed64();
    head.checksum = in.Fixed64();
    return head;
  }
};

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(const std::filesystem::path& path,
                                                       std::string_view purpose) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return storage::SystemError(path, "open", errno);
  std::unique_ptr<Journal> journal(new Journal(path, fd));
  formats::ByteWriter start;
  start.Bytes(kMagic);
  start.Fixed64(formats::Xxh3(purpose));
  RAG_RETURN_IF_ERROR(journal->Recover(start.view()));
  if (ftruncate(fd, static_cast<off_t>(journal->end_)) != 0) {
    return storage::SystemError(path, "cut off a damaged end", errno);
  }
  return journal;
}

Journal::~Journal() { close(fd_); }

absl::Status Journal::Recover(std::string_view start) {
  const off_t file_bytes = lseek(fd_, 0, SEEK_END);
  if (file_bytes < 0) return storage::SystemError(path_, "seek", errno);
  const auto size = static_cast<std::uint64_t>(file_bytes);
  std::string found(start.size(), '\0');
  end_ = start.size();
  if (size < start.size() || !ReadAt(0, found.size(), found.data()).ok() || found != start) {
    return WriteAt(0, start);
  }
  std::string bytes;
  while (end_ + kHeadBytes <= size) {
    bytes.resize(kHeadBytes);
    RAG_RETURN_IF_ERROR(ReadAt(end_, kHeadBytes, bytes.data()));
    const EntryHead head = EntryHead::Decode(bytes);
    if (head.key_bytes > kMaxKeyBytes || head.value_bytes > size || end_ + head.size() > size) {
      break;
    }
    std::string key(head.key_bytes, '\0');
    RAG_RETURN_IF_ERROR(ReadAt(end_ + kHeadBytes, key.size(), key.data()));
    if (HeadChecksum(head.Sizes(), key) != head.checksum) break;
    if (!key.empty()) entries_[std::move(key)] = end_;
    end_ += head.size();
  }
  num_recovered_ = entries_.size();
  return absl::OkStatus();
}

std::optional<std::uint64_t> Journal::Find(std::string_view key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = entries_.find(absl::string_view(key.data(), key.size()));
  return it == entries_.end() ? std::nullopt : std::optional(it->second);
}

absl::StatusOr<std::uint64_t> Journal::Append(std::string_view key, std::string_view value) {
  EntryHead head;
  head.key_bytes = static_cast<std::uint32_t>(key.size());
  head.value_bytes = value.size();
  formats::ByteWriter out;
  out.Bytes(head.Sizes());
  out.Fixed64(HeadChecksum(head.Sizes(), key));
  out.Bytes(key);
  out.Bytes(value);
  out.Fixed64(formats::Xxh3(value));
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::uint64_t entry = end_;
  RAG_RETURN_IF_ERROR(WriteAt(entry, out.view()));
  end_ += out.size();
  if (!key.empty()) entries_[std::string(key)] = entry;
  return entry;
}

absl::StatusOr<std::string> Journal::Read(std::uint64_t entry) const {
  std::string bytes(kHeadBytes, '\0');
  RAG_RETURN_IF_ERROR(ReadAt(entry, kHeadBytes, bytes.data()));
  const EntryHead head = EntryHead::Decode(bytes);
  std::string value(head.value_bytes + kChecksumBytes, '\0');
  RAG_RETURN_IF_ERROR(ReadAt(entry + kHeadBytes + head.key_bytes, value.size(), value.data()));
  const std::uint64_t expected =
      formats::ByteReader(std::string_view(value).substr(head.value_bytes), "checksum").Fixed64();
  value.resize(head.value_bytes);
  if (formats::Xxh3(value) == expected) return value;
  return absl::DataLossError(absl::StrCat(path_.string(), ": entry at ", entry, " is damaged"));
}

absl::Status Journal::ReadAt(std::uint64_t offset, std::size_t size, char* to) const {
  while (size > 0) {
    const ssize_t got = pread(fd_, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return storage::SystemError(path_, "read", errno);
    if (got == 0) {
      return absl::DataLossError(absl::StrCat(path_.string(), ": ends at ", offset));
    }
    to += got;
    size -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
  return absl::OkStatus();
}

absl::Status Journal::WriteAt(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return storage::SystemError(path_, "write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return absl::OkStatus();
}

}  // namespace rag::indexer
