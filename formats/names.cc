#include "formats/names.h"

#include <cstdint>

#include "formats/utf8.h"

namespace rag::formats {
namespace {

// Whether the valid sequence is a control character or ends a line.
bool IsControl(std::string_view sequence) {
  const std::uint8_t first = ByteAt(sequence, 0);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  if (sequence.size() == 2) return first == 0xC2 && ByteAt(sequence, 1) < 0xA0;
  return sequence == "\xE2\x80\xA8" || sequence == "\xE2\x80\xA9";
}

void AppendPercent(char byte, std::string& out) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto value = static_cast<std::uint8_t>(byte);
  out += '%';
  out += kDigits[value >> 4];
  out += kDigits[value & 0x0F];
}

// What must not be printed as it is at `pos`: its length, or 0.
std::size_t UnprintableAt(std::string_view name, std::size_t pos) {
  const std::size_t length = ValidSequence(name, pos);
  if (length == 0) return 1;
  return IsControl(name.substr(pos, length)) ? length : 0;
}

}  // namespace

std::string EscapeName(std::string_view name) {
  std::string out;
  for (std::size_t pos = 0; pos < name.size();) {
    const std::size_t unprintable = name[pos] == '%' ? 1 : UnprintableAt(name, pos);
    const std::size_t length = unprintable > 0 ? unprintable : ValidSequence(name, pos);
    for (const char byte : name.substr(pos, length)) {
      if (unprintable > 0) {
        AppendPercent(byte, out);
      } else {
        out += byte;
      }
    }
    pos += length;
  }
  return out;
}

std::string PrintableName(std::string_view name) {
  for (std::size_t pos = 0; pos < name.size(); pos += ValidSequence(name, pos)) {
    if (UnprintableAt(name, pos) > 0) return EscapeName(name);
  }
  return std::string(name);
}

}  // namespace rag::formats
