#include "indexer/part_reader.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "indexer/recursive_splitter.h"
#include "indexer/sentence_splitter.h"
#include "indexer/splitter.h"
#include "tests/testing/split_invariants.h"
#include "tests/testing/temp_folder.h"
#include "tests/testing/text_maker.h"

namespace rag::indexer {
namespace {

using formats::MediaType;
using Strings = std::vector<std::string>;

class PartReaderTest : public ::testing::Test {
 protected:
  [[nodiscard]] CorpusFile Write(std::string_view bytes) const {
    folder_.Write("file.txt", bytes);
    return {"file.txt", folder_.path() / "file.txt"};
  }

  // Splits the text part by part, and numbers as one document's what the parts give.
  SplitDocument Split(const Splitter& splitter, std::string_view text, MediaType type,
                      const PartSizes& sizes) {
    SplitDocument whole;
    SplitState state;
    std::uint64_t offset = 0;
    num_parts_ = 0;
    const auto skipped = ReadTextParts(
        Write(text), sizes, [&](std::string_view rest, bool all) -> absl::StatusOr<std::size_t> {
          EXPECT_LE(rest.size(), sizes.max);
          SplitDocument part;
          const std::uint64_t size = splitter.SplitPart(rest, type, all, state, part);
          if (size == 0) return size;
          Append(part, offset, whole);
          offset += size;
          ++num_parts_;
          return size;
        });
    EXPECT_TRUE(skipped.ok() && !skipped->has_value());
    EXPECT_EQ(offset, text.size());
    return whole;
  }

  std::size_t num_parts_ = 0;

 private:
  static void Append(const SplitDocument& part, std::uint64_t offset, SplitDocument& whole) {
    const auto first_chunk = static_cast<std::uint32_t>(whole.chunks.size());
    const auto first_parent = static_cast<std::uint32_t>(whole.parents.size());
    if (whole.title.empty()) whole.title = part.title;
    for (SplitChunk chunk : part.chunks) {
      chunk.range.start += offset;
      chunk.range.end += offset;
      chunk.parent += first_parent;
      whole.chunks.push_back(chunk);
    }
    for (formats::ParentRecord parent : part.parents) {
      parent.range.start += offset;
      parent.range.end += offset;
      parent.first_chunk += first_chunk;
      whole.parents.push_back(std::move(parent));
    }
  }

  testing::TempFolder folder_;
};

TEST_F(PartReaderTest, GivesTheTextInWindowsOfTheSizeThatWasAskedFor) {
  const std::string text = "one two three four five six seven";
  Strings windows;

  const auto skipped = ReadTextParts(
      Write(text), {10, 20}, [&](std::string_view rest, bool all) -> absl::StatusOr<std::size_t> {
        windows.push_back(std::string(rest) + (all ? "." : ""));
        return all ? rest.size() : 4;
      });

  ASSERT_TRUE(skipped.ok() && !skipped->has_value());
  EXPECT_EQ(windows, (Strings{"one two th", "two three ", "three four", "e four fiv", "ur five si",
                              "ive six se", "six seven."}));
}

TEST_F(PartReaderTest, AWindowGrowsForASinkThatNeedsMoreAndIsCutAtItsLargest) {
  Strings windows;

  const auto skipped =
      ReadTextParts(Write("aaaa bbbb cccc dddd eeee ffff"), {4, 12},
                    [&](std::string_view rest, bool all) -> absl::StatusOr<std::size_t> {
                      windows.push_back(std::string(rest) + (all ? "." : ""));
                      return all ? rest.size() : 0;
                    });

  ASSERT_TRUE(skipped.ok() && !skipped->has_value());
  EXPECT_EQ(windows, (Strings{"aaaa", "aaaa bbb", "aaaa bbbb cc", "aaaa bbbb .", "cccc", "cccc ddd",
                              "cccc dddd ee", "cccc dddd .", "eeee", "eeee fff", "eeee ffff."}));
}

TEST_F(PartReaderTest, WhatIsCutAtTheLargestWindowKeepsItsCharacters) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "e\xCC\x81\xE7\x81\xAF";  // é in two code points, 灯
  std::string taken;

