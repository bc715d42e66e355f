#include "indexer/text_cuts.h"

#include <algorithm>
#include <utility>

#include "indexer/characters.h"
#include "indexer/sentences.h"

namespace rag::indexer {
namespace {

using formats::Span;

constexpr std::uint64_t kMaxIndentBytes = 64;  // wider is not layout but filler

bool IsLineEnd(char32_t c) { return c == '\n' || c == '\r'; }

// First byte of the indentation before `pos`, if the line starts inside the span.
std::uint64_t IndentStart(std::string_view text, std::uint64_t span_start, std::uint64_t pos) {
  const std::uint64_t limit = pos - std::min(pos - span_start, kMaxIndentBytes);
  std::uint64_t start = pos;
  while (start > limit && (text[start - 1] == ' ' || text[start - 1] == '\t')) --start;
  const bool at_line_start = start == 0 || IsLineEnd(static_cast<unsigned char>(text[start - 1]));
  return at_line_start ? start : pos;
}

std::uint64_t TrimmedStart(std::string_view text, Span span) {
  std::uint64_t pos = span.start;
  while (pos < span.end && IsBlankByte(text[pos])) ++pos;
  if (pos == span.end || pos == span.start) return pos;
  const std::uint64_t indent = IndentStart(text, span.start, pos);
  if (indent < pos) return indent;
  return MayCut(static_cast<unsigned char>(text[pos - 1]), DecodeAt(text, pos).value) ? pos
                                                                                      : pos - 1;
}

std::uint64_t TrimmedEnd(std::string_view text, Span span) {
  std::uint64_t pos = span.end;
  while (pos > span.start && IsBlankByte(text[pos - 1])) --pos;
  if (pos == span.start || pos == span.end) return pos;
  return MayCut(DecodeBefore(text, pos).value, static_cast<unsigned char>(text[pos])) ? pos
                                                                                      : pos + 1;
}

// The last place of each sort to cut a window at; 0 until there is one.
struct Candidates {
  std::uint64_t line_end = 0;
  std::uint64_t space = 0;
  std::uint64_t punctuation = 0;
  std::uint64_t cluster = 0;

  void Note(char32_t before, std::uint64_t pos, bool late) {
    cluster = pos;
    if (IsLineEnd(before)) line_end = pos;
    if (IsBreakingSpace(before)) space = pos;
    if (late && (before == ',' || before == ';' || before == '}')) punctuation = pos;
  }

  [[nodiscard]] std::uint64_t Best(CutAt at) const {
    if (at == CutAt::kLineEnds && line_end > 0) return line_end;
    if (space > 0) return space;
    return punctuation > 0 ? punctuation : cluster;
  }
};

// End of the first piece of a range that starts with text: > span.start.
std::uint64_t NextCut(std::string_view text, Span span, std::uint64_t soft, std::uint64_t hard,
                      CutAt at) {
  Candidates seen;
  ClusterScanner clusters;
  char32_t before = 0;
  std::uint64_t count = 0;
  std::uint64_t pos = span.start;
  while (pos < span.end) {
    const CodePoint c = DecodeAt(text, pos);
    if (count > 0 && clusters.MayCut(before, c.value)) {
      if (count > soft) return pos;  // the first end of a cluster that is longer than `soft`
      seen.Note(before, pos, count > soft - soft / 5);
    }
    if (count >= soft && seen.cluster > 0) return seen.Best(at);
    if (count >= hard) return pos;
    before = c.value;
    pos += c.size_bytes;
    ++count;
  }
  return span.end;
}

// Joins ranges in order while they stay within the limits.
class SpanPacker {
 public:
  SpanPacker(std::string_view text, const CutLimits& limits) : text_(text), limits_(limits) {}

  [[nodiscard]] std::uint64_t lead() const { return packed_.empty() ? limits_.lead : 0; }

  void Add(Span span) {
    if (!packed_.empty()) {
      Span& last = packed_.back();
      const std::uint64_t joined =
          size_ + CountCodePoints(text_.substr(last.end, span.end - last.end));
      if (joined <= limit_) {
        last.end = span.end;
        size_ = joined;
        return;
      }
    }
    limit_ = std::min(limits_.soft, limits_.hard - lead());
    packed_.push_back(span);
    size_ = CountCodePoints(text_.substr(span.start, span.size()));
  }

  std::vector<Span> Take() { return std::move(packed_); }

 private:
  std::string_view text_;
  CutLimits limits_;
  std::vector<Span> packed_;
  std::uint64_t size_ = 0;   // of the last one
  std::uint64_t limit_ = 0;  // likewise
};

}  // namespace

Span TrimBlank(std::string_view text, Span span) {
  span.start = TrimmedStart(text, span);
  span.end = TrimmedEnd(text, span);
  return span;
}

std::vector<Span> CutSpan(std::string_view text, Span span, const CutLimits& limits, CutAt at) {
  std::vector<Span> pieces;
  std::uint64_t lead = limits.lead;
  span.end = TrimmedEnd(text, span);
  for (;;) {
    span.start = TrimmedStart(text, span);
    if (span.empty()) break;
    const std::uint64_t hard = limits.hard - lead;
    const std::uint64_t end = NextCut(text, span, std::min(limits.soft, hard), hard, at);
    const Span piece = TrimBlank(text, {span.start, end});
    if (!piece.empty()) {
      pieces.push_back(piece);
      lead = 0;
    }
    span.start = end;
  }
  return pieces;
}

std::vector<Span> CutProse(std::string_view text, Span span, const CutLimits& limits) {
  const std::vector<Span> sentences = SplitSentences(text.substr(span.start, span.size()));
  SpanPacker packer(text, limits);
  std::uint64_t start = span.start;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    // A sentence reaches to the next one's start, so that white space which is not ASCII is kept
    // too.
    const bool last = i + 1 == sentences.size();
    const std::uint64_t end = last ? span.end : span.start + sentences[i + 1].start;
    const CutLimits rest{limits.soft, limits.hard, packer.lead()};
    for (const Span& piece : CutSpan(text, {start, end}, rest, CutAt::kWhiteSpace)) {
      packer.Add(piece);
    }
    start = end;
  }
  if (sentences.empty()) {  // Unicode white space only
    for (const Span& piece : CutSpan(text, span, limits, CutAt::kWhiteSpace)) packer.Add(piece);
  }
  return packer.Take();
}

}  // namespace rag::indexer
