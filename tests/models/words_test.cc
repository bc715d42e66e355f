// Expected words and terms come from an independent implementation in Python (regular expressions,
// unicodedata and PyStemmer 2.2), not from this code.
#include "models/words.h"

#include <random>

#include <gtest/gtest.h>

namespace rag::models {
namespace {

using Strings = std::vector<std::string>;

Strings WordsOf(std::string_view text) { return TermAnalyzer().Words(text); }
Strings TermsOf(std::string_view text) { return TermAnalyzer().Terms(text); }

std::vector<std::uint64_t> HashesOf(TermAnalyzer& analyzer, std::string_view text) {
  std::vector<std::uint64_t> hashes;
  analyzer.AppendTermHashes(text, hashes);
  return hashes;
}

std::string RandomText(std::mt19937& random, const std::vector<std::string>& pieces) {
  std::string text;
  for (auto length = random() % 24; length > 0; --length) text += pieces[random() % pieces.size()];
  return text;
}

TEST(Words, SplitProseAtEverythingThatIsNoLetterOrDigit) {
  EXPECT_EQ(
      WordsOf("The quick brown foxes weren't jumping over 12 lazy dogs; they were running, and she "
              "ran with them."),
      (Strings{"the", "quick", "brown", "foxes", "weren", "t", "jumping", "over", "12", "lazy",
               "dogs", "they", "were", "running", "and", "she", "ran", "with", "them"}));
}

TEST(Words, AddThePartsOfCamelCaseBehindTheWhole) {
  EXPECT_EQ(WordsOf("parseHTTPResponse calls HTTPServer.getItem2List, XMLHttpRequest and iPhone "
                    "but not Plain or UPPER"),
            (Strings{"parsehttpresponse",
                     "parse",
                     "http",
                     "response",
                     "calls",
                     "httpserver",
                     "http",
                     "server",
                     "getitem2list",
                     "get",
                     "item",
                     "2",
                     "list",
                     "xmlhttprequest",
                     "xml",
                     "http",
                     "request",
                     "and",
                     "iphone",
                     "i",
                     "phone",
                     "but",
                     "not",
                     "plain",
                     "or",
                     "upper"}));
}

TEST(Words, SplitSnakeCase) {
  EXPECT_EQ(WordsOf("snake_case_name __init__ MAX_VALUE fooBar_bazQux2 _x_"),
            (Strings{"snake", "case", "name", "init", "max", "value", "foobar", "bazqux2", "foo",
                     "bar", "baz", "qux", "2", "x"}));
}

TEST(Words, StripAccents) {
  EXPECT_EQ(
      WordsOf("Café déjà vu à la façon de l'École; naïve Ångström"),
      (Strings{"cafe", "deja", "vu", "a", "la", "facon", "de", "l", "ecole", "naive", "angstrom"}));
}

TEST(Words, TakeDecomposedAccentsForTheSame) {
  EXPECT_EQ(WordsOf("Cafe\u0301 fooBa\u0301r"), (Strings{"cafe", "fooba", "foo", "bar"}));
}

TEST(Words, KeepSharpSAndStripUmlauts) {
  EXPECT_EQ(WordsOf("Straße und Übergröße im ÖPNV"),
            (Strings{"straße", "und", "ubergroße", "im", "opnv"}));
}

TEST(Words, KnowTheFinalSigma) {
  EXPECT_EQ(WordsOf("ΟΔΥΣΣΕΥΣ ΚΑΙ ΣΟΦΟΣ. Σ ΑΣ'Α"),
            (Strings{"οδυσσευς", "και", "σοφος", "σ", "ασ", "α"}));
}

TEST(Words, StripMarksOfCyrillic) {
  EXPECT_EQ(WordsOf("Ёжик и Йогурт в Москве"), (Strings{"ежик", "и", "иогурт", "в", "москве"}));
}

TEST(Words, CutChineseIntoBigrams) {
  EXPECT_EQ(WordsOf("我们在2024年使用RAG检索系统。好"),
            (Strings{"我们", "们在", "2024", "年使", "使用", "rag", "检索", "索系", "系统", "好"}));
}

TEST(Words, CutJapaneseIntoBigrams) {
  EXPECT_EQ(WordsOf("東京タワーへ行きました。\uFF8A\uFF9F\uFF7F\uFF7A\uFF9D"),
            (Strings{"東京", "京タ", "タワ", "ワー", "ーへ", "へ行", "行き", "きま", "まし", "した",
                     "ハソ", "ソコ", "コン"}));
}

TEST(Words, DecomposeHangul) {
  EXPECT_EQ(
      WordsOf("한국어 문장을 검색합니다"),
      (Strings{"\u1112\u1161\u11AB\u1100\u116E\u11A8\u110B\u1165",
               "\u1106\u116E\u11AB\u110C\u1161\u11BC\u110B\u1173\u11AF",
               "\u1100\u1165\u11B7\u1109\u1162\u11A8\u1112\u1161\u11B8\u1102\u1175\u1103\u1161"}));
}

TEST(Words, CutThaiIntoBigramsAtItsMarks) {
  EXPECT_EQ(
      WordsOf("ภาษาไทยสวยมาก ท\u0E35\u0E48น\u0E35\u0E48"),
      (Strings{"ภา", "าษ", "ษา", "าไ", "ไท", "ทย", "ยส", "สว", "วย", "ยม", "มา", "าก", "ท", "น"}));
}

TEST(Words, EndAtSpacingMarksOfDevanagari) {
  EXPECT_EQ(WordsOf("ह\u093Fन\u094Dद\u0940 भ\u093Eष\u093E"), (Strings{"ह", "नद", "भ", "ष"}));
}

TEST(Words, StripArabicVowels) {
  EXPECT_EQ(WordsOf("م\u064Fح\u064Eم\u064E\u0651د في المدينة ٣٤"),
            (Strings{"محمد", "في", "المدينة", "٣٤"}));
}

TEST(Words, StripHebrewPoints) {
  EXPECT_EQ(WordsOf("ש\u05B8\u05C1לו\u05B9ם עולם"), (Strings{"שלום", "עולם"}));
}

TEST(Words, EndAtEmoji) {
  EXPECT_EQ(WordsOf("ship it🚀now 👩\u200D💻 done✅"), (Strings{"ship", "it", "now", "done"}));
}

TEST(Words, KeepDigitsOfAnyScript) {
  EXPECT_EQ(WordsOf("v1.2.3 10,000 ½ ① Ⅷ x² 3rd ٣abc"),
            (Strings{"v1", "2", "3", "10", "000", "1", "2", "1", "viii", "x2", "3rd", "٣abc"}));
}

TEST(Words, FoldCompatibilityCharacters) {
  EXPECT_EQ(WordsOf("ﬁnd the oﬃce™ ℕumbers K2 İstanbul \uFF26\uFF35\uFF2C\uFF2C"),
            (Strings{"find", "the", "officeTM", "Numbers", "k2", "istanbul", "full"}));
}

TEST(Words, MixScriptsInOneIdentifier) {
  EXPECT_EQ(WordsOf("getÜberName naïveBayes x漢字y αBeta aB漢字C9z"),
            (Strings{"getubername", "naivebayes", "x", "漢字", "y", "αbeta", "ab", "漢字", "c9z",
                     "a", "b", "c", "9", "z"}));
}

TEST(Words, EndAtInvisibleCharacters) {
  EXPECT_EQ(WordsOf("soft\u00ADhyphen zero\u200Bwidth non\u00A0breaking\uFEFFmark"),
            (Strings{"soft", "hyphen", "zero", "width", "non", "breaking", "mark"}));
}

TEST(Words, AreNoneInEmptyAndBlankText) {
  EXPECT_EQ(WordsOf(""), Strings{});
  EXPECT_EQ(WordsOf(" \t\n..--__"), Strings{});
}

TEST(Words, KeepZeroBytesApart) {
  EXPECT_EQ(WordsOf(std::string_view("one\0two", 7)), (Strings{"one", "two"}));
}

TEST(Words, EndAtBadBytes) {
  EXPECT_EQ(WordsOf("foo\xFF"
                    "bar \xC0\xAFover \xED\xA0\x80half cut\xE6\xBC"),
            (Strings{"foo", "bar", "over", "half", "cut"}));
}

TEST(Words, ReadNoByteBeyondTheText) {
  const std::string text = "caf\u00E9 \u6F22\u5B57";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::vector<char> exact(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_LE(WordsOf({exact.data(), exact.size()}).size(), 2U);
  }
}

// An em dash in front sends the same characters down the general path.
TEST(Words, AreTheSameOnTheAsciiPath) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    const std::string text = RandomText(random, {"a", "b", "A", "B", "1", "_", ".", "'", "Zz"});
    ASSERT_EQ(WordsOf(text), WordsOf("\u2014" + text)) << text;
  }
}

