#include "formats/keys.h"

#include <cassert>

#include "formats/coding.h"

namespace rag::formats {

std::string DocumentKey(std::uint32_t document) {
  ByteWriter key;
  key.BigEndian32(document);
  return key.Take();
}

std::string ItemKey(std::uint32_t document, std::uint32_t item) {
  ByteWriter key;
  key.BigEndian32(document);
  key.BigEndian32(item);
  return key.Take();
}

std::string NodeKey(std::uint32_t document, std::uint32_t level, std::uint32_t node) {
  ByteWriter key;
  key.BigEndian32(document);
  key.BigEndian32(level);
  key.BigEndian32(node);
  return key.Take();
}

absl::StatusOr<KeyParts> ParseKey(std::string_view key, int parts) {
  assert(1 <= parts && parts <= 3);
  const std::size_t expected = static_cast<std::size_t>(parts) * 4;
  if (key.size() != expected) {
    return absl::DataLossError("record key: length: expected " + std::to_string(expected) +
                               " bytes, found " + std::to_string(key.size()));
  }
  KeyParts result;
  for (std::size_t i = 0; i < expected; ++i) {
    std::uint32_t& part = result.part[i / 4];
    part = (part << 8) | static_cast<std::uint8_t>(key[i]);
  }
  return result;
}

}  // namespace rag::formats
