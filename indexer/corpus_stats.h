// Statistics of the corpus, gathered in the first pass and read-only in the second.
#ifndef INDEXER_CORPUS_STATS_H_
#define INDEXER_CORPUS_STATS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "formats/term_table.h"
#include "indexer/analyzed_document.h"

namespace rag::indexer {

// Memory: about 20 bytes a distinct term, and 16 for each of its documents up to
// formats::kRareDocuments. Threads: Add on one thread; const methods may run
// concurrently once the last Add has returned.
class CorpusStats {
 public:
  // Documents in order of their source: the sum of real numbers depends on it.
  void Add(const AnalyzedDocument& document);

  [[nodiscard]] const formats::CorpusTotals& totals() const { return totals_; }
  // BM25 idf over chunks; that of a term in no body is the largest there is.
  [[nodiscard]] double ChunkIdf(std::uint64_t hash) const;
  [[nodiscard]] double DocumentIdf(std::uint64_t hash) const;
  // Mean number of terms of a chunk with its headings and title; 1 for an empty corpus.
  [[nodiscard]] double MeanChunkLength() const;
  // The bytes of model/terms.bin.
  [[nodiscard]] std::string EncodeTermTable() const;

 private:
  struct Frequency {
    std::uint32_t chunks = 0;
    std::uint32_t documents = 0;
  };
  formats::CorpusTotals totals_;
  // (term, document) of the first kRareDocuments documents of every term; unsorted.
  std::vector<formats::RareTerm> rare_;
  absl::flat_hash_map<std::uint64_t, Frequency> frequencies_;
};

}  // namespace rag::indexer

#endif  // INDEXER_CORPUS_STATS_H_
