#include "indexer/recursive_splitter.h"

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

constexpr std::array kSeparators = {
    Separator::kBlankLines,  Separator::kLineEnds, Separator::kSentenceEnds, Separator::kWhiteSpace,
    Separator::kPunctuation, Separator::kClusters, Separator::kCodePoints};

class RecursiveSplitter final : public Splitter {
 public:
  RecursiveSplitter(const RecursiveSizes& sizes, TextRuler ruler)
      : sizes_(sizes), ruler_(std::move(ruler)) {}

  [[nodiscard]] std::string Id() const override {
    return absl::StrCat("recursive-v1/size=", sizes_.size, "/overlap=", sizes_.overlap,
                        "/unit=", ruler_.Unit());
  }

  [[nodiscard]] SplitDocument Split(std::string_view text, formats::MediaType type) const override {
    const std::uint64_t size = ruler_.Limit(sizes_.size);
    const CutRules rules{.separators = kSeparators,
                         .piece = size,
                         .window = {.size = size, .overlap = ruler_.Limit(sizes_.overlap)},
                         .cut_pieces_stay_apart = true};
    return FlatDocument(text, type, CutRecursively(text, ruler_, rules));
  }

 private:
  RecursiveSizes sizes_;
  TextRuler ruler_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Splitter>> MakeRecursiveSplitter(const RecursiveSizes& sizes,
                                                                TextRuler ruler) {
  RAG_RETURN_IF_ERROR(CheckOverlap(sizes.size, sizes.overlap));
  return std::make_unique<RecursiveSplitter>(sizes, std::move(ruler));
}

}  // namespace rag::indexer
