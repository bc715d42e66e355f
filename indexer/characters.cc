#include "indexer/characters.h"

#include <utf8proc.h>

#include "formats/utf8.h"

namespace rag::indexer {
namespace {

using formats::IsContinuationByte;
using formats::ValidSequence;

constexpr char32_t kZeroWidthJoiner = 0x200D;

utf8proc_int32_t ToUtf8proc(char32_t c) { return static_cast<utf8proc_int32_t>(c); }

bool IsMark(char32_t c) {
  const utf8proc_category_t category = utf8proc_category(ToUtf8proc(c));
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
         category == UTF8PROC_CATEGORY_ME;
}

bool IsControl(char32_t c) { return c < 0x20 || c == 0x2028 || c == 0x2029; }

// What is asked beyond UAX #29. After a line end nothing is attached to anything.
bool IsAttached(char32_t before, char32_t after) {
  if (IsControl(before) || IsControl(after)) return false;
  return before == kZeroWidthJoiner || IsMark(after);
}

bool BothAscii(char32_t a, char32_t b) { return a < 0x80 && b < 0x80; }

}  // namespace

CodePoint DecodeAt(std::string_view text, std::size_t pos) {
  const std::uint32_t length = ValidSequence(text, pos);
  if (length == 0) return {0xFFFD, 1};
  if (length == 1) return {formats::ByteAt(text, pos), 1};
  char32_t value = formats::ByteAt(text, pos) & (0xFFU >> (length + 1));
  for (std::uint32_t i = 1; i < length; ++i)
    value = (value << 6) | (formats::ByteAt(text, pos + i) & 0x3FU);
  return {value, length};
}

CodePoint DecodeBefore(std::string_view text, std::size_t pos) {
  std::size_t start = pos - 1;
  while (start > 0 && pos - start < 4 && IsContinuationByte(formats::ByteAt(text, start))) --start;
  return DecodeAt(text, start);
}

std::uint64_t CountCodePoints(std::string_view text) {
  std::uint64_t count = 0;
  for (const char c : text) count += IsContinuationByte(static_cast<std::uint8_t>(c)) ? 0U : 1U;
  return count;
}

std::size_t ValidUtf8Prefix(std::string_view text) { return formats::ValidPrefix(text); }

std::string_view TruncateUtf8(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  while (max_bytes > 0 && IsContinuationByte(formats::ByteAt(text, max_bytes))) --max_bytes;
  return text.substr(0, max_bytes);
}

std::size_t ByteOrderMarkSize(std::string_view text) {
  return text.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
}

bool IsWhiteSpace(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool IsBreakingSpace(char32_t c) {
  return IsWhiteSpace(c) && c != 0xA0 && c != 0x2007 && c != 0x202F;
}

bool MayCut(char32_t before, char32_t after) {
  if (BothAscii(before, after)) return before != '\r' || after != '\n';
  return utf8proc_grapheme_break(ToUtf8proc(before), ToUtf8proc(after)) &&
         !IsAttached(before, after);
}

bool ClusterScanner::MayCut(char32_t before, char32_t after) {
  if (BothAscii(before, after)) {
    state_ = 0;
    return before != '\r' || after != '\n';
  }
  const bool is_break =
      utf8proc_grapheme_break_stateful(ToUtf8proc(before), ToUtf8proc(after), &state_);
  return is_break && !IsAttached(before, after);
}

}  // namespace rag::indexer
