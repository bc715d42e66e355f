#include "indexer/markdown_blocks.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <cmark-gfm.h>
#include <gtest/gtest.h>

#include "indexer/markdown_skeleton.h"

namespace rag::indexer {
namespace {

using formats::ChunkKind;
using Strings = std::vector<std::string>;

std::string Skeleton(std::string_view line) {
  std::string out;
  AppendSkeletonLine(line, out);
  return out;
}

TEST(MarkdownSkeleton, TextBecomesOneLetter) {
  EXPECT_EQ(Skeleton("Some *text* with [markup](u)."), "x\n");
  EXPECT_EQ(Skeleton(" \t "), "\n");
}

TEST(MarkdownSkeleton, KeepsMarkersOfContainersAndBlocks) {
  EXPECT_EQ(Skeleton("> - 12) ## Some text"), "> - 12) ## x\n");
  EXPECT_EQ(Skeleton("  ````` sh"), "  ````` x\n");
  EXPECT_EQ(Skeleton("* * * *"), "* * * \n");
  EXPECT_EQ(Skeleton("======  "), "======\n");
}

TEST(MarkdownSkeleton, KeepsWhatEndsAnHtmlBlock) {
  EXPECT_EQ(Skeleton("a --> b </SCRIPT> c"), "x --> > </script>\n");
}

TEST(MarkdownSkeleton, BoundsDepthAndLength) {
  EXPECT_LT(Skeleton(std::string(100000, '>')).size(), 100U);
  EXPECT_LT(Skeleton(std::string(100000, ' ') + "a").size(), 100U);
  EXPECT_LT(Skeleton(std::string(100000, '-')).size(), 100U);
}

using Found = std::tuple<std::size_t, ChunkKind, int>;  // line, kind, level of heading

// The blocks that the parser itself finds in the whole text.
class Reference {
 public:
  explicit Reference(const std::string& text) {
    const std::unique_ptr<cmark_node, decltype(&cmark_node_free)> document(
        cmark_parse_document(text.data(), text.size(), CMARK_OPT_DEFAULT), &cmark_node_free);
    Each(document.get(), [this](cmark_node* node) { AddTopLevel(node); });
  }

  std::vector<Found> found;

 private:
  template <typename F>
  static void Each(cmark_node* parent, F visit) {
    for (cmark_node* node = cmark_node_first_child(parent); node != nullptr;
         node = cmark_node_next(node)) {
      visit(node);
    }
  }

  void Add(cmark_node* node, ChunkKind kind) {
    const auto line = static_cast<std::size_t>(cmark_node_get_start_line(node)) - 1;
    found.emplace_back(line, kind, cmark_node_get_heading_level(node));
  }

  void AddTopLevel(cmark_node* node) {
    const cmark_node_type type = cmark_node_get_type(node);
    if (type == CMARK_NODE_LIST) {
      Each(node, [this](cmark_node* item) { Add(item, ChunkKind::kList); });
    } else if (type == CMARK_NODE_BLOCK_QUOTE) {
      Add(node, ChunkKind::kQuote);
      Each(node, [&](cmark_node* child) {
        if (child != cmark_node_first_child(node)) {
          Add(child, ChunkKind::kQuote);
          std::get<2>(found.back()) = 0;
        }
      });
    } else if (type == CMARK_NODE_CODE_BLOCK) {
      Add(node, ChunkKind::kCode);
    } else if (type == CMARK_NODE_HTML_BLOCK) {
      Add(node, ChunkKind::kHtml);
    } else {
      Add(node, ChunkKind::kProse);
    }
  }
};

std::vector<Found> Blocks(const std::string& text) {
  std::vector<Found> out;
  for (const TextBlock& block : MarkdownBlocks(text)) {
    const auto before = text.begin() + static_cast<std::ptrdiff_t>(block.start);
    out.emplace_back(std::count(text.begin(), before, '\n'), block.kind, block.heading_level);
  }
  return out;
}

TEST(MarkdownBlocks, AreThoseThatTheParserFindsInTheTextItself) {
  const Strings scraps = {
      "a",         "word ",     " ",           "  ",     "    ",  "\t",     "\n",    "\n",
      "\n",        "\n\n",      "# ",          "## ",    "#",     "- ",     "-",     "* ",
      "*",         "+ ",        "1. ",         "2) ",    "10. ",  "> ",     ">",     "```",
      "````",      "~~~",       "`",           "---",    "***",   "===",    "=",     "_ _ _",
      "<!--",      "-->",       "<div>",       "</div>", "<pre>", "</pre>", "<b>",   "<?",
      "?>",        "<!X",       "<a b=\"c\">", "\\",     "&amp;", "[l](u)", "**b**", "<script>",
      "</script>", "<![CDATA[", "]]>",         "é"};
  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    std::string text = "x\n\n";  // so that the first block starts at a line of its own
    for (std::size_t n = random() % 60; n > 0; --n) text += scraps[random() % scraps.size()];
    ASSERT_EQ(Blocks(text), Reference(text).found) << text;
  }
}

TEST(MarkdownBlocks, LinkDefinitionsAreText) { EXPECT_EQ(Blocks("# T\n\n[a]: /url\n").size(), 2U); }

TEST(MarkdownBlocks, RowsOfATableAreBlocks) {
  const std::vector<Found> want = {{0, ChunkKind::kProse, 0},
                                   {1, ChunkKind::kTable, 0},
                                   {3, ChunkKind::kTable, 0},
                                   {4, ChunkKind::kTable, 0},
                                   {6, ChunkKind::kProse, 0}};
  EXPECT_EQ(Blocks("Before\na|b\n-|:-:\n1|2\n3\n\nAfter\n"), want);
}

TEST(FirstHeading, IsTheFirstOutsideListsAndQuotes) {
  EXPECT_EQ(FirstHeading("> # a\n\n- # b\n\n### c\n\n# d\n"), "c");
  EXPECT_EQ(FirstHeading("text"), "");
}

TEST(MarkdownBlocks, TitlesKeepWhatCmarkWritesAsBadBytes) {
  EXPECT_EQ(FirstHeading("# a *\xEF\xBF\xBF* \xEF\xBF\xBE\n"), "a \xEF\xBF\xBF \xEF\xBF\xBE");
}

}  // namespace
}  // namespace rag::indexer
