#include "storage/record_reader.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstddef>
#include <exception>
#include <system_error>
#include <utility>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/metadata.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>

#include "absl/strings/str_cat.h"
#include "formats/checksum.h"
#include "formats/coding.h"
#include "formats/status_macros.h"
#include "storage/file_io.h"
#include "storage/record_writer.h"

namespace rag::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockCacheBytes = 8 << 20;
// Above the number of SST files, so that each is opened once and readers survive their deletion.
constexpr int kMaxOpenFiles = 64;
// Values that MultiVisit holds: enough to share blocks, few enough to use the same memory again.
constexpr std::size_t kVisitedAtOnce = 8;
// Of RocksDB's table format, version 5.
constexpr std::size_t kFooterBytes = 53;
constexpr std::uint64_t kBlockTrailerBytes = 5;
// Room for the footer and the metaindex block, which names a handful of blocks.
constexpr std::uint64_t kTailBytes = 1024;
constexpr absl::string_view kRemedy = "; the index is damaged, rebuild it with rag-index build";
constexpr absl::string_view kVerifyTells = "; rag-index verify tells whether the index is damaged";

class DiscardingLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

// The default environment without its threads, which even a read-only open starts.
class ThreadlessEnv final : public rocksdb::EnvWrapper {
 public:
  ThreadlessEnv() : rocksdb::EnvWrapper(rocksdb::Env::Default()) {}
  const char* Name() const override { return "ThreadlessEnv"; }
  void SetBackgroundThreads(int /*number*/, Priority /*priority*/) override {}
  void IncBackgroundThreadsIfNeeded(int /*number*/, Priority /*priority*/) override {}
};

// Measured with six families and 200k chunks: opening takes 1.1 ms of CPU and starts no thread;
// with RocksDB's defaults 19 ms or more, and 18 threads.
rocksdb::Options MakeOptions(rocksdb::Env* env) {
  rocksdb::LRUCacheOptions cache;
  cache.capacity = kBlockCacheBytes;
  cache.num_shard_bits = 0;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(cache);
  table.cache_index_and_filter_blocks = true;
  table.max_auto_readahead_size = 0;
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.env = env;
  options.info_log = std::make_shared<DiscardingLogger>();
  options.paranoid_checks = true;
  options.max_open_files = kMaxOpenFiles;
  options.max_file_opening_threads = 1;
  options.table_cache_numshardbits = 0;
  options.skip_checking_sst_file_sizes_on_db_open = true;
  options.skip_stats_update_on_db_open = true;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.db_host_id = "";
  return options;
}

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }
rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// The first key after all keys with the prefix; empty when there is none.
std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (!end.empty()) ++end.back();
  return end;
}

// `place` begins with the folder.
absl::Status ToStatus(const rocksdb::Status& status, const std::string& place) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = absl::StrCat(place, ": ", status.ToString());
  if (status.IsNoSpace()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(place, ": disk full: ", status.ToString(), "; make room and try again"));
  }
  // A missing file or column family is damage too: the writer made them all.
  if (status.IsCorruption() || status.IsPathNotFound() || status.IsInvalidArgument()) {
    return absl::DataLossError(absl::StrCat(message, kRemedy));
  }
  // Of all errors of the system RocksDB tells apart only a full disk and a missing file.
  return absl::InternalError(absl::StrCat(message, kVerifyTells));
}

// RocksDB reads the restart count of a table's properties block before it compares the checksum,
// and the count's top bit (in a data block: there is a hash index) fails an assertion of Debian's
// build, which ends the process. All other damage is met by a checksum in time: tried for every
// byte. The properties are the last block before the metaindex block, whose offset is the footer's
// first number (https://github.com/facebook/rocksdb/wiki/Rocksdb-BlockBasedTable-Format).
absl::Status CheckPropertiesBlock(const fs::path& table) {
  RAG_ASSIGN_OR_RETURN(const std::string tail, ReadSuffix(table, kTailBytes));
  std::error_code error;
  const std::uint64_t tail_start = fs::file_size(table, error) - tail.size();
  if (error) return SystemError(table, "stat", error.value());
  const std::size_t footer_start = tail.size() - std::min(tail.size(), kFooterBytes);
  formats::ByteReader footer(std::string_view(tail).substr(footer_start), "footer");
  footer.Fixed8();  // the type of the checksums
  const std::uint64_t metaindex = footer.Varint();
  // Before it come the block's trailer and the count, whose top byte is the last.
  constexpr std::uint64_t kTopByteBefore = kBlockTrailerBytes + 1;
  if (footer.ok() && metaindex >= tail_start + kTopByteBefore &&
      metaindex <= tail_start + footer_start) {
    const char top_byte = tail[metaindex - kTopByteBefore - tail_start];
    if ((static_cast<unsigned char>(top_byte) & 0x80U) == 0) return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(table.string(), ": damaged at its end", kRemedy));
}

absl::Status CheckTables(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    if (it->path().extension() == ".sst") RAG_RETURN_IF_ERROR(CheckPropertiesBlock(it->path()));
  }
  if (!error) return absl::OkStatus();
  const absl::Status status = SystemError(folder, "list", error.value());
  return absl::IsNotFound(status)
             ? absl::DataLossError(absl::StrCat(std::string(status.message()), kRemedy))
             : status;
}

