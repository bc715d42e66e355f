#include "indexer/sentence_splitter.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "indexer/flat_document.h"
#include "indexer/recursive_cutter.h"

namespace rag::indexer {
namespace {

// Lines come behind sentences here: a list without full stops reads as one sentence.
constexpr std::array kSeparators = {Separator::kSentenceEnds, Separator::kLineEnds,
                                    Separator::kWhiteSpace,   Separator::kPunctuation,
                                    Separator::kClusters,     Separator::kCodePoints};

class SentenceSplitter final : public Splitter {
 public:
  SentenceSplitter(const SentenceSizes& sizes, TextRuler ruler)
      : sizes_(sizes), ruler_(std::move(ruler)) {}

  [[nodiscard]] std::string Id() const override {
    return absl::StrCat("sentence-v1/size=", sizes_.size, "/max=", sizes_.hard_max,
                        "/unit=", ruler_.Unit());
  }

  [[nodiscard]] SplitDocument Split(std::string_view text, formats::MediaType type) const override {
    const CutRules rules{.separators = kSeparators,
                         .piece = ruler_.Limit(sizes_.hard_max),
                         .window = {.size = ruler_.Limit(sizes_.size)}};
    return FlatDocument(text, type, CutRecursively(text, ruler_, rules));
  }

 private:
  SentenceSizes sizes_;
  TextRuler ruler_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Splitter>> MakeSentenceSplitter(const SentenceSizes& sizes,
                                                               TextRuler ruler) {
  if (sizes.size == 0 || sizes.size > sizes.hard_max) {
    return absl::InvalidArgumentError(
        absl::StrCat("chunk sizes: want 0 < size <= hard maximum, found size ", sizes.size,
                     ", hard maximum ", sizes.hard_max));
  }
  return std::make_unique<SentenceSplitter>(sizes, std::move(ruler));
}

}  // namespace rag::indexer
