// Pinned vectors come from an independent implementation in Python (numpy, xxhash).
#include "models/hashed_bm25.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "models/words.h"

namespace rag::models {
namespace {

using Vector = std::vector<float>;

double ConstantIdf(std::uint64_t /*hash*/) { return Bm25Idf(1000, 10); }

double Dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void ExpectSame(const Vector& actual, const Vector& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_FLOAT_EQ(actual[i], expected[i]) << i;
}

TEST(Bm25Idf, MatchesTheFormula) {
  EXPECT_DOUBLE_EQ(Bm25Idf(1000, 10), 4.557379522151743);
  EXPECT_NEAR(Bm25Idf(1000, 1000), 0.0004996252914324798, 1e-15);
}

TEST(Bm25Idf, IsPositiveForImpossibleCounts) {
  EXPECT_GT(Bm25Idf(0, 0), 0.0);
  EXPECT_GT(Bm25Idf(3, 7), 0.0);
  EXPECT_TRUE(std::isfinite(Bm25Idf(std::numeric_limits<std::uint64_t>::max(), 0)));
}

TEST(CountTerms, SortsAndCounts) {
  const std::vector<WeightedTerm> terms = CountTerms({9, 3, 9, 1, 9, 3});
  ASSERT_EQ(terms.size(), 3U);
  EXPECT_EQ(terms[0].hash, 1U);
  EXPECT_EQ(terms[0].count, 1U);
  EXPECT_EQ(terms[1].hash, 3U);
  EXPECT_EQ(terms[1].count, 2U);
  EXPECT_EQ(terms[2].hash, 9U);
  EXPECT_EQ(terms[2].count, 3U);
}

TEST(CountTerms, OfNothingIsEmpty) { EXPECT_TRUE(CountTerms({}).empty()); }

TEST(HashedBm25, IdNamesParametersAndWordRules) {
  EXPECT_EQ(HashedBm25::Id(), "hashed-bm25-v1/slots=4/range=8/words-v1/snowball-english");
}

TEST(HashedBm25, PinsAQuestion) {
  Vector out(16);
  HashedBm25(16).AddQuestion(CountTerms({TermHash("budget")}), ConstantIdf, out);
  constexpr float kShare = 1.0674010515213013F;
  ExpectSame(out, {0, 0, 0, -kShare, 0, kShare, 0, 0, 0, 0, 0, -kShare, 0, -kShare, 0, 0});
}

TEST(HashedBm25, PinsAText) {
  const std::uint64_t budget = TermHash("budget");
  const std::uint64_t han = TermHash("\u6F22\u5B57");
  Vector out(12);
  HashedBm25(12).AddText(CountTerms({budget, han, budget, TermHash("retriev"), han, budget}), 6,
                         8.0, ConstantIdf, out);
  ExpectSame(out, {0.0F, -1.5786770582199097F, -0.583284854888916F, 0.0F, -0.9953922033309937F,
                   0.0F, 0.0F, -1.5786770582199097F, -0.583284854888916F, 1.189003586769104F,
                   -1.77228844165802F, 1.5786770582199097F});
}

TEST(HashedBm25, PinsSlotsOfAWideVector) {
  Vector out(1024);
  HashedBm25(1024).AddQuestion(CountTerms({TermHash("\u6F22\u5B57")}), ConstantIdf, out);
  std::map<std::size_t, bool> negative;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] != 0) negative[i] = out[i] < 0;
  }
  EXPECT_EQ(negative,
            (std::map<std::size_t, bool>{{144, true}, {376, true}, {649, true}, {982, false}}));
}

TEST(HashedBm25, ATermMeetsItselfWithItsExactScore) {
  for (const std::uint32_t dim : {4U, 7U, 10U, 128U, 1000U}) {
    for (std::uint64_t hash = 0; hash < 200; ++hash) {
      Vector text(dim);
      Vector question(dim);
      const HashedBm25 embedder(dim);
      embedder.AddText(CountTerms({hash, hash}), 2, 4.0, ConstantIdf, text);
      embedder.AddQuestion(CountTerms({hash}), ConstantIdf, question);
      const double exact = ConstantIdf(hash) * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 2 / 4));
      ASSERT_NEAR(Dot(text, question), exact, 1e-4) << dim << ' ' << hash;
    }
  }
}

TEST(HashedBm25, OfAnEmptyTextIsTheZeroVector) {
  Vector out(64);
  HashedBm25(64).AddText({}, 0, 0.0, ConstantIdf, out);
  HashedBm25(64).AddQuestion({}, ConstantIdf, out);
  EXPECT_EQ(out, Vector(64));
}

TEST(HashedBm25, AddsToWhatIsThere) {
  Vector twice(32);
  Vector once(32);
  const HashedBm25 embedder(32);
  embedder.AddQuestion(CountTerms({5, 5}), ConstantIdf, once);
  embedder.AddQuestion(CountTerms({5}), ConstantIdf, twice);
  embedder.AddQuestion(CountTerms({5}), ConstantIdf, twice);
  ExpectSame(twice, once);
}

