#include "models/words.h"

#include <libstemmer.h>

#include <utf8proc.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <new>

#include "absl/container/flat_hash_map.h"

namespace rag::models {
namespace {

// Words whose stems are remembered before the memo starts over; about 18 MB of table.
constexpr std::size_t kMemoLimit = std::size_t{1} << 19;
// Stands in the memo for a word that is no term.
constexpr std::uint64_t kNoTerm = 0;

constexpr std::array<std::string_view, 76> kStopWords = {
    "a",    "about", "an",    "and",    "are",  "as",    "at",    "be",    "because", "been",
    "but",  "by",    "can",   "could",  "did",  "do",    "does",  "for",   "from",    "had",
    "has",  "have",  "he",    "her",    "his",  "how",   "i",     "if",    "in",      "into",
    "is",   "it",    "its",   "may",    "me",   "my",    "no",    "not",   "of",      "on",
    "or",   "our",   "she",   "should", "so",   "such",  "than",  "that",  "the",     "their",
    "them", "then",  "there", "these",  "they", "this",  "those", "to",    "us",      "use",
    "was",  "we",    "were",  "what",   "when", "where", "which", "while", "who",     "whom",
    "why",  "will",  "with",  "would",  "you",  "your"};
static_assert(std::is_sorted(kStopWords.begin(), kStopWords.end()));

enum CharClass : std::uint8_t {
  kSeparator = 0,
  kLower = 1,
  kUpper = 2,
  kDigit = 4,
  kUnderscore = 8
};

constexpr std::array<std::uint8_t, 128> MakeAsciiClasses() {
  std::array<std::uint8_t, 128> classes{};
  for (std::size_t c = 'a'; c <= 'z'; ++c) classes[c] = kLower;
  for (std::size_t c = 'A'; c <= 'Z'; ++c) classes[c] = kUpper;
  for (std::size_t c = '0'; c <= '9'; ++c) classes[c] = kDigit;
  classes['_'] = kUnderscore;
  return classes;
}
constexpr std::array<std::uint8_t, 128> kAsciiClasses = MakeAsciiClasses();

constexpr std::uint8_t AsciiClass(char c) {
  return kAsciiClasses[static_cast<unsigned char>(c) & 127U];
}
constexpr bool IsAscii(char c) { return static_cast<unsigned char>(c) < 128; }
// Blanks and control characters: what no rule below looks across.
constexpr bool IsBreak(char c) { return static_cast<unsigned char>(c) <= ' '; }

template <typename Char>
constexpr bool IsAsciiLower(Char c) {
  return c >= Char{'a'} && c <= Char{'z'};
}
template <typename Char>
constexpr bool IsAsciiUpper(Char c) {
  return c >= Char{'A'} && c <= Char{'Z'};
}

int Category(char32_t c) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->category;
}

bool IsDecimal(char c) { return c >= '0' && c <= '9'; }
bool IsDecimal(char32_t c) {
  return c < 128 ? (c >= U'0' && c <= U'9') : Category(c) == UTF8PROC_CATEGORY_ND;
}

// Letters and numbers, without the underscore.
bool IsAlnum(char32_t c) {
  if (c < 128) return (kAsciiClasses[c] & (kLower | kUpper | kDigit)) != 0;
  switch (Category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return false;
  }
}

constexpr bool IsThai(char32_t c) { return c >= 0x0E00 && c <= 0x0E7F; }

// Scripts that put no blanks between words. All of them take three bytes in UTF-8.
constexpr bool IsUnspaced(char32_t c) {
  return (c >= 0x3040 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x9FFF) || IsThai(c) ||
         (c >= 0xF900 && c <= 0xFAFF);
}
constexpr std::size_t kUnspacedBytes = 3;

// A run of letters, digits and underscores is camelCase when its leading ASCII letters hold a
// lower-case letter before an upper-case one, or start with at least two upper-case letters before
// a lower-case one.
template <typename Char>
bool IsCamelCase(std::basic_string_view<Char> run) {
  std::size_t at = 0;
  while (at < run.size() && IsAsciiUpper(run[at])) ++at;
  if (at >= 2 && at < run.size() && IsAsciiLower(run[at])) return true;
  for (++at; at < run.size() && IsAsciiLower(run[at - 1]); ++at) {
    if (IsAsciiUpper(run[at])) return true;
  }
  return false;
}

struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;  // == begin: no more parts
};

