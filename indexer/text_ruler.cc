#include "indexer/text_ruler.h"

#include "indexer/characters.h"

namespace rag::indexer {

std::uint64_t TextRuler::Measure(std::string_view text) const {
  return counts_tokens() ? counter_->Cost(text) : CountCodePoints(text);
}

std::string TextRuler::Unit() const {
  return counts_tokens() ? std::string(counter_->Id()) : "chars";
}

}  // namespace rag::indexer
