#include "indexer/text_lines.h"

#include <algorithm>

#include "indexer/characters.h"

namespace rag::indexer {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsBlankByte(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlankByte(text.back())) text.remove_suffix(1);
  return text;
}

bool IsEscaped(std::string_view row, std::size_t pos) { return pos > 0 && row[pos - 1] == '\\'; }

std::size_t CountCells(std::string_view row) {
  row = Trim(row);
  if (!row.empty() && row.front() == '|') row.remove_prefix(1);
  if (!row.empty() && row.back() == '|' && !IsEscaped(row, row.size() - 1)) row.remove_suffix(1);
  std::size_t cells = 1;
  for (std::size_t pos = row.find('|'); pos != std::string_view::npos;
       pos = row.find('|', pos + 1)) {
    if (!IsEscaped(row, pos)) ++cells;
  }
  return cells;
}

// :?-+:? between white space.
bool IsDelimiterCell(std::string_view cell) {
  cell = Trim(cell);
  if (!cell.empty() && cell.front() == ':') cell.remove_prefix(1);
  if (!cell.empty() && cell.back() == ':') cell.remove_suffix(1);
  return !cell.empty() && cell.find_first_not_of('-') == std::string_view::npos;
}

bool IsDelimiterRow(std::string_view row) {
  row = Trim(row);
  if (row.find_first_not_of("|:- \t") != std::string_view::npos) return false;
  if (row.find('|') == std::string_view::npos) return false;
  if (row.front() == '|') row.remove_prefix(1);
  if (!row.empty() && row.back() == '|') row.remove_suffix(1);
  for (;;) {
    const std::size_t pipe = row.find('|');
    if (!IsDelimiterCell(row.substr(0, pipe))) return false;
    if (pipe == std::string_view::npos) return true;
    row.remove_prefix(pipe + 1);
  }
}

}  // namespace

TextLines::TextLines(std::string_view text) : text_(text) {
  std::size_t pos = 0;
  while (pos < text.size()) {
    starts_.push_back(pos);
    const std::size_t end = text.find_first_of("\r\n", pos);
    if (end == std::string_view::npos) break;
    pos = end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
  }
}

std::string_view TextLines::Content(std::size_t line) const {
  std::string_view content = text_.substr(starts_[line], Start(line + 1) - starts_[line]);
  while (!content.empty() && (content.back() == '\n' || content.back() == '\r')) {
    content.remove_suffix(1);
  }
  return content;
}

bool TextLines::IsBlank(std::size_t line) const {
  const std::string_view content = Content(line);
  return std::all_of(content.begin(), content.end(), IsBlankByte);
}

std::size_t FindTable(const TextLines& lines, std::size_t first, std::size_t end) {
  for (std::size_t line = first; line + 1 < end; ++line) {
    const std::string_view next = lines.Content(line + 1);
    if (IsDelimiterRow(next) && CountCells(lines.Content(line)) == CountCells(next)) return line;
  }
  return end;
}

}  // namespace rag::indexer
