// Damaged copies of an encoded value, for tests of decoders: every cut, every byte changed.
#ifndef TESTS_FORMATS_DAMAGE_H_
#define TESTS_FORMATS_DAMAGE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rag::formats {

// Calls `check` with bytes[0, n) for every n below the size. Each copy is its own allocation of
// exactly that size, so that a read past the end is seen by the address sanitizer.
template <typename Check>
void ForEachCut(std::string_view bytes, const Check& check) {
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const std::vector<char> copy(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    check(std::string_view(copy.data(), copy.size()));
  }
}

// Calls `check` for every byte with each of its bits flipped, and with all of them flipped.
template <typename Check>
void ForEachFlip(std::string_view bytes, const Check& check) {
  std::vector<char> copy(bytes.begin(), bytes.end());
  for (char& byte : copy) {
    const char original = byte;
    for (const unsigned mask : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U, 255U}) {
      byte = static_cast<char>(static_cast<unsigned char>(original) ^ mask);
      check(std::string_view(copy.data(), copy.size()));
    }
    byte = original;
  }
}

}  // namespace rag::formats

#endif  // TESTS_FORMATS_DAMAGE_H_
