#include "indexer/glob.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rag::indexer {
namespace {

using ByteSet = std::bitset<256>;

constexpr bool IsSpecial(char c) { return c == '*' || c == '?' || c == '[' || c == '\\'; }

// How a state of the match was reached. Only a "**/" that has not taken a byte may match nothing.
constexpr std::uint8_t kEntered = 1;
constexpr std::uint8_t kStayed = 2;

// The byte at `pos`, or NUL, which no pattern holds, behind the end.
std::uint8_t At(std::string_view pattern, std::size_t pos) {
  return pos < pattern.size() ? static_cast<std::uint8_t>(pattern[pos]) : std::uint8_t{0};
}

bool IsDigit(int c) { return c >= '0' && c <= '9'; }
bool IsLower(int c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(int c) { return c >= 'A' && c <= 'Z'; }
bool IsAlpha(int c) { return IsLower(c) || IsUpper(c); }
bool IsAlnum(int c) { return IsAlpha(c) || IsDigit(c); }
bool IsBlank(int c) { return c == ' ' || c == '\t'; }
bool IsCntrl(int c) { return c < 0x20 || c == 0x7F; }
bool IsGraph(int c) { return c > 0x20 && c < 0x7F; }
bool IsPrint(int c) { return c >= 0x20 && c < 0x7F; }
bool IsPunct(int c) { return IsGraph(c) && !IsAlnum(c); }
bool IsSpace(int c) { return IsBlank(c) || c == '\n' || c == '\r'; }
bool IsXdigit(int c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The named classes of ASCII, as git has them. False for other names.
bool AddNamedClass(std::string_view name, ByteSet& set) {
  using Test = bool (*)(int);
  static constexpr std::array<std::pair<std::string_view, Test>, 12> kClasses = {
      {{"alnum", IsAlnum},
       {"alpha", IsAlpha},
       {"blank", IsBlank},
       {"cntrl", IsCntrl},
       {"digit", IsDigit},
       {"graph", IsGraph},
       {"lower", IsLower},
       {"print", IsPrint},
       {"punct", IsPunct},
       {"space", IsSpace},
       {"upper", IsUpper},
       {"xdigit", IsXdigit}}};
  const auto* found = std::find_if(kClasses.begin(), kClasses.end(),
                                   [&](const auto& entry) { return entry.first == name; });
  if (found == kClasses.end()) return false;
  for (int c = 0; c < 0x80; ++c) {
    if (found->second(c)) set.set(static_cast<std::size_t>(c));
  }
  return true;
}

// Reads a bracket expression, in the order and with the oddities of git's wildmatch.
class ClassParser {
 public:
  ClassParser(std::string_view pattern, std::size_t open) : pattern_(pattern), pos_(open) {}

  // False when it never closes or names an unknown class.
  bool Parse() {
    std::uint8_t c = At(pattern_, ++pos_);
    const bool negated = c == '!' || c == '^';
    if (negated) c = At(pattern_, ++pos_);
    std::uint8_t before = 0;  // what a range may start with
    do {
      if (c == 0 || !AddItem(before, c)) return false;
      before = c;
      c = At(pattern_, ++pos_);
    } while (c != ']');
    if (negated) set_.flip();
    set_.reset('/');
    return true;
  }

  [[nodiscard]] const ByteSet& set() const { return set_; }
  [[nodiscard]] std::size_t end() const { return pos_ + 1; }  // behind the "]"

 private:
  // Leaves in `c` what a range after it may start with, and pos_ at its last byte.
  bool AddItem(std::uint8_t before, std::uint8_t& c) {
    const std::uint8_t next = At(pattern_, pos_ + 1);
    if (c == '\\') {
      c = At(pattern_, ++pos_);
      set_.set(c);
      return c != 0;
    }
    if (c == '-' && before != 0 && next != 0 && next != ']') return AddRange(before, c);
    if (c == '[' && next == ':') return AddNamed(c);
    set_.set(c);
    return true;
  }

  bool AddRange(std::uint8_t first, std::uint8_t& c) {
    std::uint8_t last = At(pattern_, ++pos_);
    if (last == '\\') last = At(pattern_, ++pos_);
    for (std::size_t byte = first; byte <= last; ++byte) set_.set(byte);
    c = 0;
    return last != 0;
  }

  bool AddNamed(std::uint8_t& c) {
    const std::size_t name = pos_ + 2;
    const std::size_t close = pattern_.find(']', name);
    if (close == std::string_view::npos) return false;
    if (close == name || pattern_[close - 1] != ':') {  // not "[:name:]": "[" is a member
      set_.set(c);
      return true;
    }
    pos_ = close;
    c = 0;
    return AddNamedClass(pattern_.substr(name, close - 1 - name), set_);
  }

  std::string_view pattern_;
  std::size_t pos_;
  ByteSet set_;
};

}  // namespace

Glob::Glob(std::string_view pattern) {
  const auto* wildcard = std::find_if(pattern.begin(), pattern.end(), IsSpecial);
  prefix_.assign(pattern.begin(), wildcard);
  // As in git, the rest is a pattern of its own: in "a**/b" the "**" counts as one at the start.
  Compile(pattern.substr(prefix_.size()));
  FindSuffix();
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const bool optional = i > 0 && tokens_[i - 1].skips_slash;
    const bool takes_one = tokens_[i].kind == Kind::kByte || tokens_[i].kind == Kind::kSet;
    if (takes_one && !optional) ++min_size_;
  }
}

void Glob::Compile(std::string_view pattern) {
  for (std::size_t pos = 0; pos < pattern.size();) {
    const char c = pattern[pos];
    if (c == '*') {
      const std::size_t end = std::min(pattern.find_first_not_of('*', pos), pattern.size());
      AddStars(pattern, pos, end);
      pos = end;
    } else if (c == '[') {
      ClassParser parser(pattern, pos);
      if (!parser.Parse()) {
        never_ = true;
        return;
      }
      AddSet(parser.set());
      pos = parser.end();
    } else if (c == '?') {
      AddSet(ByteSet().set().reset('/'));
      ++pos;
    } else {
      if (c == '\\' && pos + 1 == pattern.size()) never_ = true;
      pos += c == '\\' ? 1 : 0;
      AddByte(At(pattern, pos++));
    }
  }
}

void Glob::AddSet(const ByteSet& set) {
  tokens_.push_back({.kind = Kind::kSet, .set = static_cast<std::uint32_t>(sets_.size())});
  sets_.push_back(set);
}

// Two stars or more cross slashes only when they are a whole part of the path.
void Glob::AddStars(std::string_view pattern, std::size_t begin, std::size_t end) {
  const std::string_view rest = pattern.substr(end);
  const bool whole_part = (begin == 0 || pattern[begin - 1] == '/') &&
                          (rest.empty() || rest.starts_with('/') || rest.starts_with("\\/"));
  if (end - begin < 2 || !whole_part) {
    tokens_.push_back({.kind = Kind::kStar});
  } else {
    tokens_.push_back({.kind = Kind::kStarStar, .skips_slash = rest.starts_with('/')});
  }
}

void Glob::FindSuffix() {
  std::size_t start = tokens_.size();
  while (start > 0 && tokens_[start - 1].kind == Kind::kByte &&
         (start == 1 || !tokens_[start - 2].skips_slash)) {
    --start;
  }
  for (; start < tokens_.size(); ++start) suffix_ += static_cast<char>(tokens_[start].byte);
}

bool Glob::Matches(std::string_view text) const {
  if (never_ || !text.starts_with(prefix_)) return false;
  text.remove_prefix(prefix_.size());
  if (text.size() < min_size_ || !text.ends_with(suffix_)) return false;
  if (tokens_.empty()) return text.empty();
  std::vector<std::uint8_t> states(tokens_.size() + 1);
  std::vector<std::uint8_t> next(tokens_.size() + 1);
  states[0] = kEntered;
  Close(states);
  for (const char c : text) {
    if (!Step(states, static_cast<std::uint8_t>(c), next)) return false;
    Close(next);
    states.swap(next);
  }
  return states.back() != 0;
}

// Adds the states that are reached without a byte.
void Glob::Close(std::vector<std::uint8_t>& states) const {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (states[i] == 0 || (tokens_[i].kind != Kind::kStar && tokens_[i].kind != Kind::kStarStar)) {
      continue;
    }
    states[i + 1] |= kEntered;
    if (tokens_[i].skips_slash && (states[i] & kEntered) != 0) states[i + 2] |= kEntered;
  }
}

// False when no way of matching is left.
bool Glob::Step(const std::vector<std::uint8_t>& from, std::uint8_t byte,
                std::vector<std::uint8_t>& to) const {
  std::fill(to.begin(), to.end(), std::uint8_t{0});
  bool any = false;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (from[i] == 0) continue;
    const Token& token = tokens_[i];
    const bool stays = token.kind == Kind::kStarStar || (token.kind == Kind::kStar && byte != '/');
    const bool moves = (token.kind == Kind::kByte && token.byte == byte) ||
                       (token.kind == Kind::kSet && sets_[token.set].test(byte));
    if (stays) to[i] |= kStayed;
    if (moves) to[i + 1] |= kEntered;
    any = any || stays || moves;
  }
  return any;
}

}  // namespace rag::indexer
