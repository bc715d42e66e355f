// Random texts, and what must hold for every splitter and every one of them.
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "indexer/recursive_splitter.h"
#include "indexer/sentence_splitter.h"
#include "indexer/splitter.h"
#include "indexer/text_ruler.h"
#include "indexer/token_splitter.h"
#include "models/token_counter.h"
#include "tests/testing/split_invariants.h"
#include "tests/testing/text_maker.h"

namespace rag::indexer {
namespace {

using formats::MediaType;
using testing::SplitRules;
using testing::TextMaker;

void CheckAll(const Splitter& splitter, std::string_view text, const SplitRules& rules) {
  for (const MediaType type : {MediaType::kMarkdown, MediaType::kPlainText}) {
    const SplitDocument document = splitter.Split(text, type);
    ASSERT_EQ(testing::BrokenSplitInvariant(text, document, rules), "");
    ASSERT_TRUE(testing::SameSplit(document, splitter.Split(text, type)));
  }
}

void CheckManyTexts(const Splitter& splitter, const SplitRules& rules) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    TextMaker maker(seed);
    for (const std::string& text : {maker.Document(), maker.Soup()}) {
      CheckAll(splitter, text, rules);
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "seed " << seed << "\n" << text;
    }
  }
}

class StructureInvariants : public ::testing::TestWithParam<StructureSizes> {};

TEST_P(StructureInvariants, HoldForRandomTexts) {
  CheckManyTexts(**MakeStructureSplitter(GetParam()), {.hard_max = GetParam().hard_max});
}

// A cluster of the texts has up to 60 code points and more, so hard maxima are above that.
INSTANTIATE_TEST_SUITE_P(Sizes, StructureInvariants,
                         ::testing::Values(StructureSizes{}, StructureSizes{1, 1, 250},
                                           StructureSizes{20, 250, 250},
                                           StructureSizes{250, 250, 250},
                                           StructureSizes{80, 120, 300}));

class ArticleInvariants : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(ArticleInvariants, HoldForRandomTexts) {
  CheckManyTexts(*MakeArticleSplitter(GetParam()), {.unicode_blank = true});
}

INSTANTIATE_TEST_SUITE_P(Sizes, ArticleInvariants, ::testing::Values(1U, 40U, 420U));

// Sizes of splitters whose chunks may overlap, and what counts them.
struct FlatSizes {
  std::uint32_t size = 0;
  std::uint32_t overlap = 0;
  const char* counter = nullptr;  // null: code points
};

TextRuler RulerOf(const FlatSizes& sizes) {
  if (sizes.counter == nullptr) return {};
  return TextRuler(std::shared_ptr(*models::MakeTokenCounter(sizes.counter)));
}

SplitRules RulesOf(const FlatSizes& sizes) {
  const TextRuler ruler = RulerOf(sizes);
  // A code point that costs more than a chunk may is a chunk of its own.
  const bool any_fits = !ruler.counts_tokens() || sizes.size > 1;
  return {.hard_max = any_fits ? ruler.Limit(sizes.size) : ~std::uint64_t{0},
          .overlap = ruler.Limit(sizes.overlap),
          .whole_clusters = sizes.size >= 250,
          .ruler = ruler};
}

constexpr const char* kCounter = "chars4-v1";
constexpr const char* kFlooringCounter = "article-chars4-v1";  // sums of its costs are no costs

class RecursiveInvariants : public ::testing::TestWithParam<FlatSizes> {};

TEST_P(RecursiveInvariants, HoldForRandomTexts) {
  const auto& [size, overlap, counter] = GetParam();
  CheckManyTexts(**MakeRecursiveSplitter({size, overlap}, RulerOf(GetParam())),
                 RulesOf(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Sizes, RecursiveInvariants,
                         ::testing::Values(FlatSizes{400, 0}, FlatSizes{400, 50},
                                           FlatSizes{400, 399}, FlatSizes{250, 40}, FlatSizes{1, 0},
                                           FlatSizes{2, 1}, FlatSizes{40, 7},
                                           FlatSizes{250, 20, kCounter}, FlatSizes{9, 8, kCounter},
                                           FlatSizes{1, 0, kCounter},
                                           FlatSizes{30, 9, kFlooringCounter}));

class TokenInvariants : public ::testing::TestWithParam<FlatSizes> {};

TEST_P(TokenInvariants, HoldForRandomTexts) {
  const auto& [size, overlap, counter] = GetParam();
  CheckManyTexts(**MakeTokenSplitter({size, overlap}, *models::MakeTokenCounter(counter)),
                 RulesOf(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Sizes, TokenInvariants,
                         ::testing::Values(FlatSizes{250, 0, kCounter},
                                           FlatSizes{250, 25, kCounter},
                                           FlatSizes{20, 19, kCounter}, FlatSizes{1, 0, kCounter},
                                           FlatSizes{3, 1, kCounter},
                                           FlatSizes{30, 9, kFlooringCounter},
                                           FlatSizes{250, 249, kFlooringCounter}));

class SentenceInvariants : public ::testing::TestWithParam<SentenceSizes> {};

TEST_P(SentenceInvariants, HoldForRandomTexts) {
  const std::uint32_t hard_max = GetParam().hard_max;
  CheckManyTexts(**MakeSentenceSplitter(GetParam(), TextRuler()),
                 {.hard_max = hard_max, .whole_clusters = hard_max >= 250});
}

INSTANTIATE_TEST_SUITE_P(Sizes, SentenceInvariants,
                         ::testing::Values(SentenceSizes{}, SentenceSizes{120, 300},
                                           SentenceSizes{1, 250}, SentenceSizes{1, 1},
                                           SentenceSizes{60, 60}));

// The parser is given 16384 lines at once; this text is longer, and so is one of its blocks.
TEST(StructureSplitter, LongTextsAreSplitLikeTheirParts) {
  const auto splitter = *MakeStructureSplitter({40, 60, 200});
  std::string text;
  std::vector<formats::Span> want;
  for (int i = 0; i < 6000; ++i) {
    std::string part =
        "# Part\n\n- a\n- b\n\n```\n# x\n\n" + std::to_string(i) + "\n```\n\n| a |\n|---|\n";
    if (i == 1000) part += "\n```\n" + std::string(60000, '\n') + "x\n```\n";
    for (const SplitChunk& chunk : splitter->Split(part, MediaType::kMarkdown).chunks) {
      want.push_back({text.size() + chunk.range.start, text.size() + chunk.range.end});
    }
    text += part;
  }

  std::vector<formats::Span> got;
  for (const SplitChunk& chunk : splitter->Split(text, MediaType::kMarkdown).chunks) {
    got.push_back(chunk.range);
  }

  EXPECT_EQ(got, want);
}

TEST(StructureSplitter, ThreadsMayShareASplitter) {
  const auto splitter = *MakeStructureSplitter({});
  std::vector<std::string> texts;
  for (std::uint32_t seed = 0; seed < 50; ++seed) texts.push_back(TextMaker(seed).Document());
  std::vector<std::vector<SplitDocument>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] {
      for (const std::string& text : texts) {
        result.push_back(splitter->Split(text, MediaType::kMarkdown));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (const auto& result : results) {
      EXPECT_TRUE(testing::SameSplit(result[i], results[0][i]));
    }
  }
}

}  // namespace
}  // namespace rag::indexer
