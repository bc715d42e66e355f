// Strict UTF-8: surrogates, overlong forms and values above U+10FFFF are not valid.
#ifndef FORMATS_UTF8_H_
#define FORMATS_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rag::formats {

constexpr std::uint8_t ByteAt(std::string_view text, std::size_t pos) {
  return static_cast<std::uint8_t>(text[pos]);
}

constexpr bool IsContinuationByte(std::uint8_t byte) { return (byte & 0xC0) == 0x80; }

// Length that a lead byte announces; 0 when it leads nothing.
constexpr std::uint32_t AnnouncedLength(std::uint8_t lead) {
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
      return IsContinuationByte(second);
  }
}

// Bytes of the valid sequence at `pos` < text.size(); 0 when there is none.
constexpr std::uint32_t ValidSequence(std::string_view text, std::size_t pos) {
  const std::uint32_t length = AnnouncedLength(ByteAt(text, pos));
  if (length <= 1) return length;
  if (text.size() - pos < length) return 0;
  if (!IsSecondByte(ByteAt(text, pos), ByteAt(text, pos + 1))) return 0;
  for (std::uint32_t i = 2; i < length; ++i) {
    if (!IsContinuationByte(ByteAt(text, pos + i))) return 0;
  }
  return length;
}

// Length of the longest valid prefix: text.size() when all of it is valid.
constexpr std::size_t ValidPrefix(std::string_view text) {
  std::size_t pos = 0;
  while (pos < text.size()) {
    const std::uint32_t length = ValidSequence(text, pos);
    if (length == 0) break;
    pos += length;
  }
  return pos;
}

}  // namespace rag::formats

#endif  // FORMATS_UTF8_H_
