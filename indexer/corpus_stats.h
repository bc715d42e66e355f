// Statistics of the corpus, gathered in the first pass and read-only in the second.
#ifndef INDEXER_CORPUS_STATS_H_
#define INDEXER_CORPUS_STATS_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "formats/forward_index.h"
#include "formats/term_table.h"
#include "indexer/analyzed_document.h"

namespace rag::indexer {

// A document's file number while its ordinal is not yet known.
inline constexpr std::uint32_t kNoFile = ~std::uint32_t{0};

// What is new is added; a rebuild then adds the table of the generation before, takes out what is
// gone from it, and calls Settle. The result is what a fresh build of the same documents would
// have: all sums are exact and do not depend on the order.
//
// Memory: about 30 bytes a distinct term, and 16 for each of its documents up to
// formats::kRareDocuments. Threads: methods that change it on one thread; const methods may run
// concurrently when none of those runs.
class CorpusStats {
 public:
  // `file` numbers the document among all of this build, for EncodeTermTable.
  void Add(std::uint32_t file, const DocumentStats& document);
  // Adds the statistics of a generation. file_of_ordinal: the file that holds each of its documents
  // still, or kNoFile. DATA_LOSS when the table is damaged.
  absl::Status AddTable(const formats::TermTableView& table,
                        std::span<const std::uint32_t> file_of_ordinal);
  // Takes out a document that an added table counts. DATA_LOSS when the table does not count it.
  absl::Status Remove(const DocumentStats& document);
  // To call after the last Remove.
  void Settle();
  // 40-bit terms, ascending, about which the removals left a doubt: in which documents they are.
  // Every document of the build has to be shown to Revisit when there are any.
  [[nodiscard]] std::span<const std::uint64_t> doubtful() const { return doubtful_; }
  // `segment`: parsed with doubtful() as the wanted terms.
  void Revisit(std::uint32_t file, const formats::ForwardSegmentView& segment);

  [[nodiscard]] const formats::CorpusTotals& totals() const { return totals_; }
  // BM25 idf over chunks; that of a term in no body is the largest there is.
  [[nodiscard]] double ChunkIdf(std::uint64_t hash) const;
  [[nodiscard]] double DocumentIdf(std::uint64_t hash) const;
  // Mean number of terms of a chunk with its headings and title; 1 for an empty corpus.
  [[nodiscard]] double MeanChunkLength() const;
  // Equal for equal statistics.
  [[nodiscard]] std::uint64_t Fingerprint() const;
  // The bytes of model/terms.bin. ordinal_of_file: the document in each file that has one.
  [[nodiscard]] std::string EncodeTermTable(std::span<const std::uint32_t> ordinal_of_file) const;

 private:
  struct Frequency {
    std::uint32_t chunks = 0;
    std::uint32_t documents = 0;
    // In more than kRareDocuments documents, the removed ones included: rare_ lacks some.
    bool common = false;
  };
  void CountDocuments(Frequency& frequency, std::uint32_t more);

  formats::CorpusTotals totals_;
  absl::flat_hash_map<std::uint64_t, Frequency> frequencies_;
  // (term, file) of the first kRareDocuments documents of every term; unsorted.
  std::vector<formats::RareTerm> rare_;
  absl::flat_hash_set<std::uint64_t> removed_;  // terms of removed documents
  std::vector<std::uint64_t> doubtful_;
  std::vector<std::vector<std::uint64_t>> doubtful_hashes_;  // of each of doubtful_
  absl::flat_hash_set<std::uint64_t> gone_;  // hashes that no document holds any more
};

}  // namespace rag::indexer

#endif  // INDEXER_CORPUS_STATS_H_
