#include "indexer/recursive_splitter.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "indexer/characters.h"
#include "models/token_counter.h"

namespace rag::indexer {
namespace {

using formats::MediaType;
using Strings = std::vector<std::string>;

Strings Split(const RecursiveSizes& sizes, std::string_view text,
              const TextRuler& ruler = TextRuler()) {
  const auto splitter = MakeRecursiveSplitter(sizes, ruler);
  EXPECT_TRUE(splitter.ok()) << splitter.status();
  Strings out;
  for (const SplitChunk& chunk : (*splitter)->Split(text, MediaType::kPlainText).chunks) {
    out.emplace_back(text.substr(chunk.range.start, chunk.range.size()));
  }
  return out;
}

TextRuler Tokens() {
  return TextRuler(std::shared_ptr(*models::MakeTokenCounter(models::kDefaultTokenCounter)));
}

TEST(RecursiveSplitter, PacksParagraphsUpToTheSize) {
  EXPECT_EQ(Split({12, 0}, "One.\n\nTwo.\n\nThree.\n"), (Strings{"One.\n\nTwo.", "Three."}));
  EXPECT_EQ(Split({10, 0}, "One.\n\nTwo.\n\nThree.\n"), (Strings{"One.\n\nTwo.", "Three."}));
  EXPECT_EQ(Split({9, 0}, "One.\n\nTwo.\n\nThree.\n"), (Strings{"One.", "Two.", "Three."}));
}

TEST(RecursiveSplitter, CutsALongParagraphAtLineEndsFirst) {
  EXPECT_EQ(Split({12, 0}, "A. B\nlamp rope\ntar. Oil"),
            (Strings{"A. B", "lamp rope", "tar. Oil"}));
}

TEST(RecursiveSplitter, CutsALongLineAtSentenceEnds) {
  EXPECT_EQ(Split({14, 0}, "Oil it. Wipe it. Light it."),
            (Strings{"Oil it.", "Wipe it.", "Light it."}));
}

TEST(RecursiveSplitter, CutsALongSentenceAtWhiteSpace) {
  EXPECT_EQ(Split({10, 0}, "tar and rope and oil"), (Strings{"tar and", "rope and", "oil"}));
}

TEST(RecursiveSplitter, CutsALongWordBehindPunctuationAndThenAnywhere) {
  EXPECT_EQ(Split({6, 0}, "a=1;b={2},c;longword"),
            (Strings{"a=1;", "b={2},", "c;", "longwo", "rd"}));
}

TEST(RecursiveSplitter, WhatWasCutSharesNoChunkWithItsNeighbours) {
  EXPECT_EQ(Split({10, 0}, "Tar.\n\nrope and oil\n\nSoap."),
            (Strings{"Tar.", "rope and", "oil", "Soap."}));
}

TEST(RecursiveSplitter, LineEndsOfEverySystemGiveTheSameChunks) {
  const std::string text = "Reef early.\n\nTwo lines\nhere, and more\n \t\nThe end.";
  const Strings want = Split({16, 0}, text);
  EXPECT_EQ(want.size(), 4U);
  for (const std::string line_end : {"\r\n", "\r"}) {
    std::string other;
    for (const char c : text) other += c == '\n' ? line_end : std::string(1, c);
    EXPECT_EQ(Split({16, 0}, other), want);
  }
}

TEST(RecursiveSplitter, IndentationStaysWithItsLine) {
  EXPECT_EQ(Split({12, 0}, "if lit:\n    trim()\n    oil()"),
            (Strings{"if lit:", "    trim()", "    oil()"}));
}

TEST(RecursiveSplitter, AChunkStartsWithTheLastWholeWordsOfTheOneBefore) {
  EXPECT_EQ(Split({14, 6}, "tar and rope and oil and soap"),
            (Strings{"tar and rope", "rope and oil", "oil and soap"}));
  EXPECT_EQ(
      Split({14, 8}, "tar and rope and oil and soap"),
      (Strings{"tar and rope", "and rope and", "rope and oil", "and oil and", "oil and soap"}));
}

TEST(RecursiveSplitter, TheOverlapLeavesRoomForTheNextPiece) {
  EXPECT_EQ(Split({20, 15}, "One two three.\n\nSeventeen letters."),
            (Strings{"One two three.", "Seventeen letters."}));
  EXPECT_EQ(Split({26, 15}, "One two three.\n\nSeventeen letters."),
            (Strings{"One two three.", "three.\n\nSeventeen letters."}));
}

TEST(RecursiveSplitter, ALongWordOverlapsByClusters) {
  EXPECT_EQ(Split({6, 2}, "abcdefghij"), (Strings{"abcdef", "efghij"}));
  EXPECT_EQ(Split({4, 3}, "abcdef"), (Strings{"abcd", "bcde", "cdef"}));
}

TEST(RecursiveSplitter, CutsNoClusterThatFits) {
  const std::string family = "\U0001F469\u200D\U0001F469\u200D\U0001F467";  // 5 code points
  EXPECT_EQ(Split({7, 0}, family + family + "x"), (Strings{family, family + "x"}));
}

TEST(RecursiveSplitter, CutsAClusterThatIsLongerThanAChunk) {
  const std::string family = "\U0001F469\u200D\U0001F469";
  EXPECT_EQ(Split({2, 0}, family), (Strings{"\U0001F469\u200D", "\U0001F469"}));
  EXPECT_EQ(Split({1, 0}, "e\u0301"), (Strings{"e", "\u0301"}));
}

TEST(RecursiveSplitter, SizesMayBeTokens) {
  // A quarter of a token a letter, a whole one for each ideograph.
  EXPECT_EQ(Split({3, 0}, "tar and rope and oil", Tokens()), (Strings{"tar and rope", "and oil"}));
  EXPECT_EQ(Split({3, 0}, "灯塔今晚照常", Tokens()), (Strings{"灯塔今", "晚照常"}));
}

TEST(RecursiveSplitter, ASummingErrorOfTheCounterMakesNoChunkTooLong) {
  // This counter rounds down, so that words cost less one by one than together.
  const auto counter =
      std::shared_ptr<const models::TokenCounter>(*models::MakeTokenCounter("article-chars4-v1"));
  std::string text;
  for (int i = 0; i < 200; ++i) text += "lantern ";
  for (const std::uint32_t overlap : {0U, 3U, 9U}) {
    for (const std::string& chunk : Split({10, overlap}, text, TextRuler(counter))) {
      EXPECT_LE(counter->CountTokens(chunk), 10U) << chunk;
    }
  }
}

TEST(RecursiveSplitter, AByteOrderMarkIsInNoChunk) {
  EXPECT_EQ(Split({400, 0}, "\xEF\xBB\xBFTar.\n"), Strings{"Tar."});
}

TEST(RecursiveSplitter, BlankTextHasNoChunksAndNoParents) {
  const auto splitter = *MakeRecursiveSplitter({}, TextRuler());
  const SplitDocument document = splitter->Split(" \r\n\t\n", MediaType::kMarkdown);
  EXPECT_TRUE(document.chunks.empty());
  EXPECT_TRUE(document.parents.empty());
}

TEST(RecursiveSplitter, TheDocumentIsTheParentAndTheFirstHeadingItsTitle) {
  const auto splitter = *MakeRecursiveSplitter({10, 0}, TextRuler());
  const std::string text = "Intro.\n\n# Lamps\n\nTrim them.\n";
  const SplitDocument document = splitter->Split(text, MediaType::kMarkdown);
  EXPECT_EQ(document.title, "Lamps");
  ASSERT_EQ(document.parents.size(), 1U);
  EXPECT_EQ(document.parents[0].kind, formats::ParentKind::kDocument);
  EXPECT_EQ(document.parents[0].range, (formats::Span{0, text.size()}));
  EXPECT_EQ(document.parents[0].num_chunks, document.chunks.size());
  EXPECT_EQ(splitter->Split(text, MediaType::kPlainText).title, "");
}

TEST(RecursiveSplitter, FindsTheTitleOfALongText) {
  const auto splitter = *MakeRecursiveSplitter({}, TextRuler());
  std::string filler;
  while (filler.size() < 100000) filler += "Tar and rope.\n\n";
  const std::string heading = "# Lamps\n\n";
  EXPECT_EQ(splitter->Split(heading + filler, MediaType::kMarkdown).title, "Lamps");
  EXPECT_EQ(splitter->Split(filler + heading, MediaType::kMarkdown).title, "Lamps");
  // Front matter that ends behind the first look at the text.
  std::string front = "---\n";
  while (front.size() < 70000) front += "key: value\n";
  EXPECT_EQ(splitter->Split(front + "---\n" + heading, MediaType::kMarkdown).title, "Lamps");
}

TEST(RecursiveSplitter, RepeatedTextHasRangesOfItsOwn) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "Oil the hinge twice.\n\n";
  const auto splitter = *MakeRecursiveSplitter({25, 0}, TextRuler());
  const SplitDocument document = splitter->Split(text, MediaType::kPlainText);
  ASSERT_EQ(document.chunks.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(document.chunks[i].range.start, 22 * i);
}

TEST(RecursiveSplitter, RefusesSizesThatNeverMoveOn) {
  for (const RecursiveSizes& sizes :
       {RecursiveSizes{0, 0}, RecursiveSizes{400, 400}, RecursiveSizes{400, 500}}) {
    const absl::Status status = MakeRecursiveSplitter(sizes, TextRuler()).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    for (const std::uint32_t value : {sizes.size, sizes.overlap}) {
      EXPECT_NE(status.message().find(std::to_string(value)), std::string::npos) << status;
    }
  }
}

TEST(RecursiveSplitter, TheIdNamesEveryValue) {
  EXPECT_EQ((*MakeRecursiveSplitter({400, 50}, TextRuler()))->Id(),
            "recursive-v1/size=400/overlap=50/unit=chars");
  EXPECT_EQ((*MakeRecursiveSplitter({100, 0}, Tokens()))->Id(),
            "recursive-v1/size=100/overlap=0/unit=chars4-v1");
}

// Sixteen times the text takes about sixteen times as long, whatever has to be cut.
TEST(RecursiveSplitter, TimeIsLinear) {
  const auto splitter = *MakeRecursiveSplitter({400, 50}, TextRuler());
  const auto seconds = [&](const std::string& unit, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += unit;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(splitter->Split(text, MediaType::kPlainText).chunks.empty(), unit == "\n");
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (const char* unit : {"x", "x ", "x\n", "x\n\n", "x. ", "x;", "\u0301", "\n", "灯", "。"}) {
    EXPECT_LT(seconds(unit, 1 << 20), 80 * seconds(unit, 1 << 16) + 0.5) << unit;
  }
}

}  // namespace
}  // namespace rag::indexer