// The next part of a camelCase run from `at`: upper-case letters up to the last one before a
// lower-case letter ("HTTP" of "HTTPServer"), a word with or without capital, or digits. Anything
// else is skipped.
template <typename Char>
Part NextPart(std::basic_string_view<Char> run, std::size_t at) {
  for (; at < run.size(); ++at) {
    std::size_t end = at;
    if (IsDecimal(run[at])) {
      while (end < run.size() && IsDecimal(run[end])) ++end;
      return {at, end};
    }
    while (end < run.size() && IsAsciiUpper(run[end])) ++end;
    const std::size_t num_upper = end - at;
    const bool lower_follows = end < run.size() && IsAsciiLower(run[end]);
    if (num_upper >= 2) return {at, lower_follows ? end - 1 : end};
    while (end < run.size() && IsAsciiLower(run[end])) ++end;
    if (end > at) return {at, end};
  }
  return {run.size(), run.size()};
}

// Unicode's Case_Ignorable property.
bool IsCaseIgnorable(char32_t c) {
  switch (c) {
    case U'\'':  // Word_Break Single_Quote, MidLetter and MidNumLet
    case U'.':
    case U':':
    case 0x00B7:
    case 0x0387:
    case 0x055F:
    case 0x05F4:
    case 0x2018:
    case 0x2019:
    case 0x2024:
    case 0x2027:
    case 0xFE13:
    case 0xFE52:
    case 0xFE55:
    case 0xFF07:
    case 0xFF0E:
    case 0xFF1A:
      return true;
    default:
      break;
  }
  const int category = Category(c);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME ||
         category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_LM ||
         category == UTF8PROC_CATEGORY_SK;
}

// Unicode's Cased property, of characters that are not Case_Ignorable.
bool IsCased(char32_t c) {
  const int category = Category(c);
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT || c == 0x00AA || c == 0x00BA ||
         (c >= 0x2160 && c <= 0x217F) || (c >= 0x24B6 && c <= 0x24E9) ||
         (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
         (c >= 0x1F170 && c <= 0x1F189);
}

// Unicode's Final_Sigma context: is text[at], a capital sigma, the last letter of a word of
// several?
bool IsFinalSigma(std::u32string_view text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && IsCaseIgnorable(text[before - 1])) --before;
  if (before == 0 || !IsCased(text[before - 1])) return false;
  std::size_t after = at + 1;
  while (after < text.size() && IsCaseIgnorable(text[after])) ++after;
  return after == text.size() || !IsCased(text[after]);
}

void AppendUtf8(char32_t c, std::string& out) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t size =
      utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
    out.push_back(static_cast<char>(bytes[i]));
  }
}

// Code points of UTF-8 text; a bad byte becomes U+FFFD, which belongs to no word.
void Decode(std::string_view text, std::u32string& out) {
  out.clear();
  std::size_t at = 0;
  while (at < text.size()) {
    utf8proc_int32_t c = 0;
    const utf8proc_ssize_t size =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                         static_cast<utf8proc_ssize_t>(text.size() - at), &c);
    out.push_back(size > 0 ? static_cast<char32_t>(c) : U'\uFFFD');
    at += size > 0 ? static_cast<std::size_t>(size) : 1;
  }
}

// `text` with the parts of each camelCase run behind it, each after a blank.
void AppendCamelParts(std::u32string_view text, std::u32string& out) {
  out.clear();
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && (text[end] == U'_' || IsAlnum(text[end]))) ++end;
    const std::u32string_view run = text.substr(at, end - at);
    out.append(run);
    if (IsCamelCase(run)) {
      for (Part part = NextPart(run, 0); part.begin < part.end; part = NextPart(run, part.end)) {
        out.push_back(U' ');
        out.append(run.substr(part.begin, part.end - part.begin));
      }
    }
    if (end < text.size()) out.push_back(text[end++]);
    at = end;
  }
}

