#include "storage/record_writer.h"

#include <cstdarg>
#include <cstddef>
#include <exception>
#include <system_error>
#include <utility>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include "absl/strings/str_cat.h"
#include "formats/checksum.h"
#include "formats/keys.h"
#include "formats/status_macros.h"
#include "storage/family_digest.h"
#include "storage/file_io.h"

namespace rag::storage {
namespace {

namespace fs = std::filesystem;

// The SST files are written here and moved into the database by ingestion.
constexpr std::string_view kLoadFolder = "load";
constexpr std::size_t kBlockBytes = 16 * 1024;
// Of chunk groups, which are compressed when they come: a block is about one of them.
constexpr std::size_t kChunksBlockBytes = 4 * 1024;
// Of the small families, which every rebuild compresses again: so a level that is fast.
constexpr int kZstdLevel = 3;
// Forward segments alone are packed with LZ4: every query unpacks those of all the documents that
// it looks into (a third of its instructions with zstd), and half of their bytes are hashes, which
// no method makes smaller.
constexpr rocksdb::CompressionType kTermsCompression = rocksdb::kLZ4Compression;
// RocksDB keeps lengths in 32 bits.
constexpr std::size_t kMaxEntryBytes = std::size_t{1} << 30;

class DiscardingLogger final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

class UnsyncedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    return IOStatus::OK();
  }
  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    return IOStatus::OK();
  }
};

class UnsyncedFolder final : public rocksdb::FSDirectoryWrapper {
 public:
  using FSDirectoryWrapper::FSDirectoryWrapper;
  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    return IOStatus::OK();
  }
  IOStatus FsyncWithDirOptions(const IOOptions& /*options*/, IODebugContext* /*debug*/,
                               const rocksdb::DirFsyncOptions& /*why*/) override {
    return IOStatus::OK();
  }
};

// A store is worthless until its generation is published, and publishing syncs every file once.
// RocksDB would sync some 30 times on the way, most of them for files that are deleted at the end.
class UnsyncedFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  UnsyncedFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "UnsyncedFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* debug) override {
    return Wrapped(target()->NewWritableFile(name, options, file, debug), file);
  }
  IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                              IODebugContext* debug) override {
    return Wrapped(target()->ReopenWritableFile(name, options, file, debug), file);
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* folder,
                        IODebugContext* debug) override {
    IOStatus status = target()->NewDirectory(name, options, folder, debug);
    if (status.ok()) *folder = std::make_unique<UnsyncedFolder>(std::move(*folder));
    return status;
  }

 private:
  static IOStatus Wrapped(IOStatus status, std::unique_ptr<rocksdb::FSWritableFile>* file) {
    if (status.ok()) *file = std::make_unique<UnsyncedFile>(std::move(*file));
    return status;
  }
};

std::shared_ptr<rocksdb::TableFactory> MakeTables(std::size_t block_bytes) {
  rocksdb::BlockBasedTableOptions table;
  table.format_version = 5;
  table.block_size = block_bytes;
  // The first lookup reads one small piece of the index instead of all of it.
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  // No filter: nearly every key that is asked for exists.
  table.filter_policy = nullptr;
  table.cache_index_and_filter_blocks = true;
  table.checksum = rocksdb::kXXH3;
  return std::shared_ptr<rocksdb::TableFactory>(rocksdb::NewBlockBasedTableFactory(table));
}

rocksdb::Options MakeOptions(rocksdb::Env* env) {
  rocksdb::Options options;
  options.env = env;
  options.table_factory = MakeTables(kBlockBytes);
  options.compression = rocksdb::kZSTD;
  options.compression_opts.level = kZstdLevel;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.disable_auto_compactions = true;
  options.max_file_opening_threads = 1;  // of its 16 threads, none would have work
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  // The host's name would make equal stores differ between machines.
  options.db_host_id = "";
  options.info_log = std::make_shared<DiscardingLogger>();
  return options;
}

