#include "storage/generation.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "formats/checksum.h"
#include "storage/file_io.h"

namespace rag::storage {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

class Generation : public ::testing::Test {
 protected:
  Generation() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) /
            (std::string("generation-") + test->name() + "-" + std::to_string(getpid()));
    fs::create_directories(root_);
  }
  ~Generation() override { fs::remove_all(root_); }

  [[nodiscard]] fs::path Root() const { return root_; }
  [[nodiscard]] fs::path Index() const { return root_ / "index"; }

  // Entries of the index folder, without LOCK.
  [[nodiscard]] Names Entries() const {
    Names names;
    for (const auto& entry : fs::directory_iterator(Index())) {
      names.insert(entry.path().filename().string());
    }
    names.erase("LOCK");
    return names;
  }

  void WriteCurrent(std::string_view text) const {
    std::ofstream(Index() / "CURRENT", std::ios::binary) << text;
  }

 private:
  fs::path root_;
};

void Fill(const GenerationBuilder& builder) {
  fs::create_directories(builder.folder() / "records");
  std::ofstream(builder.folder() / "records" / "000001.sst") << "records";
  std::ofstream(builder.folder() / "MANIFEST.json") << "{}";
}

// One whole build; the number of the generation.
std::uint64_t Build(const fs::path& index, std::size_t keep = 2) {
  const WriterLock lock = WriterLock::Acquire(index).value();
  GenerationBuilder builder = GenerationBuilder::Start(index).value();
  Fill(builder);
  const absl::Status status = builder.Publish(keep);
  EXPECT_TRUE(status.ok()) << status;
  return builder.number();
}

// Runs `work` in another process until it calls its argument, which does not return. The pid.
pid_t RunUntilReady(const std::function<void(const std::function<void()>& ready)>& work) {
  int pipe_ends[2];
  EXPECT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    work([&pipe_ends] {
      if (write(pipe_ends[1], "x", 1) != 1) _exit(1);
      while (true) pause();
    });
    _exit(1);
  }
  close(pipe_ends[1]);
  char byte = 0;
  EXPECT_EQ(read(pipe_ends[0], &byte, 1), 1);
  close(pipe_ends[0]);
  return child;
}

void KillAndReap(pid_t child) {
  kill(child, SIGKILL);
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_TRUE(WIFSIGNALED(state));
}

bool Contains(const absl::Status& status, std::string_view part) {
  return std::string(status.message()).find(part) != std::string::npos;
}

TEST_F(Generation, NamesHaveSixDigitsOrMore) {
  EXPECT_EQ(GenerationName(7), "gen-000007");
  EXPECT_EQ(GenerationName(123456), "gen-123456");
  EXPECT_EQ(GenerationName(1234567), "gen-1234567");
}

TEST_F(Generation, TheFirstBuildIsNumberOne) {
  EXPECT_EQ(Build(Index()), 1U);
  EXPECT_EQ(ReadCurrent(Index()).value(), 1U);
}

TEST_F(Generation, CurrentHoldsTheNameAndItsChecksum) {
  Build(Index());
  EXPECT_EQ(ReadFile(Index() / "CURRENT").value(),
            "gen-000001 " + formats::ToHex(formats::Xxh3("gen-000001")) + "\n");
}

TEST_F(Generation, ReadCurrentWithoutAFolderOrWithoutCurrentIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(ReadCurrent(Index()).status()));
  fs::create_directory(Index());
  EXPECT_TRUE(absl::IsNotFound(ReadCurrent(Index()).status()));
}

TEST_F(Generation, ReadCurrentThatNamesAMissingFolderIsDataLoss) {
  Build(Index());
  fs::remove_all(Index() / "gen-000001");
  const absl::Status status = ReadCurrent(Index()).status();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_TRUE(Contains(status, "gen-000001") && Contains(status, "rag-index build")) << status;
}

TEST_F(Generation, EveryCutOfCurrentIsDataLoss) {
  Build(Index());
  const std::string text = ReadFile(Index() / "CURRENT").value();
  for (std::size_t n = 0; n < text.size(); ++n) {
    WriteCurrent(text.substr(0, n));
    EXPECT_TRUE(absl::IsDataLoss(ReadCurrent(Index()).status())) << n;
  }
}

