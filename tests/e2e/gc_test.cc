// rag-index gc, and --wait for another writer.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>

#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class GcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteNotes(folder_.path() / "corpus");
    // Every build differs from the one before.
    for (int i = 0; i < 3; ++i) {
      WriteFile(folder_.path() / "corpus" / "more.md", "Build " + std::to_string(i) + ".\n");
      Build(corpus_, index_, {"--keep", "5"});
    }
  }

  [[nodiscard]] bool Exists(const std::string& name) const {
    return fs::exists(fs::path(index_) / name);
  }

  // Holds the lock of the index as another writer does, until it is closed.
  [[nodiscard]] int Lock() const {
    const int fd = open((index_ + "/LOCK").c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_GE(fd, 0);
    EXPECT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
    return fd;
  }

  TempFolder folder_;
  const std::string corpus_ = folder_ / "corpus";
  const std::string index_ = folder_ / "index";
};

TEST_F(GcTest, RemovesOldGenerationsAndSaysWhich) {
  const Outcome outcome = RagIndex({"gc", index_});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  ASSERT_TRUE(IsOneLine(outcome.out)) << outcome;
  EXPECT_TRUE(outcome.out.starts_with("removed gen-000001, ")) << outcome;
  EXPECT_FALSE(Exists("gen-000001"));
  EXPECT_TRUE(Exists("gen-000002"));
  EXPECT_EQ(Ask(index_, {"pump"})["generation"], 3);
}

TEST_F(GcTest, KeepsAsManyAsAsked) {
  RagIndex({"gc", index_, "--keep", "1"});
  EXPECT_FALSE(Exists("gen-000002"));
  EXPECT_EQ(RagIndex({"verify", index_}).exit_code, 0);
  ExpectError(RagIndex({"gc", index_, "--keep", "0"}), 2, "rag-index", "--keep");
}

TEST_F(GcTest, RemovesWhatADeadBuildLeft) {
  WriteFile(fs::path(index_) / "building" / "docs.faiss", "half");
  const json removed = json::parse(RagIndex({"gc", index_, "--json"}).out);
  EXPECT_EQ(removed["removed"][0], (json{{"name", "building"}, {"bytes", 4}}));
  EXPECT_FALSE(Exists("building"));
}

TEST_F(GcTest, NothingToRemoveIsSaidOnStderr) {
  RagIndex({"gc", index_});
  const Outcome outcome = RagIndex({"gc", index_});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out, "") << outcome;
  EXPECT_TRUE(IsOneLine(outcome.err)) << outcome;
}

TEST_F(GcTest, MissingIndexExitsWith3AndIsNotMade) {
  ExpectError(RagIndex({"gc", folder_ / "nowhere"}), 3, "rag-index", "nowhere");
  EXPECT_FALSE(fs::exists(folder_ / "nowhere"));
}

TEST_F(GcTest, LockOfAnotherWriterIsObeyed) {
  const int fd = Lock();
  ExpectError(RagIndex({"gc", index_}), 4, "rag-index", "locked");
  EXPECT_TRUE(Exists("gen-000001"));
  close(fd);
}

TEST_F(GcTest, WaitEndsWith4WhenTheLockStays) {
  const int fd = Lock();
  const auto start = std::chrono::steady_clock::now();
  ExpectError(RagIndex({"gc", index_, "--wait", "0.4"}), 4, "rag-index", "locked");
  ExpectError(RagIndex({"build", corpus_, "-o", index_, "--wait", "0.4"}), 4, "rag-index",
              "locked");
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(800));
  close(fd);
}

TEST_F(GcTest, WaitingBuildGoesOnWithTheCorpusAsItIsThen) {
  const int fd = Lock();
  Process process(Program::kIndex, {"build", corpus_, "-o", index_, "--wait", "60", "-q"}, {});
  usleep(300'000);
  WriteFile(folder_.path() / "corpus" / "late.md", "# Gasket\n\nA rare gasket.\n");
  close(fd);
  const Outcome outcome = process.Finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(Ask(index_, {"gasket"})["documents"][0]["source"], "late.md");
}

TEST_F(GcTest, WaitingBuildCanBeInterrupted) {
  const int fd = Lock();
  Process process(Program::kIndex, {"build", corpus_, "-o", index_, "--wait", "60"}, {});
  usleep(500'000);
  process.Signal(SIGINT);
  ExpectError(process.Finish(), 130, "rag-index", "interrupted");
  close(fd);
}

TEST_F(GcTest, ImpossibleWaitIsWrongUse) {
  ExpectError(RagIndex({"gc", index_, "--wait", "-1"}), 2, "rag-index", "--wait");
  ExpectError(RagIndex({"gc", index_, "--wait", "nan"}), 2, "rag-index", "--wait");
  ExpectError(RagIndex({"gc", index_, "--wait", "soon"}), 2, "rag-index", "--wait");
}

}  // namespace
}  // namespace rag::e2e
