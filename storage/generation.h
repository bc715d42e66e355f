// The index folder: CURRENT, LOCK and the generations. FORMAT.md, "The index folder".
//
//   INDEX/CURRENT       "gen-000007 <xxh3 of the name>\n", replaced atomically
//   INDEX/LOCK          flock by a writer, with its pid and since when; the kernel drops the lock
//                       with the process
//   INDEX/gen-000007/   a published generation, never changed in place
//   INDEX/building/     what a build writes before it is renamed to gen-NNNNNN
//   INDEX/journal/      what a build has finished, for the next one should it die
#ifndef STORAGE_GENERATION_H_
#define STORAGE_GENERATION_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rag::storage {

inline constexpr std::string_view kJournalFolder = "journal";

// "gen-000007". Numbers start at 1 and are never used twice.
std::string GenerationName(std::uint64_t number);

// The generation that CURRENT names. NOT_FOUND: no index there (no folder, no CURRENT).
// DATA_LOSS: CURRENT is damaged or names a missing folder. PERMISSION_DENIED.
absl::StatusOr<std::uint64_t> ReadCurrent(const std::filesystem::path& index);

// Numbers of the published generations, ascending; also those that a dead build never made current.
// NOT_FOUND when there is no such folder.
absl::StatusOr<std::vector<std::uint64_t>> ListGenerations(const std::filesystem::path& index);

// The right to write one index: an exclusive flock on INDEX/LOCK, held until destruction.
// Threads: one thread.
class WriterLock {
 public:
  // Makes the folder when it does not exist. INVALID_ARGUMENT when `index` is a file, or a
  // non-empty folder that is no index, so that a build never removes files of others. UNAVAILABLE
  // when another process holds the lock for all of `wait`; the message has its pid and since when.
  // CANCELLED when `cancel`, which may be null, turns true meanwhile.
  static absl::StatusOr<WriterLock> Acquire(const std::filesystem::path& index,
                                            std::chrono::milliseconds wait = {},
                                            const std::atomic<bool>* cancel = nullptr);
  WriterLock(WriterLock&& other) noexcept;
  WriterLock& operator=(WriterLock&& other) noexcept;
  ~WriterLock();

 private:
  explicit WriterLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

// A generation under construction. The caller writes files into folder(), then Publish().
// Threads: one thread. REQUIRES: the WriterLock is held.
class GenerationBuilder {
 public:
  // Removes what a dead build left in INDEX/building and makes it anew.
  static absl::StatusOr<GenerationBuilder> Start(const std::filesystem::path& index);
  GenerationBuilder(GenerationBuilder&& other) noexcept;
  GenerationBuilder& operator=(GenerationBuilder&&) = delete;
  // Removes the folder when it was not published.
  ~GenerationBuilder();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }

  // Fsyncs every file and folder, renames to gen-NNNNNN, replaces CURRENT, and removes all but the
  // last `keep` generations (at least 1) that were ever current. folder() is then the published
  // one. OK when the generation is current, whatever fails after that; see notes(). Otherwise the
  // index is as it was. Call once. REQUIRES: MANIFEST.json is in place (INVALID_ARGUMENT).
  absl::Status Publish(std::size_t keep);
  // What failed after the generation had become current, a line each.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  GenerationBuilder(std::filesystem::path index, std::filesystem::path folder,
                    std::uint64_t number);
  // Renames and replaces CURRENT. `previous`: what it names so far; 0 for nothing.
  absl::Status MakeCurrent(std::uint64_t previous);
  // As far as possible; what is not, is noted.
  void Prune(std::uint64_t previous, std::size_t keep);

  std::filesystem::path index_;
  std::filesystem::path folder_;
  std::uint64_t number_ = 0;
  bool armed_ = true;
  std::vector<std::string> notes_;
};

struct RemovedFolder {
  std::string name;         // in the index
  std::uint64_t bytes = 0;  // of files that are gone now, so not of those that another name holds
};
// Removes what a dead build left, and all but the last `keep` (at least 1) generations; never the
// current one. NOT_FOUND and DATA_LOSS of CURRENT: nothing is removed. REQUIRES: the WriterLock is
// held.
absl::StatusOr<std::vector<RemovedFolder>> CollectGarbage(const std::filesystem::path& index,
                                                          std::size_t keep);

}  // namespace rag::storage

#endif  // STORAGE_GENERATION_H_
