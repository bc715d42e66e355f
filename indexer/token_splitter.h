// The splitter "tokens": windows of a fixed number of tokens.
#ifndef INDEXER_TOKEN_SPLITTER_H_
#define INDEXER_TOKEN_SPLITTER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "indexer/splitter.h"
#include "models/token_counter.h"

namespace rag::indexer {

// In tokens of the counter.
struct TokenSizes {
  std::uint32_t size = 100;
  std::uint32_t overlap = 0;
};

// As many whole words as fit `size`, whatever lines and sentences they are in. A word longer than a
// window is cut behind , ; } and between grapheme clusters. A window starts with the last whole
// words of the one before that are no longer than `overlap` and leave room for a word of its own;
// so chunks, other than splitter.h has it, may overlap, but starts and ends ascend strictly. One
// parent: the document. INVALID_ARGUMENT unless size > overlap.
absl::StatusOr<std::unique_ptr<Splitter>> MakeTokenSplitter(
    const TokenSizes& sizes, std::shared_ptr<const models::TokenCounter> counter);

}  // namespace rag::indexer

#endif  // INDEXER_TOKEN_SPLITTER_H_
