#include "indexer/sentences.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "indexer/characters.h"

namespace rag::indexer {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

bool IsSpacedStop(char32_t c) { return c == '.' || c == '!' || c == '?'; }

// Full stops that need no white space after them: those of Unicode's property Sentence_Terminal in
// living scripts, and that of full width, which may be a decimal point, too.
bool IsUnspacedStop(char32_t c) {
  if (c < 0x0589) return false;
  constexpr std::u32string_view kStops =
      U"\u0589"                    // Armenian
      U"\u061D\u061E\u061F\u06D4"  // Arabic
      U"\u0700\u0701\u0702"        // Syriac
      U"\u07F9"                    // N'Ko
      U"\u0964\u0965"              // danda: Devanagari, Bengali and others
      U"\u104A\u104B"              // Myanmar
      U"\u1362\u1367\u1368"        // Ethiopic
      U"\u1803\u1809"              // Mongolian
      U"\u17D4\u17D5"              // Khmer
      U"\u0F0D\u0F0E"              // Tibetan
      U"\u203C\u203D\u2047\u2048\u2049\u2E2E"
      U"\u3002\uFF01\uFF1F\uFF61"  // CJK
      U"\uFF0E";
  return kStops.find(c) != std::u32string_view::npos;
}

bool IsDigit(char32_t c) { return (c >= '0' && c <= '9') || (c >= 0xFF10 && c <= 0xFF19); }

// Thai and Lao, which end sentences with a space and no full stop. Without digits.
bool IsThaiOrLao(char32_t c) {
  return (c >= 0x0E01 && c <= 0x0E4E && c != 0x0E3F) || (c >= 0x0E81 && c <= 0x0ECF);
}

// Their signs of repetition and abbreviation, which stand behind a space, too.
bool IsThaiOrLaoSign(char32_t c) {
  return c == 0x0E2F || c == 0x0E46 || c == 0x0EAF || c == 0x0EC6;
}

// Closing quotes and brackets, which belong to the sentence before them.
bool IsCloser(char32_t c) {
  if (c < 0x80) return c == '"' || c == '\'' || c == ')' || c == ']' || c == '}';
  constexpr std::u32string_view kClosers =
      U"\u2019\u201D\u00BB\u203A\u300D\u300F\u3011\u3009\u300B\u3015\uFF09\uFF3D\uFF5D\uFF63";
  return kClosers.find(c) != std::u32string_view::npos;
}

bool IsAsciiLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Before a lower-case letter or a digit these end no sentence.
bool IsAbbreviation(std::string_view word) {
  static constexpr std::array<std::string_view, 29> kWords = {
      "al",  "approx", "apr", "art",  "aug", "ca",  "cf",   "ch",  "dec", "ed",
      "eq",  "etc",    "feb", "fig",  "jan", "jul", "jun",  "mar", "no",  "nov",
      "oct", "p",      "pp",  "resp", "sec", "sep", "sept", "vol", "vs"};
  return std::binary_search(kWords.begin(), kWords.end(), word) ||
         word.find('.') != std::string_view::npos;  // e.g  i.e  a.m  U.S
}

// Names follow these, so no sentence ends with them.
bool IsTitle(std::string_view word) {
  static constexpr std::array<std::string_view, 18> kWords = {
      "capt", "col", "dr", "gen",  "gov", "hon", "lt",  "messrs", "mme",
      "mr",   "mrs", "ms", "prof", "rev", "sen", "sgt", "st",     "v"};
  return std::binary_search(kWords.begin(), kWords.end(), word);
}

// One capital letter and a full stop, as in "J. R. Osk".
bool IsInitialAt(std::string_view text, std::size_t pos) {
  return pos + 1 < text.size() && text[pos] >= 'A' && text[pos] <= 'Z' && text[pos + 1] == '.' &&
         (pos == 0 || !IsAsciiLetter(text[pos - 1]));
}

// Whether the full stop at text[stop] ends no sentence, because of what is before it. The text goes
// on at `next_pos`, with `next`.
bool IsInnerStop(std::string_view text, std::size_t stop, std::size_t next_pos, char32_t next) {
  constexpr std::size_t kLongestWord = 8;
  const bool lower_case = next >= 'a' && next <= 'z';
  if (stop > 0 && text[stop - 1] == '.') return lower_case;  // an ellipsis
  std::size_t start = stop;
  while (start > 0 && stop - start <= kLongestWord &&
         (IsAsciiLetter(text[start - 1]) || text[start - 1] == '.')) {
    --start;
  }
  if (start > 0 && static_cast<unsigned char>(text[start - 1]) >= 0x80) return false;
  std::string word(text.substr(start, stop - start));
  if (word.empty() || word.size() > kLongestWord || !IsAsciiLetter(word[0])) return false;
  if (word.size() == 1 && IsInitialAt(text, start) && next >= 'A' && next <= 'Z') {
    // Alone it may as well be the end of a sentence, as in "section C. The".
    const bool after_another = start >= 3 && text[start - 1] == ' ' && IsInitialAt(text, start - 3);
    return after_another || IsInitialAt(text, next_pos);
  }
  for (char& c : word)
    c = static_cast<char>(c | 0x20);  // letters to lower case; '.' keeps its value
  if (IsTitle(word)) return true;
  const bool goes_on = lower_case || (next >= '0' && next <= '9');
  return goes_on && IsAbbreviation(word);
}

// White space from `pos` on, and what it separates.
struct Gap {
  std::size_t end = 0;
  std::uint32_t line_ends = 0;
  char32_t last = 0;
};

Gap ReadGap(std::string_view text, std::size_t pos) {
  Gap gap{pos, 0, 0};
  while (gap.end < text.size()) {
    const CodePoint c = DecodeAt(text, gap.end);
    if (!IsWhiteSpace(c.value)) break;
    const bool second_half = c.value == '\n' && gap.last == '\r';
    if ((c.value == '\n' || c.value == '\r') && !second_half) ++gap.line_ends;
    gap.last = c.value;
    gap.end += c.size_bytes;
  }
  return gap;
}

// One pass over a text; see SplitSentences().
class SentenceScanner {
 public:
  explicit SentenceScanner(std::string_view text) : text_(text) {}

