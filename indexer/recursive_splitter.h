// The splitter "recursive": pieces between separators, from coarse to fine until they fit.
#ifndef INDEXER_RECURSIVE_SPLITTER_H_
#define INDEXER_RECURSIVE_SPLITTER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "indexer/splitter.h"
#include "indexer/text_ruler.h"

namespace rag::indexer {

// In what the ruler counts.
struct RecursiveSizes {
  std::uint32_t size = 400;
  std::uint32_t overlap = 0;
};

// Cuts at blank lines; what is still longer than `size` at line ends, then at sentence ends, white
// space, behind , ; } and between grapheme clusters. Pieces are packed up to `size`, those of a
// longer piece apart from its neighbours. A chunk starts with the last whole words of the one
// before that are no longer than `overlap` and leave room for its own first piece; so chunks, other
// than splitter.h has it, may overlap, but starts and ends ascend strictly. One parent: the
// document. INVALID_ARGUMENT unless size > overlap.
absl::StatusOr<std::unique_ptr<Splitter>> MakeRecursiveSplitter(const RecursiveSizes& sizes,
                                                                TextRuler ruler);

}  // namespace rag::indexer

#endif  // INDEXER_RECURSIVE_SPLITTER_H_
