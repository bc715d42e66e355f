#include "formats/names.h"

#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "formats/utf8.h"

namespace rag::formats {
namespace {

std::string PercentDecode(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    out += static_cast<char>(std::strtoul(text.substr(i + 1, 2).c_str(), nullptr, 16));
    i += 2;
  }
  return out;
}

TEST(PrintableName, LeavesOrdinaryNamesAlone) {
  for (const char* name : {"", "a/b.md", "100%.txt", "quote\"x.txt", "back\\slash", "größe é.md",
                           "\xF0\x9F\x98\x80.md", "-n.txt", "\xC2\xA0"}) {
    EXPECT_EQ(PrintableName(name), name);
  }
}

TEST(PrintableName, EscapesWhatIsNotPrintable) {
  EXPECT_EQ(PrintableName("new\nline.txt"), "new%0Aline.txt");
  EXPECT_EQ(PrintableName("tab\t"), "tab%09");
  EXPECT_EQ(PrintableName("caf\xE9.txt"), "caf%E9.txt");
  EXPECT_EQ(PrintableName("\x1B[31m\x7F"), "%1B[31m%7F");
  EXPECT_EQ(PrintableName("\xC2\x9B"
                          "x"),
            "%C2%9Bx");
  EXPECT_EQ(PrintableName("a\xE2\x80\xA8"
                          "b"),
            "a%E2%80%A8b");
}

TEST(PrintableName, EscapesThePercentSignOnlyBesideOthers) {
  EXPECT_EQ(PrintableName("100%\n"), "100%25%0A");
}

TEST(EscapeName, GivesTheBytesBackFromOneLineOfUtf8) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string name(random() % 12, ' ');
    for (char& byte : name) byte = static_cast<char>(random() % 256);
    const std::string escaped = EscapeName(name);
    ASSERT_EQ(PercentDecode(escaped), name);
    ASSERT_EQ(ValidPrefix(escaped), escaped.size());
    for (const char byte : escaped) ASSERT_FALSE(byte >= 0 && byte < 0x20) << escaped;
  }
}

}  // namespace
}  // namespace rag::formats
