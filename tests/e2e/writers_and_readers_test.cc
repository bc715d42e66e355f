// Queries while builds go on, and two builds at once. RAG_REBUILDS=20 in the environment rebuilds
// as often instead of 6 times.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/crash_testing.h"
#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

class ReadersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteManyNotes(corpus_, 40);
    Publish();
  }

  // The next generation; what it answers.
  void Publish() {
    const std::string number = std::to_string(answers_.size() + 1);
    for (const char* name : {"crane.md", "ferry.md"}) {
      WriteFile(fs::path(corpus_) / name,
                "# Harbour\n\nThe ballast of the harbour crane is of state " + number + ".\n");
    }
    Build(corpus_, index_);
    const Answer answer = AskAboutChange(index_);
    EXPECT_EQ(std::to_string(answer.generation), number);
    EXPECT_NE(answer.text["context"].get<std::string>().find("state " + number), std::string::npos);
    const std::lock_guard<std::mutex> lock(mutex_);
    answers_[answer.generation] = answer.text;
  }

  // Asks in processes of their own until told to stop.
  void KeepAsking() {
    while (!stop_) {
      const Answer answer = AskAboutChange(index_);
      const std::lock_guard<std::mutex> lock(mutex_);
      asked_.push_back(answer);
    }
  }

  TempFolder folder_;
  const std::string corpus_ = folder_ / "corpus";
  const std::string index_ = folder_ / "index";
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // of what follows
  std::map<std::uint64_t, json> answers_;
  std::vector<Answer> asked_;
};

TEST_F(ReadersTest, EveryAnswerDuringRebuildsIsThatOfOneGeneration) {
  Launch launch;
  launch.keep_input_open = true;
  Process session(Program::kQuery, {"-i", index_, "--json"}, launch);
  const auto ask_session = [&session](std::size_t answers) {
    session.Send("What ballast does the harbour crane carry?\n");
    return session.PumpUntil([=](const Outcome& o) { return Lines(o.out).size() == answers; });
  };
  ASSERT_TRUE(ask_session(1));
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) readers.emplace_back([this] { KeepAsking(); });

  const int rebuilds = NumberFromEnvironment("RAG_REBUILDS", 6);
  for (int i = 0; i < rebuilds && !HasFailure(); ++i) {
    Publish();
    EXPECT_TRUE(ask_session(static_cast<std::size_t>(i) + 2));
  }
  stop_ = true;
  for (std::thread& reader : readers) reader.join();
  session.CloseInput();
  const Outcome outcome = session.Finish();

  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  for (const std::string& line : Lines(outcome.out)) {
    EXPECT_EQ(WithoutTimes(json::parse(line)), WithoutTimes(json::parse(Lines(outcome.out)[0])));
  }
  EXPECT_GE(asked_.size(), static_cast<std::size_t>(rebuilds));
  for (const Answer& answer : asked_) {
    ASSERT_TRUE(answers_.contains(answer.generation)) << answer.generation;
    EXPECT_EQ(answer.text, answers_[answer.generation]);
  }
  std::cout << asked_.size() << " answers during " << rebuilds << " rebuilds\n";
}

class WritersTest : public CrashTest {
 protected:
  void SetUp() override {
    Prepare(150);
    CopyIndex(prepared_, index_);
  }

  // A rebuild that was stopped while it held the lock; null when it always ended before.
  [[nodiscard]] std::unique_ptr<Process> StoppedWriter() {
    constexpr int kAttempts = 20;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      CopyIndex(prepared_, index_);
      auto process = std::make_unique<Process>(Program::kIndex, BuildArguments(), Launch());
      if (StopWhileItWrites(*process)) return process;
    }
    return nullptr;
  }

 private:
  [[nodiscard]] bool StopWhileItWrites(const Process& process) const {
    const fs::path building = fs::path(index_) / "building";
    while (!fs::exists(building) && process.IsRunning()) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    process.Signal(SIGSTOP);
    // The signal may arrive when the last step is done; the folder is gone then.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return fs::exists(building);
  }
};

TEST_F(WritersTest, TheSecondIsTurnedAwayAtOnceAndQueriesGoOn) {
  const std::unique_ptr<Process> first = StoppedWriter();
  ASSERT_NE(first, nullptr);

  const Clock::time_point start = Clock::now();
  const Outcome second = RagIndex(BuildArguments());
  const std::chrono::duration<double> seconds = Clock::now() - start;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(AskAboutChange(index_), old_answer_);
  first->Signal(SIGCONT);
  const Outcome done = first->Finish();

  ExpectError(second, 4, "rag-index",
              "locked by process " + std::to_string(first->pid()) + " since 2");
  std::string since = second.err.substr(second.err.find(" since ") + 7);
  std::replace_if(
      since.begin(), since.begin() + 20, [](char c) { return c >= '0' && c <= '9'; }, 'd');
  EXPECT_EQ(since, "dddd-dd-ddTdd:dd:ddZ, which writes this index; try again when it is done\n");
  EXPECT_LT(seconds.count(), 10);  // it does not wait
  EXPECT_EQ(done.exit_code, 0) << done;
  EXPECT_TRUE(ExpectOldOrNew());
}

// Of a generation that no user may remove from.
TEST_F(WritersTest, AnOldGenerationThatCannotBeRemovedIsNoted) {
  fs::permissions(folder_.path(), fs::perms::all);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(index_)) {
    fs::permissions(entry.path(), fs::perms::others_all | fs::perms::owner_all);
  }
  fs::permissions(index_, fs::perms::all);
  fs::permissions(fs::path(index_) / "gen-000001", fs::perms(0555));
  Launch launch;
  launch.unprivileged = true;

  const Outcome outcome = RagIndex(BuildArguments({"--keep", "1"}), launch);

  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  const std::vector<std::string> lines = Lines(outcome.err);
  ASSERT_EQ(lines.size(), 2U) << outcome;
  EXPECT_NE(lines[0].find("gen-000001"), std::string::npos) << outcome;
  EXPECT_NE(lines[0].find("rag-index gc"), std::string::npos) << outcome;
  EXPECT_TRUE(ExpectOldOrNew());
  fs::permissions(fs::path(index_) / "gen-000001", fs::perms::owner_all);
}

}  // namespace
}  // namespace rag::e2e
