// Packs pieces of a text, in order, into chunks up to a size, each of which may repeat the end of
// the one before.
#ifndef INDEXER_WINDOW_PACKER_H_
#define INDEXER_WINDOW_PACKER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/span.h"
#include "indexer/text_ruler.h"

namespace rag::indexer {

// In what the ruler measures.
struct WindowLimits {
  std::uint64_t size = 0;     // of a chunk; one that is a single piece may be longer
  std::uint64_t overlap = 0;  // of the text that a chunk shares with the one before; < size
};

// The lengths of pieces are added up. Where a counter finds a chunk longer than that sum, it gets
// fewer pieces, so that no chunk of several is above the size. Threads: one.
class WindowPacker {
 public:
  // Borrows text and ruler.
  WindowPacker(std::string_view text, const TextRuler& ruler, const WindowLimits& limits)
      : text_(text), ruler_(ruler), limits_(limits) {}

  // A trimmed piece behind all pieces before, and what it measures.
  void Add(formats::Span piece, std::uint64_t size);
  // Ends the chunk that is being filled.
  void Close();
  // All chunks. Starts and ends ascend strictly.
  std::vector<formats::Span> Take();

 private:
  [[nodiscard]] std::uint64_t Measure(std::uint64_t start, std::uint64_t end) const {
    return ruler_.Measure(text_.substr(start, end - start));
  }
  // Makes a chunk of the open one's pieces, or of as many as fit; the others stay.
  void Emit();
  // How many of the pieces fit, counted together: at least one.
  std::size_t CountFitting();
  // Where the last words of the range start that measure no more than `limit`, or its last grapheme
  // clusters when one word is longer; its end when there are none. Never at the start of the range.
  [[nodiscard]] std::uint64_t TailStart(formats::Span range, std::uint64_t limit) const;
  void SetTail(formats::Span range, std::uint64_t limit);

  std::string_view text_;
  const TextRuler& ruler_;
  WindowLimits limits_;
  std::vector<formats::Span> chunks_;
  // The chunk that is being filled: [start_, end_), of which what comes before the pieces is the
  // tail of the chunk before. Without pieces, only that tail, which makes no chunk; without a tail,
  // start_ == end_.
  std::uint64_t start_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t size_ = 0;
  std::vector<formats::Span> pieces_;
};

}  // namespace rag::indexer

#endif  // INDEXER_WINDOW_PACKER_H_
