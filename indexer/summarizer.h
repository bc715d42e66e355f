// Summarisers: what a chunk, a batch of summaries and a whole document say, for retrieval. Both
// kinds here are extractive and need no model.
#ifndef INDEXER_SUMMARIZER_H_
#define INDEXER_SUMMARIZER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/records.h"
#include "formats/span.h"

namespace rag::indexer {

// One sentence of a document and the terms in it (hashes of models::TermHash, repeats included).
struct Sentence {
  formats::Span range;  // in DocumentText::text
  std::vector<std::uint64_t> terms;
  std::uint64_t shift =
      0;  // where the text around it stands in the document, less where it does here
};

// A summary on its way up the tree: sentences of the document by index, or literal text.
struct DraftSummary {
  std::vector<std::uint32_t> sentences;  // ascending; into DocumentText::sentences
  std::string text;                      // only for summarisers that write text of their own
};

// A document, or a part of one, as summarisers see it. Borrowed for the length of a call.
struct DocumentText {
  std::string_view text;
  std::vector<Sentence> sentences;                  // of all chunks, ascending
  std::vector<std::uint32_t> chunk_first_sentence;  // num_chunks + 1 entries
  std::vector<formats::Span> chunks;                // in `text`
  std::uint32_t first_chunk = 0;                    // ordinal of the first one in the document
};

// Threads: const methods may run concurrently.
class Summarizer {
 public:
  virtual ~Summarizer() = default;
  [[nodiscard]] virtual std::string Id() const = 0;
  // Summary of a chunk, by its index into `document.chunks`.
  [[nodiscard]] virtual DraftSummary SummarizeChunk(const DocumentText& document,
                                                    std::uint32_t chunk) const = 0;
  // One summary of several, in document order. `final` asks for the document's own summary:
  // the batch that holds all that is left, and the last pass over its result.
  [[nodiscard]] virtual DraftSummary Reduce(const DocumentText& document,
                                            std::span<const DraftSummary> parts,
                                            bool final) const = 0;
};

// The text of a summary, sentences joined by a space and their white space collapsed.
std::string RenderSummary(const DocumentText& document, const DraftSummary& summary);
// As it is stored: ranges of sentences in the document, adjacent ones merged, or the literal text.
formats::Summary ToSummary(const DocumentText& document, const DraftSummary& summary);

// The source article's rule, exact: "Chunk {i} summary: " + 2 sentences; batches 3; final 3.
std::unique_ptr<Summarizer> MakeArticleSummarizer();

// Greedy cover: each next sentence adds the most sqrt(tf) * idf of terms not yet covered, divided
// by sqrt(its number of terms + 5). `idf` maps a term hash to its idf in the corpus; borrowed, must
// outlive the summariser and allow concurrent calls.
struct CoverSizes {
  std::uint32_t chunk_sentences = 2;
  std::uint32_t batch_sentences = 3;
  std::uint32_t final_sentences = 8;
};
std::unique_ptr<Summarizer> MakeCoverSummarizer(const CoverSizes& sizes,
                                                std::function<double(std::uint64_t)> idf);

}  // namespace rag::indexer

#endif  // INDEXER_SUMMARIZER_H_
