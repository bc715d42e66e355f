// Each call of a build that changes files fails in turn: for good, as on a full disk, or once.
// RAG_FAULTS=1 in the environment tries every call, N every Nth.
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/crash_testing.h"
#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;

class FailingCallsTest : public CrashTest {
 protected:
  void SetUp() override {
    if (RAG_SANITIZED) {
      GTEST_SKIP() << "the sanitizers' runtime has to be the first library that is loaded";
    }
    Prepare(20);
  }

  // Few enough that each of the tests takes seconds.
  static int Step() { return NumberFromEnvironment("RAG_FAULTS", 13); }

  Outcome BuildWith(int at, int error, bool once, const std::vector<std::string>& more = {}) {
    Launch launch;
    // LD_PRELOAD is a list that spaces divide; LD_LIBRARY_PATH, in which it is searched, is not.
    const std::filesystem::path library(RAG_FAILING_CALLS);
    launch.env = {{"LD_LIBRARY_PATH", library.parent_path().string()},
                  {"LD_PRELOAD", library.filename().string()},
                  {"RAG_FAIL_AT", std::to_string(at)},
                  {"RAG_FAIL_ERRNO", std::to_string(error)},
                  {"RAG_FAIL_ONCE", once ? "1" : "0"},
                  {"RAG_FAIL_COUNT", folder_ / "calls"}};
    return RagIndex(BuildArguments(more), launch);
  }

  // Of an undisturbed build.
  int CountCalls(const fs::path& from, bool once) {
    CopyIndex(from, index_);
    const Outcome outcome = BuildWith(0, 0, once);
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    const int calls = std::stoi(ReadFile(folder_.path() / "calls"));
    EXPECT_GT(calls, 50);
    return calls;
  }

  // For a failed build of the index that was `from`: one line, and the folder as it was.
  void ExpectFailure(const Outcome& outcome, int error, const fs::path& from) {
    EXPECT_EQ(outcome.exit_code, 1) << outcome;
    EXPECT_TRUE(IsOneLine(outcome.err)) << outcome;
    EXPECT_EQ(outcome.err.rfind("rag-index: ", 0), 0U) << outcome;
    EXPECT_NE(outcome.err.find(index_), std::string::npos) << outcome;
    if (error != ENOSPC) return;
    EXPECT_NE(outcome.err.find("disk full: "), std::string::npos) << outcome;
    EXPECT_NE(outcome.err.find("make room"), std::string::npos) << outcome;
    std::map<std::string, std::string> before;
    std::map<std::string, std::string> after;
    if (fs::exists(from)) before = ReadTree(from);
    if (fs::exists(index_)) after = ReadTree(index_);
    before.erase("LOCK");
    after.erase("LOCK");
    EXPECT_EQ(before, after) << outcome;
    EXPECT_FALSE(fs::exists(fs::path(index_) / "journal"));
    EXPECT_FALSE(fs::exists(fs::path(index_) / "building"));
  }

  void FailEachCall(const fs::path& from, int error, bool once) {
    const bool first = !fs::exists(from);
    const int calls = CountCalls(from, once);
    int failed = 0;
    int tried = 0;
    for (int at = 1; at <= calls && !HasFailure(); at += Step(), ++tried) {
      SCOPED_TRACE("call " + std::to_string(at) + " of " + std::to_string(calls));
      CopyIndex(from, index_);
      const Outcome outcome = BuildWith(at, error, once);
      if (outcome.exit_code == 0) {
        EXPECT_TRUE(first ? ExpectNoneOrFirst() : ExpectOldOrNew()) << outcome;
      } else {
        ++failed;
        ExpectFailure(outcome, error, from);
        EXPECT_FALSE(first ? ExpectNoneOrFirst() : ExpectOldOrNew()) << outcome;
      }
      ExpectRerunMakes(first ? first_content_ : new_content_);
    }
    EXPECT_GT(failed, tried / 2);
    std::cout << tried << " of " << calls << " calls, " << failed << " builds failed\n";
  }
};

TEST_F(FailingCallsTest, FullDiskLeavesTheOldIndex) {
  FailEachCall(prepared_, ENOSPC, /*once=*/false);
}

TEST_F(FailingCallsTest, FullDiskLeavesNoFirstIndex) {
  FailEachCall(folder_ / "none", ENOSPC, /*once=*/false);
}

TEST_F(FailingCallsTest, ErrorOfTheDiskLeavesTheOldOrTheNewIndex) {
  FailEachCall(prepared_, EIO, /*once=*/true);
}

TEST_F(FailingCallsTest, ErrorOfTheDiskLeavesNoFirstIndexOrAWholeOne) {
  FailEachCall(folder_ / "none", EIO, /*once=*/true);
}

TEST_F(FailingCallsTest, BrokenDiskLeavesTheOldIndex) {
  FailEachCall(prepared_, EIO, /*once=*/false);
}

}  // namespace
}  // namespace rag::e2e
