// What a text costs of a token budget, without a tokenizer at query time.
//
// A cost is counted in units, `units_per_token()` to a token, so that costs of pieces add up
// exactly and rounding happens once, upward, at the end.
#ifndef MODELS_TOKEN_COUNTER_H_
#define MODELS_TOKEN_COUNTER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace rag::models {

// Threads: const methods may run concurrently.
class TokenCounter {
 public:
  virtual ~TokenCounter() = default;
  // Names rule and parameters, for the manifest.
  [[nodiscard]] virtual std::string_view Id() const = 0;
  [[nodiscard]] virtual std::uint32_t units_per_token() const = 0;
  // Cost of UTF-8 text in units. Bad bytes count as a code point each.
  [[nodiscard]] virtual std::uint64_t Cost(std::string_view text) const = 0;

  // Whole tokens, rounded up.
  [[nodiscard]] std::uint64_t Tokens(std::uint64_t cost) const {
    return (cost + units_per_token() - 1) / units_per_token();
  }
  [[nodiscard]] std::uint64_t CountTokens(std::string_view text) const {
    return Tokens(Cost(text));
  }
};

// "chars4-v1": a quarter of a token a code point (units_per_token 4), so that a text costs
// ceil(code points / 4); a whole token for scripts that tokenizers spell out: CJK, kana, Hangul,
// Thai.
inline constexpr std::string_view kDefaultTokenCounter = "chars4-v1";
// "article-chars4-v1": max(1, floor(code points / 4)) of the whole formatted chunk; units are
// tokens.
inline constexpr std::string_view kArticleTokenCounter = "article-chars4-v1";

// INVALID_ARGUMENT for an id that this binary does not have; the message lists those it has.
absl::StatusOr<std::unique_ptr<TokenCounter>> MakeTokenCounter(std::string_view id);

// Number of code points of UTF-8 text (bytes that are no continuation bytes).
std::uint64_t CountCodePoints(std::string_view text);

}  // namespace rag::models

#endif  // MODELS_TOKEN_COUNTER_H_
