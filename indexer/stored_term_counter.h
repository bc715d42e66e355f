// The statistics of a document that an index holds.
#ifndef INDEXER_STORED_TERM_COUNTER_H_
#define INDEXER_STORED_TERM_COUNTER_H_

#include "absl/status/status.h"
#include "indexer/analyzed_document.h"
#include "models/words.h"
#include "storage/document_bundle.h"

namespace rag::indexer {

// Counts again what AnalyzeDocument counted, from the parts of the stored document. Borrows the
// analyzer. Threads: one thread.
class StoredTermCounter {
 public:
  explicit StoredTermCounter(models::TermAnalyzer& analyzer) : analyzer_(analyzer) {}

  // DATA_LOSS when a record is damaged.
  absl::Status Add(const storage::BundlePart& part);
  [[nodiscard]] DocumentStats Finish(std::string_view title);

 private:
  models::TermAnalyzer& analyzer_;
  StatsCounter stats_;
  std::uint32_t num_sections_ = 0;
};

}  // namespace rag::indexer

#endif  // INDEXER_STORED_TERM_COUNTER_H_
