#include "models/token_counter.h"

#include <algorithm>

#include <utf8proc.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace rag::models {
namespace {

// Scripts of which tokenizers spell out (nearly) every character.
constexpr bool IsSpelledOut(char32_t c) {
  if (c < 0x0E00) return false;
  return c <= 0x0E7F ||                     // Thai
         (c >= 0x3005 && c <= 0x3007) ||    // ideographic repeat, closing, zero
         (c >= 0x3040 && c <= 0x30FF) ||    // kana
         (c >= 0x31F0 && c <= 0x31FF) ||    // small katakana
         (c >= 0x3400 && c <= 0x4DBF) ||    // ideographs, extension A
         (c >= 0x4E00 && c <= 0x9FFF) ||    // ideographs
         (c >= 0xAC00 && c <= 0xD7A3) ||    // Hangul syllables
         (c >= 0xF900 && c <= 0xFAFF) ||    // compatibility ideographs
         (c >= 0xFF66 && c <= 0xFF9D) ||    // half-width katakana
         (c >= 0x1B000 && c <= 0x1B16F) ||  // historic kana
         (c >= 0x20000 && c <= 0x3FFFD);    // ideographic planes
}

// Calls visit(code point) for each code point beyond ASCII, visit(U+FFFD) for each bad byte, and
// returns how many bytes of ASCII there were beside them.
template <typename Visit>
std::uint64_t VisitNonAscii(std::string_view text, Visit&& visit) {
  std::uint64_t num_ascii = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 128) {
      ++num_ascii;
      ++at;
      continue;
    }
    utf8proc_int32_t c = 0;
    const utf8proc_ssize_t size =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                         static_cast<utf8proc_ssize_t>(text.size() - at), &c);
    visit(size > 0 ? static_cast<char32_t>(c) : U'\uFFFD');
    at += size > 0 ? static_cast<std::size_t>(size) : 1;
  }
  return num_ascii;
}

class Chars4 final : public TokenCounter {
 public:
  [[nodiscard]] std::string_view Id() const override { return kDefaultTokenCounter; }
  [[nodiscard]] std::uint32_t units_per_token() const override { return kUnits; }
  [[nodiscard]] std::uint64_t Cost(std::string_view text) const override {
    std::uint64_t others = 0;
    const std::uint64_t num_ascii =
        VisitNonAscii(text, [&](char32_t c) { others += IsSpelledOut(c) ? kUnits : 1; });
    return num_ascii + others;
  }

 private:
  static constexpr std::uint32_t kUnits = 4;
};

class ArticleChars4 final : public TokenCounter {
 public:
  [[nodiscard]] std::string_view Id() const override { return kArticleTokenCounter; }
  [[nodiscard]] std::uint32_t units_per_token() const override { return 1; }
  [[nodiscard]] std::uint64_t Cost(std::string_view text) const override {
    std::uint64_t others = 0;
    const std::uint64_t num_ascii = VisitNonAscii(text, [&](char32_t) { ++others; });
    return std::max<std::uint64_t>(1, (num_ascii + others) / 4);
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<TokenCounter>> MakeTokenCounter(std::string_view id) {
  if (id == kDefaultTokenCounter) return std::make_unique<Chars4>();
  if (id == kArticleTokenCounter) return std::make_unique<ArticleChars4>();
  return absl::InvalidArgumentError(
      absl::StrCat("unknown token counter \"", std::string(id), "\"; this binary has ",
                   std::string(kDefaultTokenCounter), ", ", std::string(kArticleTokenCounter)));
}

std::uint64_t CountCodePoints(std::string_view text) {
  return static_cast<std::uint64_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
  }));
}

}  // namespace rag::models
