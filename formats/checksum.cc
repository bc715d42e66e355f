#include "formats/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <nettle/sha2.h>

namespace rag::formats {
namespace {

std::string ToHex(XXH128_hash_t hash) {
  return formats::ToHex(std::uint64_t{hash.high64}) + formats::ToHex(std::uint64_t{hash.low64});
}

}  // namespace

std::uint64_t Xxh3(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string Xxh128Hex(std::string_view bytes) {
  return ToHex(XXH3_128bits(bytes.data(), bytes.size()));
}

struct Xxh128Stream::State {
  XXH3_state_t xxh;
};

Xxh128Stream::Xxh128Stream() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh);
}
Xxh128Stream::~Xxh128Stream() = default;
Xxh128Stream::Xxh128Stream(Xxh128Stream&&) noexcept = default;
Xxh128Stream& Xxh128Stream::operator=(Xxh128Stream&&) noexcept = default;

void Xxh128Stream::Update(std::string_view bytes) {
  XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

std::string Xxh128Stream::Hex() const { return ToHex(XXH3_128bits_digest(&state_->xxh)); }

struct Sha256Stream::State {
  sha256_ctx context;
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) { sha256_init(&state_->context); }
Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;

void Sha256Stream::Update(std::string_view bytes) {
  // NOLINTNEXTLINE: nettle takes unsigned bytes.
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  sha256_update(&state_->context, bytes.size(), data);
}

Sha256 Sha256Stream::Finish() {
  Sha256 digest{};
  sha256_digest(&state_->context, digest.size(), digest.data());  // begins anew, too
  return digest;
}

Sha256 ComputeSha256(std::string_view bytes) {
  Sha256Stream stream;
  stream.Update(bytes);
  return stream.Finish();
}

std::string ToHex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 0xf]);
  }
  return hex;
}

std::string ToHex(std::uint64_t value) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>((value >> shift) & 0xff));
  }
  return ToHex(std::string_view(bytes));
}

}  // namespace rag::formats
