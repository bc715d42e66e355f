#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/chunk_header.h"
#include "formats/forward_index.h"
#include "querier/query.h"
#include "tests/querier/query_testing.h"
#include "tests/testing/test_index.h"

namespace rag::querier {
namespace {

using testing::MadeUpWord;
using testing::TestIndex;

// The order in which candidates are offered, from the hits alone.
std::vector<std::string> ExpandNaively(const TestIndex& index, const QueryResult& result) {
  std::map<std::string, std::uint32_t> num_chunks;
  const auto documents = static_cast<std::uint32_t>(index.reader().manifest().counts.documents);
  for (std::uint32_t i = 0; i < documents; ++i) {
    num_chunks[index.Document(i).doc_id] = index.Document(i).num_chunks;
  }
  std::vector<std::string> order;
  for (const ChunkHit& hit : result.chunks) {
    for (const int step : {0, 1, -1}) {
      const int chunk = static_cast<int>(hit.index) - 1 + step;
      if (chunk < 0 || chunk >= static_cast<int>(num_chunks.at(hit.doc_id))) continue;
      const std::string id = formats::ChunkId(hit.doc_id, static_cast<std::uint32_t>(chunk));
      if (std::find(order.begin(), order.end(), id) == order.end()) order.push_back(id);
    }
  }
  return order;
}

// With a budget of one token everything is skipped, in the order in which it was offered.
QueryOptions Neighbors() {
  QueryOptions options = Wide(1);
  options.neighbors = true;
  return options;
}

// Ten chunks in sections of their own; the fifth and the seventh are about copper.
testing::Corpus TenChunks(const std::string& fifth, const std::string& seventh) {
  std::string text;
  for (int i = 1; i <= 10; ++i) {
    text += "## " + MadeUpWord(static_cast<std::uint64_t>(i)) + "\n\n" +
            (i == 5   ? fifth
             : i == 7 ? seventh
                      : "Nothing of note is said in here.") +
            "\n\n";
  }
  return {{"ten.md", text}};
}

TEST(QueryNeighbors, AHitIsFollowedByItsNextAndPreviousChunk) {
  const TestIndex index(TenChunks("Copper copper copper copper.", "Of lamps and copper again."));
  QueryOptions options = Neighbors();
  options.chunks_per_document = 1;

  const QueryResult result = Ask(index, "copper", options);

  ASSERT_EQ(result.chunks.size(), 1U);
  EXPECT_EQ(result.chunks[0].index, 5U);
  EXPECT_EQ(Ids(result.skipped),
            (std::vector<std::string>{"ten.md-chunk-005", "ten.md-chunk-006", "ten.md-chunk-004"}));
}

TEST(QueryNeighbors, AChunkIsOfferedOnceInItsFirstPlace) {
  const TestIndex index(TenChunks("Copper copper copper copper.", "Of lamps and copper again."));

  const QueryResult result = Ask(index, "copper", Neighbors());

  EXPECT_EQ(Ids(result.skipped), ExpandNaively(index, result));
  EXPECT_GT(result.chunks.size(), 3U);
}

TEST(QueryNeighbors, OnRandomIndexesTheOrderIsThatOfTheNaiveExpansion) {
  const TestIndex index(RandomCorpus(12));
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    QueryOptions options = Neighbors();
    options.chunks_per_document = static_cast<std::uint32_t>(1 + seed % 3);
    const QueryResult result = Ask(index, RandomQuestion(seed), options);
    EXPECT_EQ(Ids(result.skipped), ExpandNaively(index, result));
  }
}

TEST(QueryNeighbors, NeighborsNeverCrossDocuments) {
  const TestIndex index(
      {{"a.md", "Nothing here.\n"}, {"b.md", "Copper.\n"}, {"c.md", "Nothing.\n"}});

  const QueryResult result = Ask(index, "copper", Neighbors());

  EXPECT_EQ(Ids(result.skipped), (std::vector<std::string>{"b.md-chunk-001"}));
}

TEST(QueryNeighbors, NeighborsCrossTheBoundaryOfASegment) {
  std::string text;
  for (std::uint32_t i = 0; i < formats::kSegmentChunks + 5; ++i) {
    text += i + 1 == formats::kSegmentChunks
                ? "Copper is what this one long paragraph is about.\n\n"
                : "Nothing of note is said in this paragraph here.\n\n";
  }
  const TestIndex index(testing::Corpus{{"large.md", text}});
  QueryOptions options = Neighbors();
  options.chunks_per_document = 1;
  ASSERT_EQ(index.Document(0).num_segments, 2U);

  const QueryResult result = Ask(index, "copper", options);

  EXPECT_EQ(Ids(result.skipped),
            (std::vector<std::string>{"large.md-chunk-1024", "large.md-chunk-1025",
                                      "large.md-chunk-1023"}));
}

TEST(QueryNeighbors, NeighborsAreIncludedWithoutAScore) {
  const TestIndex index(testing::Corpus{{"ten.md",
                                         "Nothing of note is said in this paragraph here.\n\n"
                                         "Copper is what this one long paragraph is about.\n\n"
                                         "Something else is said in this last paragraph.\n"}});
  QueryOptions options = Neighbors();
  options.budget_tokens = 1000;
  options.chunks_per_document = 1;

  const QueryResult result = Ask(index, "copper", options);

  ASSERT_EQ(result.included.size(), 3U);
  EXPECT_FALSE(result.included[0].score.has_value());
  EXPECT_EQ(result.included[1].score, result.chunks.at(0).score);
  EXPECT_FALSE(result.included[2].score.has_value());
}

TEST(QueryNeighbors, WithoutThemOnlyHitsAreOffered) {
  const TestIndex index(TenChunks("Copper copper copper copper.", "Of lamps and copper again."));

  const QueryResult result = Ask(index, "copper", Wide(1));

  EXPECT_EQ(Ids(result.skipped), Ids(result.chunks));
}

}  // namespace
}  // namespace rag::querier