// The compatibility decomposition of a lower-case character, without marks but those of Thai.
// Canonical order is not restored: it moves only marks among marks, and none of them is part of a
// word.
void AppendFolded(char32_t c, std::u32string& out) {
  // U+FDFA, the longest, has 18.
  std::array<utf8proc_int32_t, 32> points{};
  int boundary = 0;
  const utf8proc_ssize_t size = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(c), points.data(), static_cast<utf8proc_ssize_t>(points.size()),
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT), &boundary);
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::max<utf8proc_ssize_t>(size, 0)); ++i) {
    const char32_t point = static_cast<char32_t>(points[i]);
    if (IsThai(point) || Category(point) != UTF8PROC_CATEGORY_MN) out.push_back(point);
  }
}

// Lower case, then AppendFolded().
void Fold(std::u32string_view text, std::u32string& out) {
  constexpr char32_t kCapitalSigma = 0x03A3;
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (c < 128) {
      out.push_back(IsAsciiUpper(c) ? c + (U'a' - U'A') : c);
    } else if (c == kCapitalSigma) {
      out.push_back(IsFinalSigma(text, i) ? U'\u03C2' : U'\u03C3');
    } else {
      AppendFolded(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))), out);
    }
  }
}

// Calls a sink with each word of a text. The view is good during the call only.
class WordSplitter {
 public:
  template <typename Sink>
  void Split(std::string_view text, Sink&& sink) {
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t foreign = FindNonAscii(text, at);
      std::size_t begin = foreign;
      if (foreign < text.size()) {
        while (begin > at && !IsBreak(text[begin - 1])) --begin;
      }
      SplitAscii(text.substr(at, begin - at), sink);
      at = foreign;
      while (at < text.size() && !IsBreak(text[at])) ++at;
      if (begin < at) SplitUnicode(text.substr(begin, at - begin), sink);
    }
  }

 private:
  static std::size_t FindNonAscii(std::string_view text, std::size_t at) {
    while (at + 8 <= text.size()) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, text.data() + at, sizeof eight);
      if ((eight & 0x8080808080808080ULL) != 0) break;
      at += 8;
    }
    while (at < text.size() && IsAscii(text[at])) ++at;
    return at;
  }

  template <typename Sink>
  void SplitAscii(std::string_view text, Sink& sink) {
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
      const char* const begin = at;
      unsigned seen = 0;
      while (at < end && AsciiClass(*at) != kSeparator) seen |= AsciiClass(*at++);
      const std::string_view run(begin, static_cast<std::size_t>(at - begin));
      if ((seen & (kUpper | kUnderscore)) != 0) {
        SplitAsciiRun(run, sink);
      } else if (!run.empty()) {
        sink(run);
      }
      if (at < end) ++at;
    }
  }

  // A run with capitals or underscores.
  template <typename Sink>
  void SplitAsciiRun(std::string_view run, Sink& sink) {
    utf8_.resize(run.size());
    std::transform(run.begin(), run.end(), utf8_.begin(),
                   [](char c) { return IsAsciiUpper(c) ? static_cast<char>(c | 0x20) : c; });
    const std::string_view lower = utf8_;
    for (std::size_t at = 0; at < lower.size();) {
      const std::size_t end = std::min(lower.find('_', at), lower.size());
      if (end > at) sink(lower.substr(at, end - at));
      at = end + 1;
    }
    if (!IsCamelCase(run)) return;
    for (Part part = NextPart(run, 0); part.begin < part.end; part = NextPart(run, part.end)) {
      sink(lower.substr(part.begin, part.end - part.begin));
    }
  }

  template <typename Sink>
  void SplitUnicode(std::string_view text, Sink& sink) {
    Decode(text, points_);
    AppendCamelParts(points_, expanded_);
    Fold(expanded_, points_);
    std::size_t at = 0;
    while (at < points_.size()) {
      if (!IsAlnum(points_[at])) {
        ++at;
        continue;
      }
      const bool unspaced = IsUnspaced(points_[at]);
      utf8_.clear();
      while (at < points_.size() && IsAlnum(points_[at]) && IsUnspaced(points_[at]) == unspaced) {
        AppendUtf8(points_[at++], utf8_);
      }
      EmitRun(unspaced, sink);
    }
  }

  // utf8_ holds a whole word or a run of a script without blanks, which goes out as bigrams.
  template <typename Sink>
  void EmitRun(bool unspaced, Sink& sink) {
    const std::string_view run = utf8_;
    if (!unspaced || run.size() <= kUnspacedBytes) return sink(run);
    for (std::size_t i = 0; i + kUnspacedBytes < run.size(); i += kUnspacedBytes) {
      sink(run.substr(i, 2 * kUnspacedBytes));
    }
  }

  // Scratch of one call, kept so that words cost no allocation.
  std::u32string points_;
  std::u32string expanded_;
  std::string utf8_;
};

