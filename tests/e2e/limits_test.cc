// Limits of the system: open files, memory, sizes of files.
#include <cstdint>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;

class LimitsTest : public ::testing::Test {
 protected:
  // Markdown with so much structure that cmark needs most of the memory.
  void WriteLongMarkdown() const {
    std::string text;
    for (int i = 0; i < 30'000; ++i) {
      const std::string number = std::to_string(i);
      text += "# H " + number + "\n\n* a *b* `c` [d](e) word " + number + "\n\n";
    }
    WriteFile(folder_.path() / "corpus" / "long.md", text);
  }

  TempFolder folder_;
  const std::string corpus_ = folder_ / "corpus";
  const std::string index_ = folder_ / "index";
};

// No file a document, and no more memory for more documents.
TEST_F(LimitsTest, ManyDocumentsNeedFewOpenFilesAndLittleMemory) {
  WriteManyNotes(corpus_, 1500);
  Launch launch;
  launch.limits[RLIMIT_NOFILE] = 64;
  // Sanitizers reserve terabytes.
  if (RAG_SANITIZED == 0) launch.limits[RLIMIT_AS] = std::uint64_t{1} << 30U;
  Outcome outcome = RagIndex({"build", corpus_, "-o", index_, "-q"}, launch);
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  WriteFile(fs::path(corpus_) / "new.md", "# New\n\nA rare gasket.\n");
  outcome = RagIndex({"build", corpus_, "-o", index_, "-q"}, launch);
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(RagIndex({"verify", index_}, launch).exit_code, 0);
  EXPECT_EQ(Ask(index_, {"rare gasket"}, launch)["documents"][0]["source"], "new.md");
  EXPECT_EQ(
      Ask(index_, {"pump valve", "--top-docs", "500", "--budget", "50000"}, launch)["documents"]
          .size(),
      500U);
}

TEST_F(LimitsTest, LimitOfFileSizesIsAnErrorAndLeavesTheIndexAsItWas) {
  WriteNotes(corpus_);
  Build(corpus_, index_);
  const std::string answer = RagQuery({"-i", index_, "pump"}).out;
  WriteManyNotes(corpus_, 1500);
  // From the journal's first file to the last that a build writes.
  for (const std::uint64_t bytes : {100U, 4096U, 50'000U, 150'000U, 400'000U}) {
    SCOPED_TRACE(bytes);
    Launch launch;
    launch.limits[RLIMIT_FSIZE] = bytes;
    const Outcome outcome = RagIndex({"build", corpus_, "-o", index_}, launch);
    ExpectError(outcome, 1, "rag-index", "File too large");
    EXPECT_EQ(RagQuery({"-i", index_, "pump"}).out, answer);
  }
  Build(corpus_, index_);
}

TEST_F(LimitsTest, LimitOfFileSizesHoldsForStdout) {
  WriteNotes(corpus_);
  Build(corpus_, index_);
  Launch launch;
  launch.out_file = folder_ / "out";
  WriteFile(launch.out_file, "");
  launch.limits[RLIMIT_FSIZE] = 10;
  ExpectError(RagQuery({"-i", index_, "pump"}, launch), 1, "rag-query", "standard output");
}

TEST_F(LimitsTest, LackOfMemoryIsOneLineAndLeavesTheIndexAsItWas) {
  if (RAG_SANITIZED != 0) GTEST_SKIP() << "sanitizers reserve terabytes";
  WriteNotes(corpus_);
  Build(corpus_, index_);
  const std::string answer = RagQuery({"-i", index_, "pump"}).out;
  WriteLongMarkdown();
  int refused = 0;
  for (const std::uint64_t mib : {50U, 60U, 70U, 80U, 90U, 100U, 110U, 130U}) {
    SCOPED_TRACE(mib);
    Launch launch;
    launch.limits[RLIMIT_AS] = mib << 20U;
    const Outcome outcome = RagIndex({"build", corpus_, "-o", folder_ / "new", "-j", "2"}, launch);
    if (outcome.exit_code == 0) continue;
    ExpectError(outcome, 1, "rag-index");
    refused += outcome.err.find("out of memory") != std::string::npos ? 1 : 0;
    ExpectError(RagIndex({"build", corpus_, "-o", index_, "-j", "2"}, launch), 1, "rag-index");
    EXPECT_EQ(RagQuery({"-i", index_, "pump"}).out, answer);
  }
  EXPECT_GT(refused, 2);
  Build(corpus_, index_);
}

}  // namespace
}  // namespace rag::e2e
