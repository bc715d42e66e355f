// rag-query --skip-damaged: what it says of damage, and where.
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class SkipDamagedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteManyNotes(folder_.path() / "corpus", 300);
    Build(folder_ / "corpus", index_);
  }

  // Flips a bit of the record store so that a plain query is refused and others still answer.
  void DamageSomeDocuments() const {
    for (const auto& entry : fs::directory_iterator(generation_ / "records")) {
      if (entry.path().extension() != ".sst") continue;
      const std::string sound = ReadFile(entry.path());
      for (std::size_t at = 50; at < sound.size(); at += 1000) {
        std::string bytes = sound;
        bytes[at] = static_cast<char>(bytes[at] ^ 1);
        WriteFile(entry.path(), bytes);
        if (RagQuery({"-i", index_, kQuestion}).exit_code != 3) continue;
        if (!RagQuery({"-i", index_, kQuestion, "--skip-damaged"}).out.empty()) return;
      }
      WriteFile(entry.path(), sound);
    }
    FAIL() << "no such bit";
  }

  static constexpr const char* kQuestion = "pump valve";
  TempFolder folder_;
  const std::string index_ = folder_ / "index";
  const fs::path generation_ = fs::path(index_) / "gen-000001";
};

TEST_F(SkipDamagedTest, AnswersFromOtherDocumentsAndSaysSo) {
  ASSERT_NO_FATAL_FAILURE(DamageSomeDocuments());
  const Outcome outcome = RagQuery({"-i", index_, kQuestion, "--skip-damaged", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(Lines(outcome.err).size(), 1U) << outcome;
  EXPECT_NE(outcome.err.find("damaged documents left out"), std::string::npos) << outcome;
  EXPECT_NE(outcome.err.find("rag-index build"), std::string::npos) << outcome;
  const json answer = json::parse(outcome.out);
  EXPECT_FALSE(answer["included"].empty());
  EXPECT_EQ(answer["damage"]["files"], json::array());
  ASSERT_FALSE(answer["damage"]["documents"].empty());
  std::set<std::string> left_out;
  for (const json& document : answer["damage"]["documents"]) {
    EXPECT_NE(document["problem"], "");
    if (document.contains("source")) left_out.insert(document["source"]);
  }
  for (const json& document : answer["documents"]) {
    EXPECT_FALSE(left_out.contains(document["source"])) << document;
  }
}

TEST_F(SkipDamagedTest, BatchSaysItInItsLines) {
  ASSERT_NO_FATAL_FAILURE(DamageSomeDocuments());
  Launch launch;
  launch.input = "{\"question\":\"pump valve\"}\n";
  const Outcome outcome = RagQuery({"-i", index_, "--batch", "--skip-damaged"}, launch);
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_FALSE(json::parse(outcome.out)["damage"]["documents"].empty()) << outcome;
}

TEST_F(SkipDamagedTest, DamagedVectorsOfChunksAreDoneWithout) {
  const std::string context = RagQuery({"-i", index_, kQuestion}).out;
  fs::remove(generation_ / "chunks-0000.faiss");
  ExpectError(RagQuery({"-i", index_, kQuestion}), 3, "rag-query", "chunks-0000.faiss");
  const Outcome outcome = RagQuery({"-i", index_, kQuestion, "--skip-damaged"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out, context) << outcome;
  EXPECT_TRUE(IsOneLine(outcome.err)) << outcome;
  EXPECT_NE(outcome.err.find("chunks-0000.faiss"), std::string::npos) << outcome;
}

TEST_F(SkipDamagedTest, WhatEveryAnswerNeedsMustBeWhole) {
  for (const std::string name : {"docs.faiss", "model/terms.bin", "MANIFEST.json", "../CURRENT"}) {
    const std::string sound = ReadFile(generation_ / name);
    WriteFile(generation_ / name, sound.substr(0, sound.size() / 2));
    ExpectError(RagQuery({"-i", index_, kQuestion, "--skip-damaged"}), 3, "rag-query");
    WriteFile(generation_ / name, sound);
  }
}

TEST_F(SkipDamagedTest, SoundIndexAnswersAsWithoutIt) {
  json answer = WithoutTimes(Ask(index_, {kQuestion, "--skip-damaged"}));
  EXPECT_EQ(answer["damage"], json::parse(R"({"files":[],"documents":[]})"));
  answer.erase("damage");
  EXPECT_EQ(answer, WithoutTimes(Ask(index_, {kQuestion})));
}

}  // namespace
}  // namespace rag::e2e
