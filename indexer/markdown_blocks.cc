#include "indexer/markdown_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <cmark-gfm.h>

#include "indexer/characters.h"
#include "indexer/markdown_skeleton.h"
#include "indexer/sentences.h"
#include "indexer/text_lines.h"

namespace rag::indexer {
namespace {

using formats::ChunkKind;

// Lines given to the parser at once: its tree takes hundreds of bytes a line.
constexpr std::size_t kSegmentLines = 1 << 14;
constexpr std::size_t kMaxTitleSourceBytes = 1000;
constexpr std::size_t kMaxTitleBytes = 300;

struct NodeDeleter {
  void operator()(cmark_node* node) const { cmark_node_free(node); }
};
using NodePtr = std::unique_ptr<cmark_node, NodeDeleter>;

struct ParserDeleter {
  void operator()(cmark_parser* parser) const { cmark_parser_free(parser); }
};
using ParserPtr = std::unique_ptr<cmark_parser, ParserDeleter>;

// No extensions are attached: cmark keeps what they register in global tables, so that parsers of
// several threads would disturb each other. Tables are found here instead.
NodePtr Parse(std::string_view text) {
  const ParserPtr parser(cmark_parser_new(CMARK_OPT_DEFAULT));
  cmark_parser_feed(parser.get(), text.data(), text.size());
  return NodePtr(cmark_parser_finish(parser.get()));
}

// Where a block of a segment starts, as a line of the text.
struct FoundBlock {
  std::size_t line = 0;
  TextBlock block;
};

// The part of the text that is parsed at once. Lines that change nothing are left out: blank ones
// after two, and bare text after bare text, which goes on with whatever that was part of.
struct Skeleton {
  std::string text;
  std::vector<std::size_t> lines;  // the line of the text that each line stands for
};

Skeleton MakeSkeleton(const TextLines& lines, std::size_t first, std::size_t end) {
  constexpr std::string_view kBlank = "\n";
  constexpr std::string_view kBareText = "x\n";
  Skeleton skeleton;
  std::size_t blank_run = 0;
  std::string previous;
  std::string current;
  for (std::size_t line = first; line < end; ++line) {
    current.clear();
    AppendSkeletonLine(lines.Content(line), current);
    blank_run = current == kBlank ? blank_run + 1 : 0;
    if (blank_run > 2 || (current == kBareText && previous == kBareText)) continue;
    skeleton.lines.push_back(line);
    skeleton.text += current;
    previous.swap(current);
  }
  return skeleton;
}

// Collects the blocks of one parsed segment.
class BlockCollector {
 public:
  BlockCollector(const Skeleton& skeleton, std::size_t first_line)
      : skeleton_(skeleton), next_line_(first_line) {}

  std::vector<FoundBlock> Collect(cmark_node* document) {
    for (cmark_node* node = cmark_node_first_child(document); node != nullptr;
         node = cmark_node_next(node)) {
      AddTopLevel(node);
    }
    return std::move(found_);
  }

 private:
  void AddTopLevel(cmark_node* node) {
    switch (cmark_node_get_type(node)) {
      case CMARK_NODE_LIST:
        AddChildren(node, ChunkKind::kList);
        break;
      case CMARK_NODE_BLOCK_QUOTE:
        AddQuote(node);
        break;
      case CMARK_NODE_HEADING:
        if (Add(node, ChunkKind::kProse, false)) {
          found_.back().block.heading_level =
              static_cast<std::uint8_t>(cmark_node_get_heading_level(node));
        }
        break;
      case CMARK_NODE_CODE_BLOCK:
        Add(node, ChunkKind::kCode, true);
        break;
      case CMARK_NODE_HTML_BLOCK:
        Add(node, ChunkKind::kHtml, true);
        break;
      default:
        Add(node, ChunkKind::kProse, false);
        break;
    }
  }

  void AddChildren(cmark_node* node, ChunkKind kind) {
    for (cmark_node* child = cmark_node_first_child(node); child != nullptr;
         child = cmark_node_next(child)) {
      Add(child, kind, true);
    }
  }

