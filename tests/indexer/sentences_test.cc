#include "indexer/sentences.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "indexer/characters.h"

namespace rag::indexer {
namespace {

using Strings = std::vector<std::string>;

Strings Split(std::string_view text) {
  Strings out;
  for (const formats::Span& span : SplitSentences(text)) {
    out.emplace_back(text.substr(span.start, span.size()));
  }
  return out;
}

TEST(SplitSentences, EndsAfterStopsBeforeWhiteSpace) {
  EXPECT_EQ(Split("  One. Two!\nThree? Four"), (Strings{"One.", "Two!", "Three?", "Four"}));
}

TEST(SplitSentences, BlankTextHasNone) {
  EXPECT_TRUE(Split("").empty());
  EXPECT_TRUE(Split(" \r\n\t\xC2\xA0\xE3\x80\x80").empty());
}

TEST(SplitSentences, StopsInsideNumbersVersionsAndAddressesEndNone) {
  const std::string text = "At 9.30 use 1.22.2 from lamps.example.org/a.b?c=1 for 3.14 dB";
  EXPECT_EQ(Split(text), Strings{text});
}

TEST(SplitSentences, ClosingQuotesAndBracketsBelongToTheSentence) {
  EXPECT_EQ(
      Split("He said: \"Stop.\" Then (he left.) \xE2\x80\x9CWell?!\xE2\x80\x9D Yes."),
      (Strings{"He said: \"Stop.\"", "Then (he left.)", "\xE2\x80\x9CWell?!\xE2\x80\x9D", "Yes."}));
}

TEST(SplitSentences, RunsOfStopsAreOneEnd) {
  EXPECT_EQ(Split("Yes... Mostly. Safe?! Yes"), (Strings{"Yes...", "Mostly.", "Safe?!", "Yes"}));
}

TEST(SplitSentences, AnEllipsisBeforeLowerCaseEndsNone) {
  EXPECT_EQ(Split("Yes... mostly. Well... 3 of them."),
            (Strings{"Yes... mostly.", "Well...", "3 of them."}));
}

TEST(SplitSentences, ChineseAndJapaneseNeedNoWhiteSpace) {
  EXPECT_EQ(Split("第一句。第二句！「第三句？」第四句"),
            (Strings{"第一句。", "第二句！", "「第三句？」", "第四句"}));
}

TEST(SplitSentences, DandaEndsASentence) {
  EXPECT_EQ(Split("पहला वाक्य। दूसरा वाक्य॥तीसरा"), (Strings{"पहला वाक्य।", "दूसरा वाक्य॥", "तीसरा"}));
}

TEST(SplitSentences, FullStopsOfOtherScriptsNeedNoWhiteSpace) {
  EXPECT_EQ(Split("هل المصباح مضاء؟ نعم.هنا؟نعم"),
            (Strings{"هل المصباح مضاء؟", "نعم.هنا؟", "نعم"}));
  EXPECT_EQ(Split("چراغ جل رہا ہے۔ دروازہ بند ہے۔"),
            (Strings{"چراغ جل رہا ہے۔", "دروازہ بند ہے۔"}));
  EXPECT_EQ(Split("መብራቱ በርቷል።በሩ ተዘግቷል።"), (Strings{"መብራቱ በርቷል።", "በሩ ተዘግቷል።"}));
  EXPECT_EQ(Split("ភ្លើងឆេះ។ទ្វារបិទ"), (Strings{"ភ្លើងឆេះ។", "ទ្វារបិទ"}));
  EXPECT_EQ(Split("မီးလင်းသည်။တံခါးပိတ်သည်။"), (Strings{"မီးလင်းသည်။", "တံခါးပိတ်သည်။"}));
  EXPECT_EQ(Split("Լույսը վառ է։ Դուռը փակ է։"), (Strings{"Լույսը վառ է։", "Դուռը փակ է։"}));
}

TEST(SplitSentences, ThaiAndLaoEndSentencesWithASpace) {
  EXPECT_EQ(Split("ไฟสว่างแล้ว ประตูปิดอยู่"), (Strings{"ไฟสว่างแล้ว", "ประตูปิดอยู่"}));
  EXPECT_EQ(Split("ໄຟເປີດ ປະຕູປິດ"), (Strings{"ໄຟເປີດ", "ປະຕູປິດ"}));
  // Not at a space beside a number, another script or a sign that belongs to the word before.
  for (const char* one : {"ปิดไฟเวลา 22 นาฬิกา", "ใช้ LED ดีกว่า", "ช้า ๆ"}) {
    EXPECT_EQ(Split(one), Strings{one});
  }
}

TEST(SplitSentences, TheStopOfFullWidthMayBeADecimalPoint) {
  EXPECT_EQ(Split("灯は３．５ｍ．窓は２m．"), (Strings{"灯は３．５ｍ．", "窓は２m．"}));
}

TEST(SplitSentences, ABlankLineEndsASentence) {
  for (const char* gap : {"\n\n", "\r\n\r\n", "\r\r", "\n \t\n", "\n\r"}) {
    EXPECT_EQ(Split(std::string("No stop") + gap + "next"), (Strings{"No stop", "next"}));
  }
}

TEST(SplitSentences, ALineEndAloneEndsNone) { EXPECT_EQ(Split("No\r\nstop\nhere").size(), 1U); }

TEST(SplitSentences, TitlesEndNone) {
  EXPECT_EQ(Split("Dr. Osk met Prof. Tarn. They spoke."),
            (Strings{"Dr. Osk met Prof. Tarn.", "They spoke."}));
}

TEST(SplitSentences, InitialsInARowAndTitlesBeforeANameEndNone) {
  EXPECT_EQ(Split("So J. R. Osk of St. Ann met Capt. Tarn in Osk v. Tarn. They spoke."),
            (Strings{"So J. R. Osk of St. Ann met Capt. Tarn in Osk v. Tarn.", "They spoke."}));
  // A letter alone may be the end of a sentence.
  EXPECT_EQ(Split("See table C. The rest is in J. R. Osk."),
            (Strings{"See table C.", "The rest is in J. R. Osk."}));
}

TEST(SplitSentences, AbbreviationsBeforeLowerCaseOrDigitsEndNone) {
  const std::string text =
      "See Fig. 2 and vol. 4 at 9 a.m. on Jan. 4, e.g. the U.S. team etc. or so.";
  EXPECT_EQ(Split(text), Strings{text});
}

TEST(SplitSentences, AbbreviationsBeforeUpperCaseEndASentence) {
  EXPECT_EQ(Split("Ropes, oil etc. Next").size(), 2U);
}

TEST(SplitSentences, DoesNotPartASpaceFromTheMarkOnIt) {
  EXPECT_EQ(Split("One. \xCC\x81Two").size(), 1U);
}

TEST(SplitSentences, DoesNotPartAStopFromTheMarkOnIt) {
  EXPECT_EQ(Split("第。\xCC\x81第").size(), 1U);
}

TEST(SplitSentences, RangesAscendAndCoverAllThatIsNotWhiteSpace) {
  const Strings parts = {"a",        "Dr",
                         ".",        "!",
                         " ",        "\n",
                         "\r\n",     "\xE3\x80\x80",
                         "。",       "\"",
                         "\xCC\x81", "e.g.",
                         "3",        "\xF0\x9F\x98\x80",
                         "\xC2\xA0", "”"};
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (std::size_t n = random() % 40; n > 0; --n) text += parts[random() % parts.size()];
    std::uint64_t end = 0;
    std::string covered;
    for (const formats::Span& span : SplitSentences(text)) {
      ASSERT_LT(span.start, span.end);
      ASSERT_GE(span.start, end);
      covered += CollapseWhiteSpace(text.substr(span.start, span.size()));
      end = span.end;
    }
    std::string want = CollapseWhiteSpace(text);
    std::erase(want, ' ');
    std::erase(covered, ' ');
    ASSERT_EQ(covered, want) << text;
  }
}

TEST(CollapseWhiteSpace, MakesOneSpaceOfEveryRunAndTrims) {
  EXPECT_EQ(CollapseWhiteSpace(" \n a\r\n\tb\xE3\x80\x80\xC2\xA0 c\x1C "), "a b c");
  EXPECT_EQ(CollapseWhiteSpace(" \n "), "");
}

TEST(ArticleSentences, SplitAfterEveryStopBeforeASpace) {
  EXPECT_EQ(ArticleSentences("Dr. Osk\n met  3.5 men! \"So?\" Yes. "),
            (Strings{"Dr.", "Osk met 3.5 men!", "\"So?\" Yes."}));
}

TEST(ArticleSentences, BlankTextHasNone) { EXPECT_TRUE(ArticleSentences(" \n").empty()); }

}  // namespace
}  // namespace rag::indexer
