// What a reader expects of a search by a name or an error code: the only place that has the word is
// found, however large the corpus or the document around it.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "querier/query.h"
#include "tests/querier/query_testing.h"
#include "tests/testing/test_index.h"

namespace rag::querier {
namespace {

using testing::TestIndex;

// None of these occurs in a RandomDocument of at most 3000 words.
std::string UniqueWord(std::uint64_t i) { return testing::MadeUpWord(4095 - i); }
std::string SentenceWith(std::uint64_t i) { return "The code is " + UniqueWord(i) + " here.\n\n"; }

TEST(QueryRecall, AWordThatOneDocumentHoldsFindsThatDocument) {
  constexpr std::uint64_t kDocuments = 150;
  const auto source = [](std::uint64_t i) { return "d" + std::to_string(100 + i) + ".md"; };
  testing::Corpus corpus;
  for (std::uint64_t i = 0; i < kDocuments; ++i) {
    corpus[source(i)] = testing::RandomDocument(i, 20, 5, 1000) + SentenceWith(i) +
                        testing::RandomDocument(1000 + i, 5, 5, 1000);
  }
  const TestIndex index(corpus);
  QueryOptions options;
  options.top_documents = 3;
  std::vector<std::string> missed;
  for (std::uint64_t i = 0; i < kDocuments; ++i) {
    const QueryResult result = Ask(index, UniqueWord(i), options);
    if (result.chunks.empty() || result.chunks[0].source != source(i)) missed.push_back(source(i));
  }
  EXPECT_EQ(missed, std::vector<std::string>());
}

TEST(QueryRecall, AWordThatOneChunkOfALargeDocumentHoldsFindsThatChunk) {
  constexpr std::uint64_t kWords = 50;
  std::string text;
  for (std::uint64_t i = 0; i < kWords; ++i) {
    text += testing::RandomDocument(i, 40, 5, 1000) + SentenceWith(i);
  }
  const TestIndex index(testing::Corpus{{"large.md", text}});
  QueryOptions options;
  options.budget_tokens = 250;
  std::vector<std::string> missed;
  for (std::uint64_t i = 0; i < kWords; ++i) {
    const QueryResult result = Ask(index, UniqueWord(i), options);
    if (result.context.find(UniqueWord(i)) == std::string::npos) missed.push_back(UniqueWord(i));
  }
  EXPECT_EQ(missed, std::vector<std::string>());
}

}  // namespace
}  // namespace rag::querier
