// The second half of indexing a document, which needs the statistics of the corpus: summaries, the
// summary tree, vectors, records.
#ifndef INDEXER_DOCUMENT_BUILDER_H_
#define INDEXER_DOCUMENT_BUILDER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "indexer/analyzed_document.h"
#include "indexer/corpus_stats.h"
#include "indexer/profile.h"
#include "indexer/summarizer.h"
#include "models/hashed_bm25.h"
#include "models/token_counter.h"
#include "models/words.h"
#include "storage/index_writer.h"
#include "storage/vector_files.h"

namespace rag::indexer {

struct BuiltDocument {
  std::vector<std::uint64_t> earlier_parts;  // entries of the journal: what precedes `bundle`
  storage::DocumentBundle bundle;
  std::vector<std::string> log;     // lines of the reduction, a line a level
  std::uint32_t cut_summaries = 0;  // members of forced pairs that were cut
};

// What is embedded (docs/design.md, "What a vector is made of"):
//   chunk     title + heading path + summary + the chunk's 8 best keywords
//   document  title + summary + the document's 64 best keywords
//   window    title + heading paths + the text of the chunks under a node of level 0 of the summary
//   tree
// The last two are rows of docs.faiss with the document's id. Threads: const methods may run
// concurrently, each with its own analyzer.
class DocumentBuilder {
 public:
  // All borrowed; they must outlive the builder.
  DocumentBuilder(const Profile& profile, const CorpusStats& stats, const Summarizer& summarizer,
                  const models::TokenCounter& counter, const storage::VectorCodec& chunk_codec,
                  const storage::VectorCodec& document_codec);

  // The way of a document's earlier parts into the builder and out of it.
  struct PartFlow {
    std::function<absl::StatusOr<AnalyzedPart>(std::uint64_t entry)> read;
    std::function<absl::StatusOr<std::uint64_t>(const storage::BundlePart&)> write;  // its entry
  };
  // Has one part in memory at a time, but for their summaries of level 1. A document of one part
  // needs no flow.
  [[nodiscard]] absl::StatusOr<BuiltDocument> Build(AnalyzedDocument document,
                                                    models::TermAnalyzer& analyzer,
                                                    const PartFlow& flow = {}) const;

 private:
  class Assembly;
  const Profile& profile_;
  const CorpusStats& stats_;
  const Summarizer& summarizer_;
  const models::TokenCounter& counter_;
  const storage::VectorCodec& chunk_codec_;
  const storage::VectorCodec& document_codec_;
};

}  // namespace rag::indexer

#endif  // INDEXER_DOCUMENT_BUILDER_H_