absl::Status ToStatus(const rocksdb::Status& status, const fs::path& folder,
                      std::string_view what) {
  if (status.ok()) return absl::OkStatus();
  const std::string place =
      absl::StrCat(folder.string(), ": ", absl::string_view(what.data(), what.size()));
  if (status.IsNoSpace()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(place, ": disk full: ", status.ToString(), "; make room and try again"));
  }
  return absl::InternalError(absl::StrCat(place, ": ", status.ToString()));
}

rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

// Closes the database in every case; a destructor could not report the error.
class LoadedDatabase {
 public:
  ~LoadedDatabase() { Close(); }

  rocksdb::Status Open(const rocksdb::Options& options, const fs::path& folder) {
    rocksdb::DB* database = nullptr;
    rocksdb::Status status = rocksdb::DB::Open(options, folder.string(), &database);
    database_.reset(database);
    if (!status.ok()) return status;
    // All at once: DB::Open would write and sync an OPTIONS file for each family.
    const std::vector<std::string> names(kRecordFamilies.begin(), kRecordFamilies.end());
    return database_->CreateColumnFamilies(options, names, &handles_);
  }

  // `file` holds all the keys of kRecordFamilies[family].
  void Add(std::size_t family, const fs::path& file) {
    rocksdb::IngestExternalFileArg argument;
    argument.column_family = handles_[family];
    argument.external_files = {file.string()};
    argument.options.move_files = true;
    argument.options.snapshot_consistency = false;
    argument.options.allow_global_seqno = false;
    argument.options.write_global_seqno = false;
    arguments_.push_back(std::move(argument));
  }

  rocksdb::Status Ingest() {
    return arguments_.empty() ? rocksdb::Status::OK() : database_->IngestExternalFiles(arguments_);
  }

  rocksdb::Status Close() {
    if (database_ == nullptr) return rocksdb::Status::OK();
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      // Frees the handle; fails for the default family's only, which is not among them.
      database_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
    handles_.clear();
    rocksdb::Status status = database_->Close();
    database_.reset();
    return status;
  }

 private:
  std::unique_ptr<rocksdb::DB> database_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;  // of kRecordFamilies
  std::vector<rocksdb::IngestExternalFileArg> arguments_;
};

struct Family {
  std::string name;
  fs::path file;
  std::unique_ptr<rocksdb::SstFileWriter> sst;  // null until the first key
  std::string last_key;
  FamilyDigest digest;
};

class SstRecordWriter final : public RecordWriter {
 public:
  explicit SstRecordWriter(fs::path folder)
      : folder_(std::move(folder)),
        env_(rocksdb::NewCompositeEnv(std::make_shared<UnsyncedFileSystem>())),
        options_(MakeOptions(env_.get())) {
    for (const std::string_view name : kRecordFamilies) {
      Family& family = families_.emplace_back();
      family.name = name;
      family.file = folder_ / kLoadFolder / absl::StrCat(family.name, ".sst");
    }
  }

  absl::Status Put(std::string_view family, std::string_view key, std::string_view value) override;
  absl::StatusOr<std::map<std::string, FamilyInfo>> Finish() override;

 private:
  absl::Status CheckOrder(const Family& family, std::string_view key, std::string_view value) const;
  absl::Status Write(Family& family, std::string_view key, std::string_view value);
  absl::Status Load();
  absl::Status RemoveUnneeded() const;

  fs::path folder_;
  std::unique_ptr<rocksdb::Env> env_;  // outlives every use of options_
  rocksdb::Options options_;
  std::vector<Family> families_;
  absl::Status state_;  // the first error of an engine, or that Finish() was called
};

absl::Status SstRecordWriter::Put(std::string_view family, std::string_view key,
                                  std::string_view value) {
  RAG_RETURN_IF_ERROR(state_);
  for (Family& candidate : families_) {
    if (candidate.name != family) continue;
    RAG_RETURN_IF_ERROR(CheckOrder(candidate, key, value));
    state_ = Write(candidate, key, value);
    return state_;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(folder_.string(), ": no record family is named ", std::string(family)));
}

