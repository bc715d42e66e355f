// What is printed around raw chunks, and what it costs.
#ifndef QUERIER_CONTEXT_H_
#define QUERIER_CONTEXT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/forward_index.h"
#include "formats/records.h"
#include "querier/query.h"

namespace rag::querier {

struct PrintedChunk {
  std::string_view doc_id;
  std::string_view source;
  std::uint32_t chunk = 0;  // ordinal from 0
  const formats::ChunkRecord* record = nullptr;
};

// Headers and texts joined by formats::kChunkSeparator, no line break at the end.
std::string JoinChunks(std::span<const PrintedChunk> chunks, formats::HeaderStyle header);

// What stands before and after the joined chunks: for a context nothing and a line break; for a
// prompt the answer rules, and the question.
struct Frame {
  std::string before;
  std::string after;
};
Frame MakeFrame(OutputFormat format, std::string_view question);

}  // namespace rag::querier

#endif  // QUERIER_CONTEXT_H_