TEST_F(Generation, EveryChangedByteOfCurrentIsDataLoss) {
  Build(Index());
  const std::string text = ReadFile(Index() / "CURRENT").value();
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const unsigned mask : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U, 255U}) {
      std::string changed = text;
      changed[i] = static_cast<char>(static_cast<unsigned char>(text[i]) ^ mask);
      WriteCurrent(changed);
      EXPECT_TRUE(absl::IsDataLoss(ReadCurrent(Index()).status())) << i << " ^ " << mask;
    }
  }
}

TEST_F(Generation, CurrentWithMoreThanTheNameIsDataLoss) {
  Build(Index());
  WriteCurrent(ReadFile(Index() / "CURRENT").value() + "\n");
  EXPECT_TRUE(absl::IsDataLoss(ReadCurrent(Index()).status()));
}

TEST_F(Generation, CurrentMayNotLeadOutOfTheIndex) {
  Build(Index());
  for (const std::string name : {"..", "gen-000001/..", "gen-1", "gen-000000", "gen-0000001"}) {
    WriteCurrent(name + " " + formats::ToHex(formats::Xxh3(name)) + "\n");
    EXPECT_TRUE(absl::IsDataLoss(ReadCurrent(Index()).status())) << name;
  }
}

TEST_F(Generation, ABuildRepairsADamagedCurrent) {
  Build(Index());
  WriteCurrent("garbage");
  EXPECT_EQ(Build(Index()), 2U);
  EXPECT_EQ(ReadCurrent(Index()).value(), 2U);
}

TEST_F(Generation, PublishedFilesAreThoseOfTheBuild) {
  Build(Index());
  EXPECT_EQ(ReadFile(Index() / "gen-000001" / "records" / "000001.sst").value(), "records");
  EXPECT_EQ(Entries(), Names({"CURRENT", "gen-000001"}));
}

TEST_F(Generation, PublishKeepsTheLastGenerations) {
  for (int i = 0; i < 4; ++i) Build(Index(), 2);
  EXPECT_EQ(Entries(), Names({"CURRENT", "gen-000003", "gen-000004"}));
}

TEST_F(Generation, PublishKeepsTheCurrentGenerationEvenWhenAskedToKeepNone) {
  Build(Index(), 0);
  Build(Index(), 0);
  EXPECT_EQ(Entries(), Names({"CURRENT", "gen-000002"}));
}

TEST_F(Generation, NumbersAreNotUsedAgainAfterPruning) {
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_EQ(Build(Index(), 1), i);
}

TEST_F(Generation, NumbersAreNotUsedAgainWhenTheCurrentFolderWasDeleted) {
  Build(Index());
  Build(Index());
  fs::remove_all(Index() / "gen-000002");
  EXPECT_EQ(Build(Index()), 3U);
}

TEST_F(Generation, PublishRefusesABuildWithoutAManifest) {
  const WriterLock lock = WriterLock::Acquire(Index()).value();
  GenerationBuilder builder = GenerationBuilder::Start(Index()).value();
  EXPECT_TRUE(absl::IsInvalidArgument(builder.Publish(2)));
  EXPECT_TRUE(absl::IsNotFound(ReadCurrent(Index()).status()));
}

TEST_F(Generation, PublishRefusesASecondCall) {
  const WriterLock lock = WriterLock::Acquire(Index()).value();
  GenerationBuilder builder = GenerationBuilder::Start(Index()).value();
  Fill(builder);
  ASSERT_TRUE(builder.Publish(2).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(builder.Publish(2)));
  EXPECT_EQ(builder.folder(), Index() / "gen-000001");
}

TEST_F(Generation, AnAbandonedBuilderRemovesItsFolder) {
  Build(Index());
  {
    const GenerationBuilder builder = GenerationBuilder::Start(Index()).value();
    Fill(builder);
  }
  EXPECT_EQ(Entries(), Names({"CURRENT", "gen-000001"}));
}

TEST_F(Generation, AMovedBuilderIsTheOneThatRemoves) {
  const WriterLock lock = WriterLock::Acquire(Index()).value();
  GenerationBuilder first = GenerationBuilder::Start(Index()).value();
  {
    const GenerationBuilder second(std::move(first));
    EXPECT_EQ(Entries(), Names({"building"}));
  }
  EXPECT_EQ(Entries(), Names());
}