absl::Status SstRecordWriter::CheckOrder(const Family& family, std::string_view key,
                                         std::string_view value) const {
  if (key.size() > kMaxEntryBytes || value.size() > kMaxEntryBytes - key.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(folder_.string(), ": ", family.name, ": a record may have ", kMaxEntryBytes,
                     " bytes, this one has ", key.size(), " + ", value.size()));
  }
  if (family.digest.num_keys() == 0 || family.last_key < key) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(folder_.string(), ": ", family.name, ": key ",
                                                 formats::ToHex(key), " does not follow ",
                                                 formats::ToHex(family.last_key)));
}

absl::Status SstRecordWriter::Write(Family& family, std::string_view key, std::string_view value) {
  if (family.sst == nullptr) {
    rocksdb::Options options = options_;
    if (family.name == formats::kTermsFamily) options.compression = kTermsCompression;
    if (family.name == formats::kChunksFamily) {
      options.compression = rocksdb::kNoCompression;
      options.table_factory = MakeTables(kChunksBlockBytes);
    }
    // The page cache is kept: the files are read again for their checksums.
    family.sst = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(), options, nullptr,
                                                          /*invalidate_page_cache=*/false);
    RAG_RETURN_IF_ERROR(ToStatus(family.sst->Open(family.file.string()), folder_, family.name));
  }
  RAG_RETURN_IF_ERROR(
      ToStatus(family.sst->Put(ToSlice(key), ToSlice(value)), folder_, family.name));
  family.last_key = key;
  family.digest.Add(key, value);
  return absl::OkStatus();
}

absl::StatusOr<std::map<std::string, RecordWriter::FamilyInfo>> SstRecordWriter::Finish() {
  RAG_RETURN_IF_ERROR(state_);
  state_ = absl::InvalidArgumentError(absl::StrCat(folder_.string(), ": finished already"));
  try {
    RAG_RETURN_IF_ERROR(Load());
  } catch (const std::exception& failure) {  // e.g. std::system_error: no thread to be had
    return absl::InternalError(absl::StrCat(
        folder_.string(), ": RocksDB: ", failure.what(),
        "; memory or threads may be short, raise their limits (ulimit -v, ulimit -u)"));
  }
  RAG_RETURN_IF_ERROR(RemoveUnneeded());
  std::map<std::string, FamilyInfo> result;
  for (const Family& family : families_) {
    result[family.name] = FamilyInfo{family.digest.num_keys(), family.digest.Hex()};
  }
  return result;
}

absl::Status SstRecordWriter::Load() {
  for (Family& family : families_) {
    if (family.sst == nullptr) continue;
    RAG_RETURN_IF_ERROR(ToStatus(family.sst->Finish(), folder_, family.name));
  }
  LoadedDatabase database;
  RAG_RETURN_IF_ERROR(ToStatus(database.Open(options_, folder_), folder_, "create"));
  for (std::size_t i = 0; i < families_.size(); ++i) {
    if (families_[i].sst != nullptr) database.Add(i, families_[i].file);
  }
  RAG_RETURN_IF_ERROR(ToStatus(database.Ingest(), folder_, "ingest"));
  return ToStatus(database.Close(), folder_, "close");
}

// The write-ahead log is among what goes: ingestion bypasses it, so it is empty.
absl::Status SstRecordWriter::RemoveUnneeded() const {
  std::error_code error;
  std::vector<fs::path> unneeded;
  for (fs::directory_iterator it(folder_, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool needed =
        name == "CURRENT" || name.rfind("MANIFEST-", 0) == 0 || it->path().extension() == ".sst";
    if (!needed) unneeded.push_back(it->path());
  }
  if (error) return SystemError(folder_, "list", error.value());
  for (const fs::path& path : unneeded) {
    fs::remove_all(path, error);
    if (error) return SystemError(path, "remove", error.value());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordWriter>> RecordWriter::Create(
    const std::filesystem::path& folder) {
  std::error_code error;
  if (!fs::create_directory(folder, error) && !error) {
    return absl::InvalidArgumentError(absl::StrCat(folder.string(), ": exists already"));
  }
  if (!error) fs::create_directory(folder / kLoadFolder, error);
  if (error) return SystemError(folder, "make the folder", error.value());
  return std::make_unique<SstRecordWriter>(folder);
}

}  // namespace rag::storage
