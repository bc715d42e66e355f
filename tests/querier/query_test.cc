#include "querier/query.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "formats/chunk_header.h"
#include "models/token_counter.h"
#include "tests/querier/query_testing.h"
#include "tests/testing/test_index.h"

namespace rag::querier {
namespace {

using formats::HeaderStyle;
using testing::MadeUpWord;
using testing::TestIndex;

// Everything but the times.
std::string Fingerprint(const QueryResult& result) {
  std::string out = result.question + "|" + std::to_string(result.used_tokens) + "|";
  for (const DocumentHit& hit : result.documents) {
    out += hit.source + std::to_string(hit.score) + ",";
  }
  for (const ChunkHit& hit : result.chunks) out += hit.chunk_id + std::to_string(hit.score) + ",";
  for (const IncludedChunk& chunk : result.included) out += chunk.chunk_id + ",";
  for (const SkippedChunk& chunk : result.skipped) out += chunk.chunk_id + ",";
  return out + result.context;
}

class RandomIndex : public ::testing::Test {
 protected:
  TestIndex index_{RandomCorpus(20)};
  std::unique_ptr<models::TokenCounter> counter_ =
      models::MakeTokenCounter(models::kDefaultTokenCounter).value();
};

TEST_F(RandomIndex, BlankQuestionsAreRefused) {
  for (const char* blank : {"", " ", "\n\t \r\n"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Query(index_.reader(), blank, {}).status()));
  }
}

TEST_F(RandomIndex, ABudgetOfZeroIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(Query(index_.reader(), "why", Wide(0)).status()));
}

TEST_F(RandomIndex, ABudgetBelowThePromptsFrameIsRefusedWithBothNumbers) {
  QueryOptions options = Wide(10);
  options.format = OutputFormat::kPrompt;

  const absl::Status status = Query(index_.reader(), MadeUpWord(1), options).status();

  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_NE(status.message().find("10 tokens"), std::string::npos) << status;
}

TEST_F(RandomIndex, ThePromptIsRefusedExactlyBelowItsFrame) {
  QueryOptions options = Wide(1000);
  options.format = OutputFormat::kPrompt;
  const std::uint64_t frame_tokens = Ask(index_, "nothing matches", options).used_tokens;

  options.budget_tokens = static_cast<std::uint32_t>(frame_tokens);
  EXPECT_TRUE(Query(index_.reader(), "nothing matches", options).ok());
  options.budget_tokens = static_cast<std::uint32_t>(frame_tokens - 1);
  EXPECT_FALSE(Query(index_.reader(), "nothing matches", options).ok());
}

TEST_F(RandomIndex, AQuestionThatMatchesNothingIsAnEmptyResult) {
  const QueryResult result = Ask(index_, "entirely different");

  EXPECT_TRUE(result.documents.empty());
  EXPECT_TRUE(result.chunks.empty());
  EXPECT_TRUE(result.included.empty());
  EXPECT_TRUE(result.skipped.empty());
  EXPECT_EQ(result.context, "");
  EXPECT_EQ(result.used_tokens, 0U);
  EXPECT_EQ(result.known_terms, 0U);
}

TEST_F(RandomIndex, KnownTermsAreCountedOnce) {
  const std::string word = MadeUpWord(1);
  EXPECT_EQ(Ask(index_, word + " unheard " + word).known_terms, 1U);
}

TEST_F(RandomIndex, APromptThatMatchesNothingIsItsFrame) {
  QueryOptions options = Wide(1000);
  options.format = OutputFormat::kPrompt;

  const QueryResult result = Ask(index_, "entirely different", options);

  EXPECT_EQ(result.used_tokens, counter_->CountTokens(result.context));
  EXPECT_TRUE(result.context.ends_with("Question: entirely different\n\nAnswer:\n"));
}

