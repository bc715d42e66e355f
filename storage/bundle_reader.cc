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

absl::Status BundleReader::ReadFamily(
    std::string_view family, std::uint32_t document,
    const std::function<absl::Status(std::string_view value)>& visit) {
  RecordCursor& cursor = *cursors_.find(family)->second;
  const std::string prefix = formats::DocumentKey(document);
  // Where the last read stopped is where the next document begins.
  if (!cursor.Valid() || !cursor.key().starts_with(prefix)) cursor.Seek(prefix);
  for (; cursor.Valid() && cursor.key().starts_with(prefix); cursor.Next()) {
    RAG_RETURN_IF_ERROR(visit(cursor.value()));
  }
  return cursor.status();
}

// Reads one document, and hands over a part whenever enough has gathered.
class BundleReader::DocumentScan {
 public:
  // No `on_part`: the document is one part.
  DocumentScan(BundleReader& bundles, std::uint32_t document, const PartSink& on_part)
      : bundles_(bundles), document_(document), on_part_(on_part) {}

  absl::StatusOr<DocumentBundle> Run() {
    RAG_RETURN_IF_ERROR(ReadRecord());
    RAG_RETURN_IF_ERROR(ReadAll(formats::kParentsFamily, &BundlePart::parents, num_parents_));
    RAG_RETURN_IF_ERROR(ReadAll(formats::kChunksFamily, &BundlePart::chunk_groups, num_groups_));
    RAG_RETURN_IF_ERROR(ReadAll(formats::kTermsFamily, &BundlePart::segments, num_segments_));
    RAG_RETURN_IF_ERROR(ReadNodes());
    if (num_parents_ != record_.num_parents || num_segments_ != record_.num_segments) {
      return Damage("its records are not as many as it says");
    }
    RAG_RETURN_IF_ERROR(ReadChunkCodes());
    RAG_RETURN_IF_ERROR(ReadDocumentCodes());
    DocumentBundle bundle;
    static_cast<BundlePart&>(bundle) = std::move(part_);
    bundle.document = std::move(record_);
    return bundle;
  }

 private:
  static constexpr std::size_t kPartBytes = std::size_t{1} << 20;

  [[nodiscard]] absl::Status Damage(std::string_view what) const {
    return Damaged(bundles_.reader_, document_, what);
  }

  // To be called for every value, of so many bytes, that was added to part_.
  absl::Status Added(std::size_t bytes) {
    part_bytes_ += bytes;
    if (part_bytes_ < kPartBytes || !on_part_) return absl::OkStatus();
    part_bytes_ = 0;
    return on_part_(std::exchange(part_, {}));
  }

  absl::Status ReadRecord() {
    std::size_t found = 0;
    RAG_RETURN_IF_ERROR(bundles_.ReadFamily(
        formats::kDocumentsFamily, document_, [&](std::string_view value) -> absl::Status {
          ++found;
          RAG_ASSIGN_OR_RETURN(record_, formats::DecodeDocument(value));
          return absl::OkStatus();
        }));
    return found == 1 ? absl::OkStatus() : Damage("no record");
  }

  absl::Status ReadAll(std::string_view family, std::vector<std::string> BundlePart::*values,
                       std::size_t& count) {
    return bundles_.ReadFamily(family, document_, [&](std::string_view value) {
      (part_.*values).emplace_back(value);
      ++count;
      return Added(value.size());
    });
  }

  absl::Status ReadNodes() {
    std::size_t level = 0;
    std::size_t left = record_.level_sizes.empty() ? 0 : record_.level_sizes.front();
    const auto pass_full_levels = [&] {
      while (left == 0 && level < record_.level_sizes.size()) {
        ++level;
        left = level < record_.level_sizes.size() ? record_.level_sizes[level] : 0;
      }
    };
    RAG_RETURN_IF_ERROR(bundles_.ReadFamily(
        formats::kSummariesFamily, document_, [&](std::string_view value) -> absl::Status {
          pass_full_levels();
          if (left == 0) return Damage("its tree has more nodes than it says");
          --left;
          if (part_.levels.size() <= level) part_.levels.resize(level + 1);
          part_.levels[level].emplace_back(value);
          return Added(value.size());
        }));
    pass_full_levels();
    return level == record_.level_sizes.size() ? absl::OkStatus()
                                               : Damage("nodes of its tree are missing");
  }