  // The quote's own first line starts its first child, which may come lines later.
  void AddQuote(cmark_node* quote) {
    if (!Add(quote, ChunkKind::kQuote, false)) return;
    for (cmark_node* child = cmark_node_first_child(quote); child != nullptr;
         child = cmark_node_next(child)) {
      const bool atom = cmark_node_get_type(child) != CMARK_NODE_PARAGRAPH;
      if (child == cmark_node_first_child(quote)) {
        found_.back().block.atom = atom;
      } else if (Add(child, ChunkKind::kQuote, atom)) {
        found_.back().block.resumable = false;
      }
    }
  }

  // False when the parser's position cannot be one: blocks start on lines of their own, in order.
  bool Add(cmark_node* node, ChunkKind kind, bool atom) {
    const int start = cmark_node_get_start_line(node);
    if (start < 1 || static_cast<std::size_t>(start) > skeleton_.lines.size()) return false;
    const std::size_t line = skeleton_.lines[static_cast<std::size_t>(start) - 1];
    if (line < next_line_) return false;
    next_line_ = line + 1;
    FoundBlock found;
    found.line = line;
    found.block.kind = kind;
    found.block.atom = atom;
    found_.push_back(std::move(found));
    return true;
  }

  const Skeleton& skeleton_;
  std::size_t next_line_;
  std::vector<FoundBlock> found_;
};

// The blocks of the lines from `first` on, by the line that each starts at. Parses piece by piece:
// all blocks of a piece but the last are whole, and the next piece starts where that last one does.
std::vector<FoundBlock> FindBlocks(const TextLines& lines, std::size_t first) {
  std::vector<FoundBlock> all;
  std::size_t num_lines = kSegmentLines;
  while (first < lines.size()) {
    const std::size_t end = first + std::min(num_lines, lines.size() - first);
    const Skeleton skeleton = MakeSkeleton(lines, first, end);
    std::vector<FoundBlock> found =
        BlockCollector(skeleton, first).Collect(Parse(skeleton.text).get());
    std::size_t kept = found.size();
    if (end < lines.size()) {
      while (kept > 0 && !found[kept - 1].block.resumable) --kept;
      if (kept > 0) --kept;
      if (kept == 0) {
        num_lines *= 2;
        if (found.empty()) first = end;  // blank lines
        continue;
      }
    }
    first = end < lines.size() ? found[kept].line : lines.size();
    std::move(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept),
              std::back_inserter(all));
  }
  return all;
}

// Lines of front matter at the very start, "---" and "---" included; 0 when there is none. Its
// second line must look like YAML, or a text that starts with a rule would lose its headings up to
// the next rule.
std::size_t FrontMatterLines(const TextLines& lines) {
  const auto is_fence = [&](std::size_t line) {
    const std::string_view content = lines.Content(line);
    const std::size_t end = content.find_last_not_of(" \t");
    return content.substr(0, end == std::string_view::npos ? 0 : end + 1) == "---";
  };
  if (lines.size() < 3 || !is_fence(0)) return 0;
  const std::string_view second = lines.Content(1);
  if (second.find(':') == std::string_view::npos && second.substr(0, 1) != "#") return 0;
  for (std::size_t line = 2; line < lines.size(); ++line) {
    if (is_fence(line)) return line + 1;
  }
  return 0;
}

std::size_t LastTextLine(const TextLines& lines, std::size_t first, std::size_t end) {
  while (end > first + 1 && lines.IsBlank(end - 1)) --end;
  return end;
}

// A paragraph may hold a table: then the table's rows become blocks.
void AppendParagraph(const TextLines& lines, std::size_t first, std::size_t end,
                     std::vector<TextBlock>& out) {
  end = LastTextLine(lines, first, end);
  const std::size_t header = FindTable(lines, first, end);
  const auto append = [&](std::size_t line, ChunkKind kind, bool resumable) {
    TextBlock block;
    block.start = lines.Start(line);
    block.kind = kind;
    block.atom = kind == ChunkKind::kTable;
    block.resumable = resumable;
    out.push_back(std::move(block));
  };
  if (header > first) append(first, ChunkKind::kProse, true);
  if (header == end) return;
  append(header, ChunkKind::kTable, true);
  for (std::size_t row = header + 2; row < end; ++row) append(row, ChunkKind::kTable, false);
}

// Text of a one-line ("#") heading without inline markup: nearly all are, and texts can have very
// many.
std::optional<std::string> PlainTitle(std::string_view line) {
  const std::size_t marker = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t text = std::min(line.find_first_not_of('#', marker), line.size());
  const bool has_marker = marker <= 3 && text > marker && text - marker <= 6;
  if (!has_marker || (text < line.size() && line[text] != ' ' && line[text] != '\t')) {
    return std::nullopt;
  }
  if (line.find_first_of("\\`*_[<&") != std::string_view::npos) return std::nullopt;
  line.remove_prefix(text);
  const std::size_t end = line.find_last_not_of(" \t");
  line = line.substr(0, end == std::string_view::npos ? 0 : end + 1);
  const std::size_t closing = line.find_last_not_of('#');
  if (closing == std::string_view::npos) return std::string();
  if (line[closing] == ' ' || line[closing] == '\t') line = line.substr(0, closing);
  return CollapseWhiteSpace(line);
}

// cmark writes U+FFFF and U+FFFE as the bytes FF and FE, which no UTF-8 has.
std::string WithNonCharacters(std::string_view rendered) {
  std::string out;
  for (const char c : rendered) {
    if (c == '\xFF') {
      out += "\xEF\xBF\xBF";
    } else if (c == '\xFE') {
      out += "\xEF\xBF\xBE";
    } else {
      out += c;
    }
  }
  return out;
}

// Plain text of the heading that `source` starts with, of which the first line is `line`.
std::string HeadingTitle(std::string_view source, std::string_view line) {
  source = TruncateUtf8(source, kMaxTitleSourceBytes);
  std::optional<std::string> title = PlainTitle(TruncateUtf8(line, kMaxTitleSourceBytes));
  if (!title.has_value()) {
    const NodePtr document = Parse(source);
    cmark_node* heading = cmark_node_first_child(document.get());
    if (heading == nullptr) return "";
    const std::unique_ptr<char, decltype(&std::free)> text(
        cmark_render_plaintext(heading, CMARK_OPT_DEFAULT, 0), &std::free);
    title = CollapseWhiteSpace(WithNonCharacters(text.get()));
  }
  return std::string(TruncateUtf8(*title, kMaxTitleBytes));
}

}  // namespace