TEST_F(RandomIndex, DefaultsComeFromTheManifest) {
  const formats::QueryDefaults& defaults = index_.reader().manifest().query;
  QueryOptions said = {};
  said.budget_tokens = defaults.budget_tokens;
  said.neighbors = defaults.neighbors;
  said.header = formats::ParseHeaderStyle(defaults.header).value();

  const QueryResult result = Ask(index_, RandomQuestion(1));

  EXPECT_EQ(result.budget_tokens, 1200U);
  EXPECT_EQ(Fingerprint(result), Fingerprint(Ask(index_, RandomQuestion(1), said)));
}

TEST_F(RandomIndex, UsedTokensAreThoseOfTheWholeOutput) {
  for (const OutputFormat format : {OutputFormat::kContext, OutputFormat::kPrompt}) {
    for (const HeaderStyle header : {HeaderStyle::kNone, HeaderStyle::kShort, HeaderStyle::kFull}) {
      for (const std::uint32_t budget : {120U, 250U, 1200U, 100'000U}) {
        QueryOptions options = Wide(budget);
        options.format = format;
        options.header = header;
        const QueryResult result = Ask(index_, RandomQuestion(2), options);
        EXPECT_EQ(result.used_tokens, counter_->CountTokens(result.context));
        EXPECT_LE(result.used_tokens, budget);
      }
    }
  }
}

TEST_F(RandomIndex, IncludedAndSkippedAreTheHits) {
  for (const std::uint32_t budget : {1U, 60U, 400U}) {
    const QueryResult result = Ask(index_, RandomQuestion(3), Wide(budget));

    std::multiset<std::string> tried;
    for (const auto& chunk : result.included) tried.insert(chunk.chunk_id);
    for (const auto& chunk : result.skipped) tried.insert(chunk.chunk_id);
    const std::vector<std::string> hits = Ids(result.chunks);
    EXPECT_EQ(tried, std::multiset<std::string>(hits.begin(), hits.end()));
    EXPECT_FALSE(hits.empty());
  }
}

TEST_F(RandomIndex, SkippedChunksAreInTheOrderOfTheirScores) {
  const QueryResult result = Ask(index_, RandomQuestion(4), Wide(1));

  EXPECT_TRUE(result.included.empty());
  EXPECT_EQ(result.context, "");
  EXPECT_EQ(Ids(result.skipped), Ids(result.chunks));
  for (const SkippedChunk& chunk : result.skipped) EXPECT_EQ(chunk.reason, "budget");
}

TEST_F(RandomIndex, ChunksAreInOrderOfScoreThenSourceThenIndex) {
  const QueryResult result = Ask(index_, RandomQuestion(5), Wide(500));

  const auto key = [](const ChunkHit& hit) {
    return std::tuple(-hit.score, hit.source, hit.index);
  };
  EXPECT_TRUE(std::is_sorted(result.chunks.begin(), result.chunks.end(),
                             [&](const auto& a, const auto& b) { return key(a) < key(b); }));
}

TEST_F(RandomIndex, IncludedChunksAreInOrderOfSourceThenIndex) {
  const QueryResult result = Ask(index_, RandomQuestion(5), Wide(500));

  ASSERT_GT(result.included.size(), 2U);
  EXPECT_TRUE(std::is_sorted(result.included.begin(), result.included.end(),
                             [](const auto& a, const auto& b) {
                               return std::pair(a.source, a.index) < std::pair(b.source, b.index);
                             }));
}

TEST_F(RandomIndex, TheContextIsTheRawBytesOfTheFiles) {
  const testing::Corpus corpus = RandomCorpus(20);
  QueryOptions options = Wide(400);
  options.header = HeaderStyle::kNone;

  const QueryResult result = Ask(index_, RandomQuestion(6), options);

  std::string expected;
  for (const IncludedChunk& chunk : result.included) {
    if (!expected.empty()) expected += "\n\n---\n\n";
    expected += corpus.at(chunk.source).substr(chunk.start, chunk.end - chunk.start);
  }
  EXPECT_EQ(result.context, expected + "\n");
}

TEST_F(RandomIndex, LinesAreThoseOfTheFile) {
  const testing::Corpus corpus = RandomCorpus(20);

  const QueryResult result = Ask(index_, RandomQuestion(6), Wide(400));

  for (const IncludedChunk& chunk : result.included) {
    const std::string& text = corpus.at(chunk.source);
    const auto lines_before = [&text](std::uint64_t at) {
      return static_cast<std::uint32_t>(
          std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    };
    EXPECT_EQ(chunk.line_start, 1 + lines_before(chunk.start));
    EXPECT_EQ(chunk.line_end, 1 + lines_before(chunk.end - 1));
  }
}

TEST_F(RandomIndex, TheBudgetThatWasUsedIsEnough) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const QueryResult first = Ask(index_, RandomQuestion(seed), Wide(300));
    const QueryResult second =
        Ask(index_, RandomQuestion(seed), Wide(static_cast<std::uint32_t>(first.used_tokens)));
    EXPECT_EQ(second.context, first.context);
  }
}