TEST(Words, OfABlankSeparatedTextAreThoseOfItsParts) {
  std::mt19937 random(2);
  const Strings pieces = {"a",      "B",      "_",      "7",      "'",      "\u00E9", "\u0301",
                          "\u03A3", "\u6F22", "\u5B57", "\uFB01", "\u00AD", "\xF0"};
  for (int round = 0; round < 5000; ++round) {
    const std::string left = RandomText(random, pieces);
    const std::string right = RandomText(random, pieces);
    Strings expected = WordsOf(left);
    for (const std::string& word : WordsOf(right)) expected.push_back(word);
    ASSERT_EQ(WordsOf(left + "\n" + right), expected) << left << '|' << right;
  }
}

TEST(Words, OfAnEndlessWordTakeLinearTime) {
  constexpr std::size_t kLength = 1'000'000;
  EXPECT_EQ(WordsOf(std::string(kLength, 'x')), Strings{std::string(kLength, 'x')});
  std::string camel;
  while (camel.size() < kLength) camel += "Ab";
  EXPECT_EQ(WordsOf(camel).size(), 1 + kLength / 2);
}

TEST(Terms, StemAndDropStopWords) {
  EXPECT_EQ(TermsOf("The quick brown foxes weren't jumping over 12 lazy dogs; they were running, "
                    "and she ran with them."),
            (Strings{"quick", "brown", "fox", "weren", "t", "jump", "over", "12", "lazi", "dog",
                     "run", "ran"}));
}

