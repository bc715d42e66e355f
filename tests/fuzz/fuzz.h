// What the fuzz targets share. A target is one .cc with LLVMFuzzerTestOneInput, which libFuzzer
// calls with inputs that it makes up, and replay_main.cc with those of tests/fuzz/corpus.
// docs/testing.md.
#ifndef TESTS_FUZZ_FUZZ_H_
#define TESTS_FUZZ_FUZZ_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "formats/utf8.h"

// Returns 0; ends the process when the input shows a bug.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace rag::fuzz {

inline std::string_view Bytes(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the process, which is how a finding is reported, unless `holds`.
inline void Require(bool holds, std::string_view claim) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: does not hold: %.*s\n", static_cast<int>(claim.size()), claim.data());
  std::abort();
}

inline void RequireOk(const absl::Status& status) { Require(status.ok(), status.ToString()); }

// What a decoder may say about bad bytes.
inline void RequireDamage(const absl::Status& status) {
  Require(absl::IsDataLoss(status) || absl::IsFailedPrecondition(status), status.ToString());
}

// Takes an input apart, from the front. Behind the end it reads as zeros.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}
  Input(const std::uint8_t* data, std::size_t size) : bytes_(Bytes(data, size)) {}

  // Little-endian, of 1 to 8 bytes.
  std::uint64_t Number(int size_bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < size_bytes; ++i) value |= std::uint64_t{Byte()} << (8 * i);
    return value;
  }

  std::uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte;
  }

  // Up to `size` bytes.
  std::string_view Take(std::size_t size) {
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view Rest() { return Take(bytes_.size()); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

// `bytes` with a "?" for every byte that belongs to no valid sequence.
inline std::string ToUtf8(std::string_view bytes) {
  std::string text(bytes);
  for (std::size_t pos = formats::ValidPrefix(text); pos < text.size();) {
    text[pos] = '?';
    pos += formats::ValidPrefix(std::string_view(text).substr(pos));
  }
  return text;
}

}  // namespace rag::fuzz

#endif  // TESTS_FUZZ_FUZZ_H_
