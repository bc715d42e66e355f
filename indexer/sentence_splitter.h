// The splitter "sentence": whole sentences, packed.
#ifndef INDEXER_SENTENCE_SPLITTER_H_
#define INDEXER_SENTENCE_SPLITTER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "indexer/splitter.h"
#include "indexer/text_ruler.h"

namespace rag::indexer {

// In what the ruler counts.
struct SentenceSizes {
  std::uint32_t size = 280;       // sentences are packed up to this
  std::uint32_t hard_max = 1680;  // a longer sentence is cut
};

// Sentences as sentences.h finds them, packed up to `size`, across paragraphs, too. A sentence
// between `size` and `hard_max` is a chunk of its own; a longer one is cut at line ends, white
// space, behind , ; } and between grapheme clusters. One parent: the document. INVALID_ARGUMENT
// unless 0 < size <= hard_max.
absl::StatusOr<std::unique_ptr<Splitter>> MakeSentenceSplitter(const SentenceSizes& sizes,
                                                               TextRuler ruler);

}  // namespace rag::indexer

#endif  // INDEXER_SENTENCE_SPLITTER_H_
