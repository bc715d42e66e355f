// What a build has finished, kept beside the index: the next build after a crash goes on from it.
#ifndef INDEXER_JOURNAL_H_
#define INDEXER_JOURNAL_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace rag::indexer {

// A file of (key, value) entries that only grows. It survives the death of the process; after a
// power cut it may hold less or damaged entries, which their checksums tell. An entry is
//   u32le size of the key, u64le size of the value, u64le XXH3-64 of both sizes and the key,
//   key, value, u64le XXH3-64 of the value
// behind 16 bytes: "RAGJRNL1" and the XXH3-64 of the purpose. Threads: all methods may run
// concurrently.
class Journal {
 public:
  // Takes over what a dead build with the same purpose left (everything that gives values their
  // meaning belongs in `purpose`), up to the first damaged entry; else begins anew.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(const std::filesystem::path& path,
                                                       std::string_view purpose);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Entries that a dead build left.
  [[nodiscard]] std::size_t num_recovered() const { return num_recovered_; }
  // Where the last entry with that key is. Entries with an empty key are found by their place only.
  [[nodiscard]] std::optional<std::uint64_t> Find(std::string_view key) const;
  // Returns where the entry is. RESOURCE_EXHAUSTED: disk full.
  absl::StatusOr<std::uint64_t> Append(std::string_view key, std::string_view value);
  // The value of an entry. DATA_LOSS when it is damaged.
  [[nodiscard]] absl::StatusOr<std::string> Read(std::uint64_t entry) const;

 private:
  struct EntryHead;
  Journal(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}
  // Fills `entries_` and `end_` from the file.
  absl::Status Recover(std::string_view start);
  [[nodiscard]] absl::Status ReadAt(std::uint64_t offset, std::size_t size, char* to) const;
  absl::Status WriteAt(std::uint64_t offset, std::string_view bytes);

  std::filesystem::path path_;
  int fd_;
  std::size_t num_recovered_ = 0;
  mutable std::mutex mutex_;  // of what follows
  std::uint64_t end_ = 0;
  absl::flat_hash_map<std::string, std::uint64_t> entries_;
};

}  // namespace rag::indexer

#endif  // INDEXER_JOURNAL_H_
