// The source article's two traces, by the real programs.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "storage/index_reader.h"
#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kScoreTolerance = 1e-6;

// A corpus with what is expected of it.
struct Sample {
  fs::path corpus;
  fs::path expected;
};

Sample Notes() {
  const fs::path golden = SourceFolder() / "tests" / "golden";
  return {golden / "notes", golden / "notes_expected.json"};
}

// The article's own notes, which are not part of this tree.
Sample OriginalNotes() {
  const char* shared = std::getenv("RAG_SHARED_DIR");
  const fs::path folder =
      (shared != nullptr ? fs::path(shared) : SourceFolder().parent_path() / "shared") / "article";
  return {folder / "corpus", folder / "expected.json"};
}

class ArticleTest : public ::testing::Test {
 protected:
  void Use(const Sample& sample) {
    expected_ = json::parse(ReadFile(sample.expected));
    Build(sample.corpus.string(), index_, {"--profile", "article", "--source-prefix", "data/"});
  }

  // An index that an early program made.
  void UseKept(const std::string& name) {
    const fs::path golden = SourceFolder() / "tests" / "golden";
    expected_ = json::parse(ReadFile(golden / "notes_expected.json"));
    fs::copy(golden / "v1" / name, index_, fs::copy_options::recursive);
  }

  void ExpectTrace(const std::string& budget) const;
  void ExpectTexts() const;

  [[nodiscard]] std::string Question() const { return expected_["traces"]["250"]["question"]; }

  TempFolder folder_;
  const std::string index_ = folder_ / "index";
  json expected_;
};

// [id, tokens] pairs, as the fixture has them.
json IdsAndTokens(const json& chunks) {
  json pairs = json::array();
  for (const json& chunk : chunks) pairs.push_back({chunk["chunk_id"], chunk["tokens"]});
  return pairs;
}

void ArticleTest::ExpectTrace(const std::string& budget) const {
  const json& trace = expected_["traces"][budget];
  const json answer = Ask(index_, {"--budget", budget, "--", trace["question"]});
  EXPECT_EQ(answer["question"], trace["question"]);
  EXPECT_EQ(answer["budget_tokens"], trace["budget"]);
  EXPECT_EQ(answer["used_tokens"], trace["used"]);
  ASSERT_EQ(answer["documents"].size(), trace["document_hits"].size()) << answer;
  for (std::size_t i = 0; i < answer["documents"].size(); ++i) {
    const json& hit = trace["document_hits"][i];
    EXPECT_EQ(answer["documents"][i]["doc_id"], hit[0]);
    EXPECT_EQ(answer["documents"][i]["source"], hit[1]);
    EXPECT_NEAR(answer["documents"][i]["score"].get<double>(), hit[2].get<double>(),
                kScoreTolerance);
  }
  ASSERT_EQ(answer["chunks"].size(), trace["chunk_hits"].size()) << answer;
  for (std::size_t i = 0; i < answer["chunks"].size(); ++i) {
    const json& hit = trace["chunk_hits"][i];
    EXPECT_EQ(answer["chunks"][i]["chunk_id"], hit[0]);
    EXPECT_NEAR(answer["chunks"][i]["score"].get<double>(), hit[1].get<double>(), kScoreTolerance);
  }
  EXPECT_EQ(IdsAndTokens(answer["included"]), trace["included"]);
  EXPECT_EQ(IdsAndTokens(answer["skipped"]), trace["skipped"]);
}

