#include "storage/generation.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <sys/file.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "formats/checksum.h"
#include "formats/status_macros.h"
#include "storage/file_io.h"
#include "storage/index_reader.h"

namespace rag::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCurrentFile = "CURRENT";
constexpr std::string_view kCurrentTemporary = "CURRENT.tmp";  // ReplaceFile's
constexpr std::string_view kLockFile = "LOCK";
constexpr std::string_view kBuildingFolder = "building";
constexpr std::string_view kNamePrefix = "gen-";
// Far above any real count; keeps `number + 1` away from overflow.
constexpr std::uint64_t kMaxNumber = 999'999'999'999;
constexpr int kMissingFolderRetries = 3;
constexpr char kSinceFormat[] = "%Y-%m-%dT%H:%M:%SZ";
constexpr std::chrono::milliseconds kLockPollInterval{50};

// The number in "gen-000007"; nothing when `name` is not exactly what GenerationName writes.
std::optional<std::uint64_t> ParseGenerationName(std::string_view name) {
  if (name.substr(0, kNamePrefix.size()) != kNamePrefix) return std::nullopt;
  const std::string_view digits = name.substr(kNamePrefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (number == 0 || number > kMaxNumber || GenerationName(number) != name) return std::nullopt;
  return number;
}

std::string EncodeCurrent(std::uint64_t number) {
  const std::string name = GenerationName(number);
  return absl::StrCat(name, " ", formats::ToHex(formats::Xxh3(name)), "\n");
}

// The number in CURRENT, whether or not the folder it names is there.
absl::StatusOr<std::uint64_t> ReadCurrentNumber(const fs::path& index) {
  const fs::path path = index / kCurrentFile;
  absl::StatusOr<std::string> text = ReadFile(path);
  if (absl::IsNotFound(text.status())) {
    return absl::NotFoundError(absl::StrCat(
        index.string(), ": no index there (no CURRENT file); build one with rag-index build"));
  }
  if (!text.ok()) return text.status();
  const std::optional<std::uint64_t> number =
      ParseGenerationName(std::string_view(*text).substr(0, text->find(' ')));
  if (!number.has_value() || *text != EncodeCurrent(*number)) {
    return absl::DataLossError(absl::StrCat(
        path.string(),
        ": does not name a generation; the index is damaged, rebuild it with rag-index build"));
  }
  return *number;
}

// Names of the folder's entries. std::filesystem's iterators throw in operator++, so not a
// range-for.
absl::StatusOr<std::vector<fs::directory_entry>> ListFolder(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    entries.push_back(*it);
  }
  if (error) return SystemError(folder, "list", error.value());
  return entries;
}

bool IsOurName(std::string_view name) {
  return name == kCurrentFile || name == kCurrentTemporary || name == kLockFile ||
         name == kBuildingFolder || name == kJournalFolder || ParseGenerationName(name).has_value();
}

// Whether a writer may take the folder over. A build deletes `building`, `journal` and old
// generations and replaces CURRENT, and other programs use such names too (a RocksDB folder has
// CURRENT and LOCK), so one familiar name is not enough: either a generation proves an index, or
// there is nothing but our names, with the LOCK that every build makes before the folders.
bool IsIndexOrEmpty(const fs::path& index, const std::vector<fs::directory_entry>& entries) {
  bool only_ours = true;
  bool has_lock = false;
  bool has_building = false;
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;  // a file that cannot be looked at proves nothing
    if (ParseGenerationName(name).has_value() &&
        fs::exists(index / name / kManifestFile, ignored)) {
      return true;
    }
    only_ours = only_ours && IsOurName(name);
    has_lock = has_lock || name == kLockFile;
    has_building = has_building || name == kBuildingFolder || name == kJournalFolder;
  }
  return only_ours && (has_lock || !has_building);
}

absl::Status PrepareIndexFolder(const fs::path& index) {
  std::error_code error;
  const fs::file_status status = fs::status(index, error);
  if (status.type() == fs::file_type::not_found) {
    fs::create_directories(index, error);
    if (error) return SystemError(index, "make the folder", error.value());
    // Best effort: a parent that may not be listed cannot be synced, but can hold an index.
    const fs::path parent = index.parent_path();
    SyncFolder(parent.empty() ? "." : parent).IgnoreError();
    return absl::OkStatus();
  }
  if (error) return SystemError(index, "stat", error.value());
  if (!fs::is_directory(status)) {
    return absl::InvalidArgumentError(
        absl::StrCat(index.string(), ": not a folder; name a new or empty folder for the index"));
  }
  RAG_ASSIGN_OR_RETURN(const auto entries, ListFolder(index));
  if (IsIndexOrEmpty(index, entries)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      index.string(), ": not empty and not an index; name a new or empty folder for the index"));
}

