// What a reader expects of a search by a name or an error code: the only place that has the word is
// found, however large the corpus or the document around it.
#include <cstdint>
#include <random>
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

// Paragraphs of two sentences of 14 words, each about a chunk of the default profile.
std::string LongParagraphs(std::uint64_t seed, int n) {
  std::mt19937_64 random(seed);
  std::string text;
  for (int i = 0; i < 2 * n; ++i) {
    for (int j = 0; j < 14; ++j) text += testing::RandomWord(random, 3000) + " ";
    text.back() = '.';
    text += i % 2 == 0 ? " " : "\n\n";
  }
  return text;
}

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
    text += LongParagraphs(i, 40) + "The " + UniqueWord(i) + " " + LongParagraphs(1000 + i, 1);
  }
  const TestIndex index(testing::Corpus{{"large.md", text}}, testing::DefaultProfile());
  QueryOptions options;
  options.chunks_per_document = 16;
  std::vector<std::string> missed;
  for (std::uint64_t i = 0; i < kWords; ++i) {
    const QueryResult result = Ask(index, UniqueWord(i), options);
    if (result.context.find(UniqueWord(i)) == std::string::npos) missed.push_back(UniqueWord(i));
  }
  EXPECT_EQ(missed, std::vector<std::string>());
}

}  // namespace
}  // namespace rag::querier
