#include "indexer/markdown_skeleton.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "indexer/characters.h"

namespace rag::indexer {
namespace {

constexpr std::size_t kMaxContainers = 16;
constexpr std::size_t kMaxIndentBytes = 64;
constexpr std::size_t kMaxMarkerRun = 80;
constexpr std::size_t kMaxFenceRun = 1000;
constexpr std::size_t kMaxHtmlBytes = 4096;

bool IsSpace(char c) { return c == ' ' || c == '\t'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsBlank(std::string_view text) { return std::all_of(text.begin(), text.end(), IsBlankByte); }

std::size_t RunLength(std::string_view text, char c) {
  return std::min(text.find_first_not_of(c), text.size());
}

bool EndsWithIgnoringCase(std::string_view text, std::string_view lower_case_end) {
  if (text.size() < lower_case_end.size()) return false;
  text.remove_prefix(text.size() - lower_case_end.size());
  return std::equal(text.begin(), text.end(), lower_case_end.begin(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
  });
}

// The ends of HTML blocks that the text holds, each once.
void AppendHtmlEnds(std::string_view text, std::string& out) {
  static constexpr std::array<std::string_view, 7> kEnds = {
      "-->", "?>", "]]>", "</script>", "</pre>", "</style>", ">"};
  std::array<bool, kEnds.size()> done{};
  for (std::size_t pos = text.find('>'); pos != std::string_view::npos;
       pos = text.find('>', pos + 1)) {
    for (std::size_t i = 0; i < kEnds.size(); ++i) {
      if (done[i] || !EndsWithIgnoringCase(text.substr(0, pos + 1), kEnds[i])) continue;
      done[i] = true;
      out += ' ';
      out += kEnds[i];
    }
  }
}

// A line of nothing but one of - _ * = (a rule or the underline of a heading), written the short
// way.
bool AppendMarkerRun(std::string_view text, std::string& out) {
  const char marker = text[0];
  if (marker != '-' && marker != '_' && marker != '*' && marker != '=') return false;
  const std::size_t run = RunLength(text, marker);
  std::size_t count = run;
  for (const char c : text.substr(run)) {
    if (c == marker) {
      ++count;
    } else if (!IsSpace(c)) {
      return false;
    }
  }
  if (count == run) {
    if (run == 1 && marker != '=' && marker != '-') return false;
    out.append(std::min(run, kMaxMarkerRun), marker);
    return true;
  }
  if (count < 3 || marker == '=') return false;
  for (int i = 0; i < 3; ++i) {
    out += marker;
    out += ' ';
  }
  return true;
}

// Length of the quote or list marker that the text starts with; 0 when there is none.
std::size_t ContainerMarkerLength(std::string_view text) {
  if (text[0] == '>') return 1;
  std::size_t length = 1;
  if (IsDigit(text[0])) {
    while (length < text.size() && length < 9 && IsDigit(text[length])) ++length;
    if (length == text.size() || (text[length] != '.' && text[length] != ')')) return 0;
    ++length;
  } else if (text[0] != '-' && text[0] != '+' && text[0] != '*') {
    return 0;
  }
  return length == text.size() || IsSpace(text[length]) ? length : 0;
}

bool AppendHeadingMarker(std::string_view text, std::string& out) {
  const std::size_t level = RunLength(text, '#');
  if (level == 0 || level > 6 || (level < text.size() && !IsSpace(text[level]))) return false;
  out.append(level, '#');
  out += " x";
  return true;
}

bool AppendFenceMarker(std::string_view text, std::string& out) {
  const char marker = text[0];
  if (marker != '`' && marker != '~') return false;
  const std::size_t run = RunLength(text, marker);
  const std::string_view info = text.substr(run);
  if (run < 3 || (marker == '`' && info.find('`') != std::string_view::npos)) return false;
  out.append(std::min(run, kMaxFenceRun), marker);
  if (!IsBlank(info)) out += " x";
  return true;
}

bool AppendHtmlStart(std::string_view text, std::string& out) {
  if (text[0] != '<') return false;
  constexpr std::string_view kCdata = "<![CDATA[";
  const std::size_t kept = text.substr(0, kCdata.size()) == kCdata ? kCdata.size() : 1;
  out += text.substr(0, kept);
  for (std::size_t i = kept; i < std::min(text.size(), kMaxHtmlBytes); ++i) {
    constexpr std::string_view kInlineMarkup = "[*_`&\\";
    const bool opens_tag = text[i] == '<' && text.substr(i, 2) != "</";
    const bool is_markup = opens_tag || kInlineMarkup.find(text[i]) != std::string_view::npos;
    out += is_markup ? 'x' : text[i];
  }
  if (text.size() > kMaxHtmlBytes) AppendHtmlEnds(text, out);
  return true;
}

void AppendContent(std::string_view text, std::string& out) {
  if (AppendHtmlStart(text, out)) return;
  if (!AppendHeadingMarker(text, out) && !AppendFenceMarker(text, out)) out += 'x';
  AppendHtmlEnds(text, out);
}

}  // namespace

void AppendSkeletonLine(std::string_view line, std::string& out) {
  std::size_t pos = 0;
  for (std::size_t containers = 0;; ++containers) {
    const std::size_t indent = pos;
    while (pos < line.size() && IsSpace(line[pos])) ++pos;
    const std::string_view rest = line.substr(pos);
    if (IsBlank(rest)) break;
    out += line.substr(indent, std::min(pos - indent, kMaxIndentBytes));
    if (AppendMarkerRun(rest, out)) break;
    const std::size_t marker = ContainerMarkerLength(rest);
    if (marker == 0 || containers == kMaxContainers) {
      AppendContent(rest, out);
      break;
    }
    out += rest.substr(0, marker);
    pos += marker;
  }
  out += '\n';
}

}  // namespace rag::indexer
