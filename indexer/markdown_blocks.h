// The top-level blocks of a document, each by the place where its first line starts.
#ifndef INDEXER_MARKDOWN_BLOCKS_H_
#define INDEXER_MARKDOWN_BLOCKS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/records.h"

namespace rag::indexer {

// Reaches to the start of the next block, or to the end of the text.
struct TextBlock {
  std::uint64_t start = 0;  // of its first line; 0 for the first block
  formats::ChunkKind kind = formats::ChunkKind::kProse;
  std::uint8_t heading_level = 0;  // 1–6; 0 for what is no heading
  bool atom = false;               // better whole than cut at a sentence
  bool resumable = true;           // the text from here on has the same blocks by itself
  std::string title;  // of a heading: its plain text, white space collapsed, at most 300 bytes
};

// CommonMark blocks and GFM tables of valid UTF-8 without a byte-order mark. An item of a list, a
// row of a table (the first one with its header) and a block inside a quote count as blocks. Only
// headings outside lists and quotes count. YAML front matter ("---" … "---" at the very start) is
// one block of code. Line ends are \n, \r\n and \r. Blank text has no blocks, and none has front
// matter alone; in other texts every line that is not blank is in one. `is_start`: the text is the
// start of a document, where front matter may be.
std::vector<TextBlock> MarkdownBlocks(std::string_view text, bool is_start = true);

// Bytes of the front matter that the text starts with, its fences included; 0 when there is none.
std::uint64_t FrontMatterBytes(std::string_view text);

// Plain text: a block is what stands between blank lines.
std::vector<TextBlock> ParagraphBlocks(std::string_view text);

// Title of the first heading; empty when there is none.
std::string FirstHeading(std::string_view text);

}  // namespace rag::indexer

#endif  // INDEXER_MARKDOWN_BLOCKS_H_
