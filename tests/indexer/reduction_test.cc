#include "indexer/reduction.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rag::indexer {
namespace {

using Parts = std::span<const DraftSummary>;

DraftSummary OfText(std::string text) {
  DraftSummary summary;
  summary.text = std::move(text);
  return summary;
}

DraftSummary OfSentences(std::vector<std::uint32_t> sentences) {
  DraftSummary summary;
  summary.sentences = std::move(sentences);
  return summary;
}

std::unique_ptr<models::TokenCounter> Counter(std::string_view id = models::kDefaultTokenCounter) {
  return models::MakeTokenCounter(id).value();
}

// `tokens` words of three letters and their spaces, a token each, the last one included.
std::string TextOfTokens(std::size_t tokens) {
  std::string text;
  for (std::size_t i = 0; i < tokens; ++i) text += i + 1 < tokens ? "abc " : "abcd";
  return text;
}

std::string JoinTexts(Parts parts) {
  std::string text;
  for (const DraftSummary& part : parts) text += (text.empty() ? "" : " ") + part.text;
  return text;
}

std::string Identity(const std::string& text) { return text; }
std::string First150Tokens(const std::string& text) { return text.substr(0, 600); }
std::string Twice(const std::string& text) { return text + " " + text; }
std::string Nothing(const std::string&) { return ""; }

// Writes a text of its own for each request, and remembers the requests.
class FakeSummarizer final : public Summarizer {
 public:
  explicit FakeSummarizer(std::function<std::string(const std::string&)> write)
      : write_(std::move(write)) {}
  [[nodiscard]] std::string Id() const override { return "fake"; }
  [[nodiscard]] DraftSummary SummarizeChunk(const DocumentText&, std::uint32_t) const override {
    return {};
  }
  [[nodiscard]] DraftSummary Reduce(const DocumentText&, Parts parts, bool final) const override {
    requests_.push_back(JoinTexts(parts));
    num_final_ += final ? 1 : 0;
    return OfText(write_(requests_.back()));
  }
  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }
  [[nodiscard]] int num_final() const { return num_final_; }

 private:
  std::function<std::string(const std::string&)> write_;
  mutable std::vector<std::string> requests_;
  mutable int num_final_ = 0;
};

// Keeps all sentences of its parts, and remembers how many it was given.
class KeepSentences final : public Summarizer {
 public:
  [[nodiscard]] std::string Id() const override { return "keep"; }
  [[nodiscard]] DraftSummary SummarizeChunk(const DocumentText&, std::uint32_t) const override {
    return {};
  }
  [[nodiscard]] DraftSummary Reduce(const DocumentText&, Parts parts, bool) const override {
    DraftSummary all;
    for (const DraftSummary& part : parts) {
      all.sentences.insert(all.sentences.end(), part.sentences.begin(), part.sentences.end());
    }
    return all;
  }
};

std::vector<std::size_t> BatchCounts(const Reduction& reduction) {
  std::vector<std::size_t> counts;
  for (const auto& level : reduction.levels) counts.push_back(level.size());
  return counts;
}

void ExpectEveryInputOnceInOrder(const Reduction& reduction, std::size_t num_inputs) {
  for (const auto& level : reduction.levels) {
    std::size_t next = 0;
    for (const ReductionNode& node : level) {
      EXPECT_EQ(node.first_child, next);
      EXPECT_GT(node.num_children, 0U);
      next += node.num_children;
    }
    EXPECT_EQ(next, num_inputs);
    num_inputs = level.size();
  }
  EXPECT_EQ(num_inputs, 1U);
}

std::vector<DraftSummary> Texts(const std::vector<std::size_t>& tokens) {
  std::vector<DraftSummary> summaries;
  for (const std::size_t count : tokens) summaries.push_back(OfText(TextOfTokens(count)));
  return summaries;
}

const std::vector<std::size_t> kNineOf150(9, 150);

Reduction Reduce(std::vector<DraftSummary> chunks, const Summarizer& summarizer,
                 const ReductionOptions& options) {
  return ReduceSummaries({}, std::move(chunks), summarizer, *Counter(), options);
}

TEST(Reduction, NoSummariesNeedNoRequest) {
  const FakeSummarizer summarizer(Identity);
  const Reduction reduction = Reduce({}, summarizer, {});
  EXPECT_EQ(reduction.document.text, "No summary available.");
  EXPECT_TRUE(reduction.levels.empty());
  EXPECT_TRUE(summarizer.requests().empty());
}

