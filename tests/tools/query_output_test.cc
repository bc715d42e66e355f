#include "tools/query_output.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tools/json_text.h"

namespace rag::tools {
namespace {

using nlohmann::ordered_json;

querier::QueryResult MakeResult() {
  querier::QueryResult result;
  result.question = "which \"lamp\"?";
  result.generation = 7;
  result.budget_tokens = 250;
  result.used_tokens = 131;
  result.known_terms = 2;
  result.documents = {{.document = 0, .doc_id = "doc-a", .source = "a.md", .score = 2.5},
                      {.document = 3, .doc_id = "doc-b", .source = "b.md", .score = 0.25}};
  result.chunks = {{"doc-a-chunk-002", "doc-a", "a.md", 2, 1.5}};
  result.included = {{.chunk_id = "doc-a-chunk-001",
                      .doc_id = "doc-a",
                      .source = "a.md",
                      .index = 1,
                      .start = 0,
                      .end = 40,
                      .line_start = 1,
                      .line_end = 3,
                      .tokens = 12,
                      .score = std::nullopt},
                     {.chunk_id = "doc-a-chunk-002",
                      .doc_id = "doc-a",
                      .source = "a.md",
                      .index = 2,
                      .start = 42,
                      .end = 99,
                      .line_start = 5,
                      .line_end = 6,
                      .tokens = 20,
                      .score = 1.5}};
  result.skipped = {{"doc-b-chunk-009", "b.md", 9, 400, "budget"}};
  result.context = "raw\ntext\n";
  result.timings_us = {.analyze = 1, .route = 2, .chunks = 3, .pack = 4, .print = 5, .total = 15};
  return result;
}

std::vector<std::string> Keys(const ordered_json& json) {
  std::vector<std::string> keys;
  for (const auto& item : json.items()) keys.push_back(item.key());
  return keys;
}

TEST(QueryJson, HasItsFieldsInAFixedOrder) {
  EXPECT_EQ(Keys(ToJson(MakeResult())),
            (std::vector<std::string>{"question", "generation", "budget_tokens", "used_tokens",
                                      "known_terms", "documents", "chunks", "included", "skipped",
                                      "context", "timings_us"}));
}

TEST(QueryJson, CarriesEveryValue) {
  const ordered_json json = ToJson(MakeResult());

  const ordered_json expected = ordered_json::parse(R"({
    "question": "which \"lamp\"?", "generation": 7, "budget_tokens": 250, "used_tokens": 131,
    "known_terms": 2,
    "documents": [{"doc_id": "doc-a", "source": "a.md", "score": 2.5},
                  {"doc_id": "doc-b", "source": "b.md", "score": 0.25}],
    "chunks": [{"chunk_id": "doc-a-chunk-002", "doc_id": "doc-a", "source": "a.md", "index": 2,
                "score": 1.5}],
    "included": [{"chunk_id": "doc-a-chunk-001", "doc_id": "doc-a", "source": "a.md", "index": 1,
                  "start": 0, "end": 40, "line_start": 1, "line_end": 3, "tokens": 12,
                  "score": null},
                 {"chunk_id": "doc-a-chunk-002", "doc_id": "doc-a", "source": "a.md", "index": 2,
                  "start": 42, "end": 99, "line_start": 5, "line_end": 6, "tokens": 20,
                  "score": 1.5}],
    "skipped": [{"chunk_id": "doc-b-chunk-009", "source": "b.md", "index": 9, "tokens": 400,
                 "reason": "budget"}],
    "context": "raw\ntext\n",
    "timings_us": {"analyze": 1, "route": 2, "chunks": 3, "pack": 4, "print": 5, "total": 15}
  })");
  EXPECT_EQ(json, expected) << json.dump(1);
}

TEST(QueryJson, SaysWhatWasDamaged) {
  querier::QueryResult result = MakeResult();
  result.damage = {.files = {"chunks-0000.faiss: short"},
                   .documents = {{"a\xe9.md", "terms: bad"}, {std::nullopt, "documents: bad"}}};

  const ordered_json json = ToJson(result);

  EXPECT_EQ(Keys(json).back(), "damage");
  EXPECT_EQ(json["damage"], ordered_json::parse(R"({
    "files": ["chunks-0000.faiss: short"],
    "documents": [{"source": "a%E9.md", "problem": "terms: bad", "escaped": true},
                  {"problem": "documents: bad"}]
  })"));
}

TEST(QueryJson, OfAnEmptyResultHasEmptyLists) {
  const ordered_json json = ToJson(querier::QueryResult());

  for (const char* list : {"documents", "chunks", "included", "skipped"}) {
    EXPECT_EQ(json[list], ordered_json::array()) << list;
  }
  EXPECT_EQ(json["context"], "");
}

TEST(QueryJson, IsDumpedAsOneLineOfUtf8) {
  querier::QueryResult result = MakeResult();
  result.included[0].source = "caf\xe9.md";
  result.context = "línea\n\x1b[31m\u2028";

  const std::string line = Dump(ToJson(result));

  EXPECT_EQ(line.find('\n'), std::string::npos);
  const ordered_json back = ordered_json::parse(line);
  EXPECT_EQ(back["included"][0]["source"], "caf%E9.md");
  EXPECT_EQ(back["included"][0]["escaped"], true);
  EXPECT_FALSE(back["included"][1].contains("escaped"));
  EXPECT_EQ(back["context"], result.context);
}

TEST(QueryTrace, ShowsOddNamesOnOneLine) {
  querier::QueryResult result = MakeResult();
  const std::string before = FormatTrace(result);
  result.documents[0].source = "new\nline\xe9.md";
  result.included[0].source = result.documents[0].source;
  result.chunks[0].chunk_id = result.documents[0].source + "-chunk-002";
  result.skipped[0].chunk_id = result.chunks[0].chunk_id;

  const std::string after = FormatTrace(result);

  EXPECT_NE(after.find("new%0Aline%E9.md-chunk-002"), std::string::npos) << after;
  EXPECT_EQ(after.find('\xe9'), std::string::npos) << after;
  EXPECT_EQ(std::count(after.begin(), after.end(), '\n'),
            std::count(before.begin(), before.end(), '\n'));
}

TEST(QueryTrace, SaysWhatWasHitIncludedAndSkipped) {
  EXPECT_EQ(FormatTrace(MakeResult()),
            "generation 7, budget 250 tokens, used 131\n"
            "documents: 2\n"
            "     2.5000  a.md\n"
            "     0.2500  b.md\n"
            "chunks: 1\n"
            "     1.5000  doc-a-chunk-002\n"
            "included: 2\n"
            "      12 tokens  doc-a-chunk-001  (a.md:1-3)\n"
            "      20 tokens  doc-a-chunk-002  (a.md:5-6)\n"
            "skipped: 1\n"
            "     400 tokens  doc-b-chunk-009  (budget)\n"
            "time: analyze 1, route 2, chunks 3, pack 4, print 5, total 15 microseconds\n");
}

}  // namespace
}  // namespace rag::tools