// Turns what RocksDB throws (std::bad_alloc of a damaged length, std::system_error) into a status.
template <typename Work>
auto WithoutThrowing(const fs::path& folder, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& failure) {
    return absl::InternalError(
        absl::StrCat(folder.string(), ": RocksDB: ", failure.what(), kVerifyTells));
  }
}

class RocksRecordCursor final : public RecordCursor {
 public:
  RocksRecordCursor(fs::path folder, std::string place, std::unique_ptr<rocksdb::Iterator> it)
      : folder_(std::move(folder)), place_(std::move(place)), it_(std::move(it)) {
    Move([this] { it_->SeekToFirst(); });
  }
  [[nodiscard]] bool Valid() const override { return status_.ok() && it_->Valid(); }
  [[nodiscard]] std::string_view key() const override { return ToView(it_->key()); }
  [[nodiscard]] std::string_view value() const override { return ToView(it_->value()); }
  void Next() override {
    Move([this] { it_->Next(); });
  }
  void Seek(std::string_view key) override {
    Move([this, key] { it_->Seek(ToSlice(key)); });
  }
  [[nodiscard]] absl::Status status() const override { return status_; }

 private:
  template <typename Step>
  void Move(Step step) {
    status_ = WithoutThrowing(folder_, [&]() -> absl::Status {
      step();
      return it_->Valid() ? absl::OkStatus() : ToStatus(it_->status(), place_);
    });
  }

  fs::path folder_;
  std::string place_;
  std::unique_ptr<rocksdb::Iterator> it_;
  absl::Status status_;
};

class RocksRecordReader final : public RecordReader {
 public:
  explicit RocksRecordReader(fs::path folder) : folder_(std::move(folder)) {
    read_options_.verify_checksums = true;
  }
  ~RocksRecordReader() override {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      // Frees the handle; a read-only database has nothing that could fail.
      database_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
  }

  absl::Status OpenDatabase();
  absl::StatusOr<std::string> Get(std::string_view family, std::string_view key) const override;
  absl::Status MultiVisit(
      std::string_view family, std::span<const std::string> keys,
      const std::function<absl::Status(std::size_t, std::string_view)>& visit) const override;
  absl::Status Scan(
      std::string_view family, std::string_view prefix,
      const std::function<absl::Status(std::string_view, std::string_view)>& visit) const override;
  absl::StatusOr<std::unique_ptr<RecordCursor>> NewCursor(std::string_view family) const override;
  absl::StatusOr<FamilySize> SizeOf(std::string_view family) const override;

 private:
  [[nodiscard]] std::string Place(std::string_view family) const {
    return absl::StrCat(folder_.string(), ": ", View(family));
  }
  [[nodiscard]] std::string Place(std::string_view family, std::string_view key) const {
    return absl::StrCat(Place(family), ": key ", formats::ToHex(key));
  }
  [[nodiscard]] absl::StatusOr<rocksdb::ColumnFamilyHandle*> Find(std::string_view family) const;

  fs::path folder_;
  ThreadlessEnv env_;  // outlives the database
  rocksdb::ReadOptions read_options_;
  std::unique_ptr<rocksdb::DB> database_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;  // "default", then kRecordFamilies
};

absl::Status RocksRecordReader::OpenDatabase() {
  RAG_RETURN_IF_ERROR(CheckTables(folder_));
  const rocksdb::Options options = MakeOptions(&env_);
  std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, options}};
  for (const std::string_view family : kRecordFamilies) {
    families.emplace_back(std::string(family), options);
  }
  rocksdb::DB* database = nullptr;
  // A write-ahead log is refused: the writer leaves none, and its records would be taken as ours.
  const rocksdb::Status status =
      rocksdb::DB::OpenForReadOnly(options, folder_.string(), families, &handles_, &database,
                                   /*error_if_wal_file_exists=*/true);
  database_.reset(database);
  return ToStatus(status, folder_.string());
}

absl::StatusOr<rocksdb::ColumnFamilyHandle*> RocksRecordReader::Find(
    std::string_view family) const {
  for (std::size_t i = 0; i < kRecordFamilies.size(); ++i) {
    if (kRecordFamilies[i] == family) return handles_[i + 1];
  }
  return absl::InvalidArgumentError(
      absl::StrCat(folder_.string(), ": no record family is named ", View(family)));
}

absl::StatusOr<std::string> RocksRecordReader::Get(std::string_view family,
                                                   std::string_view key) const {
  RAG_ASSIGN_OR_RETURN(rocksdb::ColumnFamilyHandle* const handle, Find(family));
  return WithoutThrowing(folder_, [&]() -> absl::StatusOr<std::string> {
    rocksdb::PinnableSlice value;
    const rocksdb::Status status = database_->Get(read_options_, handle, ToSlice(key), &value);
    if (status.IsNotFound()) {
      return absl::NotFoundError(absl::StrCat(Place(family, key), ": no such key"));
    }
    RAG_RETURN_IF_ERROR(ToStatus(status, Place(family, key)));
    return value.ToString();
  });
}

