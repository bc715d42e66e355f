// Expected similarities come from a reference in Python (re, collections.Counter, math.sqrt).
#include "models/article_words.h"

#include <gtest/gtest.h>

namespace rag::models {
namespace {

using Strings = std::vector<std::string>;
constexpr std::string_view kQuestion =
    "How does the budget limit a model prompt when retrieval fails?";

TEST(ArticleWords, DropStopWordsAndSingleCharacters) {
  EXPECT_EQ(ArticleWords("The model is a TEST-case of x2 and 42, I use fooBar_baz"),
            (Strings{"model", "test", "case", "x2", "42", "foobar", "baz"}));
}

TEST(ArticleWords, EndAtCharactersBeyondAscii) {
  EXPECT_EQ(ArticleWords("na\u00EFve r\u00E9sum\u00E9 \u6F22\u5B57 end"),
            (Strings{"na", "ve", "sum", "end"}));
}

TEST(ArticleWords, TakeTheKelvinSignForK) {
  EXPECT_EQ(ArticleWords("\u212Aelvin \u212A9"), (Strings{"kelvin", "k9"}));
}

TEST(ArticleWords, TakeTheDottedCapitalForAnIThatEndsAWord) {
  EXPECT_EQ(ArticleWords("\u0130stanbul sk\u0130ll"), (Strings{"stanbul", "ski", "ll"}));
}

TEST(ArticleWords, AreNoneInEmptyText) { EXPECT_EQ(ArticleWords(""), Strings{}); }

TEST(ArticleWords, SurviveCutCharacters) {
  EXPECT_EQ(ArticleWords("ab\xE2"), Strings{"ab"});
  EXPECT_EQ(ArticleWords("ab\xE2\x84"), Strings{"ab"});
  EXPECT_EQ(ArticleWords("ab\xC4"), Strings{"ab"});
}

TEST(ArticleTerms, PriorityTermsAreImportantToo) {
  for (const char* word : {"budget", "fail", "failure", "failures"}) {
    EXPECT_TRUE(IsArticlePriority(word)) << word;
    EXPECT_TRUE(IsArticleImportant(word)) << word;
  }
  EXPECT_TRUE(IsArticleImportant("window"));
  EXPECT_FALSE(IsArticlePriority("window"));
  EXPECT_FALSE(IsArticleImportant("windows"));
}

TEST(ArticleSimilarity, AddsBonusesToTheCosine) {
  EXPECT_NEAR(
      ArticleSimilarity(kQuestion,
                        "A budget is a limit. The budget of the prompt is fixed, so retrieval "
                        "has to be short."),
      1.302518907630, 1e-11);
}

TEST(ArticleSimilarity, GivesTheSmallBonusToImportantWords) {
  EXPECT_NEAR(
      ArticleSimilarity(kQuestion, "Gardens need water, and the model railway needs a window."),
      0.275988157670, 1e-11);
}

TEST(ArticleSimilarity, CountsRepeatedWords) {
  EXPECT_NEAR(ArticleSimilarity(kQuestion,
                                "Prompt failures: the failure to retrieve; the model will fail."),
              0.551976315339, 1e-11);
}

TEST(ArticleSimilarity, OfATextWithItselfIsOneAndBonuses) {
  EXPECT_NEAR(ArticleSimilarity(kQuestion, kQuestion), 1.95, 1e-11);
}

TEST(ArticleSimilarity, IsZeroWithoutCommonWords) {
  EXPECT_EQ(ArticleSimilarity(kQuestion, "Bread rises slowly in winter."), 0.0);
}

TEST(ArticleSimilarity, IsZeroWhenASideHasNoWords) {
  EXPECT_EQ(ArticleSimilarity("", "budget"), 0.0);
  EXPECT_EQ(ArticleSimilarity("budget", "the a of"), 0.0);
}

}  // namespace
}  // namespace rag::models
