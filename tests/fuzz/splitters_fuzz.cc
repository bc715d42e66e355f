// All splitters. Byte 0: which one, of which sizes, those from 128 on being the flat ones; the
// rest: the text.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "indexer/markdown_blocks.h"
#include "indexer/recursive_splitter.h"
#include "indexer/sentence_splitter.h"
#include "indexer/splitter.h"
#include "indexer/text_ruler.h"
#include "indexer/token_splitter.h"
#include "models/token_counter.h"
#include "tests/fuzz/fuzz.h"
#include "tests/testing/split_invariants.h"

namespace rag::fuzz {
namespace {

using formats::MediaType;
using indexer::StructureSizes;

constexpr std::array<StructureSizes, 4> kSizes = {
    {{}, {.target = 1, .cap = 1, .hard_max = 250}, {40, 60, 200}, {1, 1, 1}}};
constexpr std::array<std::uint32_t, 3> kArticleSizes = {420, 40, 1};

// Of splitters that know no sections.
struct FlatSizes {
  std::uint32_t size = 0;
  std::uint32_t overlap = 0;  // of a sentence splitter: the hard maximum
  std::string_view counter;   // empty: code points
};
constexpr std::array<FlatSizes, 8> kRecursive = {{{400, 0, {}},
                                                  {400, 50, {}},
                                                  {40, 39, {}},
                                                  {1, 0, {}},
                                                  {2, 1, {}},
                                                  {100, 10, "chars4-v1"},
                                                  {7, 6, "chars4-v1"},
                                                  {20, 9, "article-chars4-v1"}}};
constexpr std::array<FlatSizes, 5> kTokens = {{{100, 0, "chars4-v1"},
                                               {20, 5, "chars4-v1"},
                                               {1, 0, "chars4-v1"},
                                               {3, 2, "chars4-v1"},
                                               {20, 9, "article-chars4-v1"}}};
constexpr std::array<FlatSizes, 4> kSentence = {
    {{280, 1680, {}}, {1, 1, {}}, {20, 60, {}}, {20, 40, "chars4-v1"}}};
constexpr std::size_t kNumFlat = kRecursive.size() + kTokens.size() + kSentence.size();

std::uint64_t LongestCluster(std::string_view text) {
  const std::vector<bool> edges = testing::ClusterEdges(text);
  std::uint64_t longest = 0;
  for (std::size_t start = 0, pos = 1; pos < edges.size(); ++pos) {
    if (!edges[pos]) continue;
    longest = std::max(longest, indexer::CountCodePoints(text.substr(start, pos - start)));
    start = pos;
  }
  return longest;
}

void Check(const indexer::Splitter& splitter, std::string_view text, MediaType type,
           const testing::SplitRules& rules) {
  const indexer::SplitDocument document = splitter.Split(text, type);
  const std::string problem = testing::BrokenSplitInvariant(text, document, rules);
  Require(problem.empty(), problem);
  Require(testing::SameSplit(document, splitter.Split(text, type)), "splitting is repeatable");
}

indexer::TextRuler RulerOf(const FlatSizes& sizes) {
  if (sizes.counter.empty()) return {};
  return indexer::TextRuler(std::shared_ptr(*models::MakeTokenCounter(sizes.counter)));
}

// `longest`: of a chunk, in what the sizes count.
void CheckFlat(const absl::StatusOr<std::unique_ptr<indexer::Splitter>>& splitter,
               std::string_view text, const FlatSizes& sizes, std::uint32_t longest,
               std::uint32_t overlap) {
  RequireOk(splitter.status());
  const indexer::TextRuler ruler = RulerOf(sizes);
  // A code point may cost a token, which is what the smallest windows have.
  const testing::SplitRules rules{.hard_max = ruler.Limit(longest),
                                  .overlap = ruler.Limit(overlap),
                                  .whole_clusters = LongestCluster(text) <= longest / 4,
                                  .ruler = ruler};
  Check(**splitter, text, MediaType::kMarkdown, rules);
  Check(**splitter, text, MediaType::kPlainText, rules);
}

// `which`: of all flat splitters.
void CheckFlat(std::size_t which, std::string_view text) {
  if (which < kRecursive.size()) {
    const FlatSizes& sizes = kRecursive[which];
    CheckFlat(indexer::MakeRecursiveSplitter({sizes.size, sizes.overlap}, RulerOf(sizes)), text,
              sizes, sizes.size, sizes.overlap);
    return;
  }
  which -= kRecursive.size();
  if (which < kTokens.size()) {
    const FlatSizes& sizes = kTokens[which];
    CheckFlat(indexer::MakeTokenSplitter({sizes.size, sizes.overlap},
                                         *models::MakeTokenCounter(sizes.counter)),
              text, sizes, sizes.size, sizes.overlap);
    return;
  }
  const FlatSizes& sizes = kSentence[which - kTokens.size()];
  CheckFlat(indexer::MakeSentenceSplitter({sizes.size, sizes.overlap}, RulerOf(sizes)), text, sizes,
            sizes.overlap, 0);
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  fuzz::Input input(data, size);
  constexpr std::size_t kFirstFlat = 128;
  const std::size_t byte = input.Byte();
  const std::string text = fuzz::ToUtf8(input.Rest());
  if (byte >= kFirstFlat) {
    fuzz::CheckFlat((byte - kFirstFlat) % fuzz::kNumFlat, text);
    return 0;
  }
  const std::size_t which = byte % 7;
  if (which >= fuzz::kSizes.size()) {
    const auto splitter =
        indexer::MakeArticleSplitter(fuzz::kArticleSizes[which - fuzz::kSizes.size()]);
    fuzz::Check(*splitter, text, fuzz::MediaType::kPlainText, {.unicode_blank = true});
    return 0;
  }
  const auto splitter = indexer::MakeStructureSplitter(fuzz::kSizes[which]);
  fuzz::RequireOk(splitter.status());
  // What is joined to a heading may be cut below hard_max, so clusters are whole where they are far
  // shorter.
  const std::uint32_t hard_max = fuzz::kSizes[which].hard_max;
  const testing::SplitRules rules{.hard_max = hard_max,
                                  .whole_clusters = fuzz::LongestCluster(text) * 4 <= hard_max};
  testing::SplitRules markdown_rules = rules;
  markdown_rules.front_matter_bytes =
      indexer::FrontMatterBytes(std::string_view(text).substr(indexer::ByteOrderMarkSize(text)));
  fuzz::Check(**splitter, text, fuzz::MediaType::kMarkdown, markdown_rules);
  fuzz::Check(**splitter, text, fuzz::MediaType::kPlainText, rules);
  return 0;
}
