// A stand-in for a line of Markdown that makes the same blocks and costs next to nothing to parse.
//
// Which blocks a text has depends on how its lines begin, and on the ends of HTML blocks. So a line
// keeps its containers (quote and list markers), its marker of a heading, fence, rule or HTML
// block, and what may end an HTML block; the rest becomes "x". That takes away what makes a
// CommonMark parser slow: inline markup, very long lines and nesting deeper than any text for
// people. Link reference definitions become paragraphs, so that no text is without a block.
#ifndef INDEXER_MARKDOWN_SKELETON_H_
#define INDEXER_MARKDOWN_SKELETON_H_

#include <string>
#include <string_view>

namespace rag::indexer {

// Appends the stand-in of `line` (without its end) and "\n".
void AppendSkeletonLine(std::string_view line, std::string& out);

}  // namespace rag::indexer

#endif  // INDEXER_MARKDOWN_SKELETON_H_
