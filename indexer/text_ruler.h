// How long a text is: in code points, or in what a token counter says that it costs.
#ifndef INDEXER_TEXT_RULER_H_
#define INDEXER_TEXT_RULER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "models/token_counter.h"

namespace rag::indexer {

// Threads: immutable.
class TextRuler {
 public:
  // Code points.
  TextRuler() = default;
  // Tokens, in the units of the counter.
  explicit TextRuler(std::shared_ptr<const models::TokenCounter> counter)
      : counter_(std::move(counter)) {}

  [[nodiscard]] bool counts_tokens() const { return counter_ != nullptr; }
  [[nodiscard]] std::uint64_t Measure(std::string_view text) const;
  // What a text of `size` code points or tokens measures.
  [[nodiscard]] std::uint64_t Limit(std::uint32_t size) const {
    return std::uint64_t{size} * (counts_tokens() ? counter_->units_per_token() : 1);
  }
  // For ids: "chars", or the id of the counter.
  [[nodiscard]] std::string Unit() const;

 private:
  std::shared_ptr<const models::TokenCounter> counter_;
};

}  // namespace rag::indexer

#endif  // INDEXER_TEXT_RULER_H_
