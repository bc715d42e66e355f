// The lines of a text as CommonMark counts them: they end at \n, \r\n or \r.
#ifndef INDEXER_TEXT_LINES_H_
#define INDEXER_TEXT_LINES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rag::indexer {

// Borrows the text. Threads: immutable.
class TextLines {
 public:
  explicit TextLines(std::string_view text);

  [[nodiscard]] std::size_t size() const { return starts_.size(); }
  // Offset of a line; of the end of the text for size().
  [[nodiscard]] std::uint64_t Start(std::size_t line) const {
    return line < starts_.size() ? starts_[line] : text_.size();
  }
  // The line without its end.
  [[nodiscard]] std::string_view Content(std::size_t line) const;
  // Nothing but blank bytes.
  [[nodiscard]] bool IsBlank(std::size_t line) const;

 private:
  std::string_view text_;
  std::vector<std::uint64_t> starts_;
};

// The header's line of the first GFM table in the lines [first, end) of one paragraph: the one
// before a delimiter row with as many cells. `end` when there is none.
std::size_t FindTable(const TextLines& lines, std::size_t first, std::size_t end);

}  // namespace rag::indexer

#endif  // INDEXER_TEXT_LINES_H_
