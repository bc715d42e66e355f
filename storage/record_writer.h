// Bulk load of the record store: one SST file per column family, written in key order and ingested
// into a fresh RocksDB that is then closed for good. RocksDB stays inside the .cc. FORMAT.md,
// "records/".
#ifndef STORAGE_RECORD_WRITER_H_
#define STORAGE_RECORD_WRITER_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/keys.h"

namespace rag::storage {

// The column families of every record store.
inline constexpr std::array<std::string_view, 6> kRecordFamilies = {
    formats::kDocumentsFamily, formats::kSourcesFamily,   formats::kParentsFamily,
    formats::kChunksFamily,    formats::kSummariesFamily, formats::kTermsFamily};

// Memory: a block and the block index of each family. Files are not synced:
// GenerationBuilder::Publish does that. Threads: one thread.
class RecordWriter {
 public:
  // Makes `folder` (which must not exist: INVALID_ARGUMENT) with one empty column family per name
  // in formats/keys.h.
  static absl::StatusOr<std::unique_ptr<RecordWriter>> Create(const std::filesystem::path& folder);
  virtual ~RecordWriter() = default;

  // Keys of one family must ascend strictly: INVALID_ARGUMENT otherwise (RocksDB would abort), and
  // nothing is written. After any other error the store cannot be finished.
  virtual absl::Status Put(std::string_view family, std::string_view key,
                           std::string_view value) = 0;

  // What was written, for the manifest: number of keys, and XXH3-128 over (varint key length, key,
  // varint value length, value) of every entry in key order.
  struct FamilyInfo {
    std::uint64_t num_keys = 0;
    std::string digest;
  };
  // Ingests, closes, deletes what a reader does not need (all but CURRENT, MANIFEST-* and *.sst).
  // Every family is in the result. Call once.
  virtual absl::StatusOr<std::map<std::string, FamilyInfo>> Finish() = 0;
};

}  // namespace rag::storage

#endif  // STORAGE_RECORD_WRITER_H_
