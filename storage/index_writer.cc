#include "storage/index_writer.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/chunk_group.h"
#include "formats/coding.h"
#include "formats/keys.h"
#include "formats/status_macros.h"
#include "storage/file_io.h"
#include "storage/index_reader.h"

namespace rag::storage {
namespace {

namespace fs = std::filesystem;

// Small files of RocksDB (its MANIFEST decides what exists) are checked whole when an index is
// opened.
constexpr std::uint64_t kWholeHeaderBytes = 64 * 1024;

absl::Status MakeFolder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return SystemError(folder, "make the folder", error.value());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ListFiles(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator it(root, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_regular_file(error)) names.push_back(it->path().lexically_relative(root).string());
  }
  if (error) return SystemError(root, "list", error.value());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

struct IndexWriter::State {
  State(GenerationBuilder generation_builder, const formats::BuildParams& build_params, float range)
      : generation(std::move(generation_builder)),
        build(build_params),
        vector_range(range),
        document_vectors(build_params.document_dim, range) {}

  GenerationBuilder generation;
  formats::BuildParams build;
  float vector_range;
  std::unique_ptr<RecordWriter> records;
  DocumentVectorsWriter document_vectors;
  std::unique_ptr<ChunkShardWriter> shard;
  std::uint32_t shard_documents = 0;
  std::map<std::string, std::uint64_t>
      header_bytes;  // of the files that FAISS and we read by header
  formats::Counts counts;

  // The next ordinals of the document that is being added.
  struct Next {
    std::uint32_t parent = 0;
    std::uint32_t chunk_group = 0;
    std::uint32_t segment = 0;
    std::vector<std::uint32_t> node;  // by level
    std::uint64_t chunk_row = 0;
    std::optional<std::size_t> summary_place;  // in document_vectors, when rows follow it already
  };
  Next next;

