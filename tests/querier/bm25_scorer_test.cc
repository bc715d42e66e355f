#include "querier/bm25_scorer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "indexer/analyzed_document.h"
#include "indexer/corpus_stats.h"
#include "models/hashed_bm25.h"
#include "models/token_counter.h"
#include "models/words.h"
#include "querier/question.h"
#include "tests/testing/line_splitter.h"

namespace rag::querier {
namespace {

using formats::ChunkTerms;
using formats::CorpusTotals;
using formats::ForwardSegment;
using formats::ForwardSegmentView;
using formats::SectionTerms;
using formats::TermCount;

// A text of any level: how often (weighted) each term occurs, and how long it is.
struct Text {
  std::map<std::uint64_t, double> counts;
  double length = 0;

  void Add(const std::vector<TermCount>& terms, double more_length, double weight = 1) {
    for (const TermCount& term : terms) counts[term.term] += weight * term.count;
    length += weight * more_length;
  }
  void Add(const SectionTerms& section, double weight = 1) {
    Add(section.terms, section.length, weight);
  }
  void Add(const ChunkTerms& chunk, double weight = 1) { Add(chunk.terms, chunk.length, weight); }
};

double Bm25(const Question& question, const Text& text, double mean_length) {
  constexpr double kK1 = 1.2;
  constexpr double kB = 0.75;
  double score = 0;
  for (const QuestionTerm& term : question.terms) {
    const auto it = text.counts.find(term.term);
    if (it == text.counts.end()) continue;
    const double tf = it->second;
    score += term.count * term.idf * tf * (kK1 + 1) /
             (tf + kK1 * (1 - kB + kB * text.length / mean_length));
  }
  return score;
}

// The formula of the header, a whole text built for each chunk and level.
std::vector<double> ScoreNaively(const Question& question, const CorpusTotals& totals,
                                 const ForwardSegment& segment, const Bm25Weights& weights = {}) {
  const double mean_chunk = static_cast<double>(totals.chunk_length) / double(totals.num_chunks);
  const double mean_near = totals.near_length / double(totals.num_chunks);
  const double mean_section =
      static_cast<double>(totals.section_length) / double(totals.num_sections);
  double ideal = 0;
  for (const QuestionTerm& term : question.terms) ideal += 2.2 * term.count * term.idf;
  std::vector<double> scores;
  const int n = static_cast<int>(segment.chunks.size());
  for (int i = 0; i < n; ++i) {
    const ChunkTerms& own = segment.chunks[static_cast<std::size_t>(i)];
    Text chunk;
    Text near;
    Text section;
    for (int j = 0; j < n; ++j) {
      const ChunkTerms& other = segment.chunks[static_cast<std::size_t>(j)];
      if (other.section == own.section) section.Add(other);
      if (std::abs(i - j) > 8) continue;
      near.Add(other, std::pow(0.7, std::abs(i - j)));
      near.Add(segment.sections[other.section], std::pow(0.7, std::abs(i - j)));
    }
    chunk.Add(own);
    chunk.Add(segment.sections[own.section]);
    section.Add(segment.sections[own.section]);
    for (Text* text : {&chunk, &near, &section}) text->Add(segment.title);
    scores.push_back((Bm25(question, chunk, mean_chunk) +
                      weights.near * Bm25(question, near, mean_near) +
                      weights.section * Bm25(question, section, mean_section)) /
                     ideal);
  }
  return scores;
}

SectionTerms RandomTerms(std::mt19937_64& random, std::uint64_t length, std::uint64_t num_terms) {
  std::map<std::uint64_t, std::uint32_t> counts;
  for (std::uint64_t i = 0; i < length; ++i) ++counts[random() % num_terms * 1'000'003];
  SectionTerms out;
  out.length = static_cast<std::uint32_t>(length);
  for (const auto& [term, count] : counts) out.terms.push_back({term, count});
  return out;
}

ForwardSegment RandomSegment(std::mt19937_64& random) {
  const std::uint64_t num_terms = 5 + random() % 40;
  ForwardSegment segment;
  segment.first_chunk = static_cast<std::uint32_t>(random() % 3) * formats::kSegmentChunks;
  segment.title = RandomTerms(random, random() % 4, num_terms);
  const std::size_t n = 1 + random() % 60;
  for (std::size_t i = 0; i < n; ++i) {
    if (i == 0 || random() % 5 == 0) {
      segment.sections.push_back(RandomTerms(random, random() % 5, num_terms));
    }
    const SectionTerms body = RandomTerms(random, random() % 25, num_terms);
    ChunkTerms chunk;
    chunk.section = static_cast<std::uint32_t>(segment.sections.size() - 1);
    chunk.length = body.length;
    chunk.terms = body.terms;
    segment.chunks.push_back(chunk);
  }
  return segment;
}

// Terms that RandomTerms may make, and one that it does not.
Question RandomQuestion(std::mt19937_64& random) {
  Question question;
  for (std::uint64_t term = 0; term < 12; ++term) {
    if (random() % 2 == 0) continue;
    question.terms.push_back({.term = term * 1'000'003,
                              .count = static_cast<std::uint32_t>(1 + random() % 3),
                              .idf = 0.1 + static_cast<double>(random() % 1000) / 150});
  }
  question.terms.push_back({.term = formats::kTermMask, .count = 1, .idf = 7});
  for (const QuestionTerm& term : question.terms) question.wanted.push_back(term.term);
  return question;
}

CorpusTotals RandomTotals(std::mt19937_64& random) {
  CorpusTotals totals;
  totals.num_documents = 1 + random() % 10;
  totals.num_chunks = 10 + random() % 1000;
  totals.num_sections = 1 + random() % totals.num_chunks;
  totals.chunk_length = totals.num_chunks * (1 + random() % 30);
  totals.section_length = totals.num_sections * (1 + random() % 200);
  totals.near_length = static_cast<double>(totals.num_chunks) * (0.5 + double(random() % 100));
  return totals;
}

ForwardSegmentView View(const ForwardSegment& segment, const Question& question) {
  return ForwardSegmentView::Parse(formats::Encode(segment), question.wanted).value();
}

TEST(Bm25Scorer, EqualsTheNaiveFormulaOnRandomSegments) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    const Question question = RandomQuestion(random);
    const ForwardSegment segment = RandomSegment(random);
    const CorpusTotals totals = RandomTotals(random);

