#include "indexer/characters.h"

#include <utf8proc.h>

namespace rag::indexer {
namespace {

constexpr char32_t kZeroWidthJoiner = 0x200D;

constexpr std::uint8_t Byte(std::string_view text, std::size_t pos) {
  return static_cast<std::uint8_t>(text[pos]);
}

constexpr bool IsContinuation(std::uint8_t byte) { return (byte & 0xC0) == 0x80; }

// Length that a lead byte announces; 0 when it leads nothing.
constexpr std::uint32_t SequenceLength(std::uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

// The first continuation byte's range is what excludes overlong forms, surrogates and too large
// values.
constexpr bool IsSecondByte(std::uint8_t lead, std::uint8_t second) {
  switch (lead) {
    case 0xE0:
      return second >= 0xA0 && second <= 0xBF;
    case 0xED:
      return second >= 0x80 && second <= 0x9F;
    case 0xF0:
      return second >= 0x90 && second <= 0xBF;
    case 0xF4:
      return second >= 0x80 && second <= 0x8F;
    default:
      return IsContinuation(second);
  }
}

// Length of the valid sequence at `pos`; 0 when there is none.
std::uint32_t ValidSequence(std::string_view text, std::size_t pos) {
  const std::uint32_t length = SequenceLength(Byte(text, pos));
  if (length <= 1) return length;
  if (text.size() - pos < length) return 0;
  if (!IsSecondByte(Byte(text, pos), Byte(text, pos + 1))) return 0;
  for (std::uint32_t i = 2; i < length; ++i) {
    if (!IsContinuation(Byte(text, pos + i))) return 0;
  }
  return length;
}

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
  if (length == 1) return {Byte(text, pos), 1};
  char32_t value = Byte(text, pos) & (0xFFU >> (length + 1));
  for (std::uint32_t i = 1; i < length; ++i) value = (value << 6) | (Byte(text, pos + i) & 0x3FU);
  return {value, length};
}

CodePoint DecodeBefore(std::string_view text, std::size_t pos) {
  std::size_t start = pos - 1;
  while (start > 0 && pos - start < 4 && IsContinuation(Byte(text, start))) --start;
  return DecodeAt(text, start);
}

std::uint64_t CountCodePoints(std::string_view text) {
  std::uint64_t count = 0;
  for (const char c : text) count += IsContinuation(static_cast<std::uint8_t>(c)) ? 0U : 1U;
  return count;
}

std::size_t ValidUtf8Prefix(std::string_view text) {
  std::size_t pos = 0;
  while (pos < text.size()) {
    const std::uint32_t length = ValidSequence(text, pos);
    if (length == 0) break;
    pos += length;
  }
  return pos;
}

std::string_view TruncateUtf8(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  while (max_bytes > 0 && IsContinuation(Byte(text, max_bytes))) --max_bytes;
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
