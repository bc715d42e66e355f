// Cuts a text at separators from coarse to fine until every piece fits, and packs the pieces.
#ifndef INDEXER_RECURSIVE_CUTTER_H_
#define INDEXER_RECURSIVE_CUTTER_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "formats/span.h"
#include "indexer/text_parts.h"
#include "indexer/text_ruler.h"
#include "indexer/window_packer.h"

namespace rag::indexer {

struct CutRules {
  std::span<const Separator> separators;  // the last is kCodePoints; borrowed
  std::uint64_t piece = 0;                // what a piece measures at most
  WindowLimits window;
  // A piece that had to be cut further shares no chunk with its neighbours.
  bool cut_pieces_stay_apart = false;
};

// INVALID_ARGUMENT, with both values, unless 0 <= overlap < size: chunks would never move on.
absl::Status CheckOverlap(std::uint32_t size, std::uint32_t overlap);

// Trimmed ranges of chunks, but for a leading byte-order mark, which is in none. Valid UTF-8 only.
std::vector<formats::Span> CutRecursively(std::string_view text, const TextRuler& ruler,
                                          const CutRules& rules);

}  // namespace rag::indexer

#endif  // INDEXER_RECURSIVE_CUTTER_H_