    const std::vector<double> scores =
        Bm25Scorer(question, totals).ScoreSegment(View(segment, question));

    const std::vector<double> expected = ScoreNaively(question, totals, segment);
    ASSERT_EQ(scores.size(), expected.size());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      ASSERT_NEAR(scores[i], expected[i], 1e-9) << "round " << round << " chunk " << i;
    }
  }
}

TEST(Bm25Scorer, ObeysItsWeights) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 50; ++round) {
    const Question question = RandomQuestion(random);
    const ForwardSegment segment = RandomSegment(random);
    const CorpusTotals totals = RandomTotals(random);
    const Bm25Weights weights{.near = double(random() % 5) / 2, .section = double(random() % 5)};

    const std::vector<double> scores =
        Bm25Scorer(question, totals, weights).ScoreSegment(View(segment, question));

    const std::vector<double> expected = ScoreNaively(question, totals, segment, weights);
    for (std::size_t i = 0; i < scores.size(); ++i) ASSERT_NEAR(scores[i], expected[i], 1e-9);
  }
}

TEST(Bm25Scorer, AMatchReachesEightChunksFarAndNoFurther) {
  constexpr std::uint64_t kTerm = 42;
  ForwardSegment segment;
  for (std::uint32_t i = 0; i < 20; ++i) {
    segment.sections.push_back({});  // each in its own, so that sections add nothing
    ChunkTerms chunk;
    chunk.section = i;
    chunk.length = 3;
    if (i == 10) chunk.terms = {{kTerm, 1}};
    segment.chunks.push_back(chunk);
  }
  Question question;
  question.terms = {{.term = kTerm, .count = 1, .idf = 2}};
  question.wanted = {kTerm};
  const CorpusTotals totals{.num_chunks = 20,
                            .num_sections = 20,
                            .chunk_length = 60,
                            .section_length = 60,
                            .near_length = 200};

  const std::vector<double> scores =
      Bm25Scorer(question, totals).ScoreSegment(View(segment, question));

  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(scores[i] > 0, i >= 2 && i <= 18) << "chunk " << i;
  }
  for (std::size_t i = 11; i < 19; ++i) EXPECT_LT(scores[i], scores[i - 1]);
}