std::vector<TextBlock> MarkdownBlocks(std::string_view text, bool is_start) {
  const TextLines lines(text);
  std::vector<TextBlock> blocks;
  const std::size_t front = is_start ? FrontMatterLines(lines) : 0;
  if (front > 0) {
    TextBlock block;
    block.kind = ChunkKind::kCode;
    block.atom = true;
    blocks.push_back(std::move(block));
  }
  std::vector<FoundBlock> found = FindBlocks(lines, front);
  // Data about a text that is not there answers no question.
  if (found.empty()) return {};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t end = i + 1 < found.size() ? found[i + 1].line : lines.size();
    TextBlock& block = found[i].block;
    block.start = lines.Start(found[i].line);
    if (block.heading_level > 0) {
      block.title = HeadingTitle(text.substr(block.start, lines.Start(end) - block.start),
                                 lines.Content(found[i].line));
    } else if (block.kind == ChunkKind::kProse) {
      AppendParagraph(lines, found[i].line, end, blocks);
      continue;
    }
    blocks.push_back(std::move(block));
  }
  if (!blocks.empty()) blocks.front().start = 0;
  return blocks;
}

std::uint64_t FrontMatterBytes(std::string_view text) {
  const TextLines lines(text);
  return lines.Start(FrontMatterLines(lines));
}

std::vector<TextBlock> ParagraphBlocks(std::string_view text) {
  const TextLines lines(text);
  std::vector<TextBlock> blocks;
  bool after_blank = true;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const bool blank = lines.IsBlank(line);
    if (!blank && after_blank) {
      TextBlock block;
      block.start = blocks.empty() ? 0 : lines.Start(line);
      blocks.push_back(std::move(block));
    }
    after_blank = blank;
  }
  return blocks;
}

std::string FirstHeading(std::string_view text) {
  for (TextBlock& block : MarkdownBlocks(text)) {
    if (block.heading_level > 0) return std::move(block.title);
  }
  return "";
}

}  // namespace rag::indexer
