#include "indexer/spill.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/testing/temp_folder.h"

namespace rag::indexer {
namespace {

class SpillTest : public ::testing::Test {
 protected:
  Spill Make() { return Spill::Create(folder_.path() / "documents.spill").value(); }

  testing::TempFolder folder_;
};

std::vector<std::string> ReadBack(Spill& spill) {
  std::vector<std::string> blobs;
  while (true) {
    std::optional<std::string> blob = spill.Next().value();
    if (!blob.has_value()) return blobs;
    blobs.push_back(*std::move(blob));
  }
}

TEST_F(SpillTest, GivesBackWhatWasAppendedInOrder) {
  const std::vector<std::string> blobs = {
      "one", "", std::string("\0\n\xff", 3), "four", std::string(3'000'000, 'x'), ""};
  Spill spill = Make();
  for (const std::string& blob : blobs) ASSERT_TRUE(spill.Append(blob).ok());

  ASSERT_TRUE(spill.Rewind().ok());

  EXPECT_EQ(ReadBack(spill), blobs);
}

TEST_F(SpillTest, OfNothingHasNothing) {
  Spill spill = Make();
  ASSERT_TRUE(spill.Rewind().ok());
  EXPECT_TRUE(ReadBack(spill).empty());
}

TEST_F(SpillTest, TheEndCanBeAskedForAgain) {
  Spill spill = Make();
  ASSERT_TRUE(spill.Append("one").ok());
  ASSERT_TRUE(spill.Rewind().ok());
  EXPECT_EQ(spill.Next().value(), "one");
  EXPECT_EQ(spill.Next().value(), std::nullopt);
  EXPECT_EQ(spill.Next().value(), std::nullopt);
}

TEST_F(SpillTest, CanBeMovedBetweenWritingAndReading) {
  Spill spill = Make();
  ASSERT_TRUE(spill.Append("one").ok());
  Spill moved = std::move(spill);
  ASSERT_TRUE(moved.Append("two").ok());
  ASSERT_TRUE(moved.Rewind().ok());
  EXPECT_EQ(ReadBack(moved), (std::vector<std::string>{"one", "two"}));
}

TEST_F(SpillTest, AFolderThatIsMissingIsAnErrorThatNamesThePath) {
  const auto spill = Spill::Create(folder_.path() / "missing" / "documents.spill");

  ASSERT_FALSE(spill.ok());
  EXPECT_NE(spill.status().message().find("missing/documents.spill"), std::string::npos);
}

TEST_F(SpillTest, AFullDiskIsResourceExhausted) {
  Spill spill = Spill::Create("/dev/full").value();

  absl::Status status = spill.Append(std::string(1'000'000, 'x'));
  if (status.ok()) status = spill.Rewind();

  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
}

TEST_F(SpillTest, AFullDiskIsFoundAtTheLatestWhenWritingEnds) {
  Spill spill = Spill::Create("/dev/full").value();
  ASSERT_TRUE(spill.Append("fits the buffer").ok());

  EXPECT_TRUE(absl::IsResourceExhausted(spill.Rewind()));
}

TEST_F(SpillTest, ATruncatedFileIsAnError) {
  Spill spill = Make();
  ASSERT_TRUE(spill.Append(std::string(100'000, 'x')).ok());
  ASSERT_TRUE(spill.Rewind().ok());
  std::filesystem::resize_file(folder_.path() / "documents.spill", 50'000);

  EXPECT_FALSE(spill.Next().ok());
}

}  // namespace
}  // namespace rag::indexer
