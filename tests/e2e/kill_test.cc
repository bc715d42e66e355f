// Builds that are killed or stopped at any moment. RAG_KILLS=200 in the environment kills as many
// instead of 30.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/crash_testing.h"
#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr microseconds kPoll{200};
constexpr int kAttempts = 20;

// Bytes of the whole entries of a journal (indexer/journal.h), and how many they are.
struct JournalEntries {
  std::size_t number = 0;
  std::size_t bytes = 0;
};
JournalEntries EntriesOf(const fs::path& journal) {
  constexpr std::size_t kStart = 16;
  constexpr std::size_t kHead = 4 + 8 + 8;
  constexpr std::size_t kEnd = 8;
  const std::string bytes = fs::exists(journal) ? ReadFile(journal) : "";
  JournalEntries entries{.number = 0, .bytes = kStart};
  while (entries.bytes + kHead <= bytes.size()) {
    std::uint32_t key = 0;
    std::uint64_t value = 0;
    std::memcpy(&key, bytes.data() + entries.bytes, sizeof key);
    std::memcpy(&value, bytes.data() + entries.bytes + sizeof key, sizeof value);
    if (entries.bytes + kHead + key + value + kEnd > bytes.size()) break;
    entries.bytes += kHead + key + value + kEnd;
    ++entries.number;
  }
  return entries;
}

class KillTest : public CrashTest {
 protected:
  void SetUp() override {
    Prepare(150);
    if (HasFatalFailure()) return;
    build_time_ = Measure(prepared_);
    first_build_time_ = Measure(folder_ / "none");
  }
  void TearDown() override {
    for (const auto& [where, times] : kills_)
      std::cout << "killed " << where << ": " << times << "\n";
  }

  // The shortest of three builds.
  microseconds Measure(const fs::path& from) {
    microseconds shortest = microseconds::max();
    for (int i = 0; i < 3; ++i) {
      CopyIndex(from, index_);
      const Clock::time_point start = Clock::now();
      Build(corpus_, index_);
      const auto time = std::chrono::duration_cast<microseconds>(Clock::now() - start);
      shortest = std::min(shortest, time);
    }
    return shortest;
  }

  // How far the build had come, as far as the folder tells.
  [[nodiscard]] std::string Progress() const {
    const fs::path index(index_);
    const bool journal = fs::exists(index / "journal");
    if (fs::exists(index / "building" / "MANIFEST.json")) return "syncing";
    if (fs::exists(index / "building")) return "in the second pass";
    if (fs::exists(index / "CURRENT.tmp")) return "replacing CURRENT";
    if (journal && NamesIn(index).contains("gen-000002")) return "around CURRENT";
    return journal ? "in the first pass" : "before or after";
  }

  Outcome KillAfter(const std::function<bool()>& begun, microseconds delay, int number = SIGKILL) {
    Process process(Program::kIndex, BuildArguments(), {});
    while (!begun() && process.IsRunning()) std::this_thread::sleep_for(kPoll);
    std::this_thread::sleep_for(delay);
    process.Signal(number);
    const Outcome outcome = process.Finish();
    if (number == SIGKILL) ++kills_[outcome.signal == SIGKILL ? Progress() : "too late"];
    return outcome;
  }

  // Three in four at any moment of a build of that length, the fourth when it publishes.
  void KillSomewhere(microseconds length) {
    const auto random_part = [this](microseconds whole) {
      return microseconds(std::uniform_int_distribution<long>(0, whole.count())(random_));
    };
    if (random_() % 4 != 0) {
      KillAfter([] { return true; }, random_part(length));
      return;
    }
    const fs::path index(index_);
    const std::set<std::string> before =
        fs::exists(index) ? NamesIn(index) : std::set<std::string>();
    const auto publishes = [&] {
      if (fs::exists(index / "building" / "MANIFEST.json")) return true;
      if (!fs::exists(index)) return false;
      std::set<std::string> names = NamesIn(index);
      std::erase_if(names, [](const std::string& name) { return !name.starts_with("gen-"); });
      return !std::includes(before.begin(), before.end(), names.begin(), names.end());
    };
    KillAfter(publishes, random_part(length / 10));
  }

  // Sends the signal to a first build with one thread when it is in the second pass; what it
  // logged. Tried again when the signal came too late.
  Outcome StopInSecondPass(int number) {
    Outcome outcome;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      fs::remove_all(index_);
      Process process(Program::kIndex, BuildArguments({"-j", "1", "--verbose"}), {});
      const fs::path built = fs::path(index_) / "journal" / "built";
      std::error_code none_yet;
      while ((!fs::exists(built, none_yet) || fs::file_size(built, none_yet) < 20'000) &&
             process.IsRunning()) {
        std::this_thread::sleep_for(kPoll);
      }
      process.Signal(number);
      outcome = process.Finish();
      if (outcome.exit_code != 0) break;
    }
    return outcome;
  }

