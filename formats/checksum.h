// Checksums: XXH3 for files and headers (fast, against damage), SHA-256 for the content of
// documents (identity). Both as lower-case hexadecimal text in JSON.
#ifndef FORMATS_CHECKSUM_H_
#define FORMATS_CHECKSUM_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace rag::formats {

// XXH3, 64 bits, seed 0 (xxHash 0.8).
std::uint64_t Xxh3(std::string_view bytes);
// XXH3, 128 bits, as 32 hexadecimal digits, high half first (as `xxh128sum` prints it).
std::string Xxh128Hex(std::string_view bytes);

// XXH3-128 of a stream. Threads: one thread.
class Xxh128Stream {
 public:
  Xxh128Stream();
  ~Xxh128Stream();
  Xxh128Stream(Xxh128Stream&&) noexcept;
  Xxh128Stream& operator=(Xxh128Stream&&) noexcept;
  void Update(std::string_view bytes);
  [[nodiscard]] std::string Hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

using Sha256 = std::array<std::uint8_t, 32>;
Sha256 ComputeSha256(std::string_view bytes);

// SHA-256 of a stream. Threads: one thread.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;
  void Update(std::string_view bytes);
  // Of all bytes since the last call.
  Sha256 Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string ToHex(std::string_view bytes);
inline std::string ToHex(const Sha256& digest) {
  std::string bytes(digest.begin(), digest.end());
  return ToHex(std::string_view(bytes));
}
// 16 hexadecimal digits, most significant first.
std::string ToHex(std::uint64_t value);

}  // namespace rag::formats

#endif  // FORMATS_CHECKSUM_H_