void ArticleTest::ExpectTexts() const {
  const auto reader = storage::IndexReader::Open(index_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const json& documents = expected_["documents"];
  ASSERT_EQ((*reader)->manifest().counts.documents, documents.size());
  for (std::uint32_t d = 0; d < documents.size(); ++d) {
    const json& wanted = documents[d];
    const auto document = (*reader)->Document(d);
    ASSERT_TRUE(document.ok()) << document.status();
    EXPECT_EQ(document->doc_id, wanted["id"]);
    EXPECT_EQ(document->source, wanted["source"]);
    EXPECT_EQ(document->summary.text, wanted["document_summary"]);
    ASSERT_EQ(document->num_chunks, wanted["chunks"].size());
    for (std::uint32_t c = 0; c < document->num_chunks; ++c) {
      const storage::IndexReader::ChunkRef ref{d, c};
      const auto chunks = (*reader)->Chunks(std::span(&ref, 1));
      ASSERT_TRUE(chunks.ok()) << chunks.status();
      EXPECT_EQ((*chunks)[0].text, wanted["chunks"][c]);
      EXPECT_EQ((*chunks)[0].summary.text, wanted["chunk_summaries"][c]);
    }
  }
}

TEST_F(ArticleTest, NotesGiveTheTraceOf250Tokens) {
  Use(Notes());
  ExpectTrace("250");
}

TEST_F(ArticleTest, NotesGiveTheTraceOf1200Tokens) {
  Use(Notes());
  ExpectTrace("1200");
}

TEST_F(ArticleTest, NotesAreCutAndSummarizedAsInTheArticle) {
  Use(Notes());
  ExpectTexts();
}

using KeptIndexTest = ArticleTest;

TEST_F(KeptIndexTest, ArticleOfVersion1GivesBothTraces) {
  UseKept("article");
  ExpectTrace("250");
  ExpectTrace("1200");
  ExpectTexts();
}

TEST_F(KeptIndexTest, IndexesOfVersion1AreSound) {
  for (const char* name : {"article", "default"}) {
    fs::remove_all(index_);
    UseKept(name);
    const Outcome outcome = RagIndex({"verify", index_});
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
  }
}

TEST_F(KeptIndexTest, DefaultOfVersion1HoldsTheNotesBytes) {
  UseKept("default");
  const fs::path notes = SourceFolder() / "tests" / "golden" / "notes";
  const auto reader = storage::IndexReader::Open(index_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_EQ((*reader)->manifest().counts.documents, 4U);
  for (std::uint32_t d = 0; d < 4; ++d) {
    const formats::DocumentRecord document = (*reader)->Document(d).value();
    const std::string text = ReadFile(notes / fs::path(document.source).filename());
    for (std::uint32_t c = 0; c < document.num_chunks; ++c) {
      const storage::IndexReader::ChunkRef ref{d, c};
      const formats::ChunkRecord chunk = (*reader)->Chunks(std::span(&ref, 1)).value().front();
      EXPECT_EQ(chunk.text, text.substr(chunk.range.start, chunk.range.size()));
    }
  }
}

TEST_F(KeptIndexTest, DefaultOfVersion1AnswersAQuestion) {
  UseKept("default");
  const json answer = Ask(index_, {"What happens to the old turns of a chat?", "--budget", "120"});
  ASSERT_FALSE(answer["chunks"].empty());
  EXPECT_EQ(answer["chunks"][0]["chunk_id"], "data/large_rag_notes.md-chunk-011");
  EXPECT_NE(answer["context"].get<std::string>().find("Old turns of a chat can be shrunk"),
            std::string::npos);
}

class OriginalArticleTest : public ArticleTest {
 protected:
  void SetUp() override {
    if (!fs::exists(OriginalNotes().expected)) {
      GTEST_SKIP() << "the article's own notes are not here; RAG_SHARED_DIR names a folder with "
                      "article/corpus and article/expected.json";
    }
    Use(OriginalNotes());
  }
};

TEST_F(OriginalArticleTest, NotesGiveTheTraceOf250Tokens) { ExpectTrace("250"); }

TEST_F(OriginalArticleTest, NotesGiveTheTraceOf1200Tokens) { ExpectTrace("1200"); }

TEST_F(OriginalArticleTest, NotesAreCutAndSummarizedAsInTheArticle) { ExpectTexts(); }

TEST_F(ArticleTest, DefaultBudgetIsTheArticles) {
  Use(Notes());
  const json answer = Ask(index_, {"--", Question()});
  EXPECT_EQ(answer["budget_tokens"], 250);
  EXPECT_EQ(answer["used_tokens"], 231);
}

TEST_F(ArticleTest, BudgetComesFromTheEnvironment) {
  Use(Notes());
  Launch launch;
  launch.env["RAW_CONTEXT_TOKEN_BUDGET"] = "1200";
  const json answer = Ask(index_, {"--", Question()}, launch);
  EXPECT_EQ(answer["budget_tokens"], 1200);
  EXPECT_EQ(answer["used_tokens"], 788);
}

TEST_F(ArticleTest, BudgetOptionBeatsTheEnvironment) {
  Use(Notes());
  Launch launch;
  launch.env["RAW_CONTEXT_TOKEN_BUDGET"] = "1200";
  const json answer = Ask(index_, {"--budget", "250", "--", Question()}, launch);
  EXPECT_EQ(answer["budget_tokens"], 250);
  EXPECT_EQ(answer["used_tokens"], 231);
}

TEST_F(ArticleTest, NeighborsCanBeTurnedOff) {
  Use(Notes());
  const json answer = Ask(index_, {"--budget", "1200", "--no-neighbors", "--", Question()});
  const json& hits = expected_["traces"]["1200"]["chunk_hits"];
  EXPECT_EQ(answer["included"].size(), hits.size());
  for (const json& chunk : answer["included"]) EXPECT_TRUE(chunk["score"].is_number()) << chunk;
}

TEST_F(ArticleTest, NeighborsHaveNoScore) {
  Use(Notes());
  const json answer = Ask(index_, {"--budget", "1200", "--", Question()});
  std::size_t unscored = 0;
  for (const json& chunk : answer["included"]) unscored += chunk["score"].is_null() ? 1U : 0U;
  EXPECT_EQ(unscored, 7 - expected_["traces"]["1200"]["chunk_hits"].size());
}

// The texts of included chunks, each after the article's header, with a rule between them.
std::string FormattedRawChunks(const json& expected, const json& included) {
  std::string text;
  for (const json& chunk : included) {
    const std::string id = chunk["chunk_id"];
    for (const json& document : expected["documents"]) {
      if (document["id"] != chunk["doc_id"]) continue;
      const auto index = chunk["index"].get<std::size_t>();
      if (!text.empty()) text += "\n\n---\n\n";
      text += "Source: " + document["source"].get<std::string>() + "\nChunk ID: " + id +
              "\nChunk position: " + std::to_string(index) + "\n\n" +
              document["chunks"][index - 1].get<std::string>();
    }
  }
  return text;
}

TEST_F(ArticleTest, FullHeaderIsPrintedExactly) {
  Use(Notes());
  const json answer = Ask(index_, {"--budget", "1200", "--", Question()});
  ASSERT_EQ(answer["included"].size(), 7U);
  const Outcome printed = RagQuery({"-i", index_, "--budget", "1200", "--", Question()});
  EXPECT_EQ(printed.out, FormattedRawChunks(expected_, answer["included"]) + "\n") << printed;
  EXPECT_EQ(printed.err, "") << printed;
}

TEST_F(ArticleTest, PromptHoldsRulesChunksAndQuestion) {
  Use(Notes());
  const json answer = Ask(index_, {"--", Question()});
  const Outcome printed = RagQuery({"-i", index_, "--format", "prompt", "--", Question()});
  EXPECT_EQ(printed.exit_code, 0) << printed;
  const std::vector<std::string> parts{"Answer only from the raw chunks.",
                                       "several relevant reasons, include all",
                                       "concise bullet list",
                                       "If the evidence is insufficient, say so.",
                                       "Raw chunks:",
                                       FormattedRawChunks(expected_, answer["included"]),
                                       "Question: " + Question(),
                                       "Answer:\n"};
  std::size_t at = 0;
  for (const std::string& part : parts) {
    at = printed.out.find(part, at);
    ASSERT_NE(at, std::string::npos) << part << printed;
    at += part.size();
  }
  EXPECT_EQ(at, printed.out.size()) << printed;
}

}  // namespace
}  // namespace rag::e2e
