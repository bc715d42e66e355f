#include "indexer/text_parts.h"

#include "indexer/sentences.h"

namespace rag::indexer {
namespace {

using formats::Span;

bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }

bool IsPunctuation(char c) { return c == ',' || c == ';' || c == '}'; }

// ASCII that is no white space: most of most texts.
bool IsPlain(char c) { return c > ' ' && c < '\x7F'; }

// First place behind the breaking white space that starts at `pos`; `pos` when there is none.
std::size_t SkipSpace(std::string_view text, std::size_t pos) {
  while (pos < text.size() && !IsPlain(text[pos])) {
    const CodePoint c = DecodeAt(text, pos);
    if (!IsBreakingSpace(c.value)) break;
    pos += c.size_bytes;
  }
  return pos;
}

bool MayCutAt(std::string_view text, std::size_t pos) {
  return MayCut(DecodeBefore(text, pos).value, DecodeAt(text, pos).value);
}

}  // namespace

TextParts::TextParts(std::string_view text, Span span, Separator separator)
    : text_(text.substr(0, span.end)),
      next_(span.start),
      separator_(separator),
      origin_(span.start) {
  if (separator == Separator::kSentenceEnds) sentences_ = SplitSentences(text_.substr(span.start));
}

bool TextParts::Next(Span& part) {
  if (next_ >= text_.size()) return false;
  part = {next_, End(next_)};
  next_ = part.end;
  return true;
}

std::size_t TextParts::End(std::size_t start) {
  switch (separator_) {
    case Separator::kBlankLines:
      return EndOfLines(start, 2);
    case Separator::kLineEnds:
      return EndOfLines(start, 1);
    case Separator::kSentenceEnds:
      return EndOfSentence();
    case Separator::kWhiteSpace:
      return EndOfWord(start);
    case Separator::kPunctuation:
      return EndOfPunctuation(start);
    case Separator::kClusters:
      return EndOfCluster(start);
    case Separator::kCodePoints:
      break;
  }
  return start + DecodeAt(text_, start).size_bytes;
}

// Behind a run of blanks with so many line ends or more: at its last one, so that the indentation
// of the next line stays with it.
std::size_t TextParts::EndOfLines(std::size_t start, std::uint32_t line_ends) const {
  std::size_t pos = start;
  while (pos < text_.size() && IsBlankByte(text_[pos])) ++pos;
  while (pos < text_.size()) {
    if (!IsLineEnd(text_[pos])) {
      ++pos;
      continue;
    }
    std::uint32_t found = 0;
    std::size_t last_end = pos;
    for (; pos < text_.size() && IsBlankByte(text_[pos]); ++pos) {
      if (!IsLineEnd(text_[pos])) continue;
      if (text_[pos] == '\r' && pos + 1 < text_.size() && text_[pos + 1] == '\n') ++pos;
      ++found;
      last_end = pos + 1;
    }
    if (found >= line_ends && pos < text_.size()) return last_end;
  }
  return text_.size();
}

std::size_t TextParts::EndOfSentence() {
  const std::size_t next = next_sentence_++;
  return next < sentences_.size() ? origin_ + sentences_[next].start : text_.size();
}

std::size_t TextParts::EndOfWord(std::size_t start) const {
  std::size_t pos = SkipSpace(text_, start);
  while (pos < text_.size()) {
    if (IsPlain(text_[pos])) {
      ++pos;
      continue;
    }
    const CodePoint c = DecodeAt(text_, pos);
    pos += c.size_bytes;
    if (!IsBreakingSpace(c.value)) continue;
    pos = SkipSpace(text_, pos);
    if (pos < text_.size() && (IsPlain(text_[pos]) || MayCutAt(text_, pos))) return pos;
  }
  return text_.size();
}

std::size_t TextParts::EndOfPunctuation(std::size_t start) const {
  for (std::size_t pos = start; pos < text_.size(); ++pos) {
    if (!IsPunctuation(text_[pos])) continue;
    const std::size_t end = pos + 1;
    const bool goes_on = end < text_.size() && IsPunctuation(text_[end]);
    if (end < text_.size() && !goes_on && MayCutAt(text_, end)) return end;
  }
  return text_.size();
}

std::size_t TextParts::EndOfCluster(std::size_t start) {
  CodePoint c = DecodeAt(text_, start);
  std::size_t pos = start + c.size_bytes;
  while (pos < text_.size()) {
    const char32_t before = c.value;
    c = DecodeAt(text_, pos);
    if (clusters_.MayCut(before, c.value)) return pos;
    pos += c.size_bytes;
  }
  return pos;
}

}  // namespace rag::indexer
