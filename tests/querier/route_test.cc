#include "querier/route.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/article_words.h"
#include "querier/bm25_scorer.h"
#include "tests/testing/test_index.h"

namespace rag::querier {
namespace {

using testing::MadeUpWord;
using testing::TestIndex;

constexpr RouteLimits kEverything{
    .top_documents = 1000, .chunks_per_document = 100'000, .chunks = 100'000};

// As the above, but for one of them.
RouteLimits TopDocuments(std::size_t n) {
  RouteLimits limits = kEverything;
  limits.top_documents = n;
  return limits;
}
RouteLimits ChunksPerDocument(std::size_t n) {
  RouteLimits limits = kEverything;
  limits.chunks_per_document = n;
  return limits;
}

testing::Corpus RandomCorpus(int num_documents) {
  testing::Corpus corpus;
  for (int i = 0; i < num_documents; ++i) {
    corpus["d" + std::to_string(100 + i) + ".md"] =
        testing::RandomDocument(static_cast<std::uint64_t>(i), 3 + i % 7, 3, 120);
  }
  return corpus;
}

// A question on an index, with all that a router borrows.
struct Asked {
  Asked(const TestIndex& index, const std::string& text)
      : question(
            AnalyzeQuestion(text, index.reader().manifest().build, index.reader().terms()).value()),
        cache(index.reader(), question),
        router(index.reader(), question, cache) {}

  [[nodiscard]] absl::StatusOr<std::vector<ScoredDocument>> Documents(
      const RouteLimits& limits) const {
    return router.Documents(router.Propose(limits).value(), limits);
  }