TEST_F(Generation, AGenerationThatWasNeverCurrentCountsAndIsRemovedByTheNextPublish) {
  Build(Index());
  fs::copy(Index() / "gen-000001", Index() / "gen-000002");  // a build that died before CURRENT
  EXPECT_EQ(ReadCurrent(Index()).value(), 1U);
  EXPECT_EQ(Build(Index(), 2), 3U);
  EXPECT_EQ(Entries(), Names({"CURRENT", "gen-000001", "gen-000003"}));
}

TEST_F(Generation, AFirstBuildThatDiedBeforeCurrentIsRemovedByTheNextPublish) {
  Build(Index());
  fs::remove(Index() / "CURRENT");
  EXPECT_EQ(Build(Index(), 2), 2U);
  EXPECT_EQ(Entries(), Names({"CURRENT", "gen-000002"}));
}

TEST_F(Generation, PruningLeavesFilesThatAreNoGenerations) {
  Build(Index());
  fs::create_directory(Index() / "gen-old");
  std::ofstream(Index() / "README") << "mine";
  Build(Index(), 1);
  EXPECT_EQ(Entries(), Names({"CURRENT", "README", "gen-000002", "gen-old"}));
}

TEST_F(Generation, AKilledBuildLeavesTheOldGenerationCurrentAndTheNextCleansUp) {
  Build(Index());
  const pid_t child = RunUntilReady([this](const auto& ready) {
    const WriterLock lock = WriterLock::Acquire(Index()).value();
    const GenerationBuilder builder = GenerationBuilder::Start(Index()).value();
    Fill(builder);
    ready();
  });
  KillAndReap(child);
  EXPECT_EQ(Entries(), Names({"CURRENT", "building", "gen-000001"}));
  EXPECT_EQ(ReadCurrent(Index()).value(), 1U);
  EXPECT_EQ(Build(Index()), 2U);
  EXPECT_EQ(Entries(), Names({"CURRENT", "gen-000001", "gen-000002"}));
}

TEST_F(Generation, AFirstBuildThatWasKilledCanBeRepeated) {
  KillAndReap(RunUntilReady([this](const auto& ready) {
    const WriterLock lock = WriterLock::Acquire(Index()).value();
    const GenerationBuilder builder = GenerationBuilder::Start(Index()).value();
    ready();
  }));
  EXPECT_TRUE(absl::IsNotFound(ReadCurrent(Index()).status()));
  EXPECT_EQ(Build(Index()), 1U);
}

TEST_F(Generation, AKillAtAnyMomentLeavesAWholeCurrentGeneration) {
  std::uint64_t last = Build(Index());
  for (useconds_t round = 0; round < 25; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      while (true) Build(Index());
    }
    usleep(1000 + round * 731);
    KillAndReap(child);
    const std::uint64_t current = ReadCurrent(Index()).value();
    ASSERT_GE(current, last);
    last = current;
    const fs::path folder = Index() / GenerationName(current);
    EXPECT_EQ(ReadFile(folder / "MANIFEST.json").value(), "{}");
    EXPECT_EQ(ReadFile(folder / "records" / "000001.sst").value(), "records");
  }
  EXPECT_GT(Build(Index()), last);
}

TEST_F(Generation, ReadersSeeAGenerationWhileAWriterPublishesAndPrunes) {
  Build(Index());
  const pid_t writer = fork();
  if (writer == 0) {
    while (true) Build(Index(), 1);
  }
  for (int i = 0; i < 2000; ++i) {
    const absl::Status status = ReadCurrent(Index()).status();
    ASSERT_TRUE(status.ok()) << status;
  }
  KillAndReap(writer);
}

TEST_F(Generation, ASecondWriterIsTurnedAwayWithTheHoldersPid) {
  const pid_t holder = RunUntilReady([this](const auto& ready) {
    const WriterLock lock = WriterLock::Acquire(Index()).value();
    ready();
  });
  const absl::Status status = WriterLock::Acquire(Index()).status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_TRUE(Contains(status, "locked by process " + std::to_string(holder) + " since 20"))
      << status;
  KillAndReap(holder);
}

TEST_F(Generation, AnUnreadableLockNamesNobody) {
  const WriterLock lock = WriterLock::Acquire(Index()).value();
  for (const char* text : {"", "0 2026-11-30T23:58:50Z", "x y", "12x 2026", "-1 now\n"}) {
    std::ofstream(Index() / "LOCK") << text;
    const absl::Status status = WriterLock::Acquire(Index()).status();
    EXPECT_TRUE(Contains(status, "locked by another process")) << text << status;
  }
}

