// Random texts that are hard to split.
#ifndef TESTS_TESTING_TEXT_MAKER_H_
#define TESTS_TESTING_TEXT_MAKER_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace rag::testing {

// Makes texts out of blocks, of lines, of scraps that are hard to cut.
class TextMaker {
 public:
  explicit TextMaker(std::uint32_t seed) : random_(seed) {}

  std::string Document() {
    static const std::vector<std::string> line_ends = {"\n", "\n", "\r\n", "\r"};
    line_end_ = line_ends[Below(line_ends.size())];
    std::string out = Below(8) == 0 ? "\xEF\xBB\xBF" : "";
    if (Below(8) == 0) out += "---" + End() + "a: b" + End() + "---" + End();
    for (std::size_t n = Below(14); n > 0; --n) {
      out += Block();
      for (std::size_t blank = Below(4); blank > 0; --blank)
        out += Below(4) == 0 ? " \t" + End() : End();
    }
    return out;
  }

  // Scraps in any order: mostly no Markdown at all.
  std::string Soup() {
    static const std::vector<std::string> scraps = {"a",
                                                    " ",
                                                    "\n",
                                                    "\n\n",
                                                    "\r\n",
                                                    "\r",
                                                    "\t",
                                                    "#",
                                                    "# ",
                                                    "- ",
                                                    "1. ",
                                                    "> ",
                                                    "```",
                                                    "~~~",
                                                    "---",
                                                    "===",
                                                    "|",
                                                    "|-|",
                                                    "<!--",
                                                    "-->",
                                                    "<pre>",
                                                    "</pre>",
                                                    "    ",
                                                    ".",
                                                    "。",
                                                    "\"",
                                                    "\xCC\x81",
                                                    "\xE2\x80\x8D",
                                                    "👩",
                                                    "🇩",
                                                    "\xE3\x80\x80",
                                                    "\xC2\xA0",
                                                    "\xD8\x80",
                                                    "\xEF\xBB\xBF",
                                                    "\f",
                                                    "\v",
                                                    "\x1D",
                                                    "\xE2\x80\xA8",
                                                    "각",
                                                    "\xE1\x86\xA8",
                                                    "क्षि"};
    std::string out;
    for (std::size_t n = Below(200); n > 0; --n) out += scraps[Below(scraps.size())];
    return out;
  }

 private:
  using Strings = std::vector<std::string>;

  std::size_t Below(std::size_t n) { return random_() % n; }
  std::string End() { return line_end_; }

  std::string Word() {
    static const Strings words = {"lantern",
                                  "rope",
                                  "a",
                                  "U.S.",
                                  "3.14",
                                  "naïve",
                                  "e\xCC\x81t\xC3\xA9",
                                  "灯塔今晚",
                                  "照常亮灯。",
                                  "👩‍👩‍👧",
                                  "🇩🇪🇫🇷🇯🇵",
                                  "👍🏽",
                                  "क्षत्रिय।",
                                  "한국어",
                                  "`code`",
                                  "**bold**",
                                  "[l](u)",
                                  "<b>",
                                  "&amp;",
                                  "no\xC2\xA0"
                                  "break",
                                  "(see fig. 2)",
                                  "Stop.",
                                  "Why?",
                                  "\"So!\"",
                                  "x=1;y={z}",
                                  "a,b,c,d",
                                  "\xE1\x80\x80\xE1\x80\xAC",
                                  "--",
                                  "|",
                                  "\xE3\x80\x80",
                                  "v1.2.3"};
    std::string word = words[Below(words.size())];
    if (Below(40) == 0) {
      const std::string base = word;
      for (std::size_t n = Below(60); n > 0; --n) word += base;
    }
    return word;
  }

  std::string Line(std::size_t words) {
    std::string out;
    for (std::size_t n = Below(words) + 1; n > 0; --n) out += Word() + (Below(9) == 0 ? "" : " ");
    return out;
  }

  std::string Lines(const std::string& prefix, std::size_t max_lines, std::size_t words) {
    std::string out;
    for (std::size_t n = Below(max_lines) + 1; n > 0; --n) out += prefix + Line(words) + End();
    return out;
  }

  std::string Fence(const std::string& indent) {
    const std::string mark = Below(2) == 0 ? "```" : "~~~~";
    std::string out = indent + mark + "sh" + End();
    for (std::size_t n = Below(12); n > 0; --n) {
      out += Below(3) == 0 ? End() : indent + (Below(3) == 0 ? "# x" : "  y = 1;") + End();
    }
    return Below(10) == 0 ? out : out + indent + mark + End();
  }

  std::string List() {
    std::string out;
    std::string indent;
    for (std::size_t n = Below(8) + 1; n > 0; --n) {
      out += indent + (Below(2) == 0 ? "- " : "10. ") + Line(8) + End();
      if (Below(4) == 0) out += End() + Fence(indent + "    ");
      indent = std::string(2 * Below(5), ' ');
    }
    return out;
  }

  std::string Table() {
    std::string out = "| a | b |" + End() + "|:--|--:|" + End();
    for (std::size_t n = Below(20); n > 0; --n)
      out += "| " + Line(6) + " | " + Word() + " |" + End();
    return out;
  }

  std::string Block() {
    switch (Below(11)) {
      case 0:
        return std::string(Below(6) + 1, '#') + " " + Line(6) + End();
      case 1:
        return Lines("", 2, 4) + (Below(2) == 0 ? "===" : "---") + End();
      case 2:
        return Fence("");
      case 3:
        return List();
      case 4:
        return Table();
      case 5:
        return Lines("> ", 4, 10);
      case 6:
        return Lines("    ", 4, 6);
      case 7:
        return "<!-- " + Lines("", 3, 5) + "-->" + End();
      case 8:
        return Below(2) == 0 ? "***" + End() : "#" + End();
      default:
        return Lines("", 5, 60);
    }
  }

  std::mt19937 random_;
  std::string line_end_ = "\n";
};

}  // namespace rag::testing

#endif  // TESTS_TESTING_TEXT_MAKER_H_