  const auto skipped = ReadTextParts(
      Write(text), {7, 11}, [&](std::string_view rest, bool all) -> absl::StatusOr<std::size_t> {
        if (!all) return 0;
        EXPECT_EQ(ValidUtf8Prefix(rest), rest.size());
        EXPECT_NE(rest.substr(0, 2), "\xCC\x81");
        taken += rest;
        return rest.size();
      });

  ASSERT_TRUE(skipped.ok() && !skipped->has_value());
  EXPECT_EQ(taken, text);
}

TEST_F(PartReaderTest, NamesTheOffsetOfInvalidUtf8WhereverItIs) {
  for (const std::string& bytes :
       {std::string(700000, 'x') + "\xFF tail", std::string(700000, 'x') + "\xE7\x81"}) {
    const auto skipped = ReadTextParts(
        Write(bytes), {1000, 2000},
        [](std::string_view rest, bool) -> absl::StatusOr<std::size_t> { return rest.size(); });

    ASSERT_TRUE(skipped.ok() && skipped->has_value());
    EXPECT_EQ((*skipped)->reason, SkipReason::kInvalidUtf8);
    EXPECT_EQ((*skipped)->detail, "not UTF-8 at offset 700000");
  }
}

TEST_F(PartReaderTest, AVanishedFileIsUnreadable) {
  const auto skipped = ReadTextParts(
      {"gone.txt", "/nowhere/gone.txt"}, {1000, 2000},
      [](std::string_view rest, bool) -> absl::StatusOr<std::size_t> { return rest.size(); });

  ASSERT_TRUE(skipped.ok() && skipped->has_value());
  EXPECT_EQ((*skipped)->reason, SkipReason::kUnreadable);
}

TEST_F(PartReaderTest, AnErrorOfTheSinkIsPassedOn) {
  const auto skipped = ReadTextParts(Write("text"), {1000, 2000},
                                     [](std::string_view, bool) -> absl::StatusOr<std::size_t> {
                                       return absl::ResourceExhaustedError("disk full");
                                     });

  EXPECT_TRUE(absl::IsResourceExhausted(skipped.status()));
}

TEST_F(PartReaderTest, PartsHoldWhatIsAskedOfSplitters) {
  const auto structure = MakeStructureSplitter({40, 60, 250}).value();
  const auto article = MakeArticleSplitter(40);
  std::size_t in_parts = 0;
  for (std::uint32_t seed = 0; seed < 120; ++seed) {
    testing::TextMaker maker(seed);
    for (const std::string& text : {maker.Document(), maker.Document() + maker.Soup()}) {
      for (const MediaType type : {MediaType::kMarkdown, MediaType::kPlainText}) {
        const SplitDocument parts = Split(*structure, text, type, {200, 1 << 20});
        in_parts += num_parts_ > 1 ? 1 : 0;
        ASSERT_EQ(testing::BrokenSplitInvariant(text, parts, {.hard_max = 250}), "")
            << "seed " << seed << "\n"
            << text;
        const SplitDocument by_article = Split(*article, text, type, {200, 1 << 20});
        ASSERT_EQ(testing::BrokenSplitInvariant(text, by_article, {.unicode_blank = true}), "")
            << "seed " << seed << "\n"
            << text;
      }
    }
  }
  EXPECT_GT(in_parts, 100U);
}

TEST_F(PartReaderTest, NothingIsLostWherePartsAreCutByForce) {
  const auto structure = MakeStructureSplitter({40, 60, 250}).value();
  for (std::uint32_t seed = 0; seed < 120; ++seed) {
    const std::string text = testing::TextMaker(seed).Soup();
    const SplitDocument parts = Split(*structure, text, MediaType::kMarkdown, {16, 64});
    ASSERT_EQ(
        testing::BrokenSplitInvariant(text, parts, {.hard_max = 250, .whole_clusters = false}), "")
        << "seed " << seed << "\n"
        << text;
  }
}

// Sections that fit into a part are split as if there were no parts.
TEST_F(PartReaderTest, SectionsStayWhole) {
  std::string text = "---\na: b\n---\n\nBefore all headings.\n\n";
  for (int i = 0; i < 60; ++i) {
    text += std::string(static_cast<std::size_t>(1 + i % 3), '#') + " Part " + std::to_string(i) +
            "\n\n";
    for (int j = 0; j < i % 5; ++j) text += "Some words about this. More of them.\n\n- item\n";
    if (i % 7 == 0) text += "\n```\n# no heading\n```\n";
  }
  const auto splitter = MakeStructureSplitter({40, 60, 250}).value();
  const SplitDocument whole = splitter->Split(text, MediaType::kMarkdown);

  const SplitDocument parts = Split(*splitter, text, MediaType::kMarkdown, {700, 5000});

  EXPECT_GT(num_parts_, 5U);
  EXPECT_TRUE(testing::SameSplit(parts, whole));
}

TEST_F(PartReaderTest, ASectionInTwoPartsHasItsHeadingsInBoth) {
  std::string text = "# Top\n\n## Sub\n\n";
  for (int i = 0; i < 50; ++i) text += "Paragraph " + std::to_string(i) + " of the section.\n\n";
  const auto splitter = MakeStructureSplitter({40, 60, 250}).value();

  const SplitDocument parts = Split(*splitter, text, MediaType::kMarkdown, {400, 5000});

  EXPECT_GT(num_parts_, 3U);
  EXPECT_EQ(parts.title, "Top");
  ASSERT_EQ(parts.parents.size(), num_parts_);
  for (const formats::ParentRecord& parent : parts.parents) {
    EXPECT_EQ(parent.heading_path, "Top > Sub");
    EXPECT_EQ(parent.level, 2);
    EXPECT_EQ(parent.kind, formats::ParentKind::kSection);
  }
}

TEST_F(PartReaderTest, ChunksThatAreFilledInTurnAreTheSameInParts) {
  const TextRuler ruler;
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "The valve stays closed until probe " + std::to_string(i) + " answers.";
    text += i % 9 == 0 ? "\r\n\r\n" : i % 4 == 0 ? "\n" : " ";
  }
  const std::unique_ptr<Splitter> splitters[] = {
      MakeRecursiveSplitter({.size = 90, .overlap = 0}, ruler).value(),
      MakeSentenceSplitter({.size = 90, .hard_max = 500}, ruler).value()};
  for (const std::unique_ptr<Splitter>& splitter : splitters) {
    const SplitDocument whole = splitter->Split(text, MediaType::kPlainText);
    const SplitDocument parts = Split(*splitter, text, MediaType::kPlainText, {700, 1 << 20});
    EXPECT_GT(num_parts_, 10U);
    ASSERT_EQ(parts.chunks.size(), whole.chunks.size()) << splitter->Id();
    for (std::size_t i = 0; i < whole.chunks.size(); ++i) {
      EXPECT_EQ(parts.chunks[i].range, whole.chunks[i].range) << splitter->Id();
    }
  }
}

TEST_F(PartReaderTest, TheArticlesChunksAreTheSameInParts) {
  const auto splitter = MakeArticleSplitter(120);
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    testing::TextMaker maker(seed);
    const std::string text = maker.Document() + "\n\n" + maker.Document();
    const SplitDocument whole = splitter->Split(text, MediaType::kPlainText);
    const SplitDocument parts = Split(*splitter, text, MediaType::kPlainText, {300, 1 << 20});
    ASSERT_EQ(parts.chunks.size(), whole.chunks.size()) << "seed " << seed;
    for (std::size_t i = 0; i < whole.chunks.size(); ++i) {
      ASSERT_EQ(parts.chunks[i].range, whole.chunks[i].range) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace rag::indexer