// Says who holds the lock; for messages only, so what fails is left out. In place, as a full disk
// has no room for a new block, and `gc`, which makes room, takes the lock, too.
void DescribeHolder(int fd) {
  const std::string line = absl::StrCat(
      getpid(), " ", absl::FormatTime(kSinceFormat, absl::Now(), absl::UTCTimeZone()), "\n");
  const ssize_t put = pwrite(fd, line.data(), line.size(), 0);
  if (ftruncate(fd, put == static_cast<ssize_t>(line.size()) ? put : 0) != 0) return;
}

absl::Status LockedByAnother(const fs::path& index, int fd) {
  char text[64];
  const ssize_t got = pread(fd, text, sizeof text, 0);
  const absl::string_view line(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(absl::StripSuffix(line, "\n"), absl::MaxSplits(' ', 1));
  std::uint32_t pid = 0;
  absl::Time since;
  std::string ignored;
  // The holder may not have written it yet.
  std::string holder = "another process";
  if (absl::SimpleAtoi(parts.first, &pid) && pid != 0) holder = absl::StrCat("process ", pid);
  if (absl::ParseTime(kSinceFormat, parts.second, &since, &ignored)) {
    absl::StrAppend(&holder, " since ", parts.second);
  }
  return absl::UnavailableError(
      absl::StrCat(index.string(), ": locked by ", holder,
                   ", which writes this index; try again when it is done"));
}

absl::Status RemoveTree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? SystemError(path, "remove", error.value()) : absl::OkStatus();
}

// Fsyncs every file and folder below `root`, and `root`.
absl::Status SyncTree(const fs::path& root) {
  RAG_ASSIGN_OR_RETURN(const auto entries, ListFolder(root));
  for (const fs::directory_entry& entry : entries) {
    std::error_code error;
    const fs::file_status status = entry.symlink_status(error);
    if (error) return SystemError(entry.path(), "stat", error.value());
    if (fs::is_directory(status)) {
      RAG_RETURN_IF_ERROR(SyncTree(entry.path()));
    } else if (fs::is_regular_file(status)) {
      RAG_RETURN_IF_ERROR(SyncFile(entry.path()));
    }
  }
  return SyncFolder(root);
}

// Those between `previous` and `current`: never current, as their build died between the rename and
// CURRENT.
absl::StatusOr<std::vector<std::uint64_t>> Between(const fs::path& index, std::uint64_t previous,
                                                   std::uint64_t current) {
  RAG_ASSIGN_OR_RETURN(std::vector<std::uint64_t> numbers, ListGenerations(index));
  std::erase_if(numbers,
                [&](std::uint64_t number) { return number <= previous || number >= current; });
  return numbers;
}

// All but the last `keep` of the generations that were once current, which those between `previous`
// and `current` never were.
absl::StatusOr<std::vector<std::uint64_t>> Superfluous(const fs::path& index,
                                                       std::uint64_t previous,
                                                       std::uint64_t current, std::size_t keep) {
  RAG_ASSIGN_OR_RETURN(std::vector<std::uint64_t> numbers, ListGenerations(index));
  std::reverse(numbers.begin(), numbers.end());
  std::vector<std::uint64_t> superfluous;
  std::size_t kept = 0;
  for (const std::uint64_t number : numbers) {
    const bool was_current = number == current || number <= previous;
    if (was_current && kept < std::max<std::size_t>(keep, 1)) {
      ++kept;
    } else {
      superfluous.push_back(number);
    }
  }
  return superfluous;
}

// Bytes that removing `path`, a file or a folder, frees. What cannot be looked at counts as 0.
std::uint64_t BytesFreedBy(const fs::path& path) {
  std::error_code error;
  std::uint64_t bytes = 0;
  const auto add = [&](const fs::directory_entry& entry) {
    if (!entry.is_regular_file(error) || entry.is_symlink(error)) return;
    if (entry.hard_link_count(error) == 1) bytes += entry.file_size(error);
  };
  add(fs::directory_entry(path, error));
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    add(*it);
  }
  return bytes;
}

