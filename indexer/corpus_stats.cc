#include "indexer/corpus_stats.h"

#include <algorithm>
#include <vector>

#include "models/hashed_bm25.h"

namespace rag::indexer {

void CorpusStats::Add(const AnalyzedDocument& document) {
  const auto ordinal = static_cast<std::uint32_t>(totals_.num_documents);
  for (const TermFrequency& term : document.frequencies) {
    Frequency& frequency = frequencies_[term.hash];
    frequency.chunks += term.chunks;
    if (term.chunks == 0) continue;
    if (++frequency.documents <= formats::kRareDocuments) rare_.push_back({term.hash, ordinal});
  }
  const formats::CorpusTotals& more = document.totals;
  totals_.num_documents += more.num_documents;
  totals_.num_chunks += more.num_chunks;
  totals_.num_sections += more.num_sections;
  totals_.chunk_length += more.chunk_length;
  totals_.section_length += more.section_length;
  totals_.document_length += more.document_length;
  totals_.near_length += more.near_length;
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

std::string CorpusStats::EncodeTermTable() const {
  std::vector<formats::TermRow> rows;
  rows.reserve(frequencies_.size());
  for (const auto& [hash, frequency] : frequencies_) {
    rows.push_back({hash, frequency.chunks, frequency.documents});
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.hash < b.hash; });
  std::vector<formats::RareTerm> rare;
  for (const formats::RareTerm& term : rare_) {
    if (frequencies_.at(term.hash).documents <= formats::kRareDocuments) rare.push_back(term);
  }
  std::sort(rare.begin(), rare.end());
  return formats::EncodeTermTable(totals_, rows, rare);
}

}  // namespace rag::indexer
