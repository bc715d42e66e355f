#include "storage/index_reader.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "formats/chunk_group.h"
#include "formats/keys.h"
#include "formats/status_macros.h"
#include "storage/generation.h"

namespace rag::storage {
namespace {

namespace fs = std::filesystem;

const formats::FileEntry* FindFile(const formats::Manifest& manifest, std::string_view path) {
  for (const formats::FileEntry& entry : manifest.files) {
    if (entry.path == path) return &entry;
  }
  return nullptr;
}

absl::Status Damaged(const fs::path& path, const std::string& what) {
  return absl::DataLossError(absl::StrCat(
      path.string(), ": ", what, "; the index is damaged, rebuild it with rag-index build"));
}

absl::Status RequireFile(const fs::path& folder, const formats::Manifest& manifest,
                         std::string_view path) {
  if (FindFile(manifest, path) != nullptr) return absl::OkStatus();
  return Damaged(folder / kManifestFile, absl::StrCat("names no file ", std::string(path)));
}

bool IsChunkShard(std::string_view path) {
  return path.starts_with("chunks-") && path.ends_with(".faiss");
}

std::vector<std::string> ItemKeys(std::span<const IndexReader::ChunkRef> refs) {
  std::vector<std::string> keys;
  keys.reserve(refs.size());
  for (const IndexReader::ChunkRef& ref : refs) {
    keys.push_back(formats::ItemKey(ref.document, ref.chunk));
  }
  return keys;
}

// Sizes that a query takes memory by.
absl::Status CheckBuildParams(const formats::Manifest& manifest, const VectorFile& documents,
                              const fs::path& path) {
  const formats::BuildParams& build = manifest.build;
  if (build.shard_documents == 0) {
    return Damaged(path, "build.shard_documents is 0");
  }
  if (build.document_dim != documents.dim()) {
    return Damaged(path, absl::StrCat("build.document_dim is ", build.document_dim,
                                      ", vectors of documents have ", documents.dim()));
  }
  if (build.chunk_dim == 0 || build.chunk_dim > kMaxVectorDim) {
    return Damaged(path, absl::StrCat("build.chunk_dim is ", build.chunk_dim,
                                      ", possible are 1 to ", kMaxVectorDim));
  }
  return absl::OkStatus();
}

// Chunks of one group that are wanted: their number in the group and their place in the result.
struct WantedGroup {
  std::uint32_t document = 0;
  std::uint32_t group = 0;
  std::vector<std::pair<std::uint32_t, std::size_t>> chunks;
};

// In key order.
absl::StatusOr<std::vector<WantedGroup>> GroupsOf(const fs::path& folder,
                                                  std::span<const IndexReader::ChunkRef> refs,
                                                  std::span<const std::uint32_t> chunks_per_group) {
  std::vector<std::size_t> order(refs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&refs](std::size_t a, std::size_t b) { return refs[a] < refs[b]; });
  std::vector<WantedGroup> groups;
  for (const std::size_t i : order) {
    const auto [document, chunk] = refs[i];
    if (chunks_per_group[i] == 0) {
      return Damaged(folder, absl::StrCat("document ", document, ": has no chunks"));
    }
    const std::uint32_t group = chunk / chunks_per_group[i];
    if (groups.empty() || groups.back().document != document || groups.back().group != group) {
      groups.push_back({document, group, {}});
    }
    groups.back().chunks.emplace_back(chunk % chunks_per_group[i], i);
  }
  return groups;
}

absl::Status TakeChunks(std::string_view bytes, const WantedGroup& group,
                        std::vector<formats::ChunkRecord>& records) {
  RAG_ASSIGN_OR_RETURN(const formats::ChunkGroupView view, formats::ChunkGroupView::Parse(bytes));
  for (const auto& [chunk, place] : group.chunks) {
    if (chunk >= view.num_chunks()) {
      return absl::DataLossError(
          absl::StrCat("has ", view.num_chunks(), " chunks, there is no ", chunk));
    }
    RAG_ASSIGN_OR_RETURN(records[place], view.chunk(chunk));
  }
  return absl::OkStatus();
}

}  // namespace

std::string ChunkShardFile(std::uint32_t shard) {
  return absl::StrFormat("chunks-%04d.faiss", shard);
}

absl::StatusOr<formats::Manifest> ReadManifest(const fs::path& index, std::uint64_t number) {
  const fs::path path = index / GenerationName(number) / kManifestFile;
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (absl::IsNotFound(text.status())) {
    return Damaged(path, "missing");
  }
  RAG_RETURN_IF_ERROR(text.status());
  RAG_ASSIGN_OR_RETURN(formats::Manifest manifest, formats::DecodeManifest(*text, path.string()));
  if (manifest.generation != number) {
    return Damaged(
        path, absl::StrCat("is of generation ", manifest.generation, ", the folder is ", number));
  }
  return manifest;
}

