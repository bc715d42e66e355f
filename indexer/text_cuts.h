// Where a range that is too long is cut, and how white space is taken off its edges.
#ifndef INDEXER_TEXT_CUTS_H_
#define INDEXER_TEXT_CUTS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/span.h"

namespace rag::indexer {

// `span` without blank bytes at its edges; empty when there is nothing else. The indentation of a
// first line stays (up to 64 bytes), and so does a space that is in one grapheme cluster with its
// neighbour.
formats::Span TrimBlank(std::string_view text, formats::Span span);

// In code points.
struct CutLimits {
  std::uint64_t soft = 0;  // pieces are no longer, except that a grapheme cluster may be
  std::uint64_t hard = 0;  // never longer: even a grapheme cluster is cut here
  std::uint64_t lead =
      0;  // what the first piece will be joined to: both limits are less by it; < hard
};

enum class CutAt { kLineEnds, kWhiteSpace };

// Cuts a range into trimmed pieces, as long as the limits allow, at the last line end if asked for,
// else white space, else (in the last fifth) a comma, semicolon or closing brace, else between
// grapheme clusters. Time is linear in the length of the range.
std::vector<formats::Span> CutSpan(std::string_view text, formats::Span span,
                                   const CutLimits& limits, CutAt at);

// Cuts prose into trimmed pieces of whole sentences; a sentence above the limits goes to CutSpan().
std::vector<formats::Span> CutProse(std::string_view text, formats::Span span,
                                    const CutLimits& limits);

}  // namespace rag::indexer

#endif  // INDEXER_TEXT_CUTS_H_