TEST(Reduction, OneSummaryHasOnlyTheLastPass) {
  const FakeSummarizer summarizer(Twice);
  const Reduction reduction = Reduce({OfText("one")}, summarizer, {});
  EXPECT_EQ(reduction.document.text, "one one");
  EXPECT_TRUE(reduction.levels.empty());
  EXPECT_EQ(summarizer.requests().size(), 1U);
  EXPECT_EQ(summarizer.num_final(), 1);
}

TEST(Reduction, SummariesThatFitShareABatch) {
  const FakeSummarizer summarizer(Identity);
  const Reduction reduction = Reduce(Texts({50, 50, 50, 30}), summarizer, {160, true});
  ASSERT_EQ(BatchCounts(reduction), (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(reduction.levels[0][0].num_children, 3U);
}

TEST(Reduction, SpacesBetweenSummariesCount) {
  const FakeSummarizer summarizer(Identity);
  EXPECT_EQ(BatchCounts(Reduce(Texts({50, 50, 50, 50}), summarizer, {201, true}))[0], 1U);
  EXPECT_EQ(BatchCounts(Reduce(Texts({50, 50, 50, 50}), summarizer, {200, true}))[0], 2U);
  const Reduction reduction = Reduce(Texts({50, 50}), summarizer, {101, true});
  EXPECT_EQ(reduction.levels[0][0].input_tokens, 101U);
  EXPECT_EQ(reduction.cut_summaries, 0U);
}

TEST(Reduction, ForcedPairsHalveTheCountAtEachLevel) {
  for (const auto& write : {First150Tokens, Identity}) {
    const FakeSummarizer summarizer(write);
    const Reduction reduction = Reduce(Texts(kNineOf150), summarizer, {200, true});
    EXPECT_EQ(BatchCounts(reduction), (std::vector<std::size_t>{5, 3, 2, 1}));
    ExpectEveryInputOnceInOrder(reduction, 9);
  }
}

TEST(Reduction, NoRequestOfForcedPairsExceedsTheBudget) {
  for (const auto& write : {First150Tokens, Identity, Twice}) {
    const FakeSummarizer summarizer(write);
    const Reduction reduction = Reduce(Texts(kNineOf150), summarizer, {200, true});
    EXPECT_GE(reduction.cut_summaries, 8U);
    for (const std::string& request : summarizer.requests()) {
      EXPECT_LE(Counter()->CountTokens(request), 200U);
    }
  }
}

TEST(Reduction, MembersOfForcedPairsAreCutAtWords) {
  const FakeSummarizer summarizer(Identity);
  Reduce(Texts({150, 150}), summarizer, {200, true});
  const std::string half = TextOfTokens(200).substr(0, 399);  // 100 words and no space after
  EXPECT_EQ(summarizer.requests()[0], half + " " + half);
}

TEST(Reduction, LiteralTextIsCutAfterASentenceWhenThatKeepsHalf) {
  const FakeSummarizer summarizer(Identity);
  const std::string start = "A sentence of forty letters is this one. ";
  Reduce({OfText(start + TextOfTokens(20)), OfText(start + TextOfTokens(20))}, summarizer,
         {30, true});
  EXPECT_EQ(summarizer.requests()[0], start + start.substr(0, 40));
}

TEST(Reduction, OverlongWordIsCutBetweenCodePoints) {
  const FakeSummarizer summarizer(Identity);
  std::string word;
  for (int i = 0; i < 100; ++i) word += "\u00e9";
  Reduce({OfText(word), OfText(word)}, summarizer, {11, true});
  EXPECT_EQ(summarizer.requests()[0], word.substr(0, 42) + " " + word.substr(0, 42));
}

TEST(Reduction, TheArticleSendsForcedPairsWhole) {
  const FakeSummarizer summarizer(Identity);
  const Reduction reduction = Reduce(Texts({150, 150}), summarizer, {200, false});
  EXPECT_EQ(summarizer.requests()[0], TextOfTokens(150) + " " + TextOfTokens(150));
  EXPECT_EQ(reduction.levels[0][0].input_tokens, 300U);
  EXPECT_EQ(reduction.cut_summaries, 0U);
}

TEST(Reduction, TheArticlePairsOnlyWhenEveryBatchHoldsOne) {
  const FakeSummarizer summarizer(Identity);
  const std::vector<std::size_t> tokens = {10, 10, 90, 90, 90, 90};
  EXPECT_EQ(BatchCounts(Reduce(Texts(tokens), summarizer, {100, false}))[0], 5U);
  EXPECT_EQ(BatchCounts(Reduce(Texts(tokens), summarizer, {100, true}))[0], 3U);
}

TEST(Reduction, DropsTrailingSentencesButKeepsOne) {
  const std::string text = TextOfTokens(40) + " " + TextOfTokens(40) + " " + TextOfTokens(40);
  DocumentText document;
  document.text = text;
  document.sentences.resize(3);
  for (std::uint64_t i = 0; i < 3; ++i) document.sentences[i].range = {i * 161, i * 161 + 160};
  const Reduction reduction = ReduceSummaries(document, {OfSentences({0, 1}), OfSentences({2})},
                                              KeepSentences(), *Counter(), {60, true});
  EXPECT_EQ(reduction.levels[0][0].summary.sentences, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(reduction.levels[0][0].input_tokens, 81U);
  EXPECT_EQ(reduction.document.sentences, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(reduction.cut_summaries, 3U);
}

TEST(Reduction, EveryLevelIsLogged) {
  std::vector<std::string> lines;
  ReduceSummaries({}, Texts({150, 150, 150}), FakeSummarizer(First150Tokens), *Counter(),
                  {200, true}, [&](std::string_view line) { lines.emplace_back(line); });
  EXPECT_EQ(lines,
            (std::vector<std::string>{"Reducing 3 summaries into 2 batch summaries at level 1",
                                      "Reducing 2 summaries into 1 batch summaries at level 2"}));
}

TEST(Reduction, KeepsItsPromisesForEverySummarizerAndBudget) {
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    std::vector<std::size_t> tokens(1 + random() % 40);
    for (std::size_t& count : tokens) count = 1 + random() % 120;
    const ReductionOptions options = {static_cast<std::uint32_t>(3 + random() % 200), true};
    for (const auto& write : {Identity, First150Tokens, Twice, Nothing}) {
      const FakeSummarizer summarizer(write);
      const Reduction reduction = Reduce(Texts(tokens), summarizer, options);
      ExpectEveryInputOnceInOrder(reduction, tokens.size());
      EXPECT_LE(static_cast<double>(reduction.levels.size()),
                std::ceil(std::log2(static_cast<double>(tokens.size()))));
      // The single batch of the last level makes the document's summary, and so does the last pass.
      EXPECT_EQ(summarizer.num_final(), reduction.levels.empty() ? 1 : 2);
      for (const std::string& request : summarizer.requests()) {
        EXPECT_LE(Counter()->CountTokens(request), options.budget_tokens);
      }
    }
  }
}

TEST(Reduction, EndsWithoutABudget) {
  for (const bool cut : {false, true}) {
    for (const auto id : {models::kDefaultTokenCounter, models::kArticleTokenCounter}) {
      std::vector<DraftSummary> chunks = Texts({3, 5, 7, 9, 11});
      chunks.push_back(OfSentences({}));
      const Reduction reduction =
          ReduceSummaries({}, std::move(chunks), FakeSummarizer(Identity), *Counter(id), {0, cut});
      ExpectEveryInputOnceInOrder(reduction, 6);
    }
  }
}

// tests/golden/article_reference.py computes the same from the rules of the article.
TEST(Reduction, ArticleSummariesMatchTheReference) {
  std::ifstream file(RAG_SOURCE_DIR "/tests/golden/notes_expected.json");
  const nlohmann::json expected = nlohmann::json::parse(file);
  const std::unique_ptr<Summarizer> summarizer = MakeArticleSummarizer();
  ASSERT_EQ(expected["documents"].size(), 4U);
  for (const nlohmann::json& wanted : expected["documents"]) {
    std::string text;
    DocumentText document;
    for (const std::string chunk : wanted["chunks"]) {
      document.chunks.push_back({text.size(), text.size() + chunk.size()});
      text += chunk + "\n\n";
    }
    document.text = text;
    std::vector<DraftSummary> summaries;
    for (std::uint32_t chunk = 0; chunk < document.chunks.size(); ++chunk) {
      summaries.push_back(summarizer->SummarizeChunk(document, chunk));
      EXPECT_EQ(summaries.back().text, wanted["chunk_summaries"][chunk]);
    }
    const Reduction reduction = ReduceSummaries(
        document, summaries, *summarizer, *Counter(models::kArticleTokenCounter), {90, false});
    EXPECT_EQ(reduction.document.text, wanted["document_summary"]);
  }
}

}  // namespace
}  // namespace rag::indexer
