#include "models/token_counter.h"

#include <string>

#include <gtest/gtest.h>

namespace rag::models {
namespace {

std::unique_ptr<TokenCounter> Make(std::string_view id) {
  absl::StatusOr<std::unique_ptr<TokenCounter>> counter = MakeTokenCounter(id);
  EXPECT_TRUE(counter.ok()) << counter.status();
  return std::move(counter).value();
}

TEST(Chars4, CostsAQuarterOfATokenACodePoint) {
  const auto counter = Make(kDefaultTokenCounter);
  EXPECT_EQ(counter->units_per_token(), 4U);
  EXPECT_EQ(counter->Cost("twelve chars"), 12U);
  EXPECT_EQ(counter->CountTokens("twelve chars"), 3U);
}

TEST(Chars4, RoundsUpOnce) {
  const auto counter = Make(kDefaultTokenCounter);
  EXPECT_EQ(counter->CountTokens(""), 0U);
  EXPECT_EQ(counter->CountTokens("a"), 1U);
  EXPECT_EQ(counter->CountTokens("abcd"), 1U);
  EXPECT_EQ(counter->CountTokens("abcde"), 2U);
}

TEST(Chars4, CountsAccentsAndEmojiByCodePoint) {
  const auto counter = Make(kDefaultTokenCounter);
  EXPECT_EQ(counter->Cost("\u00E9\u0416\u2014\U0001F680"), 4U);
}

TEST(Chars4, CostsATokenACharacterOfSpelledOutScripts) {
  const auto counter = Make(kDefaultTokenCounter);
  EXPECT_EQ(counter->Cost("\u6F22\u5B57"), 8U) << "ideographs";
  EXPECT_EQ(counter->Cost("\u304B\u30AB\uFF76"), 12U) << "kana";
  EXPECT_EQ(counter->Cost("\uD55C\uAE00"), 8U) << "Hangul";
  EXPECT_EQ(counter->Cost("\u0E01\u0E34"), 8U) << "Thai";
  EXPECT_EQ(counter->Cost("\U00020000\uF900"), 8U) << "rare ideographs";
}

TEST(Chars4, EndsTheSpelledOutRangesWhereTheyEnd) {
  const auto counter = Make(kDefaultTokenCounter);
  EXPECT_EQ(counter->Cost("\u0DF4\u0E80\u33FF\u4DC0\uA000\uABF9\uD7FB\uFB00"), 8U);
}

TEST(Chars4, CountsEachBadByte) {
  const auto counter = Make(kDefaultTokenCounter);
  EXPECT_EQ(counter->Cost("a\xFF\xFE"
                          "b"),
            4U);
  EXPECT_EQ(counter->Cost("\xE6\xBC"), 2U) << "cut";
  EXPECT_EQ(counter->Cost("\xED\xA0\x80"), 3U) << "surrogate";
  EXPECT_EQ(counter->Cost("\xC0\xAF"), 2U) << "overlong";
}

TEST(Chars4, CostsOfPiecesAddUp) {
  const auto counter = Make(kDefaultTokenCounter);
  const std::string left = "caf\u00E9 ";
  const std::string right = "\u6F22\u5B57 and so on";
  EXPECT_EQ(counter->Cost(left) + counter->Cost(right), counter->Cost(left + right));
}

TEST(ArticleChars4, RoundsDownButNeverToNothing) {
  const auto counter = Make(kArticleTokenCounter);
  EXPECT_EQ(counter->units_per_token(), 1U);
  EXPECT_EQ(counter->CountTokens(""), 1U);
  EXPECT_EQ(counter->CountTokens("abcdefg"), 1U);
  EXPECT_EQ(counter->CountTokens("abcdefgh"), 2U);
}

TEST(ArticleChars4, CountsEveryScriptAlike) {
  const auto counter = Make(kArticleTokenCounter);
  EXPECT_EQ(counter->CountTokens("\u6F22\u5B57\u6F22\u5B57\u00E9\u00E9\u00E9\u00E9"), 2U);
  EXPECT_EQ(counter->CountTokens("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), 2U);
}

TEST(MakeTokenCounter, KeepsTheId) {
  EXPECT_EQ(Make("chars4-v1")->Id(), "chars4-v1");
  EXPECT_EQ(Make("article-chars4-v1")->Id(), "article-chars4-v1");
}

TEST(MakeTokenCounter, ListsWhatItHasWhenTheIdIsUnknown) {
  const absl::Status status = MakeTokenCounter("chars5").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.ToString().find("\"chars5\""), std::string::npos);
  EXPECT_NE(status.ToString().find("chars4-v1, article-chars4-v1"), std::string::npos);
}

TEST(CountCodePoints, SkipsContinuationBytes) {
  EXPECT_EQ(CountCodePoints(""), 0U);
  EXPECT_EQ(CountCodePoints("a\u00E9\u6F22\U0001F680"), 4U);
}

}  // namespace
}  // namespace rag::models
