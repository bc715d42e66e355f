// What the tests of queries share.
#ifndef TESTS_QUERIER_QUERY_TESTING_H_
#define TESTS_QUERIER_QUERY_TESTING_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "querier/query.h"
#include "tests/testing/test_index.h"

namespace rag::querier {

// So many that limits do not follow the budget.
inline QueryOptions Wide(std::uint32_t budget_tokens) {
  QueryOptions options;
  options.budget_tokens = budget_tokens;
  options.top_documents = 1000;
  options.chunks_per_document = 10'000;
  return options;
}

inline QueryResult Ask(const testing::TestIndex& index, const std::string& question,
                       const QueryOptions& options = {}) {
  absl::StatusOr<QueryResult> result = Query(index.reader(), question, options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : QueryResult();
}

template <typename Chunks>
std::vector<std::string> Ids(const Chunks& chunks) {
  std::vector<std::string> ids;
  for (const auto& chunk : chunks) ids.push_back(chunk.chunk_id);
  return ids;
}

inline std::vector<std::string> Sources(const QueryResult& result) {
  std::vector<std::string> sources;
  for (const DocumentHit& hit : result.documents) sources.push_back(hit.source);
  return sources;
}

inline testing::Corpus RandomCorpus(int num_documents) {
  testing::Corpus corpus;
  for (int i = 0; i < num_documents; ++i) {
    corpus["d" + std::to_string(100 + i) + ".md"] =
        testing::RandomDocument(static_cast<std::uint64_t>(i), 2 + i % 9, 3, 100);
  }
  return corpus;
}

inline std::string RandomQuestion(std::uint64_t seed) {
  return testing::MadeUpWord(seed * 7 % 50) + " " + testing::MadeUpWord(seed * 13 % 90) + " " +
         testing::MadeUpWord(seed * 29 % 100);
}

}  // namespace rag::querier

#endif  // TESTS_QUERIER_QUERY_TESTING_H_