struct StemmerDeleter {
  void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
};

}  // namespace

std::string_view WordsId() { return "words-v1/snowball-english"; }

std::uint64_t TermHash(std::string_view term) { return XXH3_64bits(term.data(), term.size()); }

struct TermAnalyzer::Impl {
  WordSplitter splitter;
  std::unique_ptr<sb_stemmer, StemmerDeleter> stemmer{sb_stemmer_new("english", "UTF_8")};
  // Hash of a word -> hash of its stem, or kNoTerm. Keyed by hash, since terms are told apart by no
  // more.
  absl::flat_hash_map<std::uint64_t, std::uint64_t> memo;

  // Good until the next call.
  std::string_view Stem(std::string_view word) {
    if (word.size() > INT_MAX) return word;
    const sb_symbol* stem =
        sb_stemmer_stem(stemmer.get(), reinterpret_cast<const sb_symbol*>(word.data()),
                        static_cast<int>(word.size()));
    if (stem == nullptr) throw std::bad_alloc();
    return {reinterpret_cast<const char*>(stem),
            static_cast<std::size_t>(sb_stemmer_length(stemmer.get()))};
  }

  std::uint64_t StemHash(std::string_view word) {
    if (memo.size() >= kMemoLimit) memo.clear();
    const auto [entry, is_new] = memo.try_emplace(TermHash(word), kNoTerm);
    if (is_new && !IsStopWord(word)) entry->second = TermHash(Stem(word));
    return entry->second;
  }
};

TermAnalyzer::TermAnalyzer() : impl_(std::make_unique<Impl>()) {
  // English is always compiled in, so only memory can lack.
  if (impl_->stemmer == nullptr) throw std::bad_alloc();
}
TermAnalyzer::~TermAnalyzer() = default;
TermAnalyzer::TermAnalyzer(TermAnalyzer&&) noexcept = default;
TermAnalyzer& TermAnalyzer::operator=(TermAnalyzer&&) noexcept = default;

std::vector<std::string> TermAnalyzer::Words(std::string_view text) {
  std::vector<std::string> words;
  impl_->splitter.Split(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

std::vector<std::string> TermAnalyzer::Terms(std::string_view text) {
  std::vector<std::string> terms;
  impl_->splitter.Split(text, [&](std::string_view word) {
    if (!IsStopWord(word)) terms.emplace_back(impl_->Stem(word));
  });
  return terms;
}

void TermAnalyzer::AppendTermHashes(std::string_view text, std::vector<std::uint64_t>& out) {
  impl_->splitter.Split(text, [&](std::string_view word) {
    const std::uint64_t hash = impl_->StemHash(word);
    if (hash != kNoTerm) out.push_back(hash);
  });
}

bool TermAnalyzer::IsStopWord(std::string_view lower_case_word) {
  return std::binary_search(kStopWords.begin(), kStopWords.end(), lower_case_word);
}

}  // namespace rag::models
