// Ignore patterns, alone and as a file. Byte 0: size of the pattern or file; the rest: the path.
#include <string>
#include <string_view>
#include <vector>

#include "indexer/glob.h"
#include "indexer/ignore_rules.h"
#include "tests/fuzz/fuzz.h"

namespace rag::fuzz {
namespace {

using indexer::IgnoreRules;
using indexer::Verdict;

// The plain half of the language, without classes and "**", by its definition; for short inputs.
bool MatchesPlain(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    if (MatchesPlain(pattern.substr(1), text)) return true;
    return !text.empty() && text[0] != '/' && MatchesPlain(pattern, text.substr(1));
  }
  if (text.empty()) return false;
  if (pattern[0] == '?') {
    return text[0] != '/' && MatchesPlain(pattern.substr(1), text.substr(1));
  }
  if (pattern[0] == '\\') pattern.remove_prefix(1);
  return !pattern.empty() && pattern[0] == text[0] &&
         MatchesPlain(pattern.substr(1), text.substr(1));
}

bool IsPlain(std::string_view pattern) {
  return pattern.find('[') == pattern.npos && pattern.find("**") == pattern.npos &&
         pattern.size() <= 10 && pattern.find('\0') == pattern.npos;
}

std::string Quoted(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

void CheckGlob(std::string_view pattern, std::string_view text) {
  const bool matches = indexer::Glob(pattern).Matches(text);
  if (IsPlain(pattern) && text.size() <= 40) {
    Require(matches == MatchesPlain(pattern, text), "a plain pattern matches by its definition");
  }
  Require(indexer::Glob(Quoted(text)).Matches(text), "a quoted text matches itself");
  Require(indexer::Glob("**").Matches(text), "two stars match everything");
}

std::vector<std::string_view> Lines(std::string_view file) {
  std::vector<std::string_view> lines;
  while (!file.empty()) {
    const std::size_t end = std::min(file.find('\n'), file.size() - 1) + 1;
    lines.push_back(file.substr(0, end));
    file.remove_prefix(end);
  }
  return lines;
}

// The last line that says anything decides.
void CheckRules(std::string_view file, std::string_view path) {
  for (const bool is_folder : {false, true}) {
    Verdict want = Verdict::kNone;
    bool first = true;
    for (const std::string_view line : Lines(file)) {
      // A byte-order mark is taken off the first line of a file only.
      const std::string text = (first ? "" : "\n") + std::string(line);
      const Verdict verdict = IgnoreRules::Parse(text).Match(path, is_folder);
      if (verdict != Verdict::kNone) want = verdict;
      first = false;
    }
    Require(IgnoreRules::Parse(file).Match(path, is_folder) == want, "the last match decides");
  }
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  fuzz::Input input(data, size);
  const std::string_view pattern = input.Take(input.Byte());
  const std::string_view path = input.Rest().substr(0, 4096);
  fuzz::CheckGlob(pattern, path);
  fuzz::CheckRules(pattern, path);
  return 0;
}
