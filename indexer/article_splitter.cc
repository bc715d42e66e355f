#include <algorithm>
#include <string>
#include <utility>

#include "indexer/characters.h"
#include "indexer/markdown_blocks.h"
#include "indexer/splitter.h"

namespace rag::indexer {
namespace {

using formats::Span;

struct Paragraph {
  Span range;
  std::uint64_t size = 0;  // code points, \r\n counted as one
};

// NUL is no white space to Python, but a chunk of nothing else would be blank.
bool IsGap(char32_t c) { return IsWhiteSpace(c) || c == 0; }

// Python reads text with universal newlines, so that "\r\n" and "\r" are "\n" to the article. Then
// splitting at \n\s*\n and trimming gives what stands between white space with two or more line
// ends.
class ParagraphScanner {
 public:
  explicit ParagraphScanner(std::string_view text) : text_(text) {}

  std::vector<Paragraph> Scan() {
    char32_t before = 0;
    for (std::size_t pos = ByteOrderMarkSize(text_); pos < text_.size();) {
      const CodePoint c = DecodeAt(text_, pos);
      const bool second_half = c.value == '\n' && before == '\r';
      if (!second_half) {
        if (IsGap(c.value)) {
          ++gap_size_;
          if (c.value == '\n' || c.value == '\r') ++gap_line_ends_;
        } else {
          OnText(pos);
        }
      }
      pos += c.size_bytes;
      before = c.value;
      if (!IsGap(c.value)) paragraphs_.back().range.end = pos;
    }
    return std::move(paragraphs_);
  }

 private:
  void OnText(std::size_t pos) {
    if (paragraphs_.empty() || gap_line_ends_ >= 2) {
      paragraphs_.push_back({{pos, pos}, 1});
    } else {
      paragraphs_.back().size += gap_size_ + 1;
    }
    gap_size_ = 0;
    gap_line_ends_ = 0;
  }

  std::string_view text_;
  std::vector<Paragraph> paragraphs_;
  std::uint64_t gap_size_ = 0;  // white space since the last text
  std::uint32_t gap_line_ends_ = 0;
};

class ArticleSplitter : public Splitter {
 public:
  explicit ArticleSplitter(std::uint32_t size) : size_(size) {}

  [[nodiscard]] std::string Id() const override {
    return "article-v1/size=" + std::to_string(size_);
  }

  [[nodiscard]] SplitDocument Split(std::string_view text, formats::MediaType type) const override {
    SplitDocument out;
    std::uint64_t open_size = 0;
    for (const Paragraph& paragraph : ParagraphScanner(text).Scan()) {
      if (out.chunks.empty() || open_size + paragraph.size > size_) {
        out.chunks.push_back({paragraph.range, formats::ChunkKind::kProse, 0});
        open_size = paragraph.size;
      } else {
        out.chunks.back().range.end = paragraph.range.end;
        open_size += paragraph.size;
      }
    }
    if (out.chunks.empty()) return out;
    KeepClusters(text, out.chunks);
    formats::ParentRecord parent;
    parent.range = {ByteOrderMarkSize(text), text.size()};
    parent.num_chunks = static_cast<std::uint32_t>(out.chunks.size());
    out.parents.push_back(std::move(parent));
    if (type == formats::MediaType::kMarkdown) {
      out.title = FirstHeading(text.substr(ByteOrderMarkSize(text)));
    }
    return out;
  }

 private:
  // Trimming may part a space from the mark on it, which the article does not mind but we do.
  static void KeepClusters(std::string_view text, std::vector<SplitChunk>& chunks) {
    for (SplitChunk& chunk : chunks) {
      Span& range = chunk.range;
      if (range.start > ByteOrderMarkSize(text)) {
        const CodePoint before = DecodeBefore(text, range.start);
        if (!MayCut(before.value, DecodeAt(text, range.start).value)) {
          range.start -= before.size_bytes;
        }
      }
      if (range.end < text.size()) {
        const CodePoint after = DecodeAt(text, range.end);
        if (!MayCut(DecodeBefore(text, range.end).value, after.value))
          range.end += after.size_bytes;
      }
    }
  }

  std::uint32_t size_;
};

}  // namespace

std::unique_ptr<Splitter> MakeArticleSplitter(std::uint32_t size) {
  return std::make_unique<ArticleSplitter>(size);
}

}  // namespace rag::indexer