  Question question;
  ForwardCache cache;
  Router router;
};

using ChunkRow = std::tuple<double, std::uint32_t, std::uint32_t>;  // -score, document, chunk

std::vector<ChunkRow> Rows(const std::vector<ScoredChunk>& chunks) {
  std::vector<ChunkRow> rows;
  for (const ScoredChunk& hit : chunks) rows.emplace_back(-hit.score, hit.document, hit.chunk);
  return rows;
}

std::vector<std::uint32_t> Ordinals(const std::vector<ScoredDocument>& documents) {
  std::vector<std::uint32_t> ordinals;
  for (const ScoredDocument& hit : documents) ordinals.push_back(hit.document);
  return ordinals;
}

std::vector<ScoredDocument> AllDocuments(const TestIndex& index) {
  std::vector<ScoredDocument> documents;
  for (std::uint32_t i = 0; i < index.reader().manifest().counts.documents; ++i) {
    documents.push_back({i, 1.0});
  }
  return documents;
}

// Exact scores of every chunk of the index that are above 0, best first.
std::vector<ChunkRow> ScoreEverything(const TestIndex& index, const Question& question) {
  std::vector<ChunkRow> rows;
  const Bm25Scorer scorer(question, index.reader().terms().totals());
  for (const ScoredDocument& hit : AllDocuments(index)) {
    const std::uint32_t num_segments = index.Document(hit.document).num_segments;
    const std::size_t first_row = rows.size();
    Coverage coverage(question);
    for (std::uint32_t segment = 0; segment < num_segments; ++segment) {
      const storage::IndexReader::ChunkRef ref{hit.document, segment};
      const std::string bytes = index.reader().Segments({&ref, 1}).value().front();
      const auto view = formats::ForwardSegmentView::Parse(bytes, question.wanted).value();
      const std::vector<double> scores = scorer.ScoreSegment(view);
      coverage.Add(view);
      for (std::uint32_t i = 0; i < scores.size(); ++i) {
        if (scores[i] > 0) rows.emplace_back(scores[i], hit.document, view.first_chunk() + i);
      }
    }
    const double share = Bm25Weights().document * coverage.Take();
    for (std::size_t row = first_row; row < rows.size(); ++row) {
      std::get<0>(rows[row]) = -(std::get<0>(rows[row]) + share);
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

const std::string& SomeQuestion() {
  static const std::string text = MadeUpWord(3) + " " + MadeUpWord(40) + " " + MadeUpWord(77);
  return text;
}

TEST(Route, WithoutLimitsTheChunksAreThoseOfScoringEverything) {
  const TestIndex index(RandomCorpus(25));
  for (const std::uint64_t word : {0U, 5U, 30U, 90U}) {
    Asked asked(index, MadeUpWord(word) + " " + MadeUpWord(word + 1) + " " + MadeUpWord(word + 9));

    const auto chunks = asked.router.Chunks(AllDocuments(index), kEverything).value();

    EXPECT_EQ(Rows(chunks), ScoreEverything(index, asked.question));
  }
}

TEST(Route, ChunksOfSeveralSegmentsAreScoredInTheirOwn) {
  const TestIndex index(testing::Corpus{{"large.md", testing::RandomDocument(9, 1100, 40, 60)}});
  Asked asked(index, SomeQuestion());

  const auto chunks = asked.router.Chunks(AllDocuments(index), kEverything).value();

  EXPECT_EQ(Rows(chunks), ScoreEverything(index, asked.question));
  EXPECT_TRUE(std::any_of(chunks.begin(), chunks.end(), [](const ScoredChunk& hit) {
    return hit.chunk >= formats::kSegmentChunks;
  }));
}

TEST(Route, DocumentsAreRankedByTheirBestVectorAndTheRareTermsTheyHold) {
  const TestIndex index(RandomCorpus(25));
  Asked asked(index, SomeQuestion());
  const storage::VectorFile& vectors = index.reader().document_vectors();
  const std::vector<float> rows = vectors.ReadList(0).value();
  const std::vector<std::uint32_t> ids = vectors.ReadListIds(0);
  std::map<std::uint32_t, double> best;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    double score = 0;
    for (std::size_t i = 0; i < vectors.dim(); ++i) {
      score += double{rows[row * vectors.dim() + i]} * double{asked.question.document_vector[i]};
    }
    const auto [it, fresh] = best.emplace(ids[row], score);
    if (!fresh) it->second = std::max(it->second, score);
  }
  for (const QuestionTerm& term : asked.question.terms) {
    const std::vector<std::uint32_t> holders =
        index.reader().terms().RareDocuments(term.hash).value();
    for (const std::uint32_t document : holders) best[document] += term.count * term.idf;
  }

  const auto documents = asked.Documents(kEverything).value();

  std::set<std::uint32_t> found;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    EXPECT_NEAR(documents[i].score, best[documents[i].document], 1e-3);
    EXPECT_GT(documents[i].score, 0);
    if (i > 0) {
      EXPECT_LE(documents[i].score, documents[i - 1].score);
    }
    found.insert(documents[i].document);
  }
  for (const auto& [document, score] : best) {
    if (score > 1e-3) {
      EXPECT_TRUE(found.contains(document)) << document << " " << score;
    }
  }
}

TEST(Route, FewerDocumentsAreTheBestOfMore) {
  const TestIndex index(RandomCorpus(25));
  Asked asked(index, SomeQuestion());
  std::vector<std::uint32_t> all = Ordinals(asked.Documents(kEverything).value());
  ASSERT_GT(all.size(), 5U);

  for (const std::size_t top : {1U, 2U, 5U}) {
    const auto documents = asked.Documents(TopDocuments(top)).value();
    EXPECT_EQ(Ordinals(documents),
              std::vector<std::uint32_t>(all.begin(), all.begin() + static_cast<int>(top)));
  }
}

TEST(Route, EachDocumentGivesAtMostItsShareOfChunks) {
  const TestIndex index(RandomCorpus(25));
  Asked asked(index, SomeQuestion());

  const auto chunks = asked.router.Chunks(AllDocuments(index), ChunksPerDocument(2)).value();

  std::map<std::uint32_t, int> per_document;
  for (const ScoredChunk& hit : chunks) EXPECT_LE(++per_document[hit.document], 2);
  EXPECT_GT(per_document.size(), 1U);
}

TEST(Route, TheLimitOfChunksKeepsTheBestOfAllDocuments) {
  const TestIndex index(RandomCorpus(25));
  Asked asked(index, SomeQuestion());
  std::vector<ChunkRow> expected = ScoreEverything(index, asked.question);
  ASSERT_GT(expected.size(), 7U);
  expected.resize(7);
  RouteLimits limits = kEverything;
  limits.chunks = 7;

  const auto chunks = asked.router.Chunks(AllDocuments(index), limits).value();

  EXPECT_EQ(Rows(chunks), expected);
}

TEST(Route, IdenticalDocumentsComeInOrderOfTheirSources) {
  testing::Corpus corpus;
  for (int i = 0; i < 12; ++i) corpus["d" + std::to_string(i) + ".md"] = "# Lamp\n\nCopper lamp.\n";
  const TestIndex index(corpus);
  Asked asked(index, "copper lamp");

  const auto documents = asked.Documents(TopDocuments(5)).value();

  EXPECT_EQ(Ordinals(documents), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  const auto chunks = asked.router.Chunks(AllDocuments(index), kEverything).value();
  ASSERT_EQ(chunks.size(), 12U);
  for (std::uint32_t i = 0; i < 12; ++i) EXPECT_EQ(chunks[i].document, i);
}

TEST(Route, UnknownWordsFindNothing) {
  const TestIndex index(RandomCorpus(5));
  Asked asked(index, "entirely different");

  EXPECT_TRUE(asked.Documents(kEverything).value().empty());
  EXPECT_TRUE(asked.router.Chunks(AllDocuments(index), kEverything).value().empty());
  EXPECT_TRUE(asked.router.Chunks({}, kEverything).value().empty());
}

// Codes of components that are 0 add up to 0 only up to rounding.
TEST(Route, WhatRoundingMakesOfZeroIsNoHit) {
  const TestIndex index(RandomCorpus(25));
  for (std::uint64_t word = 0; word < 90; ++word) {
    Asked asked(index, MadeUpWord(word));
    const auto documents = asked.Documents(kEverything).value();
    for (const ScoredDocument& hit : documents) {
      EXPECT_GT(hit.score, 1e-3) << MadeUpWord(word) << " " << hit.document;
    }
  }
}

class ArticleRoute : public ::testing::Test {
 protected:
  ArticleRoute()
      : index_(
            {{"context.md", "# Context\n\nA context window has a token limit. Models read it.\n"},
             {"lamps.md", "# Lamps\n\nLamps burn oil. A wick draws the oil.\n"},
             {"rag.md", "# Retrieval\n\nRetrieval finds chunks for a context. " +
                            std::string(400, 'x') +
                            "\n\nA token budget limits the context of a prompt.\n"},
             {"rivers.md", "# Rivers\n\nA river runs to the sea.\n"}},
            indexer::FindProfile("article").value()) {}

  TestIndex index_;
};

TEST_F(ArticleRoute, DocumentsAreRankedByTheArticlesSimilarityToTheirSummaries) {
  const std::string text = "What limits the context of a prompt?";
  Asked asked(index_, text);
  std::vector<std::pair<double, std::uint32_t>> expected;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const double score = models::ArticleSimilarity(text, index_.Document(i).summary.text);
    if (score > 0) expected.emplace_back(-score, i);
  }
  std::sort(expected.begin(), expected.end());

  const auto documents = asked.Documents(kEverything).value();

  ASSERT_GE(documents.size(), 2U);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    EXPECT_EQ(documents[i].document, expected.at(i).second);
    EXPECT_EQ(documents[i].score, -expected[i].first);
  }
}

TEST_F(ArticleRoute, ChunksAreRankedByTheArticlesSimilarityToTheirSummaries) {
  const std::string text = "What limits the context of a prompt?";
  Asked asked(index_, text);
  std::vector<ChunkRow> expected;
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (std::uint32_t chunk = 0; chunk < index_.Document(i).num_chunks; ++chunk) {
      const double score = models::ArticleSimilarity(text, index_.Chunk(i, chunk).summary.text);
      if (score > 0) expected.emplace_back(-score, i, chunk);
    }
  }
  std::sort(expected.begin(), expected.end());

  const auto chunks = asked.router.Chunks(AllDocuments(index_), kEverything).value();

  EXPECT_EQ(Rows(chunks), expected);
}

TEST_F(ArticleRoute, EachDocumentGivesItsBestChunks) {
  Asked asked(index_, "What limits the context of a prompt?");
  const auto all = asked.router.Chunks(AllDocuments(index_), kEverything).value();

  const auto chunks = asked.router.Chunks(AllDocuments(index_), ChunksPerDocument(1)).value();

  std::set<std::uint32_t> seen;
  std::vector<ScoredChunk> expected;
  for (const ScoredChunk& hit : all) {
    if (seen.insert(hit.document).second) expected.push_back(hit);
  }
  EXPECT_EQ(Rows(chunks), Rows(expected));
}

}  // namespace
}  // namespace rag::querier
