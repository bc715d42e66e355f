#include "querier/question.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/forward_index.h"
#include "models/hashed_bm25.h"
#include "models/words.h"

namespace rag::querier {
namespace {

using formats::TermRow;

std::uint64_t HashOf(const std::string& word) {
  std::vector<std::uint64_t> hashes;
  models::TermAnalyzer().AppendTermHashes(word, hashes);
  EXPECT_EQ(hashes.size(), 1U) << word;
  return hashes.at(0);
}

// A corpus of 100 chunks that knows four words.
class QuestionTest : public ::testing::Test {
 protected:
  QuestionTest() {
    build_.embedder = models::HashedBm25::Id();
    build_.chunk_dim = 64;
    build_.document_dim = 256;
    std::map<std::uint64_t, std::uint32_t> frequencies;
    frequencies[HashOf("lamp")] = 10;
    frequencies[HashOf("copper")] = 1;
    frequencies[HashOf("river")] = 90;
    frequencies[HashOf("title")] = 0;  // in a heading only
    std::vector<TermRow> rows;
    for (const auto& [hash, chunks] : frequencies) rows.push_back({hash, chunks, chunks});
    bytes_ = formats::EncodeTermTable({.num_documents = 5, .num_chunks = 100}, rows);
    table_ = formats::TermTableView::Open(bytes_, "terms").value();
  }

  [[nodiscard]] Question Analyze(const std::string& text) const {
    return AnalyzeQuestion(text, build_, table_).value();
  }
  static const QuestionTerm* Find(const Question& question, const std::string& word) {
    for (const QuestionTerm& term : question.terms) {
      if (term.term == (HashOf(word) & formats::kTermMask)) return &term;
    }
    return nullptr;
  }

  formats::BuildParams build_;
  std::string bytes_;
  formats::TermTableView table_;
};

TEST_F(QuestionTest, KeepsTheTextAsItWasAsked) {
  EXPECT_EQ(Analyze("  Which LAMP?\n").text, "  Which LAMP?\n");
}

TEST_F(QuestionTest, KeepsTheTermsThatTheCorpusKnows) {
  const Question question = Analyze("Which lamp is copper, and which is unheard-of?");

  EXPECT_EQ(question.terms.size(), 2U);
  EXPECT_NE(Find(question, "lamp"), nullptr);
  EXPECT_NE(Find(question, "copper"), nullptr);
}

TEST_F(QuestionTest, CountsRepeatedTerms) {
  const Question question = Analyze("lamp, Lamps, LAMP or copper");

  ASSERT_NE(Find(question, "lamp"), nullptr);
  EXPECT_EQ(Find(question, "lamp")->count, 3U);
  EXPECT_EQ(Find(question, "copper")->count, 1U);
}

TEST_F(QuestionTest, WeighsTermsByTheChunksThatHoldThem) {
  const Question question = Analyze("lamp copper river title");

  const auto idf = [](double df) { return std::log(1 + (100 - df + 0.5) / (df + 0.5)); };
  EXPECT_DOUBLE_EQ(Find(question, "lamp")->idf, idf(10));
  EXPECT_DOUBLE_EQ(Find(question, "copper")->idf, idf(1));
  EXPECT_DOUBLE_EQ(Find(question, "river")->idf, idf(90));
  EXPECT_DOUBLE_EQ(Find(question, "title")->idf, idf(0));
}

TEST_F(QuestionTest, TermsAscendAndWantedIsTheSame) {
  const Question question = Analyze("river title lamp copper river");

  ASSERT_EQ(question.wanted.size(), question.terms.size());
  for (std::size_t i = 0; i < question.terms.size(); ++i) {
    EXPECT_EQ(question.wanted[i], question.terms[i].term);
    EXPECT_LE(question.terms[i].term, formats::kTermMask);
    if (i > 0) {
      EXPECT_LT(question.terms[i - 1].term, question.terms[i].term);
    }
  }
}

TEST_F(QuestionTest, VectorsAreThoseOfTheEmbedder) {
  const Question question = Analyze("lamp lamp copper");

  std::vector<models::WeightedTerm> terms = {{HashOf("lamp"), 2}, {HashOf("copper"), 1}};
  const auto idf = [](std::uint64_t hash) {
    return models::Bm25Idf(100, hash == HashOf("lamp") ? 10 : 1);
  };
  for (const std::vector<float>* vector : {&question.document_vector, &question.chunk_vector}) {
    std::vector<float> expected(vector->size());
    models::HashedBm25(static_cast<std::uint32_t>(vector->size()))
        .AddQuestion(terms, idf, expected);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR((*vector)[i], expected[i], 1e-5) << i;
    }
  }
  EXPECT_EQ(question.document_vector.size(), 256U);
  EXPECT_EQ(question.chunk_vector.size(), 64U);
}

TEST_F(QuestionTest, OfUnknownWordsHasNoTermsAndZeroVectors) {
  const Question question = Analyze("zxqv plmokn");

  EXPECT_TRUE(question.terms.empty());
  EXPECT_TRUE(question.wanted.empty());
  EXPECT_EQ(question.document_vector, std::vector<float>(256, 0.0F));
  EXPECT_EQ(question.chunk_vector, std::vector<float>(64, 0.0F));
}

TEST_F(QuestionTest, BytesThatAreNoUtf8AreNoError) {
  EXPECT_EQ(Analyze("lamp \xff\xfe copper \xc3").terms.size(), 2U);
}

TEST_F(QuestionTest, AnotherEmbedderIsRefusedWithBothNames) {
  build_.embedder = "minilm-l6-v2";

  const absl::Status status = AnalyzeQuestion("lamp", build_, table_).status();

  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  const std::string message(status.message());
  EXPECT_NE(message.find("minilm-l6-v2"), std::string::npos) << message;
  EXPECT_NE(message.find(models::HashedBm25::Id()), std::string::npos) << message;
}

}  // namespace
}  // namespace rag::querier
