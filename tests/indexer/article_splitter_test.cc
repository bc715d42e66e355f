#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "indexer/characters.h"
#include "indexer/splitter.h"

namespace rag::indexer {
namespace {

using formats::MediaType;
using Strings = std::vector<std::string>;

Strings Chunks(std::string_view text, std::uint32_t size = 420) {
  Strings out;
  for (const SplitChunk& chunk :
       MakeArticleSplitter(size)->Split(text, MediaType::kMarkdown).chunks) {
    out.emplace_back(text.substr(chunk.range.start, chunk.range.size()));
  }
  return out;
}

TEST(ArticleSplitter, PacksParagraphsUpToTheSize) {
  EXPECT_EQ(Chunks("aaa\n\nbbb\n\nccc\n\nd", 6), (Strings{"aaa\n\nbbb", "ccc\n\nd"}));
}

TEST(ArticleSplitter, SeparatorsAreNotCounted) {
  EXPECT_EQ(Chunks("aaa\n \n\n \nbbb", 6), Strings{"aaa\n \n\n \nbbb"});
}

TEST(ArticleSplitter, LongParagraphsStayWhole) {
  EXPECT_EQ(Chunks("a\n\n" + std::string(50, 'b') + "\n\nc", 6),
            (Strings{"a", std::string(50, 'b'), "c"}));
}

TEST(ArticleSplitter, CountsCodePoints) {
  EXPECT_EQ(Chunks("ééé\n\n第第第", 6), Strings{"ééé\n\n第第第"});
}

TEST(ArticleSplitter, CountsAWindowsLineEndAsOne) {
  EXPECT_EQ(Chunks("a\r\nb\r\n\r\nccc\r\n\r\nd", 6), (Strings{"a\r\nb\r\n\r\nccc", "d"}));
}

TEST(ArticleSplitter, OldMacLineEndsMakeParagraphs) {
  EXPECT_EQ(Chunks("aaa\r\rbbb\r\rccc", 6), (Strings{"aaa\r\rbbb", "ccc"}));
}

TEST(ArticleSplitter, UnicodeWhiteSpaceAroundParagraphsIsLeftOut) {
  EXPECT_EQ(Chunks("\xE3\x80\x80"
                   "aaa\n\xC2\xA0\n\xE3\x80\x80"
                   "bbb\xE2\x80\xA8",
                   3),
            (Strings{"aaa", "bbb"}));
}

TEST(ArticleSplitter, AByteOrderMarkIsInNoChunk) {
  EXPECT_EQ(Chunks("\xEF\xBB\xBF# T\n\nx"), Strings{"# T\n\nx"});
}

TEST(ArticleSplitter, BlankTextHasNoChunksAndNoParents) {
  const SplitDocument document = MakeArticleSplitter()->Split(" \n\n\t", MediaType::kMarkdown);
  EXPECT_TRUE(document.chunks.empty());
  EXPECT_TRUE(document.parents.empty());
}

TEST(ArticleSplitter, TheDocumentIsTheOneParent) {
  const SplitDocument document =
      MakeArticleSplitter(3)->Split("aaa\n\n# B\n\nc", MediaType::kMarkdown);
  ASSERT_EQ(document.parents.size(), 1U);
  EXPECT_EQ(document.parents[0].kind, formats::ParentKind::kDocument);
  EXPECT_EQ(document.parents[0].num_chunks, document.chunks.size());
}

TEST(ArticleSplitter, TheTitleIsTheFirstHeading) {
  EXPECT_EQ(MakeArticleSplitter()->Split("x\n\n## *Some* notes\n\ny", MediaType::kMarkdown).title,
            "Some notes");
  EXPECT_EQ(MakeArticleSplitter()->Split("x\n\ny", MediaType::kMarkdown).title, "");
}

TEST(ArticleSplitter, TheIdNamesTheSize) {
  EXPECT_EQ(MakeArticleSplitter()->Id(), "article-v1/size=420");
}

// The article's code, over decoded text.
std::u32string Decode(std::string_view text) {
  std::u32string out;
  for (std::size_t pos = 0; pos < text.size();) {
    const CodePoint c = DecodeAt(text, pos);
    pos += c.size_bytes;
    if (c.value == '\n' && !out.empty() && out.back() == '\r') out.pop_back();
    out += c.value;
  }
  for (char32_t& c : out) {
    if (c == '\r') c = '\n';
  }
  return out;
}

std::u32string Strip(std::u32string text) {
  while (!text.empty() && IsWhiteSpace(text.back())) text.pop_back();
  while (!text.empty() && IsWhiteSpace(text.front())) text.erase(0, 1);
  return text;
}

std::vector<std::u32string> Paragraphs(const std::u32string& text) {
  std::vector<std::u32string> out;
  std::u32string current;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = 0;  // of the longest match of \n\s*\n
    if (text[i] == '\n') {
      for (std::size_t j = i + 1; j < text.size() && IsWhiteSpace(text[j]); ++j) {
        if (text[j] == '\n') end = j + 1;
      }
    }
    if (end == 0) {
      current += text[i++];
      continue;
    }
    out.push_back(Strip(current));
    current.clear();
    i = end;
  }
  out.push_back(Strip(current));
  std::erase(out, std::u32string());
  return out;
}

std::vector<std::vector<std::u32string>> ReferenceChunks(std::string_view text, std::size_t size) {
  std::vector<std::vector<std::u32string>> chunks;
  std::size_t current = 0;
  for (const std::u32string& paragraph : Paragraphs(Decode(text))) {
    if (chunks.empty() || current + paragraph.size() > size) {
      chunks.emplace_back();
      current = 0;
    }
    chunks.back().push_back(paragraph);
    current += paragraph.size();
  }
  return chunks;
}

TEST(ArticleSplitter, AgreesWithTheArticlesCode) {
  const Strings parts = {
      "a",  "word", "é", "第", " ",    "\n",           "\n\n",         "\r\n",
      "\r", "\t",   ".", "#",  "\x1D", "\xE3\x80\x80", "\xE2\x80\xA9", "\xC2\x85"};
  std::mt19937 random(11);
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (std::size_t n = random() % 60; n > 0; --n) text += parts[random() % parts.size()];
    const std::uint32_t size = 1 + static_cast<std::uint32_t>(random() % 20);
    std::vector<std::vector<std::u32string>> got;
    for (const std::string& chunk : Chunks(text, size)) got.push_back(Paragraphs(Decode(chunk)));
    ASSERT_EQ(got, ReferenceChunks(text, size)) << text;
  }
}

}  // namespace
}  // namespace rag::indexer
