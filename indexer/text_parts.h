// The parts of a text between separators of one sort, from blank lines down to code points.
#ifndef INDEXER_TEXT_PARTS_H_
#define INDEXER_TEXT_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/span.h"
#include "indexer/characters.h"

namespace rag::indexer {

enum class Separator : std::uint8_t {
  kBlankLines,
  kLineEnds,
  kSentenceEnds,
  kWhiteSpace,   // no-break spaces are none
  kPunctuation,  // , ; }
  kClusters,     // every grapheme cluster is a part
  kCodePoints,   // likewise; the only ones that may cut a cluster
};

// The parts of `span` in order. They tile it: a separator belongs to the part before it. Line ends
// are \n, \r\n and \r; none but kCodePoints parts a grapheme cluster, given that the span does not.
// Time for all parts is linear in the span. Borrows the text. Threads: one.
class TextParts {
 public:
  TextParts(std::string_view text, formats::Span span, Separator separator);

  // False at the end.
  bool Next(formats::Span& part);

 private:
  // The end of the part that starts at `start`, which is before the span's.
  std::size_t End(std::size_t start);
  [[nodiscard]] std::size_t EndOfLines(std::size_t start, std::uint32_t line_ends) const;
  std::size_t EndOfSentence();
  [[nodiscard]] std::size_t EndOfWord(std::size_t start) const;
  [[nodiscard]] std::size_t EndOfPunctuation(std::size_t start) const;
  std::size_t EndOfCluster(std::size_t start);

  std::string_view text_;  // up to the end of the span
  std::size_t next_;       // where the next part starts
  Separator separator_;
  std::vector<formats::Span> sentences_;  // only for kSentenceEnds, relative to origin_
  std::size_t origin_;
  std::size_t next_sentence_ = 1;
  ClusterScanner clusters_;  // only for kClusters
};

}  // namespace rag::indexer

#endif  // INDEXER_TEXT_PARTS_H_