  std::mt19937_64 random_{42};
  microseconds build_time_{};
  microseconds first_build_time_{};
  std::map<std::string, int> kills_;
  const int rounds_ = NumberFromEnvironment("RAG_KILLS", RAG_SANITIZED ? 6 : 30);
};

TEST_F(KillTest, KilledRebuildsLeaveTheOldOrTheNewIndexAndAreMadeUpFor) {
  for (int round = 0; round < rounds_ && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    CopyIndex(prepared_, index_);
    for (int kill = 0; kill <= round % 3; ++kill) {
      KillSomewhere(build_time_);
      ExpectOldOrNew();
    }
    ExpectRerunMakes(new_content_);
    EXPECT_TRUE(ExpectOldOrNew());
  }
}

TEST_F(KillTest, KilledFirstBuildsLeaveNoIndexOrAWholeOneAndAreMadeUpFor) {
  for (int round = 0; round < (rounds_ + 2) / 3 && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    fs::remove_all(index_);
    for (int kill = 0; kill <= round % 3; ++kill) {
      KillSomewhere(first_build_time_);
      ExpectNoneOrFirst();
    }
    ExpectRerunMakes(first_content_);
    EXPECT_TRUE(ExpectNoneOrFirst());
  }
}

// As a power cut may leave it: bytes that were not written, and bytes that are others.
TEST_F(KillTest, DamagedJournalsAreMadeUpFor) {
  for (int round = 0; round < (rounds_ + 2) / 3 && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    const bool first = round % 2 == 0;
    CopyIndex(first ? folder_ / "none" : prepared_, index_);
    const microseconds length = first ? first_build_time_ : build_time_;
    KillAfter([] { return true; }, length / 4 + length * (random_() % 60) / 100);
    for (const char* name : {"analyzed", "built"}) {
      const fs::path path = fs::path(index_) / "journal" / name;
      std::string bytes = fs::exists(path) ? ReadFile(path) : "";
      if (bytes.empty()) continue;
      for (int i = 0; i < 5; ++i)
        bytes[random_() % bytes.size()] ^= static_cast<char>(1 + random_() % 255);
      if (random_() % 2 == 0) bytes.resize(random_() % bytes.size());
      WriteFile(path, bytes);
    }
    first ? ExpectNoneOrFirst() : ExpectOldOrNew();
    ExpectRerunMakes(first ? first_content_ : new_content_);
  }
}

TEST_F(KillTest, DocumentsThatWereFinishedAreNotMadeAgain) {
  const Outcome outcome = StopInSecondPass(SIGKILL);
  ASSERT_EQ(outcome.signal, SIGKILL) << outcome;
  const std::size_t finished = EntriesOf(fs::path(index_) / "journal" / "built").number;
  std::set<std::string> logged;
  for (const std::string& line : Lines(outcome.err))
    logged.insert(line.substr(0, line.find(": Red")));
  ASSERT_FALSE(logged.empty());

  const json summary = ExpectRerunMakes(first_content_);

  EXPECT_EQ(summary["resumed"], finished);
  EXPECT_GE(finished, logged.size());
}

class StoppedSecondPassTest : public KillTest, public ::testing::WithParamInterface<int> {};

TEST_P(StoppedSecondPassTest, SaysSoInOneLineAndIsGoneOnWith) {
  const Outcome outcome = StopInSecondPass(GetParam());
  EXPECT_EQ(outcome.exit_code, 130) << outcome;
  const std::vector<std::string> lines = Lines(outcome.err);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back(), "rag-index: interrupted; the index is as it was") << outcome;
  EXPECT_FALSE(ExpectNoneOrFirst());

  const json summary = ExpectRerunMakes(first_content_);

  EXPECT_GT(summary["resumed"], 0);
}

INSTANTIATE_TEST_SUITE_P(Signals, StoppedSecondPassTest, ::testing::Values(SIGINT, SIGTERM),
                         [](const auto& signal) {
                           return signal.param == SIGINT ? "Interrupt" : "Terminate";
                         });

TEST_F(KillTest, InterruptedRebuildSaysSoInOneLineAndTheOldIndexAnswers) {
  const auto begun = [this] { return fs::exists(fs::path(index_) / "building"); };
  for (const int number : {SIGINT, SIGTERM}) {
    Outcome outcome;
    for (int attempt = 0; attempt < kAttempts && outcome.exit_code != 130; ++attempt) {
      CopyIndex(prepared_, index_);
      outcome = KillAfter(begun, microseconds(0), number);
    }
    ExpectError(outcome, 130, "rag-index", "interrupted; the index is as it was");
    EXPECT_FALSE(ExpectOldOrNew());
    EXPECT_FALSE(fs::exists(fs::path(index_) / "building"));
    ExpectRerunMakes(new_content_);
  }
}

}  // namespace
}  // namespace rag::e2e
