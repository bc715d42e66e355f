#include "indexer/chunk_costs.h"

#include <cstdint>
#include <string>

namespace rag::indexer {

void SetChunkCosts(const formats::ChunkHeaderFields& place, std::string_view text,
                   const models::TokenCounter& counter, formats::ChunkTerms& chunk) {
  for (int style = 0; style < formats::kNumHeaderStyles; ++style) {
    std::string formatted = formats::ChunkHeader(static_cast<formats::HeaderStyle>(style), place);
    formatted += text;
    chunk.cost[style] = static_cast<std::uint32_t>(counter.Cost(formatted));
  }
}

}  // namespace rag::indexer
