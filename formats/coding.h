// Little-endian and varint coding with bounds checks: the alphabet of every record. FORMAT.md,
// "Coding".
#ifndef FORMATS_CODING_H_
#define FORMATS_CODING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "formats/span.h"

namespace rag::formats {

// Appends fields to a string that it owns. Varints are LEB128 (7 bits a byte, low bits first), as
// short as the value allows: a reader takes no other. Threads: one thread.
class ByteWriter {
 public:
  void Fixed8(std::uint8_t value);
  void Fixed32(std::uint32_t value);  // little-endian
  void Fixed64(std::uint64_t value);  // little-endian
  void BigEndian32(std::uint32_t value);
  void Varint(std::uint64_t value);
  void Bytes(std::string_view bytes);           // as they are, no length
  void LengthPrefixed(std::string_view bytes);  // varint length, then the bytes
  // Start relative to `base`, then the length, both varints. REQUIRES: base <= span.start <=
  // span.end.
  void RelativeSpan(Span span, std::uint64_t base);

  [[nodiscard]] std::size_t size() const { return out_.size(); }
  [[nodiscard]] std::string_view view() const { return out_; }
  [[nodiscard]] std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

// Reads fields from borrowed bytes that may be hostile. The first bad read makes the reader fail
// for good: later reads give 0 or "", and status() tells what was wrong and at which offset. So a
// decoder reads all its fields and checks once. Threads: one thread.
class ByteReader {
 public:
  // `what` names the thing that is decoded in messages ("chunk record 3/17"); borrowed, as `bytes`
  // is.
  ByteReader(std::string_view bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  std::uint8_t Fixed8();
  std::uint32_t Fixed32();
  std::uint64_t Fixed64();
  std::uint64_t Varint();
  // A varint that must be <= max; a larger one fails the reader. For u32 fields and enumerators.
  std::uint64_t VarintAtMost(std::uint64_t max) {
    // Nearly all are of one or two bytes, and a query reads tens of thousands of them.
    if (offset_ + 2 <= bytes_.size() && error_.empty()) {
      const auto low = static_cast<std::uint8_t>(bytes_[offset_]);
      if (low < 0x80 && low <= max) {
        ++offset_;
        return low;
      }
      const auto high = static_cast<std::uint8_t>(bytes_[offset_ + 1]);
      const std::uint64_t value = (low & 0x7FU) | std::uint64_t{high} << 7;
      if (low >= 0x80 && high > 0 && high < 0x80 && value <= max) {
        offset_ += 2;
        return value;
      }
    }
    return LongVarintAtMost(max);
  }
  // A varint number of items of which each takes at least `min_item_bytes`; fails when the rest of
  // the input cannot hold that many, so that a caller may reserve() safely.
  std::size_t Count(std::size_t min_item_bytes);
  std::string_view Bytes(std::size_t n);
  std::string_view LengthPrefixed();
  Span RelativeSpan(std::uint64_t base);
  void Skip(std::size_t n) { Bytes(n); }

  // Marks the reader failed with a message of the caller's, e.g. "start after end".
  void Fail(std::string_view message);

  [[nodiscard]] bool ok() const { return error_.empty(); }
  [[nodiscard]] std::size_t offset() const { return offset_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - offset_; }
  // DATA_LOSS when a read failed. Finish() also when bytes are left over.
  [[nodiscard]] absl::Status Finish() const;
  [[nodiscard]] absl::Status status() const;

 private:
  std::uint64_t LongVarintAtMost(std::uint64_t max);

  std::string_view bytes_;
  std::string_view what_;
  std::size_t offset_ = 0;
  std::string error_;
};

}  // namespace rag::formats

#endif  // FORMATS_CODING_H_
