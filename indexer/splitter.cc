#include "indexer/splitter.h"

#include <cstddef>

#include "indexer/characters.h"

namespace rag::indexer {
namespace {

// Leaves the first `kept` chunks.
void KeepChunks(std::size_t kept, std::uint64_t size, SplitDocument& part) {
  part.chunks.resize(kept);
  while (!part.parents.empty() && part.parents.back().first_chunk >= kept) part.parents.pop_back();
  if (part.parents.empty()) return;
  formats::ParentRecord& parent = part.parents.back();
  parent.num_chunks = static_cast<std::uint32_t>(kept) - parent.first_chunk;
  parent.range.end = size;
}

}  // namespace

// For splitters that go from the start to the end and look no further back than the chunk that they
// fill: the last chunk, which may not be full, is left to the next part.
std::uint64_t Splitter::SplitPart(std::string_view text, formats::MediaType type, bool all,
                                  SplitState& state, SplitDocument& part) const {
  part = Split(text, type);
  std::uint64_t size = text.size();
  if (!all) {
    if (part.chunks.size() < 2) return 0;
    const std::size_t kept = part.chunks.size() - 1;
    size = part.chunks[kept].range.start;
    KeepChunks(kept, size, part);
  }
  // Only the start of a document has a mark; elsewhere the same bytes are text.
  if (state.started && ByteOrderMarkSize(text) > 0 && !part.chunks.empty()) {
    part.chunks.front().range.start = 0;
    part.parents.front().range.start = 0;
  }
  state.started = true;
  return size;
}

}  // namespace rag::indexer