  [[nodiscard]] std::uint32_t document() const {
    return static_cast<std::uint32_t>(counts.documents);
  }
  absl::Status FinishShard();
  absl::Status PutAll(std::string_view family, const std::vector<std::string>& values,
                      std::uint32_t& next_item);
  absl::Status PutSummaries(const BundlePart& part);
  absl::Status PutChunkVectors(const BundlePart& part);
  absl::Status PutPart(const BundlePart& part);
  absl::Status PutRecord(const formats::DocumentRecord& record);
  void PutLastDocumentVectors(const BundlePart& part);
  // There are as many vectors and groups as the record says.
  absl::Status CheckCounts(const formats::DocumentRecord& record) const;
};

absl::Status IndexWriter::State::FinishShard() {
  if (shard == nullptr) return absl::OkStatus();
  RAG_ASSIGN_OR_RETURN(const VectorFileInfo info, shard->Finish());
  const std::uint64_t number = (counts.documents - 1) / build.shard_documents;
  header_bytes[ChunkShardFile(static_cast<std::uint32_t>(number))] = info.header_bytes;
  shard.reset();
  shard_documents = 0;
  return absl::OkStatus();
}

absl::Status IndexWriter::State::PutAll(std::string_view family,
                                        const std::vector<std::string>& values,
                                        std::uint32_t& next_item) {
  for (const std::string& value : values) {
    RAG_RETURN_IF_ERROR(records->Put(family, formats::ItemKey(document(), next_item++), value));
  }
  return absl::OkStatus();
}

absl::Status IndexWriter::State::PutSummaries(const BundlePart& part) {
  if (next.node.size() < part.levels.size()) next.node.resize(part.levels.size());
  for (std::uint32_t level = 0; level < part.levels.size(); ++level) {
    for (const std::string& node : part.levels[level]) {
      RAG_RETURN_IF_ERROR(records->Put(formats::kSummariesFamily,
                                       formats::NodeKey(document(), level, next.node[level]++),
                                       node));
      ++counts.summary_nodes;
    }
  }
  return absl::OkStatus();
}

absl::Status IndexWriter::State::PutChunkVectors(const BundlePart& part) {
  if (shard == nullptr) {
    const std::uint32_t number = document() / build.shard_documents;
    RAG_ASSIGN_OR_RETURN(shard,
                         ChunkShardWriter::Create(generation.folder() / ChunkShardFile(number),
                                                  build.chunk_dim, vector_range));
  }
  next.chunk_row += part.chunk_codes.size() / build.chunk_dim;
  return shard->AddRows(part.chunk_codes);
}

absl::Status IndexWriter::State::PutPart(const BundlePart& part) {
  if (part.chunk_codes.size() % build.chunk_dim != 0 ||
      part.document_codes.size() % build.document_dim != 0) {
    return absl::InternalError(absl::StrCat("document ", document(), ": vectors are cut short"));
  }
  RAG_RETURN_IF_ERROR(PutAll(formats::kParentsFamily, part.parents, next.parent));
  RAG_RETURN_IF_ERROR(PutAll(formats::kChunksFamily, part.chunk_groups, next.chunk_group));
  RAG_RETURN_IF_ERROR(PutAll(formats::kTermsFamily, part.segments, next.segment));
  RAG_RETURN_IF_ERROR(PutSummaries(part));
  counts.document_vectors += part.document_codes.size() / build.document_dim;
  return PutChunkVectors(part);
}

absl::Status IndexWriter::State::PutRecord(const formats::DocumentRecord& record) {
  RAG_RETURN_IF_ERROR(records->Put(formats::kDocumentsFamily, formats::DocumentKey(document()),
                                   formats::Encode(record)));
  formats::ByteWriter ordinal;
  ordinal.Varint(document());
  return records->Put(formats::kSourcesFamily, record.source, ordinal.view());
}

// The row of the summary stands before those that the parts have brought.
void IndexWriter::State::PutLastDocumentVectors(const BundlePart& part) {
  std::span<const std::uint8_t> codes = part.document_codes;
  std::span<const std::uint32_t> lists = part.document_lists;
  if (next.summary_place.has_value() && !codes.empty()) {
    document_vectors.Fill(*next.summary_place, codes.first(build.document_dim));
    codes = codes.subspan(build.document_dim);
    if (!lists.empty()) lists = lists.subspan(1);
  }
  document_vectors.Add(document(), codes, lists);
}

absl::Status IndexWriter::State::CheckCounts(const formats::DocumentRecord& record) const {
  if (next.chunk_row != record.num_chunks) {
    return absl::InternalError(
        absl::StrCat(record.source, ": vectors do not match the number of chunks"));
  }
  if (record.num_chunks > 0 && record.chunks_per_group == 0) {
    return absl::InternalError(absl::StrCat(record.source, ": groups of no chunks"));
  }
  if (next.chunk_group != formats::NumChunkGroups(record.num_chunks, record.chunks_per_group)) {
    return absl::InternalError(
        absl::StrCat(record.source, ": groups do not match the number of chunks"));
  }
  return absl::OkStatus();
}

IndexWriter::IndexWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

IndexWriter::~IndexWriter() = default;

std::uint64_t IndexWriter::generation() const { return state_->generation.number(); }

const std::vector<std::string>& IndexWriter::notes() const { return state_->generation.notes(); }

absl::StatusOr<std::unique_ptr<IndexWriter>> IndexWriter::Create(const fs::path& index,
                                                                 const formats::BuildParams& build,
                                                                 float vector_range) {
  if (build.chunk_dim == 0 || build.document_dim == 0 || build.shard_documents == 0) {
    return absl::InvalidArgumentError("vector dimensions and shard size must be positive");
  }
  RAG_ASSIGN_OR_RETURN(GenerationBuilder generation, GenerationBuilder::Start(index));
  auto state = std::make_unique<State>(std::move(generation), build, vector_range);
  const fs::path& folder = state->generation.folder();
  RAG_RETURN_IF_ERROR(MakeFolder((folder / kTermsFile).parent_path()));
  RAG_ASSIGN_OR_RETURN(state->records, RecordWriter::Create(folder / kRecordsFolder));
  return std::unique_ptr<IndexWriter>(new IndexWriter(std::move(state)));
}

void IndexWriter::UseCentroids(std::vector<float> centroids) {
  state_->document_vectors.UseCentroids(std::move(centroids));
}

absl::Status IndexWriter::AddPart(const BundlePart& part) {
  State& state = *state_;
  RAG_RETURN_IF_ERROR(state.PutPart(part));
  if (part.document_codes.empty()) return absl::OkStatus();
  if (!state.next.summary_place.has_value()) {
    state.next.summary_place = state.document_vectors.AddPlace(state.document());
  }
  state.document_vectors.Add(state.document(), part.document_codes, part.document_lists);
  return absl::OkStatus();
}

absl::Status IndexWriter::Add(const DocumentBundle& bundle) {
  State& state = *state_;
  RAG_RETURN_IF_ERROR(state.PutPart(bundle));
  RAG_RETURN_IF_ERROR(state.CheckCounts(bundle.document));
  RAG_RETURN_IF_ERROR(state.PutRecord(bundle.document));
  state.PutLastDocumentVectors(bundle);
  RAG_RETURN_IF_ERROR(state.shard->FinishDocument());
  ++state.counts.documents;
  state.counts.chunks += bundle.document.num_chunks;
  state.counts.parents += state.next.parent;
  state.counts.segments += state.next.segment;
  state.next = {};
  if (++state.shard_documents == state.build.shard_documents) return state.FinishShard();
  return absl::OkStatus();
}

absl::Status IndexWriter::SetTermTable(std::string_view bytes) {
  // The header of the table checks itself; the manifest checks the size.
  return WriteFileDurably(state_->generation.folder() / kTermsFile, bytes);
}

absl::StatusOr<formats::Manifest> IndexWriter::Publish(formats::Manifest manifest,
                                                       std::size_t keep) {
  State& state = *state_;
  const fs::path& folder = state.generation.folder();
  RAG_RETURN_IF_ERROR(state.FinishShard());
  RAG_ASSIGN_OR_RETURN(const VectorFileInfo info,
                       state.document_vectors.Finish(folder / kDocumentVectorsFile));
  state.header_bytes[std::string(kDocumentVectorsFile)] = info.header_bytes;
  RAG_ASSIGN_OR_RETURN(const auto families, state.records->Finish());
  for (const auto& [name, family] : families) {
    manifest.family_keys[name] = family.num_keys;
    manifest.family_digests[name] = family.digest;
  }

  std::error_code error;
  RAG_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFiles(folder));
  for (const std::string& name : names) {
    std::uint64_t header = 0;
    if (const auto it = state.header_bytes.find(name); it != state.header_bytes.end()) {
      header = it->second;
    } else if (name.starts_with(kRecordsFolder) && !name.ends_with(".sst")) {
      header = std::min<std::uint64_t>(fs::file_size(folder / name, error), kWholeHeaderBytes);
    }
    RAG_ASSIGN_OR_RETURN(formats::FileEntry entry, DescribeFile(folder, name, header));
    manifest.files.push_back(std::move(entry));
  }
  const formats::Counts given = manifest.counts;
  manifest.counts = state.counts;
  manifest.counts.corpus_bytes = given.corpus_bytes;
  manifest.counts.skipped_files = given.skipped_files;
  manifest.generation = state.generation.number();
  manifest.build = state.build;
  RAG_RETURN_IF_ERROR(WriteFileDurably(folder / kManifestFile, formats::EncodeManifest(manifest)));
  RAG_RETURN_IF_ERROR(state.generation.Publish(keep));
  return manifest;
}

}  // namespace rag::storage