  absl::Status ReadChunkCodes() {
    const std::uint32_t per_shard = bundles_.reader_.manifest().build.shard_documents;
    RAG_ASSIGN_OR_RETURN(const VectorFile* shard,
                         bundles_.reader_.ChunkShard(document_ / per_shard));
    RAG_ASSIGN_OR_RETURN(std::span<const std::uint8_t> codes,
                         shard->ListCodes(document_ % per_shard));
    if (codes.size() != std::size_t{record_.num_chunks} * shard->dim()) {
      return Damage("its vectors are not as many as its chunks");
    }
    const std::size_t max_bytes =
        std::max<std::size_t>(kPartBytes / shard->dim(), 1) * shard->dim();
    while (!codes.empty()) {
      const auto some = codes.first(std::min(codes.size(), max_bytes));
      part_.chunk_codes.insert(part_.chunk_codes.end(), some.begin(), some.end());
      codes = codes.subspan(some.size());
      if (codes.empty()) break;
      ForgetPages(some);
      RAG_RETURN_IF_ERROR(Added(some.size()));
    }
    return absl::OkStatus();
  }

  // The first row is that of the summary, which is for the last part.
  absl::Status ReadDocumentCodes() {
    const VectorFile& file = bundles_.reader_.document_vectors();
    const std::vector<Row>& rows = bundles_.rows_;
    const auto first =
        std::lower_bound(rows.begin(), rows.end(), document_,
                         [](const Row& row, std::uint32_t id) { return row.document < id; });
    if (first == rows.end() || first->document != document_) return absl::OkStatus();
    for (auto row = first + 1; row != rows.end() && row->document == document_; ++row) {
      RAG_RETURN_IF_ERROR(InsertRow(*row, /*in_front=*/false));
      RAG_RETURN_IF_ERROR(Added(file.dim()));
    }
    return InsertRow(*first, /*in_front=*/true);
  }

  absl::Status InsertRow(const Row& row, bool in_front) {
    const VectorFile& file = bundles_.reader_.document_vectors();
    RAG_ASSIGN_OR_RETURN(const std::span<const std::uint8_t> codes, file.ListCodes(row.list));
    const auto code = codes.subspan(std::size_t{row.place} * file.dim(), file.dim());
    std::vector<std::uint8_t>& to = part_.document_codes;
    to.insert(in_front ? to.begin() : to.end(), code.begin(), code.end());
    if (file.num_lists() < 2) return absl::OkStatus();
    std::vector<std::uint32_t>& lists = part_.document_lists;
    lists.insert(in_front ? lists.begin() : lists.end(), row.list);
    return absl::OkStatus();
  }

  BundleReader& bundles_;
  std::uint32_t document_;
  const PartSink& on_part_;
  formats::DocumentRecord record_;
  BundlePart part_;  // what has gathered
  std::size_t part_bytes_ = 0;
  std::size_t num_parents_ = 0;
  std::size_t num_groups_ = 0;
  std::size_t num_segments_ = 0;
};

absl::StatusOr<DocumentBundle> BundleReader::Read(std::uint32_t document, const PartSink& on_part) {
  return DocumentScan(*this, document, on_part).Run();
}

absl::StatusOr<DocumentBundle> BundleReader::ReadWhole(std::uint32_t document) {
  const PartSink no_parts;
  return DocumentScan(*this, document, no_parts).Run();
}

}  // namespace rag::storage