TEST(HashedBm25, StaysFiniteWhateverTheTableSays) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<WeightedTerm> terms = {{1, std::numeric_limits<std::uint32_t>::max()}, {2, 0}};
  const HashedBm25 embedder(8);
  for (const double idf : {0.0, -1.0, 1e300, kInfinity, -kInfinity, std::nan("")}) {
    for (const double mean : {0.0, -1.0, 1e-300, kInfinity, std::nan("")}) {
      Vector out(8);
      const auto table = [idf](std::uint64_t) { return idf; };
      embedder.AddText(terms, std::numeric_limits<std::uint64_t>::max(), mean, table, out);
      embedder.AddText(terms, 0, mean, table, out);
      embedder.AddQuestion(terms, table, out);
      EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](float x) { return std::isfinite(x); }))
          << idf << ' ' << mean;
    }
  }
}

TEST(HashedBm25, WorksWithFewerDimensionsThanSlots) {
  for (const std::uint32_t dim : {0U, 1U, 2U, 3U}) {
    Vector out(dim);
    HashedBm25(dim).AddQuestion(CountTerms({77}), ConstantIdf, out);
    EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](float x) { return x != 0; })) << dim;
  }
}

// A random corpus with a skewed vocabulary, scored exactly and by vectors.
class Corpus {
 public:
  Corpus() {
    for (std::size_t i = 0; i < kNumTexts; ++i) {
      std::vector<std::uint64_t> hashes;
      for (auto n = 20 + random_() % 40; n > 0; --n) hashes.push_back(RandomTerm());
      total_length_ += hashes.size();
      lengths_.push_back(hashes.size());
      texts_.push_back(CountTerms(std::move(hashes)));
      for (const WeightedTerm& term : texts_.back()) ++df_[term.hash];
    }
  }

  std::vector<WeightedTerm> RandomQuestion() {
    std::vector<std::uint64_t> hashes;
    for (int i = 0; i < 6; ++i) hashes.push_back(RandomTerm());
    return CountTerms(std::move(hashes));
  }

  std::vector<double> ExactScores(const std::vector<WeightedTerm>& question) const {
    std::vector<double> scores;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const double norm =
          kBm25K1 * (1 - kBm25B + kBm25B * static_cast<double>(lengths_[i]) / Mean());
      double score = 0;
      for (const WeightedTerm& asked : question) {
        for (const WeightedTerm& term : texts_[i]) {
          if (term.hash != asked.hash) continue;
          const double tf = term.count;
          score += asked.count * Idf(term.hash) * tf * (kBm25K1 + 1) / (tf + norm);
        }
      }
      scores.push_back(score);
    }
    return scores;
  }

  std::vector<double> HashedScores(const HashedBm25& embedder,
                                   const std::vector<WeightedTerm>& question) const {
    const auto idf = [this](std::uint64_t hash) { return Idf(hash); };
    Vector asked(embedder.dim());
    embedder.AddQuestion(question, idf, asked);
    std::vector<double> scores;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      Vector text(embedder.dim());
      embedder.AddText(texts_[i], lengths_[i], Mean(), idf, text);
      scores.push_back(Dot(text, asked));
    }
    return scores;
  }

 private:
  static constexpr std::size_t kNumTexts = 200;

  std::uint64_t RandomTerm() {
    const auto rank = random_() % 2000;
    return TermHash(std::to_string(rank * rank / 2000));
  }
  double Idf(std::uint64_t hash) const {
    const auto found = df_.find(hash);
    return Bm25Idf(kNumTexts, found == df_.end() ? 0 : found->second);
  }
  double Mean() const { return static_cast<double>(total_length_) / kNumTexts; }

  std::mt19937 random_{3};
  std::vector<std::vector<WeightedTerm>> texts_;
  std::vector<std::uint64_t> lengths_;
  std::map<std::uint64_t, std::uint64_t> df_;
  std::uint64_t total_length_ = 0;
};

double Correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return ab / std::sqrt(aa * bb);
}

double MeanCorrelation(std::uint32_t dim) {
  Corpus corpus;
  constexpr int kNumQuestions = 20;
  double sum = 0;
  for (int i = 0; i < kNumQuestions; ++i) {
    const std::vector<WeightedTerm> question = corpus.RandomQuestion();
    sum +=
        Correlation(corpus.ExactScores(question), corpus.HashedScores(HashedBm25(dim), question));
  }
  return sum / kNumQuestions;
}

TEST(HashedBm25, InnerProductsFollowTheExactScores) { EXPECT_GT(MeanCorrelation(4096), 0.85); }

TEST(HashedBm25, MoreDimensionsAreCloserToTheExactScores) {
  EXPECT_GT(MeanCorrelation(1024), MeanCorrelation(128));
}

// With fair signs and slots two different terms meet with mean 0 and variance 1 / dim.
TEST(HashedBm25, ErrorsHaveTheSizeOfChance) {
  constexpr std::uint32_t kDim = 256;
  constexpr int kNumPairs = 20000;
  const HashedBm25 embedder(kDim);
  const auto unit_idf = [](std::uint64_t) { return 1.0; };
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < kNumPairs; ++i) {
    Vector left(kDim);
    Vector right(kDim);
    embedder.AddQuestion(CountTerms({TermHash(std::to_string(2 * i))}), unit_idf, left);
    embedder.AddQuestion(CountTerms({TermHash(std::to_string(2 * i + 1))}), unit_idf, right);
    const double product = Dot(left, right);
    sum += product;
    squares += product * product;
  }
  EXPECT_NEAR(sum / kNumPairs, 0.0, 0.002);
  EXPECT_NEAR(squares / kNumPairs * kDim, 1.0, 0.05);
}

}  // namespace
}  // namespace rag::models