// Else rounding would decide the order of chunks that are alike, not their place.
TEST(Bm25Scorer, ChunksOfEqualSurroundingsScoreTheSameBits) {
  ForwardSegment segment;
  segment.sections.push_back({});
  constexpr std::uint32_t kPeriod = 20;  // what follows repeats
  for (std::uint32_t i = 0; i < 200; ++i) {
    ChunkTerms chunk;
    chunk.length = 5 + i * 7 % kPeriod;
    if (i % kPeriod < 6) chunk.terms = {{42, 1 + i % kPeriod}, {43, 3}};
    segment.chunks.push_back(chunk);
  }
  Question question;
  question.terms = {{.term = 42, .count = 1, .idf = 1.7}, {.term = 43, .count = 2, .idf = 0.3}};
  question.wanted = {42, 43};
  const CorpusTotals totals{.num_chunks = 200,
                            .num_sections = 1,
                            .chunk_length = 2200,
                            .section_length = 2200,
                            .near_length = 10'000};

  const std::vector<double> scores =
      Bm25Scorer(question, totals).ScoreSegment(View(segment, question));

  for (std::size_t i = 8; i + 8 + kPeriod < scores.size(); ++i) {
    EXPECT_EQ(scores[i], scores[i + kPeriod]) << i;
  }
}

TEST(Bm25Scorer, AQuestionWithoutKnownTermsScoresZero) {
  std::mt19937_64 random(3);
  const Question question;
  const ForwardSegment segment = RandomSegment(random);

  const std::vector<double> scores =
      Bm25Scorer(question, RandomTotals(random)).ScoreSegment(View(segment, question));

  EXPECT_EQ(scores, std::vector<double>(segment.chunks.size(), 0.0));
}

TEST(Bm25Scorer, AnEmptyCorpusHasNoChunksToScore) {
  const Question question;
  const ForwardSegment segment;

  EXPECT_TRUE(Bm25Scorer(question, CorpusTotals{}).ScoreSegment(View(segment, question)).empty());
}

TEST(Bm25Scorer, RepeatedScoringGivesTheSameBits) {
  std::mt19937_64 random(4);
  const Question question = RandomQuestion(random);
  const ForwardSegmentView view = View(RandomSegment(random), question);
  const CorpusTotals totals = RandomTotals(random);
  const Bm25Scorer scorer(question, totals);

  EXPECT_EQ(scorer.ScoreSegment(view), scorer.ScoreSegment(view));
  EXPECT_EQ(Bm25Scorer(question, totals).ScoreSegment(view), scorer.ScoreSegment(view));
}

// The scores below come from an independent program (dense matrices, Python) that was written from
// the prototype with which the formula was measured. So the whole way from a text to its statistics
// and scores is compared: idf and mean lengths are those of these two documents.
class TwoDocuments : public ::testing::Test {
 protected:
  TwoDocuments() {
    const auto counter = models::MakeTokenCounter(models::kDefaultTokenCounter).value();
    for (const char* text : {"= copper lamp\n"
                             "oil lamp\n"
                             "copper oil oil gate\n"
                             "# wick trim\n"
                             "wick smoke wick\n"
                             "lamp smoke\n"
                             "trim wick lamp copper\n"
                             "# harbor\n"
                             "gate harbor copper lamp lamp\n",
                             "= harbor\n"
                             "# gate\n"
                             "harbor gate smoke\n"
                             "oil\n"
                             "wick harbor\n"
                             "# lamp\n"
                             "smoke trim\n"}) {
      documents_.push_back(indexer::AnalyzeDocument("s", "d", text, formats::MediaType::kPlainText,
                                                    testing::LineSplitter(), *counter, analyzer_));
      stats_.Add(0, documents_.back().stats);
    }
  }

  Question Ask(std::string_view text) {
    std::vector<std::uint64_t> hashes;
    analyzer_.AppendTermHashes(text, hashes);
    Question question;
    for (const models::WeightedTerm& term : models::CountTerms(std::move(hashes))) {
      question.terms.push_back({.term = term.hash & formats::kTermMask,
                                .count = term.count,
                                .idf = stats_.ChunkIdf(term.hash)});
    }
    std::sort(question.terms.begin(), question.terms.end(),
              [](const auto& a, const auto& b) { return a.term < b.term; });
    for (const QuestionTerm& term : question.terms) question.wanted.push_back(term.term);
    return question;
  }

  std::vector<double> Score(const Question& question) const {
    std::vector<double> scores;
    const Bm25Scorer scorer(question, stats_.totals());
    for (const indexer::AnalyzedDocument& document : documents_) {
      const auto view =
          ForwardSegmentView::Parse(document.segments.front(), question.wanted).value();
      const std::vector<double> more = scorer.ScoreSegment(view);
      scores.insert(scores.end(), more.begin(), more.end());
    }
    return scores;
  }

 private:
  models::TermAnalyzer analyzer_;
  std::vector<indexer::AnalyzedDocument> documents_;
  indexer::CorpusStats stats_;
};

TEST_F(TwoDocuments, ScoreAsTheIndependentProgramSays) {
  const Question question = Ask("copper wick wick lamp");
  const std::vector<double> expected = {
      1.589652166081, 1.593795028766, 2.200051333157, 2.125817609536, 2.210858500245,
      1.640485191790, 0.592000671327, 0.680268179938, 1.052289110232, 0.763659470883};

  const std::vector<double> scores = Score(question);

  ASSERT_EQ(scores.size(), expected.size());
  // The mean length of neighbourhoods is rounded to 1/1024 a document.
  for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], expected[i], 1e-4);
}

