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

absl::Status RequireFile(const formats::Manifest& manifest, std::string_view path) {
  if (FindFile(manifest, path) != nullptr) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(std::string(kManifestFile), ": names no file ", std::string(path),
                   "; the index is damaged, rebuild it with rag-index build"));
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
    return absl::DataLossError(absl::StrCat(path.string(), ": build.shard_documents is 0"));
  }
  if (build.document_dim != documents.dim()) {
    return absl::DataLossError(absl::StrCat(path.string(), ": build.document_dim is ",
                                            build.document_dim, ", vectors of documents have ",
                                            documents.dim()));
  }
  if (build.chunk_dim == 0 || build.chunk_dim > kMaxVectorDim) {
    return absl::DataLossError(absl::StrCat(path.string(), ": build.chunk_dim is ", build.chunk_dim,
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
absl::StatusOr<std::vector<WantedGroup>> GroupsOf(std::span<const IndexReader::ChunkRef> refs,
                                                  std::span<const std::uint32_t> chunks_per_group) {
  std::vector<std::size_t> order(refs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&refs](std::size_t a, std::size_t b) { return refs[a] < refs[b]; });
  std::vector<WantedGroup> groups;
  for (const std::size_t i : order) {
    const auto [document, chunk] = refs[i];
    if (chunks_per_group[i] == 0) {
      return absl::DataLossError(absl::StrCat("document ", document, ": has no chunks"));
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

std::string Annotate(const char* what, std::uint32_t document, std::uint32_t item,
                     const absl::Status& status) {
  return absl::StrCat(what, " ", document, "/", item, ": ", status.message());
}

}  // namespace

std::string ChunkShardFile(std::uint32_t shard) {
  return absl::StrFormat("chunks-%04d.faiss", shard);
}

absl::StatusOr<formats::Manifest> ReadManifest(const fs::path& index, std::uint64_t number) {
  const fs::path path = index / GenerationName(number) / kManifestFile;
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (absl::IsNotFound(text.status())) {
    return absl::DataLossError(absl::StrCat(
        path.string(), ": missing; the index is damaged, rebuild it with rag-index build"));
  }
  RAG_RETURN_IF_ERROR(text.status());
  RAG_ASSIGN_OR_RETURN(formats::Manifest manifest, formats::DecodeManifest(*text, path.string()));
  if (manifest.generation != number) {
    return absl::DataLossError(
        absl::StrCat(path.string(), ": is of generation ", manifest.generation, ", the folder is ",
                     number, "; the index is damaged, rebuild it with rag-index build"));
  }
  return manifest;
}

absl::StatusOr<std::unique_ptr<IndexReader>> IndexReader::Open(const fs::path& index) {
  // A generation may be pruned between reading its number and opening its files, by builds that
  // publish meanwhile. Then CURRENT names another one.
  std::uint64_t failed = 0;
  while (true) {
    RAG_ASSIGN_OR_RETURN(const std::uint64_t number, ReadCurrent(index));
    absl::StatusOr<std::unique_ptr<IndexReader>> reader = OpenGeneration(index, number);
    if (reader.ok() || number == failed) return reader;
    failed = number;
  }
}

absl::StatusOr<std::unique_ptr<IndexReader>> IndexReader::OpenGeneration(const fs::path& index,
                                                                         std::uint64_t number) {
  auto reader = std::unique_ptr<IndexReader>(new IndexReader());
  reader->folder_ = index / GenerationName(number);
  const fs::path manifest_path = reader->folder_ / kManifestFile;
  RAG_ASSIGN_OR_RETURN(reader->manifest_, ReadManifest(index, number));
  const formats::Manifest& manifest = reader->manifest_;
  for (const formats::FileEntry& entry : manifest.files) {
    RAG_RETURN_IF_ERROR(CheckFile(reader->folder_, entry));
  }
  RAG_RETURN_IF_ERROR(RequireFile(manifest, kTermsFile));
  RAG_RETURN_IF_ERROR(RequireFile(manifest, kDocumentVectorsFile));
  const fs::path terms_path = reader->folder_ / kTermsFile;
  RAG_ASSIGN_OR_RETURN(reader->terms_file_, MappedFile::Open(terms_path));
  RAG_ASSIGN_OR_RETURN(reader->terms_, formats::TermTableView::Open(reader->terms_file_.bytes(),
                                                                    terms_path.string()));
  RAG_ASSIGN_OR_RETURN(reader->document_vectors_,
                       VectorFile::Open(reader->folder_ / kDocumentVectorsFile));
  RAG_ASSIGN_OR_RETURN(reader->records_, RecordReader::Open(reader->folder_ / kRecordsFolder));
  RAG_RETURN_IF_ERROR(CheckBuildParams(manifest, *reader->document_vectors_, manifest_path));
  const std::uint64_t whole_shards = manifest.counts.documents / manifest.build.shard_documents;
  const bool has_rest = manifest.counts.documents % manifest.build.shard_documents > 0;
  const std::uint64_t shards = whole_shards + (has_rest ? 1 : 0);
  if (shards > manifest.files.size()) {
    return absl::DataLossError(absl::StrCat(manifest_path.string(), ": ", manifest.counts.documents,
                                            " documents need ", shards,
                                            " chunk shards, which are not among the files"));
  }
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    const std::string name = ChunkShardFile(shard);
    RAG_RETURN_IF_ERROR(RequireFile(manifest, name));
    RAG_ASSIGN_OR_RETURN(HeldFile file, HeldFile::Open(reader->folder_ / name));
    reader->shard_files_.push_back(std::move(file));
  }
  reader->shards_.resize(shards);
  return reader;
}

absl::StatusOr<const VectorFile*> IndexReader::ChunkShard(std::uint32_t shard) const {
  std::lock_guard<std::mutex> lock(shards_mutex_);
  if (shard >= shards_.size()) {
    return absl::OutOfRangeError(absl::StrCat("shard ", shard, " of ", shards_.size()));
  }
  if (shards_[shard] == nullptr) {
    RAG_ASSIGN_OR_RETURN(
        shards_[shard],
        VectorFile::Open(shard_files_[shard].path(), (folder_ / ChunkShardFile(shard)).string()));
  }
  return shards_[shard].get();
}

absl::StatusOr<std::vector<VectorHit>> IndexReader::SearchDocument(std::uint32_t document,
                                                                   std::span<const float> query,
                                                                   std::size_t k) const {
  const std::uint32_t per_shard = manifest_.build.shard_documents;
  RAG_ASSIGN_OR_RETURN(const VectorFile* shard, ChunkShard(document / per_shard));
  if (shard->dim() != manifest_.build.chunk_dim) {
    return absl::DataLossError(absl::StrCat((folder_ / kManifestFile).string(),
                                            ": build.chunk_dim is ", manifest_.build.chunk_dim,
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
          return absl::DataLossError(Annotate("document", documents[i], 0, record.status()));
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
  RAG_ASSIGN_OR_RETURN(const std::vector<WantedGroup> groups, GroupsOf(refs, chunks_per_group));
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
        return absl::DataLossError(Annotate("chunk group", group.document, group.group, status));
      }));
  return records;
}

absl::StatusOr<formats::ParentRecord> IndexReader::Parent(std::uint32_t document,
                                                          std::uint32_t parent) const {
  RAG_ASSIGN_OR_RETURN(const std::string value,
                       records_->Get(formats::kParentsFamily, formats::ItemKey(document, parent)));
  return formats::DecodeParent(value);
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
