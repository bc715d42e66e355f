// A build that ends early, and the one after it.
#include <atomic>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "storage/generation.h"
#include "tests/indexer/build_testing.h"

namespace rag::indexer {
namespace {

namespace fs = std::filesystem;

class ResumeTest : public BuildTest {
 protected:
  ResumeTest() {
    WriteRandomCorpus(30);
    options_.cancel = &cancel_;
    options_.threads = 1;
  }
  // Stops when `documents` have been through `phase`.
  void BuildUntil(const std::string& phase, std::uint64_t documents) {
    options_.progress = [this, phase, documents](const BuildProgress& at) {
      cancel_ = cancel_ || (at.phase == phase && at.documents == documents);
    };
    EXPECT_TRUE(absl::IsCancelled(BuildIndex(options_).status()));
    cancel_ = false;
    options_.progress = nullptr;
  }
  [[nodiscard]] bool HasJournal() const {
    return fs::exists(options_.index / storage::kJournalFolder);
  }
  formats::Manifest UndisturbedBuild() {
    BuildOptions options = options_;
    options.index = folder_.path() / "undisturbed";
    return BuildIndex(options).value().manifest;
  }

  std::atomic<bool> cancel_{false};
};

TEST_F(ResumeTest, TheSecondPassGoesOnWhereItStopped) {
  BuildUntil("indexing", 20);
  EXPECT_TRUE(HasJournal());

  const BuildReport report = Build();

  EXPECT_GE(report.resumed, 20U);
  EXPECT_EQ(report.manifest.family_digests, UndisturbedBuild().family_digests);
  EXPECT_FALSE(HasJournal());
}

TEST_F(ResumeTest, TheFirstPassGoesOnWhereItStopped) {
  BuildUntil("reading", 20);

  const BuildReport report = Build();

  EXPECT_EQ(report.resumed, 0U);  // no document was finished
  EXPECT_EQ(report.manifest.family_digests, UndisturbedBuild().family_digests);
}

TEST_F(ResumeTest, ACorpusThatChangedMeanwhileIsReadAgain) {
  BuildUntil("indexing", 20);
  Write("d3.md", "# Other\n\nQuite another text.\n");
  fs::remove(options_.corpus / "d4.md");

  const BuildReport report = Build();

  EXPECT_EQ(report.resumed, 0U);  // other statistics, other summaries
  EXPECT_EQ(report.manifest.family_digests, UndisturbedBuild().family_digests);
}

TEST_F(ResumeTest, OtherParametersTakeNothingOver) {
  BuildUntil("indexing", 20);
  options_.profile.document_dim = 64;

  const BuildReport report = Build();

  EXPECT_EQ(report.resumed, 0U);
  EXPECT_EQ(report.manifest.family_digests, UndisturbedBuild().family_digests);
}

TEST_F(ResumeTest, ADamagedJournalIsMadeUpFor) {
  BuildUntil("indexing", 20);
  for (const char* name : {"analyzed", "built"}) {
    const std::string path = std::string("index/journal/") + name;
    std::string bytes = testing::ReadAll(folder_.path() / path);
    for (std::size_t at = 50; at < bytes.size(); at += 997) bytes[at] ^= 4;
    folder_.Write(path, bytes);
  }

  EXPECT_EQ(Build().manifest.family_digests, UndisturbedBuild().family_digests);
}

TEST_F(ResumeTest, AnInterruptedRebuildLeavesTheOldGenerationAndGoesOn) {
  const formats::Manifest first = Build().manifest;
  for (int i = 0; i < 3; ++i) {
    Write("new" + std::to_string(i) + ".md",
          "# New\n\nText of number " + std::to_string(i) + ".\n");
  }
  BuildUntil("indexing", 32);
  EXPECT_EQ(Open()->manifest(), first);

  const BuildReport report = Build();

  EXPECT_GE(report.resumed, 1U);
  EXPECT_EQ(report.added.size(), 3U);
  EXPECT_EQ(report.manifest.generation, 2U);
}

TEST_F(ResumeTest, ABuildWithNothingToDoRemovesWhatADeadOneLeft) {
  Build();
  Write("d3.md", "# Other\n\nQuite another text.\n");
  Build();
  folder_.Write("index/building/records/load/chunks.sst", "half");
  folder_.Write("index/CURRENT.tmp", "gen-00");
  options_.keep_generations = 1;

  const BuildReport report = Build();

  EXPECT_FALSE(report.published);
  EXPECT_TRUE(report.notes.empty());
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(options_.index)) {
    names.insert(entry.path().filename().string());
  }
  EXPECT_EQ(names, (std::set<std::string>{"CURRENT", "LOCK", "gen-000002"}));
}

}  // namespace
}  // namespace rag::indexer
