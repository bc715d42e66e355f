#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "indexer/characters.h"
#include "indexer/splitter.h"

namespace rag::indexer {
namespace {

using formats::ChunkKind;
using formats::MediaType;
using Strings = std::vector<std::string>;

constexpr StructureSizes kSmall{40, 60, 200};

SplitDocument Split(std::string_view text, const StructureSizes& sizes = {},
                    MediaType type = MediaType::kMarkdown) {
  auto splitter = MakeStructureSplitter(sizes);
  EXPECT_TRUE(splitter.ok()) << splitter.status();
  return (*splitter)->Split(text, type);
}

Strings Texts(std::string_view text, const SplitDocument& document) {
  Strings out;
  for (const SplitChunk& chunk : document.chunks) {
    out.emplace_back(text.substr(chunk.range.start, chunk.range.size()));
  }
  return out;
}

Strings Chunks(std::string_view text, const StructureSizes& sizes = {},
               MediaType type = MediaType::kMarkdown) {
  return Texts(text, Split(text, sizes, type));
}

Strings Paths(const SplitDocument& document) {
  Strings out;
  for (const formats::ParentRecord& parent : document.parents) out.push_back(parent.heading_path);
  return out;
}

std::vector<ChunkKind> Kinds(const SplitDocument& document) {
  std::vector<ChunkKind> out;
  for (const SplitChunk& chunk : document.chunks) out.push_back(chunk.kind);
  return out;
}

std::string Words(std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += "word ";
  return out;
}

bool HasChunkWith(const Strings& chunks, const std::string& part) {
  return std::any_of(chunks.begin(), chunks.end(),
                     [&](const std::string& c) { return c.find(part) != std::string::npos; });
}

// --- sizes

TEST(StructureSplitter, RefusesSizesOutOfOrder) {
  for (const StructureSizes& sizes :
       {StructureSizes{0, 10, 10}, StructureSizes{11, 10, 20}, StructureSizes{5, 21, 20}}) {
    EXPECT_EQ(MakeStructureSplitter(sizes).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(StructureSplitter, TheIdNamesTheSizes) {
  EXPECT_EQ((*MakeStructureSplitter({}))->Id(), "structure-v2/target=280/cap=360/max=1680");
}

TEST(StructureSplitter, BlankTextHasNoChunksAndNoParents) {
  for (const char* text : {"", "\n \r\n\t", "\xEF\xBB\xBF", "\xEF\xBB\xBF\n"}) {
    for (const MediaType type : {MediaType::kMarkdown, MediaType::kPlainText}) {
      const SplitDocument document = Split(text, {}, type);
      EXPECT_TRUE(document.chunks.empty());
      EXPECT_TRUE(document.parents.empty());
    }
  }
}

// --- sections

TEST(StructureSplitter, HeadingsMakeSectionsWithPaths) {
  const std::string text =
      "Before.\n\n# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n\n# E\n\ne\n";

  EXPECT_EQ(Paths(Split(text)), (Strings{"", "A", "A > B", "A > B > C", "A > D", "E"}));
}

TEST(StructureSplitter, ParentsReachToTheNextSection) {
  const std::string text = "\n# A\n\na\n\n\n# B\n\nb\n";

  const SplitDocument document = Split(text);

  ASSERT_EQ(document.parents.size(), 2U);
  EXPECT_EQ(document.parents[0].range, (formats::Span{0, text.find("# B")}));
  EXPECT_EQ(document.parents[1].range, (formats::Span{text.find("# B"), text.size()}));
  EXPECT_EQ(document.parents[1].level, 1);
  EXPECT_EQ(document.parents[1].kind, formats::ParentKind::kSection);
}

TEST(StructureSplitter, WithoutHeadingsTheDocumentIsTheParent) {
  const SplitDocument document = Split("a\n\nb\n");

  ASSERT_EQ(document.parents.size(), 1U);
  EXPECT_EQ(document.parents[0].kind, formats::ParentKind::kDocument);
  EXPECT_EQ(document.title, "");
}

TEST(StructureSplitter, ChunksDoNotCrossHeadings) {
  EXPECT_EQ(Chunks("# A\n\na\n\n# B\n\nb\n"), (Strings{"# A\n\na", "# B\n\nb"}));
}

TEST(StructureSplitter, UnderlinedHeadingsOfSeveralLinesAreHeadings) {
  const SplitDocument document = Split("Two line\ntitle here\n===\n\na\n\nSub\n---\n\nb\n");

  EXPECT_EQ(document.title, "Two line title here");
  EXPECT_EQ(Paths(document), (Strings{"Two line title here", "Two line title here > Sub"}));
}

TEST(StructureSplitter, RulesTableLinesAndListEndsAreNoHeadings) {
  EXPECT_EQ(Paths(Split("a\n\n---\n\nb\n\n| N | B |\n|---|---|\n| 1 | 2 |\n\n- item\n---\n\nc")),
            Strings{""});
}

TEST(StructureSplitter, OddHeadingsAreReadAsCommonMarkSays) {
  const std::string text =
      "# Top\n\nx\n\n##No space\n\n####### seven\n\n   ## Closed ##\n\ny\n\n    # code\n\n#\tTab "
      "#x\n\nz\n";

  EXPECT_EQ(Paths(Split(text)), (Strings{"Top", "Top > Closed", "Tab #x"}));
}

TEST(StructureSplitter, TitlesArePlainText) {
  const SplitDocument document =
      Split("#  *Some*   `code`, a [link](u) &amp; \\* <!-- no --> ![alt](i) #\n\nx\n");

  EXPECT_EQ(document.title, "Some code, a link & * alt");
}

TEST(StructureSplitter, TitlesThatLookLikeHeadingsInsideAreKept) {
  EXPECT_EQ(Split("C# x\n===\n\ny").title, "C# x");
  EXPECT_EQ(Split("#x\n===\n\ny").title, "#x");
  EXPECT_EQ(Split("# x#\n\ny").title, "x#");
  EXPECT_EQ(Split("# ##\n\ny").title, "");
}

TEST(StructureSplitter, HeadingsInsideFencesHtmlListsAndQuotesMakeNoSections) {
  const std::string text =
      "```sh\n# no\n```\n\n~~~\n# no\n~~~\n\n<!--\n## no\n\n## no -->\n\n<pre>\n# "
      "no\n</pre>\n\n<script>\n"
      "// a\n\n# no\n</script>\n\n- a\n\n  # no\n\n> # no\n\n# Yes\n\nx\n";

  EXPECT_EQ(Paths(Split(text)), (Strings{"", "Yes"}));
}

TEST(StructureSplitter, AHeadingAfterTheBlankLineInDetailsCounts) {
  EXPECT_EQ(Paths(Split("# A\n\n<details>\n<summary>M</summary>\n\n## B\n\nb\n\n</details>\n")),
            (Strings{"A", "A > B"}));
}

// --- headings and their text

TEST(StructureSplitter, AHeadingStaysWithItsFirstText) {
  const std::string text = "# A long enough heading of forty characters\n\n" + Words(11) + "\n";

  EXPECT_EQ(Chunks(text, kSmall).size(), 1U);
}

TEST(StructureSplitter, AHeadingAboveADeeperOneOpensItsSection) {
  const SplitDocument document = Split("# A\n\n## B\n\n### C\n\nc\n\n## D\n\nd\n");

  EXPECT_EQ(Paths(document), (Strings{"A > B > C", "A > D"}));
  EXPECT_EQ(document.parents[0].level, 3);
  EXPECT_EQ(document.title, "A");
}

TEST(StructureSplitter, AHeadingAboveOneOfItsLevelIsAChunk) {
  EXPECT_EQ(Chunks("## A\n\n## B\n\nb\n"), (Strings{"## A", "## B\n\nb"}));
}

TEST(StructureSplitter, AnEmptyHeadingIsNoChunkOfItsOwn) {
  EXPECT_EQ(Chunks("# A\n\na\n\n## \n\n## B\n\nb\n"), (Strings{"# A\n\na", "## \n\n## B\n\nb"}));
}

TEST(StructureSplitter, TheLastHeadingIsKept) {
  EXPECT_EQ(Chunks("# A\n\na\n\n## B\n"), (Strings{"# A\n\na", "## B"}));
}

TEST(StructureSplitter, AMonstrousHeadingIsCut) {
  const std::string text = "# " + std::string(3000, 'h') + "\n\nx\n";

  const SplitDocument document = Split(text);

  EXPECT_LE(document.title.size(), 300U);
  for (const std::string& chunk : Texts(text, document)) EXPECT_LE(chunk.size(), 1680U);
}

TEST(StructureSplitter, AnAtomThatFillsAChunkIsKeptWholeRatherThanJoinedToItsHeading) {
  const std::string fence = "```\n" + std::string(1660, 'x') + "\n```";

  EXPECT_EQ(Chunks("# A long heading\n\n" + fence), (Strings{"# A long heading", fence}));
}

TEST(StructureSplitter, LongProseIsCutToFitUnderItsHeading) {
  const std::string text = "# A heading\n\n" + Words(60);

  const Strings chunks = Chunks(text, {100, 100, 100});

  EXPECT_EQ(chunks[0].substr(0, 17), "# A heading\n\nword");
  for (const std::string& chunk : chunks) EXPECT_LE(chunk.size(), 100U);
}

// --- packing

TEST(StructureSplitter, PacksBlocksUpToTheTarget) {
  const std::string p(20, 'p');

  EXPECT_EQ(Chunks(p + "\n\n" + p + "\n\n" + p, kSmall), (Strings{p + "\n\n" + p, p}));
}

TEST(StructureSplitter, WhatSeparatesBlocksCountsOnlyForTheHardMaximum) {
  const std::string p(20, 'p');

  EXPECT_EQ(Chunks(p + std::string(150, '\n') + p, kSmall).size(), 1U);
  EXPECT_EQ(Chunks(p + std::string(170, '\n') + p, kSmall).size(), 2U);
}

TEST(StructureSplitter, ProseUpToTheCapStaysWhole) {
  const std::string p = "One two three. Four five six. " + std::string(30, 'p');

  EXPECT_EQ(Chunks(p, kSmall), Strings{p});
}

TEST(StructureSplitter, ProseAboveTheCapIsCutAtSentenceEnds) {
  const std::string a = "The first sentence is of some length.";
  const std::string b = "So is the second one, as can be seen.";

  EXPECT_EQ(Chunks(a + " " + b, kSmall), (Strings{a, b}));
}

TEST(StructureSplitter, ASentenceAboveTheCapIsCutAtWhiteSpace) {
  for (const std::string& chunk : Chunks(Words(50), kSmall)) {
    EXPECT_EQ(chunk.substr(0, 4), "word");
    EXPECT_EQ(chunk.substr(chunk.size() - 4), "word");
    EXPECT_LE(chunk.size(), kSmall.cap);
  }
}

TEST(StructureSplitter, WithoutWhiteSpaceALateCommaIsTheBestCut) {
  const std::string text = std::string(55, 'a') + "," + std::string(55, 'b');

  EXPECT_EQ(Chunks(text, kSmall), (Strings{std::string(55, 'a') + ",", std::string(55, 'b')}));
}

TEST(StructureSplitter, EmojiFamiliesAreNotCut) {
  const std::string family = "👩‍👩‍👧";
  std::string text;
  for (int i = 0; i < 100; ++i) text += family;

  const Strings chunks = Chunks(text, kSmall);

  EXPECT_GT(chunks.size(), 5U);
  for (const std::string& chunk : chunks) EXPECT_EQ(chunk.size() % family.size(), 0U);
}

TEST(StructureSplitter, AClusterAboveTheHardMaximumIsCutAtCodePoints) {
  std::string text = "e";
  for (int i = 0; i < 1000; ++i) text += "\xCC\x81";

  const Strings chunks = Chunks(text, kSmall);

  for (const std::string& chunk : chunks) EXPECT_LE(CountCodePoints(chunk), kSmall.hard_max);
  EXPECT_EQ(chunks.size(), 6U);
}

TEST(StructureSplitter, SizesAreCodePoints) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "第";

  EXPECT_EQ(Chunks(text, kSmall).size(), 1U);
}

// --- atoms

TEST(StructureSplitter, FencesAreWholeUpToTheHardMaximum) {
  const std::string fence = "```c\nint a;\n\n  int b;\n" + Words(20) + "\n```";

  EXPECT_EQ(Chunks("Text.\n\n" + fence + "\n\nMore.", kSmall), (Strings{"Text.", fence, "More."}));
}

TEST(StructureSplitter, FencesAboveTheHardMaximumAreCutAtLineEnds) {
  std::string text = "```\n";
  for (int i = 0; i < 40; ++i) text += "    call(" + std::to_string(i) + ");\n";
  text += "```\n";

  const Strings chunks = Chunks(text, kSmall);

  for (std::size_t i = 1; i + 1 < chunks.size(); ++i) {
    EXPECT_EQ(chunks[i].substr(0, 9), "    call(");  // with its indentation
    EXPECT_EQ(chunks[i].back(), ';');
    EXPECT_LE(chunks[i].size(), kSmall.hard_max);
  }
}

TEST(StructureSplitter, AFenceInAListItemOrAQuoteIsWhole) {
  const std::string in_list = "```sh\n   drain --all\n\n   # wait here\n   sleep 5\n   ```";
  const std::string in_quote = "> ```\n> # quoted comment\n>\n> x\n> ```";
  const std::string text = "1. Drain the tank.\n\n   " + in_list +
                           "\n\n2. Refill.\n\n> Quoted:\n>\n" + in_quote + "\n\nDone.";

  const SplitDocument document = Split(text, {20, 20, 200});

  EXPECT_TRUE(HasChunkWith(Texts(text, document), in_list));
  EXPECT_TRUE(HasChunkWith(Texts(text, document), in_quote));
  EXPECT_EQ(document.parents.size(), 1U);
}

TEST(StructureSplitter, ListItemsAreWholeAndPacked) {
  const std::string a = "- " + std::string(30, 'a') + "\n  - nested " + Words(5);
  const std::string b = "- b\n- c";

  EXPECT_EQ(Chunks(a + "\n" + b, kSmall), (Strings{a.substr(0, a.size() - 1), b}));
}

TEST(StructureSplitter, TableRowsAreWholeAndTheHeaderStaysWithItsRule) {
  std::string text = "Intro\n| a | b |\n|---|---|\n";
  for (int i = 0; i < 20; ++i) text += "| row " + std::to_string(i) + " | x |\n";

  const SplitDocument document = Split(text, kSmall);
  const Strings chunks = Texts(text, document);

  EXPECT_TRUE(HasChunkWith(chunks, "| a | b |\n|---|---|"));
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    EXPECT_EQ(chunks[i].front(), '|');
    EXPECT_EQ(chunks[i].back(), '|');
    EXPECT_EQ(document.chunks[i].kind, ChunkKind::kTable);
  }
}

TEST(StructureSplitter, ALineOfPipesWithoutAFittingHeaderIsProse) {
  EXPECT_EQ(Kinds(Split("| a | b | c |\n|---|---|\n| 1 | 2 |")), std::vector{ChunkKind::kProse});
}

TEST(StructureSplitter, EscapedPipesAreNoCells) {
  EXPECT_EQ(Kinds(Split("| a \\| b | c |\n|---|---|\n| 1 | 2 |")), std::vector{ChunkKind::kTable});
}

TEST(StructureSplitter, KindsAreThoseOfTheBlocks) {
  const std::string text =
      "prose prose prose prose prose prose prose\n\n    indented code, of some length too, no "
      "doubt\n\n"
      "- list item of a length that fills a chunk alone\n\n<div>html that is long enough not to be "
      "packed</div>\n\n"
      "> quoted text that is long enough not to be packed\n";

  EXPECT_EQ(Kinds(Split(text, kSmall)),
            (std::vector{ChunkKind::kProse, ChunkKind::kCode, ChunkKind::kList, ChunkKind::kHtml,
                         ChunkKind::kQuote}));
}

TEST(StructureSplitter, TheKindOfAPackedChunkIsThatOfMostOfItsText) {
  EXPECT_EQ(Kinds(Split("# Heading of a certain length\n\nRun:\n\n```\nmake all install\n```\n")),
            std::vector{ChunkKind::kCode});
}

// --- front matter, byte-order marks, line ends

TEST(StructureSplitter, FrontMatterIsABlockOfItsOwn) {
  const std::string front = "---\ntitle: \"A: b # c\"\n# comment\ntags: [x]\n---";
  const SplitDocument document = Split(front + "\n\n# Gamma\n\nText.\n");

  EXPECT_EQ(document.title, "Gamma");
  EXPECT_EQ(Texts(front + "\n\n# Gamma\n\nText.\n", document),
            (Strings{front, "# Gamma\n\nText."}));
  EXPECT_EQ(document.chunks[0].kind, ChunkKind::kCode);
}

TEST(StructureSplitter, FrontMatterAloneIsNoText) {
  EXPECT_TRUE(Split("---\ntitle: x\n---\n").chunks.empty());
  EXPECT_TRUE(Split("---\ntitle: x\n---\n\n \n").chunks.empty());
  EXPECT_EQ(Split("---\ntitle: x\n---\n\na\n").chunks.size(), 1U);
}

TEST(StructureSplitter, ARuleAtTheStartIsNoFrontMatter) {
  EXPECT_EQ(Paths(Split("---\n\n# Alpha\n\na\n\n---\n\n# Beta\n\nb\n")),
            (Strings{"", "Alpha", "Beta"}));
}

TEST(StructureSplitter, AnUnclosedBlockIsNoFrontMatter) {
  EXPECT_EQ(Split("---\ntitle: x\n\n# Delta\n\nd\n").title, "Delta");
}

TEST(StructureSplitter, AByteOrderMarkOnlyMovesTheChunks) {
  const std::string text = "    code\n\n# T\n\nText.\n\n## S\n\nMore.\n";
  const std::string marked = "\xEF\xBB\xBF" + text;

  EXPECT_EQ(Chunks(marked), Chunks(text));
  EXPECT_EQ(Split(marked).chunks[0].range.start, 3U);
  EXPECT_EQ(Split(marked).parents[0].range.start, 3U);
}

std::string WithLineEnds(const std::string& text, const std::string& line_end) {
  std::string out;
  for (const char c : text) out += c == '\n' ? line_end : std::string(1, c);
  return out;
}

TEST(StructureSplitter, AllLineEndsGiveTheSameChunks) {
  const std::string text =
      "---\na: b\n---\n# T\n\nText.\n\n```\n# x\n\ny\n```\n\nS\n-\n\n| a | b |\n|---|---|\n| 1 | 2 "
      "|\n\n- l\n- m\n";
  for (const MediaType type : {MediaType::kMarkdown, MediaType::kPlainText}) {
    Strings want = Chunks(text, {10, 60, 200}, type);
    for (const char* line_end : {"\r\n", "\r"}) {
      Strings got = Chunks(WithLineEnds(text, line_end), {10, 60, 200}, type);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_EQ(got[i], WithLineEnds(want[i], line_end));
    }
  }
}

// --- plain text

TEST(StructureSplitter, PlainTextIsParagraphsOfOneParentWithoutATitle) {
  const std::string text = "# not a heading, but a paragraph of text\n\n- not a list\n  \nx\n";

  const SplitDocument document = Split(text, kSmall, MediaType::kPlainText);

  EXPECT_EQ(Texts(text, document),
            (Strings{"# not a heading, but a paragraph of text", "- not a list\n  \nx"}));
  EXPECT_EQ(document.title, "");
  EXPECT_EQ(document.parents.size(), 1U);
  EXPECT_EQ(document.parents[0].kind, formats::ParentKind::kDocument);
  EXPECT_EQ(document.chunks[0].kind, ChunkKind::kProse);
}

// --- large and hostile texts: each takes hours where the time is quadratic

std::string Repeat(std::string_view part, std::size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += part;
  return out;
}

TEST(StructureSplitter, HostileTextsTakeLinearTime) {
  constexpr std::size_t kBytes = 500'000;
  const Strings texts = {
      Repeat("x", kBytes),
      Repeat("function(a,b){return a.b[c]*d_e};", kBytes),
      Repeat("- ", kBytes) + "a\n" + Repeat("\n", kBytes),
      Repeat(">", kBytes) + "a\n" + Repeat(">\n", kBytes),
      Repeat("[", kBytes),
      Repeat("![[](", kBytes),
      Repeat("*a_ `b", kBytes),
      Repeat("<a b=\"\n", kBytes),
      Repeat("# a\n", kBytes),
      Repeat("#\n", kBytes),
      Repeat("a\n", kBytes) + "===\n",
      "a" + Repeat(" ", kBytes) + "b" + Repeat("\n", kBytes) + "c",
      "e" + Repeat("\xCC\x81", kBytes),
      Repeat("|a", kBytes / 10) + "\n" + Repeat("|-", kBytes / 10) + "\n" + Repeat("|\n", kBytes),
      "```\n" + Repeat("    x\n\n", kBytes),
  };
  for (const std::string& text : texts) EXPECT_FALSE(Split(text).chunks.empty());
}

}  // namespace
}  // namespace rag::indexer
