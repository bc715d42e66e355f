// Both splitters. Byte 0: which one, of which sizes; the rest: the text.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "indexer/markdown_blocks.h"
#include "indexer/splitter.h"
#include "tests/fuzz/fuzz.h"
#include "tests/testing/split_invariants.h"

namespace rag::fuzz {
namespace {

using formats::MediaType;
using indexer::StructureSizes;

constexpr std::array<StructureSizes, 4> kSizes = {
    {{}, {.target = 1, .cap = 1, .hard_max = 250}, {40, 60, 200}, {1, 1, 1}}};
constexpr std::array<std::uint32_t, 3> kArticleSizes = {420, 40, 1};

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

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  fuzz::Input input(data, size);
  const std::size_t which = input.Byte() % 7;
  const std::string text = fuzz::ToUtf8(input.Rest());
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