TEST_F(Generation, TheLockOfAKilledWriterIsFree) {
  KillAndReap(RunUntilReady([this](const auto& ready) {
    const WriterLock lock = WriterLock::Acquire(Index()).value();
    ready();
  }));
  EXPECT_TRUE(WriterLock::Acquire(Index()).ok());
}

TEST_F(Generation, TheLockExcludesTheSameProcessUntilItIsDestroyed) {
  {
    const WriterLock lock = WriterLock::Acquire(Index()).value();
    EXPECT_TRUE(absl::IsUnavailable(WriterLock::Acquire(Index()).status()));
  }
  EXPECT_TRUE(WriterLock::Acquire(Index()).ok());
}

TEST_F(Generation, AMovedLockIsStillHeld) {
  WriterLock first = WriterLock::Acquire(Index()).value();
  const WriterLock second(std::move(first));
  EXPECT_TRUE(absl::IsUnavailable(WriterLock::Acquire(Index()).status()));
}

TEST_F(Generation, OfManyWritersOneGetsTheLock) {
  int winners = 0;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const absl::StatusOr<WriterLock> lock = WriterLock::Acquire(Index());
      usleep(500'000);  // longer than it takes to start the others
      _exit(lock.ok() ? 0 : (absl::IsUnavailable(lock.status()) ? 1 : 2));
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int state = 0;
    waitpid(child, &state, 0);
    ASSERT_TRUE(WIFEXITED(state));
    ASSERT_NE(WEXITSTATUS(state), 2);
    winners += WEXITSTATUS(state) == 0 ? 1 : 0;
  }
  EXPECT_EQ(winners, 1);
}

TEST_F(Generation, AcquireMakesTheFoldersOfThePath) {
  EXPECT_TRUE(WriterLock::Acquire(Root() / "a" / "b" / "").ok());
  EXPECT_TRUE(fs::exists(Root() / "a" / "b" / "LOCK"));
}

TEST_F(Generation, AcquireAcceptsAnEmptyFolder) {
  fs::create_directory(Index());
  EXPECT_TRUE(WriterLock::Acquire(Index()).ok());
}

TEST_F(Generation, AcquireRefusesAFile) {
  std::ofstream(Index()) << "a file";
  const absl::Status status = WriterLock::Acquire(Index()).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

TEST_F(Generation, AcquireRefusesAFolderOfOtherFilesAndTouchesNothing) {
  fs::create_directories(Index() /
                         "building");  // the name of a build's folder, with the user's files
  std::ofstream(Index() / "building" / "plan.txt") << "mine";
  std::ofstream(Index() / "notes.txt") << "mine";
  const absl::Status status = WriterLock::Acquire(Index()).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_TRUE(Contains(status, Index().string())) << status;
  EXPECT_EQ(Entries(), Names({"building", "notes.txt"}));
  EXPECT_FALSE(fs::exists(Index() / "LOCK"));
}

TEST_F(Generation, AcquireRefusesAFolderWithNothingButSomeonesBuildingFolder) {
  fs::create_directories(Index() / "building");
  EXPECT_TRUE(absl::IsInvalidArgument(WriterLock::Acquire(Index()).status()));
}

TEST_F(Generation, AcquireRefusesADatabaseThatHasFilesOfTheSameNames) {
  fs::create_directories(Index());
  for (const std::string name : {"CURRENT", "LOCK", "MANIFEST-000001", "000003.log"}) {
    std::ofstream(Index() / name) << "x";
  }
  EXPECT_TRUE(absl::IsInvalidArgument(WriterLock::Acquire(Index()).status()));
}

TEST_F(Generation, AcquireAcceptsAnIndexWithForeignFilesBesideIt) {
  Build(Index());
  std::ofstream(Index() / "README") << "mine";
  EXPECT_TRUE(WriterLock::Acquire(Index()).ok());
}

TEST_F(Generation, AcquireAcceptsACopiedIndexWithoutItsLock) {
  Build(Index());
  fs::remove(Index() / "LOCK");
  EXPECT_TRUE(WriterLock::Acquire(Index()).ok());
}

}  // namespace
}  // namespace rag::storage
