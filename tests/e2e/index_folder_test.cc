// The index folder over time: generations, moves, and where it may lie.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class IndexFolderTest : public ::testing::Test {
 protected:
  void SetUp() override { WriteNotes(folder_.path() / "corpus"); }

  [[nodiscard]] static std::set<std::string> Names(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  // All sources that the index holds.
  [[nodiscard]] static std::set<std::string> Sources(const std::string& index) {
    const Outcome outcome = RagInspect({"chunks", index});
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    std::set<std::string> sources;
    for (const std::string& line : Lines(outcome.out)) {
      sources.insert(json::parse(line)["source"].get<std::string>());
    }
    return sources;
  }

  TempFolder folder_;
  const std::string corpus_ = folder_ / "corpus";
  const std::string index_ = folder_ / "index";
  const std::set<std::string> sources_{"diary.txt", "parts.md", "pumps.md", "report.txt",
                                       "sub folder/größe.md"};
};

TEST_F(IndexFolderTest, RebuildsMakeGenerationsAndTwoAreKept) {
  Build(corpus_, index_);
  EXPECT_EQ(Ask(index_, {"pump"})["generation"], 1);
  EXPECT_EQ(Names(index_), (std::set<std::string>{"CURRENT", "LOCK", "gen-000001"}));
  Build(corpus_, index_, {"--full"});
  EXPECT_EQ(Ask(index_, {"pump"})["generation"], 2);
  EXPECT_EQ(Names(index_), (std::set<std::string>{"CURRENT", "LOCK", "gen-000001", "gen-000002"}));
  WriteFile(fs::path(corpus_) / "new.md", "# Gasket\n\nA rare gasket.\n");
  Build(corpus_, index_);
  EXPECT_EQ(Ask(index_, {"pump"})["generation"], 3);
  EXPECT_EQ(Names(index_), (std::set<std::string>{"CURRENT", "LOCK", "gen-000002", "gen-000003"}));
}

TEST_F(IndexFolderTest, NumberOfGenerationsToKeepCanBeSet) {
  for (int i = 0; i < 4; ++i) Build(corpus_, index_, {"--full", "--keep", i < 3 ? "3" : "1"});
  EXPECT_EQ(Names(index_), (std::set<std::string>{"CURRENT", "LOCK", "gen-000004"}));
}

TEST_F(IndexFolderTest, RebuildFollowsTheCorpus) {
  Build(corpus_, index_);
  WriteFile(fs::path(corpus_) / "new.md", "# Gasket\n\nA rare gasket.\n");
  fs::remove(fs::path(corpus_) / "pumps.md");
  Build(corpus_, index_);
  std::set<std::string> wanted = sources_;
  wanted.insert("new.md");
  wanted.erase("pumps.md");
  EXPECT_EQ(Sources(index_), wanted);
  EXPECT_EQ(Ask(index_, {"gasket"})["documents"][0]["source"], "new.md");
}

TEST_F(IndexFolderTest, RunningQueryIsNotDisturbedByRebuilds) {
  Build(corpus_, index_);
  Launch launch;
  launch.keep_input_open = true;
  Process process(Program::kQuery, {"-i", index_, "--json"}, launch);
  process.Send("pump\n");
  ASSERT_TRUE(process.PumpUntil([](const Outcome& o) { return Lines(o.out).size() == 1; }));
  for (int i = 0; i < 2; ++i) Build(corpus_, index_, {"--full"});
  ASSERT_FALSE(fs::exists(fs::path(index_) / "gen-000001"));
  process.Send("pump\nzinc diary day 17\n");
  process.CloseInput();
  const Outcome outcome = process.Finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 3U) << outcome;
  EXPECT_EQ(WithoutTimes(json::parse(lines[1])), WithoutTimes(json::parse(lines[0])));
  EXPECT_FALSE(json::parse(lines[2])["included"].empty());
}

TEST_F(IndexFolderTest, IndexInsideItsCorpusIsNotIndexed) {
  const std::string inside = corpus_ + "/sub folder/index";
  for (int i = 0; i < 2; ++i) {
    Build(corpus_, inside);
    EXPECT_EQ(Sources(inside), sources_);
  }
}

TEST_F(IndexFolderTest, IndexInsideItsCorpusIsNotCountedAsSkipped) {
  const std::string inside = corpus_ + "/index";
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = RagIndex({"build", corpus_, "-o", inside, "--strict"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
  }
}

TEST_F(IndexFolderTest, RelativePathsFindTheIndexInsideTheCorpus) {
  Launch launch;
  launch.folder = corpus_;
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = RagIndex({"build", ".", "-o", "sub folder/../index"}, launch);
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_EQ(Sources(corpus_ + "/index"), sources_);
  }
}

// An empty folder may become an index, so it may also be its own corpus.
TEST_F(IndexFolderTest, CorpusThatIsItsOwnIndexIsNotIndexed) {
  fs::create_directory(folder_.path() / "both");
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = RagIndex({"build", folder_ / "both", "-o", folder_ / "both"});
    if (outcome.exit_code == 2) continue;  // to refuse it is right, too
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_EQ(Sources(folder_ / "both"), std::set<std::string>());
  }
}

TEST_F(IndexFolderTest, MovedIndexStillAnswers) {
  Build(corpus_, index_);
  const json before = WithoutTimes(Ask(index_, {"pump"}));
  fs::create_directories(folder_.path() / "else where");
  fs::rename(index_, folder_.path() / "else where" / "moved");
  EXPECT_EQ(WithoutTimes(Ask(folder_ / "else where/moved", {"pump"})), before);
}

TEST_F(IndexFolderTest, CopiedIndexStillAnswers) {
  Build(corpus_, index_);
  fs::copy(index_, folder_.path() / "copy", fs::copy_options::recursive);
  EXPECT_EQ(WithoutTimes(Ask(folder_ / "copy", {"pump"})), WithoutTimes(Ask(index_, {"pump"})));
}

TEST_F(IndexFolderTest, CorpusIsNotNeededAfterTheBuild) {
  Build(corpus_, index_);
  const json before = WithoutTimes(Ask(index_, {"pump"}));
  fs::remove_all(corpus_);
  EXPECT_EQ(WithoutTimes(Ask(index_, {"pump"})), before);
}

TEST_F(IndexFolderTest, QueriesWriteNothing) {
  Build(corpus_, index_);
  const auto before = ReadTree(index_);
  Ask(index_, {"pump"});
  RagInspect({"chunks", index_});
  EXPECT_EQ(ReadTree(index_), before);
}

TEST_F(IndexFolderTest, FoldersAboveTheIndexAreMade) {
  Build(corpus_, folder_ / "new/one/index");
  EXPECT_EQ(Sources(folder_ / "new/one/index"), sources_);
}

TEST_F(IndexFolderTest, PrefixIsPutBeforeEverySource) {
  Build(corpus_, index_, {"--source-prefix", "notes/"});
  for (const std::string& source : Sources(index_)) {
    EXPECT_TRUE(source.starts_with("notes/")) << source;
  }
}

}  // namespace
}  // namespace rag::e2e