TEST(Coverage, IsTheShareOfTheQuestionThatAnySegmentHolds) {
  Question question;
  question.terms = {{.term = 1, .count = 1, .document_idf = 3},
                    {.term = 2, .count = 2, .document_idf = 1},
                    {.term = 3, .count = 1, .document_idf = 1},
                    {.term = 4, .count = 1, .document_idf = 4}};
  question.wanted = {1, 2, 3, 4};
  ForwardSegment in_body;
  in_body.sections.push_back({});
  in_body.chunks.push_back({.length = 1, .terms = {{1, 1}}});
  ForwardSegment in_heading = in_body;
  in_heading.sections[0] = {.length = 1, .terms = {{2, 1}}};
  ForwardSegment in_title = in_body;
  in_title.title = {.length = 1, .terms = {{3, 1}}};
  Coverage coverage(question);

  coverage.Add(View(in_body, question));
  EXPECT_DOUBLE_EQ(coverage.Take(), 0.3);
  coverage.Add(View(in_body, question));
  coverage.Add(View(in_heading, question));
  EXPECT_DOUBLE_EQ(coverage.Take(), 0.5);
  coverage.Add(View(in_title, question));
  EXPECT_DOUBLE_EQ(coverage.Take(), 0.4);
  EXPECT_DOUBLE_EQ(coverage.Take(), 0.0);
}

TEST(Coverage, OfAQuestionWithoutKnownTermsIsNone) {
  const Question question;

  EXPECT_DOUBLE_EQ(Coverage(question).Take(), 0.0);
}

}  // namespace
}  // namespace rag::querier