TEST_F(RandomIndex, TopDocumentsLimitsTheDocuments) {
  QueryOptions options = Wide(2000);
  const std::vector<std::string> all = Sources(Ask(index_, RandomQuestion(7), options));
  ASSERT_GT(all.size(), 3U);
  for (const std::uint32_t top : {1U, 3U}) {
    options.top_documents = top;
    const QueryResult result = Ask(index_, RandomQuestion(7), options);
    EXPECT_EQ(Sources(result), std::vector<std::string>(all.begin(), all.begin() + top));
    for (const ChunkHit& hit : result.chunks) {
      EXPECT_TRUE(std::count(all.begin(), all.begin() + top, hit.source) == 1) << hit.source;
    }
  }
}

TEST_F(RandomIndex, TopDocumentsBeyondTheCorpusIsNoError) {
  QueryOptions options;
  options.top_documents = 4'000'000'000U;
  options.chunks_per_document = 4'000'000'000U;
  options.budget_tokens = 4'000'000'000U;

  const QueryResult result = Ask(index_, RandomQuestion(7), options);

  EXPECT_TRUE(result.skipped.empty());
  EXPECT_EQ(Fingerprint(result), Fingerprint(Ask(index_, RandomQuestion(7), Wide(100'000))));
}

TEST_F(RandomIndex, ChunksPerDocumentLimitsTheChunks) {
  QueryOptions options = Wide(2000);
  options.chunks_per_document = 1;

  std::set<std::string> sources;
  for (const ChunkHit& hit : Ask(index_, RandomQuestion(8), options).chunks) {
    EXPECT_TRUE(sources.insert(hit.source).second) << hit.source;
  }
  EXPECT_FALSE(sources.empty());
}

TEST_F(RandomIndex, ConcurrentQueriesOnOneReaderGiveTheSameResults) {
  constexpr std::uint64_t kQuestions = 6;
  std::vector<std::string> expected;
  for (std::uint64_t i = 0; i < kQuestions; ++i) {
    expected.push_back(Fingerprint(Ask(index_, RandomQuestion(i), Wide(300))));
  }
  const auto fresh = storage::IndexReader::Open(index_.reader().folder().parent_path()).value();
  std::vector<std::string> wrong[4];
  std::vector<std::thread> threads;
  for (auto& mine : wrong) {
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < 5 * kQuestions; ++i) {
        const auto result = Query(*fresh, RandomQuestion(i % kQuestions), Wide(300));
        const std::string got =
            result.ok() ? Fingerprint(*result) : std::string(result.status().message());
        if (got != expected[i % kQuestions]) mine.push_back(got);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : wrong) EXPECT_EQ(mine, std::vector<std::string>());
}

TEST_F(RandomIndex, TheResultNamesQuestionAndGeneration) {
  const QueryResult result = Ask(index_, " Which lamp?\n");

  EXPECT_EQ(result.question, " Which lamp?\n");
  EXPECT_EQ(result.generation, 1U);
}

TEST(QueryTies, TwelveIdenticalDocumentsAreOrderedBySourceInEveryRun) {
  testing::Corpus corpus;
  for (int i = 0; i < 12; ++i) {
    corpus["t" + std::to_string(i) + ".md"] = "# Copper lamps\n\nWhich lamp is copper? This one.\n";
  }
  const TestIndex index(corpus);
  const std::vector<std::string> in_order = {"t0.md", "t1.md", "t10.md", "t11.md",
                                             "t2.md", "t3.md", "t4.md",  "t5.md",
                                             "t6.md", "t7.md", "t8.md",  "t9.md"};
  for (int run = 0; run < 20; ++run) {
    for (const std::uint32_t top : {12U, 5U}) {
      QueryOptions options = Wide(5000);
      options.top_documents = top;
      const QueryResult result = Ask(index, "which lamp is copper", options);
      const std::vector<std::string> expected(in_order.begin(), in_order.begin() + top);
      ASSERT_EQ(Sources(result), expected);
      ASSERT_EQ(result.chunks.size(), top);
      ASSERT_EQ(result.included.size(), 1U);
      ASSERT_EQ(result.included[0].source, expected[0]);
      for (std::size_t i = 0; i < top; ++i) {
        ASSERT_EQ(result.chunks[i].source, expected[i]);
        if (i == 0) continue;
        ASSERT_EQ(result.skipped.at(i - 1).source, expected[i]);
      }
    }
  }
}

TEST(QueryPacking, WhatIsTooLargeIsSkippedAndSmallerChunksFollow) {
  std::string large = "Copper copper copper copper copper copper";
  for (int i = 0; i < 12; ++i) large += " copper lamps";
  const TestIndex index({{"a.md", large + ".\n"}, {"b.md", "Copper and other metals.\n"}});
  QueryOptions options = Wide(20);

  const QueryResult result = Ask(index, "copper", options);

  EXPECT_EQ(Ids(result.included), (std::vector<std::string>{"b.md-chunk-001"}));
  EXPECT_EQ(Ids(result.skipped), (std::vector<std::string>{"a.md-chunk-001"}));
  EXPECT_GT(result.skipped[0].tokens, 20U);
}

TEST(QueryPacking, AHotHitBringsItsShortSectionAlong) {
  std::string text =
      "# Pumps\n\n## Bearing\n\nThe bearing needs copper grease.\n\n"
      "Wipe it dry afterwards, with a cloth.\n\nThen close the lid with some care.\n\n"
      "## Filter\n\nRinse the filter in the autumn only.\n";
  const TestIndex index({{"a.md", text}});
  QueryOptions options = Wide(300);
  options.chunks_per_document = 1;

  const QueryResult result = Ask(index, "copper grease", options);

  ASSERT_EQ(result.chunks.size(), 1U);
  ASSERT_EQ(result.included.size(), 3U);
  std::size_t hits = 0;
  for (const IncludedChunk& chunk : result.included) hits += chunk.score.has_value() ? 1U : 0U;
  EXPECT_EQ(hits, 1U);
  EXPECT_NE(result.context.find("close the lid"), std::string::npos);
  EXPECT_EQ(result.context.find("Rinse"), std::string::npos);
  EXPECT_TRUE(result.skipped.empty());
  // All of it or nothing of it.
  options.budget_tokens = static_cast<std::uint32_t>(result.used_tokens) - 1;
  EXPECT_EQ(Ask(index, "copper grease", options).included.size(), 1U);
}

TEST(QueryPacking, ALongSectionStaysBehind) {
  std::string text = "# Pumps\n\nThe bearing needs copper grease.\n\n";
  for (int i = 0; i < 40; ++i) text += "Wipe it dry afterwards, with a cloth or two.\n\n";
  const TestIndex index({{"a.md", text}});
  QueryOptions options = Wide(2000);
  options.chunks_per_document = 1;

  EXPECT_EQ(Ask(index, "copper grease", options).included.size(), 1U);
}

TEST(QueryArticle, TheProfilesDefaultsAreTheArticles) {
  const TestIndex index({{"one.md", "# Context\n\nThe context window is limited.\n"},
                         {"two.md", "# Budget\n\nA token budget limits the context.\n"},
                         {"three.md", "# Chunks\n\nChunks of context fit the budget.\n"}},
                        indexer::FindProfile("article").value(), "data/");

  const QueryResult result = Ask(index, "What limits the context?");

  EXPECT_EQ(result.budget_tokens, 250U);
  EXPECT_LE(result.documents.size(), 2U);
  ASSERT_FALSE(result.included.empty());
  EXPECT_TRUE(result.context.starts_with("Source: data/")) << result.context;
  EXPECT_TRUE(result.included[0].doc_id.starts_with("doc-00")) << result.included[0].doc_id;
}

TEST(QueryArticle, CountsChunksAloneAndNotTheFrame) {
  const TestIndex index({{"one.md", "# Context\n\nThe context window is limited.\n"}},
                        indexer::FindProfile("article").value());
  QueryOptions options;
  options.format = OutputFormat::kPrompt;

  const QueryResult result = Ask(index, "What limits the context?", options);

  ASSERT_EQ(result.included.size(), 1U);
  EXPECT_EQ(result.used_tokens, result.included[0].tokens);
}

// Equal files at three places, and another that says more of the same thing.
class EqualFiles : public ::testing::Test {
 protected:
  static constexpr const char* kText = "# Licence\n\nYou may copy this text as you like.\n";
  const testing::Corpus corpus_{{"c.md", "# Copies\n\nWho may copy the text, and when?\n"},
                                {"x/a.md", kText},
                                {"y/a.md", kText},
                                {"z/b.md", kText}};
};

TEST_F(EqualFiles, EqualFilesArePrintedOnceAndTheTraceSaysOfWhat) {
  const TestIndex index(corpus_);

  const QueryResult result = Ask(index, "may I copy this text", Wide(1000));

  std::map<std::string, std::string> reasons;
  for (const SkippedChunk& chunk : result.skipped) reasons[chunk.source] = chunk.reason;
  EXPECT_EQ(reasons,
            (std::map<std::string, std::string>{{"y/a.md", "duplicate of x/a.md-chunk-001"},
                                                {"z/b.md", "duplicate of x/a.md-chunk-001"}}));
  EXPECT_EQ(result.included.size(), 2U);
  EXPECT_EQ(
      result.used_tokens,
      models::MakeTokenCounter(models::kDefaultTokenCounter).value()->CountTokens(result.context));
}

TEST_F(EqualFiles, RoomThatADuplicateLeavesGoesToTheNext) {
  const TestIndex index(corpus_);
  const QueryResult all = Ask(index, "may I copy this text", Wide(1000));

  // Two chunks fit; were the copy not left out, it would take the second place.
  const QueryResult result =
      Ask(index, "may I copy this text", Wide(static_cast<std::uint32_t>(all.used_tokens)));

  EXPECT_EQ(result.included.size(), 2U);
  EXPECT_EQ(result.included.back().source, "x/a.md");
}

TEST_F(EqualFiles, TheArticlesProfilePrintsEveryCopy) {
  const TestIndex index(corpus_, indexer::FindProfile("article").value());

  const QueryResult result = Ask(index, "may I copy this text", Wide(1000));

  for (const SkippedChunk& chunk : result.skipped) EXPECT_EQ(chunk.reason, "budget");
  EXPECT_GE(result.included.size(), 3U);
}

}  // namespace
}  // namespace rag::querier
