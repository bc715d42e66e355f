#include "indexer/token_splitter.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/status_macros.h"
#include "indexer/flat_document.h"
#include "indexer/recursive_cutter.h"

namespace rag::indexer {
namespace {

constexpr std::array kSeparators = {Separator::kWhiteSpace, Separator::kPunctuation,
                                    Separator::kClusters, Separator::kCodePoints};

class TokenSplitter final : public Splitter {
 public:
  TokenSplitter(const TokenSizes& sizes, std::shared_ptr<const models::TokenCounter> counter)
      : sizes_(sizes), ruler_(std::move(counter)) {}

  [[nodiscard]] std::string Id() const override {
    return absl::StrCat("tokens-v1/size=", sizes_.size, "/overlap=", sizes_.overlap,
                        "/unit=", ruler_.Unit());
  }

  [[nodiscard]] SplitDocument Split(std::string_view text, formats::MediaType type) const override {
    const std::uint64_t size = ruler_.Limit(sizes_.size);
    const CutRules rules{.separators = kSeparators,
                         .piece = size,
                         .window = {.size = size, .overlap = ruler_.Limit(sizes_.overlap)}};
    return FlatDocument(text, type, CutRecursively(text, ruler_, rules));
  }

 private:
  TokenSizes sizes_;
  TextRuler ruler_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Splitter>> MakeTokenSplitter(
    const TokenSizes& sizes, std::shared_ptr<const models::TokenCounter> counter) {
  RAG_RETURN_IF_ERROR(CheckOverlap(sizes.size, sizes.overlap));
  return std::make_unique<TokenSplitter>(sizes, std::move(counter));
}

}  // namespace rag::indexer
