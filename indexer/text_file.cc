#include "indexer/text_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "indexer/characters.h"
#include "indexer/open_file.h"

namespace rag::indexer {
namespace {

// Room that is asked for at once; a size is only a claim, and a sparse file's may be huge.
constexpr off_t kMaxReserveBytes = off_t{1} << 30;
constexpr std::chrono::milliseconds kPause{10};  // between two readings, for the writer to finish

// Longer than the kernel keeps one time for the stamps of files (a tick, 10 ms at most).
constexpr std::int64_t kTickNs = 10'000'000;

LoadedFile Skipped(const CorpusFile& file, SkipReason reason, std::string detail = "") {
  LoadedFile out;
  out.skipped = {file.source, reason, std::move(detail)};
  return out;
}

std::int64_t Nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Whether a change from now on might not show in the stamps, because the clock that they are taken
// from has not moved on since the last one.
bool StampsAreFresh(const struct stat& status) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  const std::int64_t age = Nanoseconds(now) - Nanoseconds(status.st_ctim);
  return age > -kTickNs && age <= 0;
}

bool SameVersion(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && Nanoseconds(a.st_mtim) == Nanoseconds(b.st_mtim) &&
         Nanoseconds(a.st_ctim) == Nanoseconds(b.st_ctim);
}

// What is left of a file's bytes once they have been read.
struct Reading {
  int error = 0;                     // errno
  std::optional<std::uint64_t> nul;  // offset of the first NUL byte
  std::uint64_t size = 0;
  std::string bytes;  // empty when there are more than are to be kept
  formats::Sha256 content{};
};

// Reads to the end, whatever size the file had when it was opened. Stops after a block with a NUL
// byte: such a file is no text, and may be a huge sparse one.
Reading ReadAll(const OpenFile& file, std::size_t expected_bytes, std::size_t max_bytes) {
  Reading reading;
  reading.bytes.reserve(std::min(expected_bytes, max_bytes));
  formats::Sha256Stream content;
  for (;;) {
    const std::size_t kept = reading.bytes.size();
    const ssize_t count = file.ReadBlock(reading.bytes);
    if (count < 0) reading.error = errno;
    if (count <= 0) break;
    const std::string_view block = std::string_view(reading.bytes).substr(kept);
    content.Update(block);
    const std::size_t nul = block.find('\0');
    if (nul != std::string_view::npos) reading.nul = reading.size + nul;
    reading.size += block.size();
    if (reading.size > max_bytes) reading.bytes.clear();
    if (reading.nul.has_value()) break;
  }
  reading.content = content.Finish();
  return reading;
}

bool IsBlankText(std::string_view text) {
  for (std::size_t pos = ByteOrderMarkSize(text); pos < text.size();) {
    const CodePoint c = DecodeAt(text, pos);
    if (!IsWhiteSpace(c.value)) return false;
    pos += c.size_bytes;
  }
  return true;
}

// Text, or why these bytes are not to be indexed.
LoadedFile Judge(const CorpusFile& file, Reading reading, const LoadOptions& options) {
  LoadedFile out;
  out.ok = true;
  out.content = reading.content;
  out.large = reading.size > options.max_bytes;
  out.bytes = std::move(reading.bytes);
  if (options.is_known && options.is_known(out.content)) return out;
  if (reading.nul.has_value()) {
    return Skipped(file, SkipReason::kBinary, absl::StrCat("NUL byte at offset ", *reading.nul));
  }
  if (out.large) return out;
  const std::size_t valid = ValidUtf8Prefix(out.bytes);
  if (valid < out.bytes.size()) {
    return Skipped(file, SkipReason::kInvalidUtf8, absl::StrCat("not UTF-8 at offset ", valid));
  }
  if (IsBlankText(out.bytes)) return Skipped(file, SkipReason::kBlank);
  out.bytes.shrink_to_fit();
  return out;
}

LoadedFile OpenFailed(const CorpusFile& file, int code) {
  if (code == ELOOP) return Skipped(file, SkipReason::kSymlink);
  if (code == ENXIO) return Skipped(file, SkipReason::kSpecial);
  return Skipped(file, SkipReason::kUnreadable, ErrnoMessage(code));
}

// Nothing when the file changed meanwhile.
std::optional<LoadedFile> ReadOnce(const CorpusFile& file, const LoadOptions& options) {
  const OpenFile open(file.path);
  if (!open.is_open()) return OpenFailed(file, errno);
  struct stat before {};
  struct stat after {};
  if (::fstat(open.fd(), &before) == 0 && S_ISREG(before.st_mode) && StampsAreFresh(before)) {
    std::this_thread::sleep_for(kPause);
  }
  if (::fstat(open.fd(), &before) != 0) {
    return Skipped(file, SkipReason::kUnreadable, ErrnoMessage(errno));
  }
  if (!S_ISREG(before.st_mode)) return Skipped(file, SkipReason::kSpecial);
  const auto expected_bytes =
      static_cast<std::size_t>(std::clamp<off_t>(before.st_size, 0, kMaxReserveBytes));
  Reading reading = ReadAll(open, expected_bytes, options.max_bytes);
  if (reading.error != 0) {
    return Skipped(file, SkipReason::kUnreadable, ErrnoMessage(reading.error));
  }
  if (options.after_read) options.after_read();
  if (::fstat(open.fd(), &after) != 0) {
    return Skipped(file, SkipReason::kUnreadable, ErrnoMessage(errno));
  }
  if (!SameVersion(before, after)) return std::nullopt;
  return Judge(file, std::move(reading), options);
}

LoadedFile Load(const CorpusFile& file, const LoadOptions& options) {
  for (int reading = 0; reading < kMaxReadings; ++reading) {
    if (reading > 0) std::this_thread::sleep_for(kPause);
    if (std::optional<LoadedFile> loaded = ReadOnce(file, options)) return *std::move(loaded);
  }
  LoadedFile out;
  out.skipped = ChangedEachTime(file);
  return out;
}

char LowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

std::string_view FileName(std::string_view source) {
  return source.substr(source.rfind('/') + 1);  // npos + 1 == 0: no folder
}

}  // namespace

LoadedFile LoadTextFile(const CorpusFile& file, const LoadOptions& options) {
  try {
    return Load(file, options);
  } catch (const std::bad_alloc&) {
    return Skipped(file, SkipReason::kUnreadable, ErrnoMessage(ENOMEM));
  } catch (const std::length_error&) {
    return Skipped(file, SkipReason::kUnreadable, ErrnoMessage(EFBIG));
  }
}

SkippedFile ChangedEachTime(const CorpusFile& file) {
  return {file.source, SkipReason::kChanged,
          absl::StrCat("during each of ", kMaxReadings, " readings")};
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

std::string TitleFromName(std::string_view source) {
  std::string title = FileStem(source);
  std::replace_if(
      title.begin(), title.end(), [](char c) { return c == '_' || c == '-'; }, ' ');
  return title;
}

}  // namespace rag::indexer