TEST(Terms, StemThePartsOfIdentifiers) {
  EXPECT_EQ(TermsOf("parseHTTPResponse calls HTTPServer.getItem2List, XMLHttpRequest and iPhone "
                    "but not Plain or UPPER"),
            (Strings{"parsehttprespons",
                     "pars",
                     "http",
                     "respons",
                     "call",
                     "httpserver",
                     "http",
                     "server",
                     "getitem2list",
                     "get",
                     "item",
                     "2",
                     "list",
                     "xmlhttprequest",
                     "xml",
                     "http",
                     "request",
                     "iphon",
                     "phone",
                     "plain",
                     "upper"}));
}

TEST(Terms, LeaveOtherScriptsAlone) {
  EXPECT_EQ(TermsOf("getÜberName naïveBayes x漢字y αBeta aB漢字C9z"),
            (Strings{"getubernam", "naivebay", "x", "漢字", "y", "αbeta", "ab", "漢字", "c9z", "b",
                     "c", "9", "z"}));
}

TEST(Terms, AreThoseOfSnowballTwo) {
  EXPECT_EQ(TermsOf("internal international added evening university"),
            (Strings{"intern", "intern", "ad", "even", "univers"}));
}

TEST(Terms, DropAStopWordBeforeStemming) {
  EXPECT_EQ(TermsOf("uses USE use dos"), (Strings{"use", "dos"}));
  EXPECT_TRUE(TermAnalyzer::IsStopWord("your"));
  EXPECT_FALSE(TermAnalyzer::IsStopWord("yours"));
  EXPECT_FALSE(TermAnalyzer::IsStopWord(""));
}

TEST(Terms, StemAVeryLongWord) {
  const std::string stem = std::string(300, 'z') + "ark";
  EXPECT_EQ(TermsOf(stem + "ing"), Strings{stem});
}

TEST(TermHashes, AreXxh3OfTheTerm) {
  EXPECT_EQ(TermHash(""), 0x2D06800538D394C2ULL);
  EXPECT_EQ(TermHash("retriev"), 0x03C422E7FCA4233DULL);
  EXPECT_EQ(TermHash("\u6F22\u5B57"), 0xC45BCBDD9899FC81ULL);
}

TEST(TermHashes, AreThoseOfTheTermsInOrder) {
  TermAnalyzer analyzer;
  const std::string text =
      "The retrieval of retrieved chunks, getItem_two caf\u00E9s \u6F22\u5B57\u6F22";
  std::vector<std::uint64_t> expected;
  for (const std::string& term : analyzer.Terms(text)) expected.push_back(TermHash(term));
  EXPECT_EQ(HashesOf(analyzer, text), expected);
  EXPECT_EQ(HashesOf(analyzer, text), expected) << "from the memo";
}

TEST(TermHashes, AreAppended) {
  TermAnalyzer analyzer;
  std::vector<std::uint64_t> hashes = {7};
  analyzer.AppendTermHashes("word", hashes);
  EXPECT_EQ(hashes, (std::vector<std::uint64_t>{7, TermHash("word")}));
}

TEST(TermHashes, SurviveMoreWordsThanTheMemoHolds) {
  TermAnalyzer analyzer;
  const std::string probe = "running foxes and the dogs";
  const std::vector<std::uint64_t> before = HashesOf(analyzer, probe);
  constexpr int kNumWords = 530'000;
  std::string text;
  for (int i = 0; i < kNumWords; ++i) text += std::to_string(i) + ' ';
  EXPECT_EQ(HashesOf(analyzer, text).size(), static_cast<std::size_t>(kNumWords));
  EXPECT_EQ(HashesOf(analyzer, probe), before);
}

TEST(TermAnalyzer, WorksAfterAMove) {
  TermAnalyzer first;
  TermAnalyzer second = std::move(first);
  EXPECT_EQ(second.Terms("moved words"), (Strings{"move", "word"}));
}

TEST(WordsId, NamesRulesAndStemmer) { EXPECT_EQ(WordsId(), "words-v1/snowball-english"); }

}  // namespace
}  // namespace rag::models
