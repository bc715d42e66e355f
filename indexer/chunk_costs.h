// What a chunk takes of a token budget.
#ifndef INDEXER_CHUNK_COSTS_H_
#define INDEXER_CHUNK_COSTS_H_

#include <string_view>

#include "formats/chunk_header.h"
#include "formats/forward_index.h"
#include "models/token_counter.h"

namespace rag::indexer {

// Sets the cost under each style of header, in the counter's units.
void SetChunkCosts(const formats::ChunkHeaderFields& place, std::string_view text,
                   const models::TokenCounter& counter, formats::ChunkTerms& chunk);

}  // namespace rag::indexer

#endif  // INDEXER_CHUNK_COSTS_H_
