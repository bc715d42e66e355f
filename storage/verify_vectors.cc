#include <algorithm>
#include <cmath>
#include <functional>

#include "absl/strings/str_cat.h"
#include "formats/status_macros.h"
#include "storage/verify_parts.h"

namespace rag::storage {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

bool IsFinite(std::span<const float> row) {
  return std::ranges::all_of(row, [](float x) { return std::isfinite(x); });
}

class VectorsCheck {
 public:
  VectorsCheck(const VerifyJob& job, const IndexReader& reader,
               const std::vector<DocumentShape>& documents)
      : job_(job), reader_(reader), documents_(documents) {}

  void Run() {
    const std::uint64_t per_shard = job_.manifest.build.shard_documents;
    for (std::uint64_t first = 0; first < documents_.size(); first += per_shard) {
      Shard(static_cast<std::uint32_t>(first / per_shard),
            std::span(documents_).subspan(first, std::min(per_shard, documents_.size() - first)));
    }
    Documents();
  }

 private:
  void Problem(std::string_view file, std::string_view what) const {
    job_.problems.Add(absl::StrCat(job_.generation, "/", View(file)), what);
  }

  void CheckNumber(std::string_view file, const char* name, std::uint64_t found,
                   std::uint64_t expected) const {
    if (found == expected) return;
    Problem(file, absl::StrCat("has ", found, " ", name, ", expected ", expected));
  }

  void Shard(std::uint32_t number, std::span<const DocumentShape> documents) {
    const std::string file = ChunkShardFile(number);
    const absl::StatusOr<const VectorFile*> shard = reader_.ChunkShard(number);
    if (!shard.ok()) {
      job_.problems.Add(job_.index, shard.status());
      return;
    }
    CheckNumber(file, "dimensions", (*shard)->dim(), job_.manifest.build.chunk_dim);
    CheckNumber(file, "lists", (*shard)->num_lists(), documents.size());
    const std::uint64_t lists = std::min<std::uint64_t>((*shard)->num_lists(), documents.size());
    for (std::uint64_t list = 0; list < lists; ++list) {
      job_.Progress("checking vectors", ++done_, documents_.size(), "documents");
      ChunkList(file, **shard, list, documents[list]);
    }
  }

  void ChunkList(const std::string& file, const VectorFile& shard, std::uint64_t list,
                 const DocumentShape& document) {
    if (document.num_chunks != DocumentShape::kUnknown &&
        document.num_chunks != shard.list_size(list)) {
      Problem(file, absl::StrCat("list ", list, " has ", shard.list_size(list),
                                 " vectors, the document has ", document.num_chunks, " chunks"));
    }
    std::uint32_t expected = 0;
    const absl::Status status =
        shard.ScanList(list, [&](std::uint32_t id, std::span<const float> row) {
          if (id != expected) {
            Problem(file, absl::StrCat("list ", list, " has id ", id, ", expected ", expected));
          }
          if (!IsFinite(row)) {
            Problem(file, absl::StrCat("list ", list, " row ", expected, " is not finite"));
          }
          ++expected;
          ++job_.report.vectors;
          return absl::OkStatus();
        });
    if (!status.ok()) job_.problems.Add(job_.index, status);
  }

  void Documents() {
    const VectorFile& vectors = reader_.document_vectors();
    CheckNumber(kDocumentVectorsFile, "dimensions", vectors.dim(),
                job_.manifest.build.document_dim);
    CheckNumber(kDocumentVectorsFile, "rows, by counts.document_vectors", vectors.num_rows(),
                job_.manifest.counts.document_vectors);
    std::vector<std::uint32_t> rows(documents_.size(), 0);
    for (std::uint64_t list = 0; list < vectors.num_lists(); ++list) {
      const absl::Status status =
          vectors.ScanList(list, [&](std::uint32_t id, std::span<const float> row) {
            DocumentRow(list, id, row, rows);
            return absl::OkStatus();
          });
      if (!status.ok()) job_.problems.Add(job_.index, status);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (documents_[i].num_rows == DocumentShape::kUnknown) continue;
      if (rows[i] != documents_[i].num_rows) {
        Problem(kDocumentVectorsFile, absl::StrCat("document ", i, " has ", rows[i],
                                                   " rows, expected ", documents_[i].num_rows));
      }
    }
  }

  void DocumentRow(std::uint64_t list, std::uint32_t id, std::span<const float> row,
                   std::vector<std::uint32_t>& rows) const {
    ++job_.report.vectors;
    if (id < rows.size()) {
      ++rows[id];
    } else {
      Problem(kDocumentVectorsFile,
              absl::StrCat("list ", list, " has a row of document ", id, " of ", rows.size()));
    }
    if (!IsFinite(row)) {
      Problem(kDocumentVectorsFile,
              absl::StrCat("list ", list, ": a row of document ", id, " is not finite"));
    }
  }

  const VerifyJob& job_;
  const IndexReader& reader_;
  const std::vector<DocumentShape>& documents_;
  std::uint64_t done_ = 0;
};

// What is wrong with the list of rare documents of a row; empty when nothing is.
std::string RareListProblem(const formats::TermTableView& terms, const formats::TermRow& row) {
  const absl::StatusOr<std::vector<std::uint32_t>> documents = terms.RareDocuments(row.hash);
  if (!documents.ok()) return std::string(documents.status().message());
  const std::uint32_t expected =
      row.document_frequency <= formats::kRareDocuments ? row.document_frequency : 0;
  if (documents->size() != expected) {
    return absl::StrCat("names ", documents->size(), " rare documents, expected ", expected);
  }
  const bool ascend =
      std::ranges::adjacent_find(*documents, std::greater_equal()) == documents->end();
  return ascend ? "" : "rare documents do not ascend";
}

}  // namespace

void VerifyVectors(const VerifyJob& job, const IndexReader& reader,
                   const std::vector<DocumentShape>& documents) {
  VectorsCheck(job, reader, documents).Run();
}

void VerifyTermTable(const VerifyJob& job, const formats::TermTableView& terms) {
  const std::string place = absl::StrCat(job.generation, "/", View(kTermsFile));
  const formats::CorpusTotals& totals = terms.totals();
  const formats::Counts& counts = job.manifest.counts;
  if (totals.num_documents != counts.documents || totals.num_chunks != counts.chunks) {
    job.problems.Add(place, absl::StrCat("is of ", totals.num_documents, " documents and ",
                                         totals.num_chunks, " chunks, the manifest says ",
                                         counts.documents, " and ", counts.chunks));
  }
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < terms.size(); ++i) {
    const formats::TermRow row = terms.row(i);
    if (i > 0 && row.hash <= before) {
      job.problems.Add(place, absl::StrCat("row ", i, ": hashes do not ascend"));
    }
    if (row.chunk_frequency > counts.chunks || row.document_frequency > counts.documents) {
      job.problems.Add(place, absl::StrCat("row ", i, ": occurs in ", row.chunk_frequency,
                                           " chunks and ", row.document_frequency, " documents"));
    }
    if (const std::string problem = RareListProblem(terms, row); !problem.empty()) {
      job.problems.Add(place, absl::StrCat("row ", i, ": ", problem));
    }
    before = row.hash;
  }
}

}  // namespace rag::storage
