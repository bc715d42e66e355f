#include "storage/bundle_reader.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/keys.h"
#include "formats/status_macros.h"
#include "storage/file_io.h"

namespace rag::storage {
namespace {

// Files whose bytes no engine checks as it reads them.
bool IsUnchecked(std::string_view path) { return path.ends_with(".faiss") || path == kTermsFile; }

absl::Status Damaged(const IndexReader& reader, std::uint32_t document, std::string_view what) {
  return absl::DataLossError(absl::StrCat(reader.folder().string(), ": document ", document, ": ",
                                          absl::string_view(what.data(), what.size())));
}

}  // namespace

absl::StatusOr<std::unique_ptr<BundleReader>> BundleReader::Open(const IndexReader& reader) {
  for (const formats::FileEntry& file : reader.manifest().files) {
    if (!IsUnchecked(file.path)) continue;
    RAG_ASSIGN_OR_RETURN(const formats::FileEntry found,
                         DescribeFile(reader.folder(), file.path, 0));
    if (found.xxh128 == file.xxh128) continue;
    return absl::DataLossError(absl::StrCat((reader.folder() / file.path).string(),
                                            ": checksum is ", found.xxh128, ", the manifest says ",
                                            file.xxh128));
  }
  std::unique_ptr<BundleReader> bundles(new BundleReader(reader));
  for (const std::string_view family :
       {formats::kDocumentsFamily, formats::kParentsFamily, formats::kChunksFamily,
        formats::kSummariesFamily, formats::kTermsFamily}) {
    RAG_ASSIGN_OR_RETURN(bundles->cursors_[std::string(family)],
                         reader.records().NewCursor(family));
  }
  RAG_RETURN_IF_ERROR(bundles->ListRows());
  return bundles;
}

absl::Status BundleReader::ListRows() {
  const VectorFile& file = reader_.document_vectors();
  rows_.reserve(file.num_rows());
  for (std::uint32_t list = 0; list < file.num_lists(); ++list) {
    const std::vector<std::uint32_t> ids = file.ReadListIds(list);
    for (std::uint32_t place = 0; place < ids.size(); ++place) {
      rows_.push_back({ids[place], list, place});
    }
  }
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const Row& a, const Row& b) { return a.document < b.document; });
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> BundleReader::ReadFamily(std::string_view family,
                                                                  std::uint32_t document) {
  RecordCursor& cursor = *cursors_.find(family)->second;
  const std::string prefix = formats::DocumentKey(document);
  // Where the last read stopped is where the next document begins.
  if (!cursor.Valid() || !cursor.key().starts_with(prefix)) cursor.Seek(prefix);
  std::vector<std::string> values;
  for (; cursor.Valid() && cursor.key().starts_with(prefix); cursor.Next()) {
    values.emplace_back(cursor.value());
  }
  RAG_RETURN_IF_ERROR(cursor.status());
  return values;
}

absl::Status BundleReader::ReadCodes(std::uint32_t document, DocumentBundle& bundle) const {
  const std::uint32_t per_shard = reader_.manifest().build.shard_documents;
  RAG_ASSIGN_OR_RETURN(const VectorFile* shard, reader_.ChunkShard(document / per_shard));
  RAG_ASSIGN_OR_RETURN(const std::span<const std::uint8_t> chunks,
                       shard->ListCodes(document % per_shard));
  bundle.chunk_codes.assign(chunks.begin(), chunks.end());
  if (chunks.size() != std::size_t{bundle.document.num_chunks} * shard->dim()) {
    return Damaged(reader_, document, "its vectors are not as many as its chunks");
  }
  const VectorFile& documents = reader_.document_vectors();
  const auto first =
      std::lower_bound(rows_.begin(), rows_.end(), document,
                       [](const Row& row, std::uint32_t id) { return row.document < id; });
  for (auto row = first; row != rows_.end() && row->document == document; ++row) {
    RAG_ASSIGN_OR_RETURN(const std::span<const std::uint8_t> codes, documents.ListCodes(row->list));
    const auto code = codes.subspan(std::size_t{row->place} * documents.dim(), documents.dim());
    bundle.document_codes.insert(bundle.document_codes.end(), code.begin(), code.end());
    if (documents.num_lists() > 1) bundle.document_lists.push_back(row->list);
  }
  return absl::OkStatus();
}

absl::StatusOr<DocumentBundle> BundleReader::Read(std::uint32_t document) {
  DocumentBundle bundle;
  RAG_ASSIGN_OR_RETURN(const std::vector<std::string> records,
                       ReadFamily(formats::kDocumentsFamily, document));
  if (records.size() != 1) return Damaged(reader_, document, "no record");
  RAG_ASSIGN_OR_RETURN(bundle.document, formats::DecodeDocument(records.front()));
  RAG_ASSIGN_OR_RETURN(bundle.parents, ReadFamily(formats::kParentsFamily, document));
  RAG_ASSIGN_OR_RETURN(bundle.chunk_groups, ReadFamily(formats::kChunksFamily, document));
  RAG_ASSIGN_OR_RETURN(bundle.segments, ReadFamily(formats::kTermsFamily, document));
  RAG_ASSIGN_OR_RETURN(std::vector<std::string> nodes,
                       ReadFamily(formats::kSummariesFamily, document));
  std::size_t at = 0;
  for (const std::uint32_t size : bundle.document.level_sizes) {
    if (nodes.size() - at < size)
      return Damaged(reader_, document, "nodes of its tree are missing");
    const auto first = nodes.begin() + static_cast<std::ptrdiff_t>(at);
    bundle.levels.emplace_back(std::make_move_iterator(first),
                               std::make_move_iterator(first + size));
    at += size;
  }
  if (at != nodes.size() || bundle.parents.size() != bundle.document.num_parents ||
      bundle.segments.size() != bundle.document.num_segments) {
    return Damaged(reader_, document, "its records are not as many as it says");
  }
  RAG_RETURN_IF_ERROR(ReadCodes(document, bundle));
  return bundle;
}

}  // namespace rag::storage