absl::StatusOr<std::unique_ptr<IndexReader>> IndexReader::Open(const fs::path& index,
                                                               const OpenOptions& options) {
  // A generation may be pruned between reading its number and opening its files, by builds that
  // publish meanwhile. Then CURRENT names another one.
  std::uint64_t failed = 0;
  while (true) {
    RAG_ASSIGN_OR_RETURN(const std::uint64_t number, ReadCurrent(index));
    absl::StatusOr<std::unique_ptr<IndexReader>> reader = OpenGeneration(index, number, options);
    if (reader.ok() || number == failed) return reader;
    failed = number;
  }
}

absl::StatusOr<std::unique_ptr<IndexReader>> IndexReader::OpenGeneration(
    const fs::path& index, std::uint64_t number, const OpenOptions& options) {
  auto reader = std::unique_ptr<IndexReader>(new IndexReader());
  reader->folder_ = index / GenerationName(number);
  const fs::path manifest_path = reader->folder_ / kManifestFile;
  RAG_ASSIGN_OR_RETURN(reader->manifest_, ReadManifest(index, number));
  const formats::Manifest& manifest = reader->manifest_;
  RAG_RETURN_IF_ERROR(reader->CheckFiles(options));
  RAG_RETURN_IF_ERROR(RequireFile(reader->folder_, manifest, kTermsFile));
  RAG_RETURN_IF_ERROR(RequireFile(reader->folder_, manifest, kDocumentVectorsFile));
  const fs::path terms_path = reader->folder_ / kTermsFile;
  RAG_ASSIGN_OR_RETURN(reader->terms_file_, MappedFile::Open(terms_path));
  RAG_ASSIGN_OR_RETURN(reader->terms_, formats::TermTableView::Open(reader->terms_file_.bytes(),
                                                                    terms_path.string()));
  RAG_ASSIGN_OR_RETURN(reader->document_vectors_,
                       VectorFile::Open(reader->folder_ / kDocumentVectorsFile));
  RAG_ASSIGN_OR_RETURN(reader->records_, RecordReader::Open(reader->folder_ / kRecordsFolder));
  RAG_RETURN_IF_ERROR(CheckBuildParams(manifest, *reader->document_vectors_, manifest_path));
  RAG_RETURN_IF_ERROR(reader->OpenShards());
  return reader;
}

absl::Status IndexReader::CheckFiles(const OpenOptions& options) {
  for (const formats::FileEntry& entry : manifest_.files) {
    absl::Status status = CheckFile(folder_, entry);
    if (options.skip_damaged_shards && absl::IsDataLoss(status) && IsChunkShard(entry.path)) {
      damage_.emplace_back(status.message());
      damaged_shards_.emplace(entry.path, std::move(status));
    } else {
      RAG_RETURN_IF_ERROR(status);
    }
  }
  return absl::OkStatus();
}

absl::Status IndexReader::OpenShards() {
  const std::uint64_t whole_shards = manifest_.counts.documents / manifest_.build.shard_documents;
  const bool has_rest = manifest_.counts.documents % manifest_.build.shard_documents > 0;
  const std::uint64_t shards = whole_shards + (has_rest ? 1 : 0);
  if (shards > manifest_.files.size()) {
    return Damaged(folder_ / kManifestFile,
                   absl::StrCat(manifest_.counts.documents, " documents need ", shards,
                                " chunk shards, which are not among the files"));
  }
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    const std::string name = ChunkShardFile(shard);
    RAG_RETURN_IF_ERROR(RequireFile(folder_, manifest_, name));
    std::optional<HeldFile>& held = shard_files_.emplace_back();
    if (damaged_shards_.contains(name)) continue;
    RAG_ASSIGN_OR_RETURN(held, HeldFile::Open(folder_ / name));
  }
  shards_.resize(shards);
  return absl::OkStatus();
}

absl::StatusOr<const VectorFile*> IndexReader::ChunkShard(std::uint32_t shard) const {
  std::lock_guard<std::mutex> lock(shards_mutex_);
  if (shard >= shards_.size()) {
    return absl::OutOfRangeError(absl::StrCat("shard ", shard, " of ", shards_.size()));
  }
  if (!shard_files_[shard].has_value()) return damaged_shards_.at(ChunkShardFile(shard));
  if (shards_[shard] == nullptr) {
    RAG_ASSIGN_OR_RETURN(
        shards_[shard],
        VectorFile::Open(shard_files_[shard]->path(), (folder_ / ChunkShardFile(shard)).string()));
  }
  return shards_[shard].get();
}

