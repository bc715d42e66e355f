// Blocks of Markdown and of plain text.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/characters.h"
#include "indexer/markdown_blocks.h"
#include "tests/fuzz/fuzz.h"

namespace rag::fuzz {
namespace {

using indexer::TextBlock;

bool StartsLine(std::string_view text, std::uint64_t at) {
  return at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r';
}

// `body`: the text without front matter.
void CheckBlocks(std::string_view text, std::string_view body,
                 const std::vector<TextBlock>& blocks) {
  const bool blank = std::all_of(body.begin(), body.end(), indexer::IsBlankByte);
  Require(blocks.empty() == blank, "there are blocks unless the text is blank");
  std::uint64_t previous = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const TextBlock& block = blocks[i];
    Require(i == 0 ? block.start == 0 : block.start > previous, "blocks ascend from 0");
    Require(block.start < text.size() && StartsLine(text, block.start), "blocks start with lines");
    Require(block.heading_level <= 6, "headings have six levels");
    Require(block.heading_level > 0 || block.title.empty(), "only headings have a title");
    Require(block.title.size() <= 300, "titles are short");
    Require(indexer::ValidUtf8Prefix(block.title) == block.title.size(), "titles are UTF-8");
    previous = block.start;
  }
}

std::string FirstTitle(const std::vector<TextBlock>& blocks) {
  for (const TextBlock& block : blocks) {
    if (block.heading_level > 0) return block.title;
  }
  return "";
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  std::string text = fuzz::ToUtf8(fuzz::Bytes(data, size));
  text.erase(0, indexer::ByteOrderMarkSize(text));
  if (indexer::ByteOrderMarkSize(text) > 0) return 0;
  const std::vector<indexer::TextBlock> blocks = indexer::MarkdownBlocks(text);
  const std::string_view body = std::string_view(text).substr(indexer::FrontMatterBytes(text));
  fuzz::CheckBlocks(text, body, blocks);
  fuzz::CheckBlocks(text, text, indexer::ParagraphBlocks(text));
  fuzz::Require(indexer::FirstHeading(text) == fuzz::FirstTitle(blocks),
                "the first heading is that of the blocks");
  return 0;
}