bool LocksExclusively(int fd, std::chrono::milliseconds wait, const std::atomic<bool>* cancel) {
  const auto deadline = std::chrono::steady_clock::now() + wait;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() >= deadline) return false;
    if (cancel != nullptr && cancel->load()) return false;
    std::this_thread::sleep_for(kLockPollInterval);
  }
  return true;
}

}  // namespace

std::string GenerationName(std::uint64_t number) {
  std::string digits = absl::StrCat(number);
  if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
  return absl::StrCat("gen-", digits);
}

absl::StatusOr<std::vector<std::uint64_t>> ListGenerations(const std::filesystem::path& index) {
  RAG_ASSIGN_OR_RETURN(const auto entries, ListFolder(index));
  std::vector<std::uint64_t> numbers;
  for (const fs::directory_entry& entry : entries) {
    const auto number = ParseGenerationName(entry.path().filename().string());
    if (number.has_value()) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

absl::StatusOr<std::uint64_t> ReadCurrent(const std::filesystem::path& index) {
  RAG_ASSIGN_OR_RETURN(std::uint64_t number, ReadCurrentNumber(index));
  for (int attempt = 0; attempt < kMissingFolderRetries; ++attempt) {
    std::error_code error;
    if (fs::is_directory(index / GenerationName(number), error)) return number;
    if (error && error != std::errc::no_such_file_or_directory) {
      return SystemError(index / GenerationName(number), "stat", error.value());
    }
    // A writer may have published and removed this generation since CURRENT was read.
    const std::uint64_t seen = number;
    RAG_ASSIGN_OR_RETURN(number, ReadCurrentNumber(index));
    if (number == seen) break;
  }
  return absl::DataLossError(absl::StrCat((index / kCurrentFile).string(), ": names ",
                                          GenerationName(number),
                                          ", which is missing; the index is damaged, rebuild it "
                                          "with rag-index build"));
}

absl::StatusOr<WriterLock> WriterLock::Acquire(const std::filesystem::path& index,
                                               std::chrono::milliseconds wait,
                                               const std::atomic<bool>* cancel) {
  RAG_RETURN_IF_ERROR(PrepareIndexFolder(index));
  const fs::path path = index / kLockFile;
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return SystemError(path, "open", errno);
  WriterLock lock(fd);
  if (!LocksExclusively(fd, wait, cancel)) {
    if (errno != EWOULDBLOCK) return SystemError(path, "lock", errno);
    if (cancel != nullptr && cancel->load()) {
      return absl::CancelledError("interrupted; the index is as it was");
    }
    return LockedByAnother(index, fd);
  }
  DescribeHolder(fd);
  return lock;
}

WriterLock::WriterLock(WriterLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

WriterLock& WriterLock::operator=(WriterLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

// LOCK stays: removing it would let two writers lock two files of that name.
WriterLock::~WriterLock() {
  if (fd_ >= 0) close(fd_);
}

GenerationBuilder::GenerationBuilder(std::filesystem::path index, std::filesystem::path folder,
                                     std::uint64_t number)
    : index_(std::move(index)), folder_(std::move(folder)), number_(number) {}

GenerationBuilder::GenerationBuilder(GenerationBuilder&& other) noexcept
    : index_(std::move(other.index_)),
      folder_(std::move(other.folder_)),
      number_(other.number_),
      armed_(std::exchange(other.armed_, false)),
      notes_(std::move(other.notes_)) {}

GenerationBuilder::~GenerationBuilder() {
  // A failure leaves the folder to the next Start().
  if (armed_) RemoveTree(folder_).IgnoreError();
}

absl::StatusOr<GenerationBuilder> GenerationBuilder::Start(const std::filesystem::path& index) {
  RAG_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> numbers, ListGenerations(index));
  std::uint64_t last = numbers.empty() ? 0 : numbers.back();
  // A damaged CURRENT is repaired by this build; the folders alone give the number then.
  const absl::StatusOr<std::uint64_t> current = ReadCurrentNumber(index);
  if (current.ok()) last = std::max(last, *current);
  if (last >= kMaxNumber) {
    return absl::ResourceExhaustedError(
        absl::StrCat(index.string(), ": no generation number is left after ", last));
  }
  const fs::path folder = index / kBuildingFolder;
  RAG_RETURN_IF_ERROR(RemoveTree(folder));
  std::error_code error;
  fs::create_directory(folder, error);
  if (error) return SystemError(folder, "make the folder", error.value());
  return GenerationBuilder(index, folder, last + 1);
}

absl::Status GenerationBuilder::Publish(std::size_t keep) {
  std::error_code error;
  if (!armed_ || !fs::exists(folder_ / kManifestFile, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(folder_.string(), ": published already, or without a manifest"));
  }
  // Without a CURRENT nothing was ever current; with a damaged one the numbers have to do.
  const absl::StatusOr<std::uint64_t> current = ReadCurrentNumber(index_);
  const std::uint64_t previous =
      current.ok() ? *current : (absl::IsNotFound(current.status()) ? 0 : number_ - 1);
  RAG_RETURN_IF_ERROR(SyncTree(folder_));
  const absl::Status status = MakeCurrent(previous);
  if (status.ok()) {
    armed_ = false;
    Prune(previous, keep);
    return status;
  }
  const absl::StatusOr<std::uint64_t> now = ReadCurrentNumber(index_);
  // Where it cannot be told what is current, nothing may be removed.
  armed_ = now.ok() ? *now != number_ : absl::IsNotFound(now.status());
  if (!now.ok() || *now != number_) return status;
  // The generations before stay: after a power cut one of them may be the current one again.
  notes_.push_back(absl::StrCat(
      status.message(), "; published, but a power cut may bring back the generation before"));
  return absl::OkStatus();
}

absl::Status GenerationBuilder::MakeCurrent(std::uint64_t previous) {
  const fs::path published = index_ / GenerationName(number_);
  std::error_code error;
  fs::rename(folder_, published, error);
  if (error) return SystemError(published, "rename the finished build to it", error.value());
  folder_ = published;
  // What was never current goes before CURRENT names a higher number: from then on it could not be
  // told from what was. Where no CURRENT says what was, nothing goes before this one is safe.
  if (previous != 0) {
    RAG_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> dead, Between(index_, previous, number_));
    // What fails here, Prune tries again and notes.
    for (const std::uint64_t dead_number : dead) {
      RemoveTree(index_ / GenerationName(dead_number)).IgnoreError();
    }
  }
  RAG_RETURN_IF_ERROR(SyncFolder(index_));
  return ReplaceFile(index_ / kCurrentFile, EncodeCurrent(number_));
}

void GenerationBuilder::Prune(std::uint64_t previous, std::size_t keep) {
  const auto note = [this](const absl::Status& status) {
    if (status.ok()) return;
    notes_.push_back(absl::StrCat(status.message(), "; rag-index gc removes what is left over"));
  };
  const absl::StatusOr<std::vector<std::uint64_t>> superfluous =
      Superfluous(index_, previous, number_, keep);
  note(superfluous.status());
  if (!superfluous.ok()) return;
  for (const std::uint64_t number : *superfluous) {
    note(RemoveTree(index_ / GenerationName(number)));
  }
}

absl::StatusOr<std::vector<RemovedFolder>> CollectGarbage(const std::filesystem::path& index,
                                                          std::size_t keep) {
  RAG_ASSIGN_OR_RETURN(const std::uint64_t current, ReadCurrent(index));
  RAG_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> superfluous,
                       Superfluous(index, current, current, keep));
  std::vector<std::string> names = {std::string(kBuildingFolder), std::string(kJournalFolder),
                                    std::string(kCurrentTemporary)};
  for (const std::uint64_t number : superfluous) names.push_back(GenerationName(number));
  std::vector<RemovedFolder> removed;
  for (const std::string& name : names) {
    std::error_code error;
    if (fs::symlink_status(index / name, error).type() == fs::file_type::not_found) continue;
    const std::uint64_t bytes = BytesFreedBy(index / name);
    RAG_RETURN_IF_ERROR(RemoveTree(index / name));
    removed.push_back({name, bytes});
  }
  if (!removed.empty()) RAG_RETURN_IF_ERROR(SyncFolder(index));
  return removed;
}

}  // namespace rag::storage