absl::StatusOr<std::vector<VectorHit>> IndexReader::SearchDocument(std::uint32_t document,
                                                                   std::span<const float> query,
                                                                   std::size_t k) const {
  const std::uint32_t per_shard = manifest_.build.shard_documents;
  RAG_ASSIGN_OR_RETURN(const VectorFile* shard, ChunkShard(document / per_shard));
  if (shard->dim() != manifest_.build.chunk_dim) {
    return Damaged(folder_ / kManifestFile,
                   absl::StrCat("build.chunk_dim is ", manifest_.build.chunk_dim,
                                ", vectors of chunks have ", shard->dim()));
  }
  return shard->SearchList(document % per_shard, query, k);
}

absl::StatusOr<std::uint64_t> IndexReader::NumChunks(std::uint32_t document) const {
  const std::uint32_t per_shard = manifest_.build.shard_documents;
  RAG_ASSIGN_OR_RETURN(const VectorFile* shard, ChunkShard(document / per_shard));
  return shard->list_size(document % per_shard);
}

absl::StatusOr<formats::DocumentRecord> IndexReader::Document(std::uint32_t document) const {
  RAG_ASSIGN_OR_RETURN(std::vector<formats::DocumentRecord> records,
                       Documents(std::span(&document, 1)));
  return std::move(records.front());
}

absl::StatusOr<std::vector<formats::DocumentRecord>> IndexReader::Documents(
    std::span<const std::uint32_t> documents) const {
  std::vector<std::string> keys;
  keys.reserve(documents.size());
  for (std::uint32_t document : documents) keys.push_back(formats::DocumentKey(document));
  std::vector<formats::DocumentRecord> records;
  records.reserve(keys.size());
  RAG_RETURN_IF_ERROR(records_->MultiVisit(
      formats::kDocumentsFamily, keys, [&](std::size_t i, std::string_view value) -> absl::Status {
        absl::StatusOr<formats::DocumentRecord> record = formats::DecodeDocument(value);
        if (!record.ok()) {
          return Damaged(folder_ / kRecordsFolder,
                         absl::StrCat("document ", documents[i], ": ", record.status().message()));
        }
        records.push_back(*std::move(record));
        return absl::OkStatus();
      }));
  return records;
}

absl::StatusOr<std::vector<formats::ChunkRecord>> IndexReader::Chunks(
    std::span<const ChunkRef> refs) const {
  std::map<std::uint32_t, std::uint32_t> by_document;
  for (const ChunkRef& ref : refs) by_document.emplace(ref.document, 0);
  for (auto& [document, size] : by_document) {
    RAG_ASSIGN_OR_RETURN(const formats::DocumentRecord record, Document(document));
    size = record.chunks_per_group;
  }
  std::vector<std::uint32_t> chunks_per_group;
  chunks_per_group.reserve(refs.size());
  for (const ChunkRef& ref : refs) chunks_per_group.push_back(by_document.at(ref.document));
  return Chunks(refs, chunks_per_group);
}

absl::StatusOr<std::vector<formats::ChunkRecord>> IndexReader::Chunks(
    std::span<const ChunkRef> refs, std::span<const std::uint32_t> chunks_per_group) const {
  RAG_ASSIGN_OR_RETURN(const std::vector<WantedGroup> groups,
                       GroupsOf(folder_ / kRecordsFolder, refs, chunks_per_group));
  std::vector<std::string> keys;
  keys.reserve(groups.size());
  for (const WantedGroup& group : groups) {
    keys.push_back(formats::ItemKey(group.document, group.group));
  }
  std::vector<formats::ChunkRecord> records(refs.size());
  RAG_RETURN_IF_ERROR(records_->MultiVisit(
      formats::kChunksFamily, keys, [&](std::size_t i, std::string_view value) -> absl::Status {
        const WantedGroup& group = groups[i];
        absl::Status status = TakeChunks(value, group, records);
        if (status.ok()) return status;
        return Damaged(folder_ / kRecordsFolder, absl::StrCat("chunk group ", group.document, "/",
                                                              group.group, ": ", status.message()));
      }));
  return records;
}

absl::StatusOr<formats::ParentRecord> IndexReader::Parent(std::uint32_t document,
                                                          std::uint32_t parent) const {
  RAG_ASSIGN_OR_RETURN(const std::string value,
                       records_->Get(formats::kParentsFamily, formats::ItemKey(document, parent)));
  absl::StatusOr<formats::ParentRecord> record = formats::DecodeParent(value);
  if (record.ok()) return record;
  return Damaged(folder_ / kRecordsFolder,
                 absl::StrCat("parent ", document, "/", parent, ": ", record.status().message()));
}

absl::Status IndexReader::VisitSegments(
    std::span<const ChunkRef> refs,
    const std::function<absl::Status(std::size_t, std::string_view)>& visit) const {
  return records_->MultiVisit(formats::kTermsFamily, ItemKeys(refs), visit);
}

absl::StatusOr<std::vector<std::string>> IndexReader::Segments(
    std::span<const ChunkRef> refs) const {
  return records_->MultiGet(formats::kTermsFamily, ItemKeys(refs));
}

}  // namespace rag::storage
