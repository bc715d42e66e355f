#include "indexer/token_splitter.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace rag::indexer {
namespace {

using formats::MediaType;
using Strings = std::vector<std::string>;

std::shared_ptr<const models::TokenCounter> Counter() {
  return *models::MakeTokenCounter(models::kDefaultTokenCounter);
}

Strings Split(const TokenSizes& sizes, std::string_view text) {
  const auto splitter = MakeTokenSplitter(sizes, Counter());
  EXPECT_TRUE(splitter.ok()) << splitter.status();
  Strings out;
  for (const SplitChunk& chunk : (*splitter)->Split(text, MediaType::kPlainText).chunks) {
    out.emplace_back(text.substr(chunk.range.start, chunk.range.size()));
  }
  return out;
}

TEST(TokenSplitter, WindowsHoldWholeWordsWhateverLinesTheyAreIn) {
  EXPECT_EQ(Split({3, 0}, "Tar.\n\nAnd rope. And oil"),
            (Strings{"Tar.\n\nAnd", "rope. And", "oil"}));
}

TEST(TokenSplitter, WindowsOverlapByWholeWords) {
  EXPECT_EQ(Split({3, 1}, "tar and oil for all"), (Strings{"tar and oil", "oil for all"}));
}

TEST(TokenSplitter, ScriptsWithoutSpacesFillTheirWindows) {
  EXPECT_EQ(Split({4, 1}, "灯塔今晚照常亮"), (Strings{"灯塔今晚", "晚照常亮"}));
  EXPECT_EQ(Split({4, 0}, "tar 灯塔今晚照常"), (Strings{"tar 灯塔今", "晚照常"}));
}

TEST(TokenSplitter, LongWordsAreCutBehindPunctuation) {
  EXPECT_EQ(Split({2, 0}, "a=[1,2];b=[3]"), (Strings{"a=[1,2];", "b=[3]"}));
}

TEST(TokenSplitter, ACodePointThatCostsMoreThanAWindowIsAChunk) {
  EXPECT_EQ(Split({1, 0}, "灯塔"), (Strings{"灯", "塔"}));
}

TEST(TokenSplitter, NoWindowCostsMoreThanItsSize) {
  const auto counter = Counter();
  std::string text;
  for (int i = 0; i < 300; ++i) text += i % 7 == 0 ? "灯塔\n" : "lantern ";
  Strings windows = Split({20, 5}, text);
  ASSERT_GT(windows.size(), 30U);
  EXPECT_LE(counter->CountTokens(windows.back()), 20U);
  windows.pop_back();  // may be short
  for (const std::string& window : windows) {
    EXPECT_LE(counter->CountTokens(window), 20U) << window;
    EXPECT_GE(counter->CountTokens(window), 18U) << window;
  }
}

TEST(TokenSplitter, RefusesSizesThatNeverMoveOn) {
  for (const TokenSizes& sizes : {TokenSizes{0, 0}, TokenSizes{30, 30}, TokenSizes{30, 31}}) {
    const absl::Status status = MakeTokenSplitter(sizes, Counter()).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    for (const std::uint32_t value : {sizes.size, sizes.overlap}) {
      EXPECT_NE(status.message().find(std::to_string(value)), std::string::npos) << status;
    }
  }
}

TEST(TokenSplitter, TheIdNamesEveryValue) {
  EXPECT_EQ((*MakeTokenSplitter({100, 10}, Counter()))->Id(),
            "tokens-v1/size=100/overlap=10/unit=chars4-v1");
}

}  // namespace
}  // namespace rag::indexer
