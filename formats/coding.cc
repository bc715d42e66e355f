#include "formats/coding.h"

#include <bit>
#include <cassert>
#include <limits>

namespace rag::formats {

static_assert(std::endian::native == std::endian::little,
              "tables are used in place, so the host must be little-endian");

namespace {

constexpr int kMaxVarintBytes = 10;  // ceil(64 / 7)

// `n` bytes of `value`, low bits first.
void AppendLittleEndian(std::string& out, std::uint64_t value, int n) {
  for (int i = 0; i < n; ++i) out.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
}

std::uint64_t LoadLittleEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::uint64_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
  }
  return value;
}

}  // namespace

void ByteWriter::Fixed8(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }
void ByteWriter::Fixed32(std::uint32_t value) { AppendLittleEndian(out_, value, 4); }
void ByteWriter::Fixed64(std::uint64_t value) { AppendLittleEndian(out_, value, 8); }

void ByteWriter::BigEndian32(std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out_.push_back(static_cast<char>((value >> shift) & 0xff));
  }
}

void ByteWriter::Varint(std::uint64_t value) {
  while (value >= 0x80) {
    out_.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  out_.push_back(static_cast<char>(value));
}

void ByteWriter::Bytes(std::string_view bytes) { out_.append(bytes); }

void ByteWriter::LengthPrefixed(std::string_view bytes) {
  Varint(bytes.size());
  Bytes(bytes);
}

void ByteWriter::RelativeSpan(Span span, std::uint64_t base) {
  assert(base <= span.start && span.start <= span.end);
  Varint(span.start - base);
  Varint(span.end - span.start);
}

std::uint8_t ByteReader::Fixed8() { return static_cast<std::uint8_t>(LoadLittleEndian(Bytes(1))); }

std::uint32_t ByteReader::Fixed32() {
  return static_cast<std::uint32_t>(LoadLittleEndian(Bytes(4)));
}

std::uint64_t ByteReader::Fixed64() { return LoadLittleEndian(Bytes(8)); }

std::uint64_t ByteReader::Varint() {
  if (!ok()) return 0;
  std::uint64_t value = 0;
  for (int i = 0; i < kMaxVarintBytes; ++i) {
    const std::size_t at = offset_ + static_cast<std::size_t>(i);
    if (at >= bytes_.size()) {
      Fail("the bytes end inside a varint");
      return 0;
    }
    const auto byte = static_cast<std::uint8_t>(bytes_[at]);
    if (i == kMaxVarintBytes - 1 && byte > 1) break;
    value |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if (byte >= 0x80) continue;
    if (byte == 0 && i > 0) {  // one value, one encoding
      Fail("varint is longer than its value needs");
      return 0;
    }
    offset_ = at + 1;
    return value;
  }
  Fail("varint is over 64 bits");
  return 0;
}

std::uint64_t ByteReader::LongVarintAtMost(std::uint64_t max) {
  const std::size_t start = offset_;
  const std::uint64_t value = Varint();
  if (value <= max) return value;
  offset_ = start;
  Fail("expected at most " + std::to_string(max) + ", found " + std::to_string(value));
  return 0;
}

std::size_t ByteReader::Count(std::size_t min_item_bytes) {
  const std::size_t start = offset_;
  const std::uint64_t count = Varint();
  const std::uint64_t room = remaining() / (min_item_bytes == 0 ? 1 : min_item_bytes);
  if (count <= room) return static_cast<std::size_t>(count);
  offset_ = start;
  Fail("count is " + std::to_string(count) + ", the rest has room for " + std::to_string(room));
  return 0;
}

std::string_view ByteReader::Bytes(std::size_t n) {
  if (!ok()) return {};
  if (n > remaining()) {
    Fail("expected " + std::to_string(n) + " more bytes, found " + std::to_string(remaining()));
    return {};
  }
  const std::string_view bytes = bytes_.substr(offset_, n);
  offset_ += n;
  return bytes;
}

std::string_view ByteReader::LengthPrefixed() { return Bytes(Count(1)); }

Span ByteReader::RelativeSpan(std::uint64_t base) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t start = base + VarintAtMost(kMax - base);
  const std::uint64_t length = VarintAtMost(kMax - start);
  if (!ok()) return {};
  return {.start = start, .end = start + length};
}

void ByteReader::Fail(std::string_view message) {
  if (!ok()) return;
  error_.append(what_).append(": offset ").append(std::to_string(offset_));
  error_.append(": ").append(message);
}

absl::Status ByteReader::Finish() const {
  if (!ok() || remaining() == 0) return status();
  std::string message(what_);
  message += ": offset " + std::to_string(offset_) + ": expected the end, found " +
             std::to_string(remaining()) + " more bytes";
  return absl::DataLossError(message);
}

absl::Status ByteReader::status() const {
  return ok() ? absl::OkStatus() : absl::DataLossError(error_);
}

}  // namespace rag::formats