absl::Status RocksRecordReader::MultiVisit(
    std::string_view family, std::span<const std::string> keys,
    const std::function<absl::Status(std::size_t, std::string_view)>& visit) const {
  RAG_ASSIGN_OR_RETURN(rocksdb::ColumnFamilyHandle* const handle, Find(family));
  return WithoutThrowing(folder_, [&]() -> absl::Status {
    std::array<rocksdb::Slice, kVisitedAtOnce> slices;
    std::array<rocksdb::PinnableSlice, kVisitedAtOnce> found;
    std::array<rocksdb::Status, kVisitedAtOnce> statuses;
    for (std::size_t first = 0; first < keys.size(); first += kVisitedAtOnce) {
      const std::size_t count = std::min(keys.size() - first, kVisitedAtOnce);
      for (std::size_t i = 0; i < count; ++i) slices[i] = ToSlice(keys[first + i]);
      database_->MultiGet(read_options_, handle, count, slices.data(), found.data(),
                          statuses.data());
      for (std::size_t i = 0; i < count; ++i) {
        const std::string& key = keys[first + i];
        if (statuses[i].IsNotFound()) {
          return absl::DataLossError(
              absl::StrCat(Place(family, key), ": the record is missing", kRemedy));
        }
        RAG_RETURN_IF_ERROR(ToStatus(statuses[i], Place(family, key)));
        RAG_RETURN_IF_ERROR(visit(first + i, ToView(found[i])));
        found[i].Reset();
      }
    }
    return absl::OkStatus();
  });
}

absl::Status RocksRecordReader::Scan(
    std::string_view family, std::string_view prefix,
    const std::function<absl::Status(std::string_view, std::string_view)>& visit) const {
  RAG_ASSIGN_OR_RETURN(rocksdb::ColumnFamilyHandle* const handle, Find(family));
  return WithoutThrowing(folder_, [&]() -> absl::Status {
    const std::string end = PrefixEnd(prefix);
    const rocksdb::Slice bound(end);
    rocksdb::ReadOptions options = read_options_;
    options.fill_cache = false;  // a scan passes each block once
    if (!end.empty()) options.iterate_upper_bound = &bound;
    const std::unique_ptr<rocksdb::Iterator> it(database_->NewIterator(options, handle));
    std::string last_key(prefix);  // where damage was met
    for (it->Seek(ToSlice(prefix)); it->Valid(); it->Next()) {
      last_key.assign(it->key().data(), it->key().size());
      RAG_RETURN_IF_ERROR(visit(last_key, ToView(it->value())));
    }
    return ToStatus(it->status(), Place(family, last_key));
  });
}

absl::StatusOr<std::unique_ptr<RecordCursor>> RocksRecordReader::NewCursor(
    std::string_view family) const {
  RAG_ASSIGN_OR_RETURN(rocksdb::ColumnFamilyHandle* const handle, Find(family));
  return WithoutThrowing(folder_, [&]() -> absl::StatusOr<std::unique_ptr<RecordCursor>> {
    rocksdb::ReadOptions options = read_options_;
    options.fill_cache = false;  // as in Scan
    std::unique_ptr<rocksdb::Iterator> it(database_->NewIterator(options, handle));
    return std::make_unique<RocksRecordCursor>(folder_, Place(family), std::move(it));
  });
}

absl::StatusOr<FamilySize> RocksRecordReader::SizeOf(std::string_view family) const {
  RAG_ASSIGN_OR_RETURN(rocksdb::ColumnFamilyHandle* const handle, Find(family));
  return WithoutThrowing(folder_, [&]() -> absl::StatusOr<FamilySize> {
    rocksdb::ColumnFamilyMetaData files;
    database_->GetColumnFamilyMetaData(handle, &files);
    rocksdb::TablePropertiesCollection tables;
    RAG_RETURN_IF_ERROR(
        ToStatus(database_->GetPropertiesOfAllTables(handle, &tables), Place(family)));
    FamilySize size{.file_bytes = files.size};
    for (const auto& [name, properties] : tables) {
      size.raw_bytes += properties->raw_key_size + properties->raw_value_size;
    }
    return size;
  });
}

}  // namespace

absl::StatusOr<std::vector<std::string>> RecordReader::MultiGet(
    std::string_view family, std::span<const std::string> keys) const {
  std::vector<std::string> values;
  values.reserve(keys.size());
  RAG_RETURN_IF_ERROR(MultiVisit(family, keys, [&values](std::size_t, std::string_view value) {
    values.emplace_back(value);
    return absl::OkStatus();
  }));
  return values;
}

absl::StatusOr<std::unique_ptr<RecordReader>> RecordReader::Open(
    const std::filesystem::path& folder) {
  auto reader = std::make_unique<RocksRecordReader>(folder);
  RAG_RETURN_IF_ERROR(
      WithoutThrowing(folder, [&]() -> absl::Status { return reader->OpenDatabase(); }));
  return reader;
}

}  // namespace rag::storage