  std::vector<formats::Span> Scan() {
    std::size_t pos = 0;
    while (pos < text_.size()) {
      const CodePoint c = DecodeAt(text_, pos);
      if (IsWhiteSpace(c.value)) {
        const Gap gap = ReadGap(text_, pos);
        OnGap(c.value, pos, gap);
        pos = gap.end;
        previous_ = gap.last;
      } else {
        OnCharacter(c, pos);
        pos += c.size_bytes;
        previous_ = c.value;
      }
    }
    if (start_ != kNowhere) sentences_.push_back({start_, text_end_});
    return std::move(sentences_);
  }

 private:
  enum class Stop { kNone, kSpaced, kUnspaced };  // seen last, with nothing but closers after it

  void End() {
    sentences_.push_back({start_, text_end_});
    start_ = kNowhere;
    stop_ = Stop::kNone;
  }

  void OnGap(char32_t first, std::size_t pos, const Gap& gap) {
    if (start_ == kNowhere || gap.end == text_.size()) return;
    const char32_t next = DecodeAt(text_, gap.end).value;
    bool ends = gap.line_ends >= 2 || stop_ != Stop::kNone;
    if (ends && gap.line_ends < 2 && previous_ == '.')
      ends = !IsInnerStop(text_, pos - 1, gap.end, next);
    if (IsThaiOrLao(previous_) && IsThaiOrLao(next) && !IsThaiOrLaoSign(next)) ends = true;
    if (ends && MayCut(previous_, first) && MayCut(gap.last, next)) {
      End();
    } else {
      stop_ = Stop::kNone;
    }
  }

  void OnCharacter(const CodePoint& c, std::size_t pos) {
    const bool decimal = previous_ == 0xFF0E && IsDigit(c.value);
    const bool more_stop =
        decimal || IsCloser(c.value) || IsSpacedStop(c.value) || IsUnspacedStop(c.value);
    if (stop_ == Stop::kUnspaced && !more_stop && MayCut(previous_, c.value)) End();
    if (start_ == kNowhere) start_ = pos;
    if (IsUnspacedStop(c.value)) {
      stop_ = Stop::kUnspaced;
    } else if (IsSpacedStop(c.value)) {
      if (stop_ == Stop::kNone) stop_ = Stop::kSpaced;
    } else if (!IsCloser(c.value)) {
      stop_ = Stop::kNone;
    }
    text_end_ = pos + c.size_bytes;
  }

  std::string_view text_;
  std::vector<formats::Span> sentences_;
  std::size_t start_ = kNowhere;
  std::size_t text_end_ = 0;  // of the last character that is not white space
  char32_t previous_ = 0;
  Stop stop_ = Stop::kNone;
};

}  // namespace

std::vector<formats::Span> SplitSentences(std::string_view text) {
  return SentenceScanner(text).Scan();
}

std::string CollapseWhiteSpace(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool pending = false;
  for (std::size_t pos = 0; pos < text.size();) {
    const CodePoint c = DecodeAt(text, pos);
    if (IsWhiteSpace(c.value)) {
      pending = !out.empty();
    } else {
      if (pending) out += ' ';
      pending = false;
      out += text.substr(pos, c.size_bytes);
    }
    pos += c.size_bytes;
  }
  return out;
}

std::vector<std::string> ArticleSentences(std::string_view text) {
  const std::string collapsed = CollapseWhiteSpace(text);
  std::vector<std::string> out;
  std::size_t start = 0;
  for (std::size_t space = collapsed.find(' '); space != std::string::npos;
       space = collapsed.find(' ', space + 1)) {
    if (!IsSpacedStop(static_cast<unsigned char>(collapsed[space - 1]))) continue;
    out.push_back(collapsed.substr(start, space - start));
    start = space + 1;
  }
  if (start < collapsed.size()) out.push_back(collapsed.substr(start));
  return out;
}

}  // namespace rag::indexer
