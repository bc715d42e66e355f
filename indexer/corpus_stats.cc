#include "indexer/corpus_stats.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "formats/checksum.h"
#include "formats/status_macros.h"
#include "models/hashed_bm25.h"

namespace rag::indexer {
namespace {

void AddTotals(formats::CorpusTotals& to, const formats::CorpusTotals& more) {
  to.num_documents += more.num_documents;
  to.num_chunks += more.num_chunks;
  to.num_sections += more.num_sections;
  to.chunk_length += more.chunk_length;
  to.section_length += more.section_length;
  to.document_length += more.document_length;
  to.near_length += more.near_length;
}

// False when a sum would fall below 0.
bool SubtractTotals(formats::CorpusTotals& from, const formats::CorpusTotals& less) {
  bool fits = from.near_length >= less.near_length;
  const auto subtract = [&fits](std::uint64_t& sum, std::uint64_t part) {
    fits = fits && sum >= part;
    sum -= part;
  };
  subtract(from.num_documents, less.num_documents);
  subtract(from.num_chunks, less.num_chunks);
  subtract(from.num_sections, less.num_sections);
  subtract(from.chunk_length, less.chunk_length);
  subtract(from.section_length, less.section_length);
  subtract(from.document_length, less.document_length);
  from.near_length -= less.near_length;
  return fits;
}

absl::Status NotCounted() {
  return absl::DataLossError("terms.bin: does not count a document that the index holds");
}

}  // namespace

void CorpusStats::CountDocuments(Frequency& frequency, std::uint32_t more) {
  frequency.documents += more;
  if (frequency.documents > formats::kRareDocuments) frequency.common = true;
}

void CorpusStats::Add(std::uint32_t file, const DocumentStats& document) {
  for (const TermFrequency& term : document.frequencies) {
    Frequency& frequency = frequencies_[term.hash];
    frequency.chunks += term.chunks;
    if (term.chunks == 0) continue;
    CountDocuments(frequency, 1);
    if (!frequency.common) rare_.push_back({term.hash, file});
  }
  AddTotals(totals_, document.totals);
}

absl::Status CorpusStats::AddTable(const formats::TermTableView& table,
                                   std::span<const std::uint32_t> file_of_ordinal) {
  for (std::uint64_t i = 0; i < table.size(); ++i) {
    const formats::TermRow row = table.row(i);
    Frequency& frequency = frequencies_[row.hash];
    frequency.chunks += row.chunk_frequency;
    CountDocuments(frequency, row.document_frequency);
    if (frequency.common) continue;
    RAG_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> documents, table.RareDocuments(row.hash));
    for (const std::uint32_t document : documents) {
      const std::uint32_t file = file_of_ordinal[document];
      if (file != kNoFile) rare_.push_back({row.hash, file});
    }
  }
  AddTotals(totals_, table.totals());
  return absl::OkStatus();
}

absl::Status CorpusStats::Remove(const DocumentStats& document) {
  for (const TermFrequency& term : document.frequencies) {
    const auto it = frequencies_.find(term.hash);
    if (it == frequencies_.end() || it->second.chunks < term.chunks) return NotCounted();
    removed_.insert(term.hash);
    it->second.chunks -= term.chunks;
    if (term.chunks == 0) continue;
    if (it->second.documents == 0) return NotCounted();
    --it->second.documents;
  }
  return SubtractTotals(totals_, document.totals) ? absl::OkStatus() : NotCounted();
}

// Two doubts: a term that was common and is rare now, whose documents nobody listed; and a term
// that is in no body now, of which nobody knows whether a heading or a title still holds it.
void CorpusStats::Settle() {
  std::map<std::uint64_t, std::vector<std::uint64_t>> doubtful;
  absl::flat_hash_set<std::uint64_t> relisted;
  for (const std::uint64_t hash : removed_) {
    const Frequency& frequency = frequencies_.at(hash);
    const bool rare = frequency.documents > 0 && frequency.documents <= formats::kRareDocuments;
    if (frequency.common && rare) relisted.insert(hash);
    if (frequency.documents == 0) gone_.insert(hash);
    if ((frequency.common && rare) || frequency.documents == 0) {
      doubtful[hash & formats::kTermMask].push_back(hash);
    }
  }
  std::erase_if(rare_, [&](const formats::RareTerm& term) { return relisted.contains(term.hash); });
  for (auto& [term, hashes] : doubtful) {
    doubtful_.push_back(term);
    doubtful_hashes_.push_back(std::move(hashes));
  }
}

void CorpusStats::Revisit(std::uint32_t file, const formats::ForwardSegmentView& segment) {
  for (std::size_t i = 0; i < doubtful_.size(); ++i) {
    const formats::TermPostings& postings = segment.postings(i);
    const bool in_body = !postings.body.empty();
    if (!in_body && postings.headings.empty() && postings.title == 0) continue;
    for (const std::uint64_t hash : doubtful_hashes_[i]) {
      gone_.erase(hash);
      if (in_body && frequencies_.at(hash).documents > 0) rare_.push_back({hash, file});
    }
  }
}

double CorpusStats::ChunkIdf(std::uint64_t hash) const {
  const auto it = frequencies_.find(hash);
  return models::Bm25Idf(totals_.num_chunks, it == frequencies_.end() ? 0 : it->second.chunks);
}

double CorpusStats::DocumentIdf(std::uint64_t hash) const {
  const auto it = frequencies_.find(hash);
  return models::Bm25Idf(totals_.num_documents,
                         it == frequencies_.end() ? 0 : it->second.documents);
}

double CorpusStats::MeanChunkLength() const {
  if (totals_.num_chunks == 0) return 1;
  return std::max(
      1.0, static_cast<double>(totals_.chunk_length) / static_cast<double>(totals_.num_chunks));
}

std::uint64_t CorpusStats::Fingerprint() const {
  // A sum, because the order of a hash map is no order.
  std::uint64_t sum = 0;
  for (const auto& [hash, frequency] : frequencies_) {
    if (frequency.chunks == 0) continue;
    const std::array<std::uint64_t, 2> row = {
        hash, std::uint64_t{frequency.chunks} << 32 | frequency.documents};
    sum += formats::Xxh3({reinterpret_cast<const char*>(row.data()), sizeof row});
  }
  return formats::Xxh3(formats::EncodeTermTable(totals_, {})) + sum;
}

std::string CorpusStats::EncodeTermTable(std::span<const std::uint32_t> ordinal_of_file) const {
  std::vector<formats::TermRow> rows;
  rows.reserve(frequencies_.size());
  for (const auto& [hash, frequency] : frequencies_) {
    if (gone_.contains(hash)) continue;
    rows.push_back({hash, frequency.chunks, frequency.documents});
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.hash < b.hash; });
  std::vector<formats::RareTerm> rare;
  for (const formats::RareTerm& term : rare_) {
    if (frequencies_.at(term.hash).documents <= formats::kRareDocuments) {
      rare.push_back({term.hash, ordinal_of_file[term.document]});
    }
  }
  // A document of several segments may have been revisited with several of them.
  std::sort(rare.begin(), rare.end());
  rare.erase(std::unique(rare.begin(), rare.end()), rare.end());
  return formats::EncodeTermTable(totals_, rows, rare);
}

}  // namespace rag::indexer
