#include "indexer/journal.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/testing/temp_folder.h"

namespace rag::indexer {
namespace {

namespace fs = std::filesystem;

class JournalTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Journal> Open(const std::string& purpose = "test") const {
    absl::StatusOr<std::unique_ptr<Journal>> journal = Journal::Open(path_, purpose);
    EXPECT_TRUE(journal.ok()) << journal.status();
    return *std::move(journal);
  }
  // Values of growing sizes, the empty one included.
  static std::string Value(int i) { return std::string(static_cast<std::size_t>(i * 37), 'v'); }
  static std::string Key(int i) { return "key" + std::to_string(i); }
  static void Fill(Journal& journal, int first, int last) {
    for (int i = first; i < last; ++i) EXPECT_TRUE(journal.Append(Key(i), Value(i)).ok());
  }
  static void ExpectHolds(const Journal& journal, int first, int last) {
    for (int i = first; i < last; ++i) {
      const auto entry = journal.Find(Key(i));
      ASSERT_TRUE(entry.has_value()) << i;
      EXPECT_EQ(journal.Read(*entry).value(), Value(i));
    }
  }
  void Overwrite(std::uint64_t offset, char byte) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }

  testing::TempFolder folder_;
  fs::path path_ = folder_.path() / "journal";
};

TEST_F(JournalTest, ReadsWhatWasAppended) {
  const auto journal = Open();
  Fill(*journal, 0, 20);

  ExpectHolds(*journal, 0, 20);
  EXPECT_FALSE(journal->Find("absent").has_value());
  EXPECT_EQ(journal->num_recovered(), 0U);
}

TEST_F(JournalTest, TakesOverWhatAnotherWrote) {
  Fill(*Open(), 0, 5);

  const auto journal = Open();
  EXPECT_EQ(journal->num_recovered(), 5U);
  Fill(*journal, 5, 8);
  ExpectHolds(*journal, 0, 8);
  ExpectHolds(*Open(), 0, 8);
}

TEST_F(JournalTest, BeginsAnewForAnotherPurpose) {
  Fill(*Open("one"), 0, 5);

  const auto journal = Open("two");

  EXPECT_EQ(journal->num_recovered(), 0U);
  EXPECT_FALSE(journal->Find(Key(0)).has_value());
  EXPECT_EQ(Open("one")->num_recovered(), 0U);
}

TEST_F(JournalTest, TheLastEntryOfAKeyCounts) {
  const auto journal = Open();
  ASSERT_TRUE(journal->Append("key", "old").ok());
  ASSERT_TRUE(journal->Append("key", "new").ok());

  EXPECT_EQ(journal->Read(*journal->Find("key")).value(), "new");
  EXPECT_EQ(Open()->num_recovered(), 1U);
}

// As a crash between any two bytes leaves it.
TEST_F(JournalTest, EveryCutLeavesTheWholeEntriesBeforeIt) {
  std::vector<std::uint64_t> ends = {0};
  {
    const auto journal = Open();
    for (int i = 0; i < 4; ++i) {
      Fill(*journal, i, i + 1);
      ends.push_back(fs::file_size(path_));
    }
  }
  const std::string whole = testing::ReadAll(path_);
  for (std::uint64_t size = 0; size <= whole.size(); ++size) {
    folder_.Write("journal", std::string_view(whole).substr(0, size));
    int entries = 0;
    while (entries < 4 && ends[static_cast<std::size_t>(entries) + 1] <= size) ++entries;

    const auto journal = Open();
    ASSERT_EQ(journal->num_recovered(), static_cast<std::size_t>(entries)) << size << " bytes";
    ExpectHolds(*journal, 0, entries);
    Fill(*journal, entries, 4);
    ExpectHolds(*journal, 0, 4);
  }
}

TEST_F(JournalTest, AChangedByteLosesItsEntryOrItsSuccessorsAndNeverGivesAnotherValue) {
  Fill(*Open(), 0, 4);
  const std::string whole = testing::ReadAll(path_);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    folder_.Write("journal", whole);
    Overwrite(at, static_cast<char>(whole[at] ^ 0x10));

    const auto journal = Open();
    for (int i = 0; i < 4; ++i) {
      const auto entry = journal->Find(Key(i));
      if (!entry.has_value()) continue;
      const auto value = journal->Read(*entry);
      if (value.ok()) {
        EXPECT_EQ(*value, Value(i)) << at;
      }
    }
  }
}

TEST_F(JournalTest, ThreadsMayAppendTogether) {
  {
    const auto journal = Open();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&journal, t] { Fill(*journal, 25 * t, 25 * (t + 1)); });
    }
    for (std::thread& thread : threads) thread.join();
    ExpectHolds(*journal, 0, 100);
  }
  ExpectHolds(*Open(), 0, 100);
}

TEST_F(JournalTest, ALinkInItsPlaceIsRefused) {
  fs::create_symlink(folder_.path() / "elsewhere", path_);

  EXPECT_FALSE(Journal::Open(path_, "test").ok());
  EXPECT_FALSE(fs::exists(folder_.path() / "elsewhere"));
}

}  // namespace
}  // namespace rag::indexer
