// What a writer may remove, and waiting for the right to write.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "storage/generation.h"
#include "tests/testing/temp_folder.h"
#include "tests/testing/unprivileged.h"

namespace rag::storage {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class Garbage : public ::testing::Test {
 protected:
  Garbage() {
    for (int i = 0; i < 4; ++i) Build();
  }

  void Build() {
    const WriterLock lock = WriterLock::Acquire(index_).value();
    GenerationBuilder builder = GenerationBuilder::Start(index_).value();
    const std::string folder = "index/building/";
    folder_.Write(folder + "MANIFEST.json", "{}");
    folder_.Write(folder + "records/data", "12345678");
    EXPECT_TRUE(builder.Publish(/*keep=*/10).ok());
  }

  std::vector<RemovedFolder> Collect(std::size_t keep) const {
    const WriterLock lock = WriterLock::Acquire(index_).value();
    return CollectGarbage(index_, keep).value();
  }

  [[nodiscard]] std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(index_)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  testing::TempFolder folder_;
  const fs::path index_ = folder_.path() / "index";
};

TEST_F(Garbage, OldGenerationsGoAndTheLastStay) {
  const std::vector<RemovedFolder> removed = Collect(2);
  ASSERT_EQ(removed.size(), 2U);
  EXPECT_EQ(Names(), (std::set<std::string>{"CURRENT", "LOCK", "gen-000003", "gen-000004"}));
}

TEST_F(Garbage, TheCurrentGenerationStaysEvenWhenNoneIsToBeKept) {
  Collect(0);
  EXPECT_EQ(Names(), (std::set<std::string>{"CURRENT", "LOCK", "gen-000004"}));
  EXPECT_EQ(ReadCurrent(index_).value(), 4U);
}

TEST_F(Garbage, LeftoversOfADeadBuildGo) {
  folder_.Write("index/building/docs.faiss", "half");
  folder_.Write("index/CURRENT.tmp", "gen-");
  const std::vector<RemovedFolder> removed = Collect(10);
  ASSERT_EQ(removed.size(), 2U);
  EXPECT_EQ(removed[0].name, "building");
  EXPECT_EQ(removed[0].bytes, 4U);
  EXPECT_EQ(removed[1].name, "CURRENT.tmp");
  EXPECT_FALSE(Names().contains("building"));
}

TEST_F(Garbage, AGenerationThatWasNeverCurrentGoes) {
  folder_.Write("index/gen-000005/MANIFEST.json", "{}");
  Collect(10);
  EXPECT_FALSE(Names().contains("gen-000005"));
  EXPECT_TRUE(Names().contains("gen-000001"));
}

// A build that dies right after it became current removes nothing any more. Then a generation below
// CURRENT that never was current would count as one to keep.
TEST_F(Garbage, WhatWasNeverCurrentGoesBeforeTheNextGenerationIsCurrent) {
  folder_.Write("index/gen-000005/MANIFEST.json", "{}");
  folder_.Write("index/CURRENT.tmp/in the way", "");
  const WriterLock lock = WriterLock::Acquire(index_).value();
  GenerationBuilder builder = GenerationBuilder::Start(index_).value();
  EXPECT_EQ(builder.number(), 6U);
  folder_.Write("index/building/MANIFEST.json", "{}");

  EXPECT_FALSE(builder.Publish(/*keep=*/10).ok());

  EXPECT_EQ(ReadCurrent(index_).value(), 4U);
  EXPECT_FALSE(Names().contains("gen-000005"));
  EXPECT_TRUE(Names().contains("gen-000001"));
}

TEST_F(Garbage, WhatMayNotBeReadIsNoDamage) {
  fs::permissions(index_ / "CURRENT", fs::perms::none);
  const testing::Unprivileged nobody;
  const absl::Status status = ReadCurrent(index_).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_NE(status.message().find("CURRENT"), std::string::npos) << status;
}

TEST_F(Garbage, FilesOfOthersStay) {
  folder_.Write("index/README", "mine");
  Collect(1);
  EXPECT_TRUE(Names().contains("README"));
}

TEST_F(Garbage, BytesThatAnotherGenerationHoldsAreNotFreed) {
  fs::remove(index_ / "gen-000004" / "records" / "data");
  fs::create_hard_link(index_ / "gen-000001" / "records" / "data",
                       index_ / "gen-000004" / "records" / "data");
  const std::vector<RemovedFolder> removed = Collect(3);
  ASSERT_EQ(removed.size(), 1U);
  EXPECT_EQ(removed[0].bytes, 2U);  // MANIFEST.json
}

TEST_F(Garbage, NothingIsRemovedWithADamagedCurrent) {
  folder_.Write("index/CURRENT", "gen-");
  const auto before = Names();
  const WriterLock lock = WriterLock::Acquire(index_).value();
  EXPECT_TRUE(absl::IsDataLoss(CollectGarbage(index_, 1).status()));
  EXPECT_EQ(Names(), before);
}

TEST_F(Garbage, GenerationsAreListedInOrder) {
  EXPECT_EQ(ListGenerations(index_).value(), (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST_F(Garbage, AWaitingWriterGetsTheLockWhenItIsFree) {
  auto lock = std::make_unique<WriterLock>(WriterLock::Acquire(index_).value());
  std::thread holder([&lock] {
    std::this_thread::sleep_for(milliseconds(150));
    lock.reset();
  });
  const absl::StatusOr<WriterLock> second = WriterLock::Acquire(index_, milliseconds(20'000));
  holder.join();
  EXPECT_TRUE(second.ok()) << second.status();
}

TEST_F(Garbage, AWaitingWriterGivesUpInTime) {
  const WriterLock lock = WriterLock::Acquire(index_).value();
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status = WriterLock::Acquire(index_, milliseconds(200)).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(200));
}

TEST_F(Garbage, AWaitingWriterCanBeStopped) {
  const WriterLock lock = WriterLock::Acquire(index_).value();
  const std::atomic<bool> cancel{true};
  const absl::Status status = WriterLock::Acquire(index_, milliseconds(60'000), &cancel).status();
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
}

}  // namespace
}  // namespace rag::storage
