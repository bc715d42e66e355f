// rag-index verify: what it prints and how it exits.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class VerifyProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteNotes(folder_.path() / "corpus");
    Build(folder_ / "corpus", index_);
  }

  // Changes the last byte of a file of the generation.
  void Damage(const std::string& name) const {
    std::string bytes = ReadFile(generation_ / name);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    WriteFile(generation_ / name, bytes);
  }

  TempFolder folder_;
  const std::string index_ = folder_ / "index";
  const fs::path generation_ = fs::path(index_) / "gen-000001";
};

TEST_F(VerifyProgramTest, SoundIndexIsOneLineThatSaysOk) {
  const Outcome outcome = RagIndex({"verify", index_});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  ASSERT_TRUE(IsOneLine(outcome.out)) << outcome;
  EXPECT_TRUE(outcome.out.starts_with("ok: ")) << outcome;
  EXPECT_NE(outcome.out.find("generation 1, 5 documents"), std::string::npos) << outcome;
  EXPECT_EQ(outcome.err, "") << outcome;
}

TEST_F(VerifyProgramTest, ArticleIndexIsSound) {
  Build(folder_ / "corpus", folder_ / "article", {"--profile", "article"});
  EXPECT_EQ(RagIndex({"verify", folder_ / "article"}).exit_code, 0);
}

TEST_F(VerifyProgramTest, ProblemsGoToStdoutAndTheVerdictToStderr) {
  Damage("docs.faiss");
  Damage("model/terms.bin");
  const Outcome outcome = RagIndex({"verify", index_});
  EXPECT_EQ(outcome.exit_code, 3) << outcome;
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 2U) << outcome;
  EXPECT_TRUE(lines[0].starts_with("gen-000001/docs.faiss: ")) << outcome;
  EXPECT_TRUE(lines[1].starts_with("gen-000001/model/terms.bin: ")) << outcome;
  ASSERT_TRUE(IsOneLine(outcome.err)) << outcome;
  EXPECT_NE(outcome.err.find("2 problems"), std::string::npos) << outcome;
  EXPECT_NE(outcome.err.find("rag-index build"), std::string::npos) << outcome;
}

TEST_F(VerifyProgramTest, LimitedProblemsAreCounted) {
  Damage("docs.faiss");
  Damage("model/terms.bin");
  const Outcome outcome = RagIndex({"verify", index_, "--limit", "1"});
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 2U) << outcome;
  EXPECT_EQ(lines[1], "and 1 more") << outcome;
}

TEST_F(VerifyProgramTest, QuickDoesNotReadData) {
  Damage("docs.faiss");
  EXPECT_EQ(RagIndex({"verify", index_, "--quick"}).exit_code, 0);
  WriteFile(generation_ / "docs.faiss", "");
  EXPECT_EQ(RagIndex({"verify", index_, "--quick"}).exit_code, 3);
}

TEST_F(VerifyProgramTest, JsonIsOneObject) {
  Outcome outcome = RagIndex({"verify", index_, "--json"});
  ASSERT_TRUE(IsOneLine(outcome.out)) << outcome;
  EXPECT_EQ(json::parse(outcome.out)["ok"], true);
  EXPECT_EQ(json::parse(outcome.out)["problems"], json::array());
  Damage("docs.faiss");
  outcome = RagIndex({"verify", index_, "--json"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome;
  ASSERT_TRUE(IsOneLine(outcome.out)) << outcome;
  EXPECT_EQ(json::parse(outcome.out)["ok"], false);
  EXPECT_EQ(json::parse(outcome.out)["num_problems"], 1);
}

TEST_F(VerifyProgramTest, OddNamesStayOnOneLine) {
  WriteFile(generation_ / "odd\nname \xF6", "");
  const Outcome outcome = RagIndex({"verify", index_});
  EXPECT_EQ(outcome.exit_code, 3) << outcome;
  EXPECT_TRUE(IsOneLine(outcome.out)) << outcome;
  EXPECT_EQ(json::parse(RagIndex({"verify", index_, "--json"}).out)["num_problems"], 1);
}

TEST_F(VerifyProgramTest, MissingIndexExitsWith3) {
  ExpectError(RagIndex({"verify", folder_ / "nowhere"}), 3, "rag-index", "nowhere");
}

// Anything that opens an index: what may not be read is not called damaged.
TEST_F(VerifyProgramTest, PermissionDeniedIsNoDamage) {
  Launch launch;
  launch.unprivileged = true;
  fs::permissions(folder_.path(), fs::perms::owner_all | fs::perms::others_all);
  fs::permissions(index_, fs::perms::all);
  fs::permissions(fs::path(index_) / "LOCK", fs::perms::all);
  for (const std::string name :
       {"chunks-0000.faiss", "docs.faiss", "model/terms.bin", "MANIFEST.json", "records/CURRENT",
        "model", "records", "../CURRENT", ""}) {
    SCOPED_TRACE(name);
    const fs::perms before = fs::status(generation_ / name).permissions();
    fs::permissions(generation_ / name, fs::perms::none);
    const std::string file = name.substr(name.rfind('/') + 1);
    for (const Outcome& outcome :
         {RagIndex({"verify", index_}, launch), RagQuery({"-i", index_, "pump"}, launch),
          RagQuery({"-i", index_, "--skip-damaged", "pump"}, launch),
          RagInspect({"chunks", index_}, launch)}) {
      ExpectError(outcome, 1,
                  outcome.command.find("index' 'verify") != std::string::npos ? "rag-index"
                  : outcome.command.find("rag-query") != std::string::npos    ? "rag-query"
                                                                              : "rag-inspect",
                  "Permission denied");
      EXPECT_NE(outcome.err.find(file), std::string::npos) << outcome;
      EXPECT_NE(outcome.err.find("access"), std::string::npos) << outcome;
    }
    fs::permissions(generation_ / name, before);
  }
  fs::permissions(fs::path(index_) / "CURRENT", fs::perms::none);
  ExpectError(RagIndex({"gc", index_}, launch), 1, "rag-index", "CURRENT: cannot open: Permission");
}

TEST_F(VerifyProgramTest, VerifyingWritesNothing) {
  const auto before = ReadTree(index_);
  RagIndex({"verify", index_});
  EXPECT_EQ(ReadTree(index_), before);
}

TEST_F(VerifyProgramTest, TerminalShowsProgressThatIsRemoved) {
  Launch launch;
  launch.err = Stream::kTerminal;
  launch.env["TERM"] = "xterm";
  const Outcome outcome = RagIndex({"verify", index_}, launch);
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_NE(outcome.terminal.find("checking "), std::string::npos) << outcome;
  EXPECT_TRUE(outcome.terminal.ends_with("\r\x1b[K")) << outcome;
}

}  // namespace
}  // namespace rag::e2e
