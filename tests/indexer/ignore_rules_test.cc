#include "indexer/ignore_rules.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/testing/temp_folder.h"

namespace rag::indexer {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

bool Matches(std::string_view pattern, std::string_view path, bool is_folder = false) {
  IgnoreRules rules;
  rules.Add(pattern);
  return rules.Match(path, is_folder) == Verdict::kMatched;
}

// The paths that a file of rules ignores, as files.
Strings Ignored(std::string_view file, const Strings& paths) {
  const IgnoreRules rules = IgnoreRules::Parse(file);
  Strings out;
  for (const std::string& path : paths) {
    if (rules.Match(path, false) == Verdict::kMatched) out.push_back(path);
  }
  return out;
}

TEST(IgnoreRules, APatternWithoutASlashMatchesTheNameAtAnyDepth) {
  EXPECT_TRUE(Matches("a.md", "a.md"));
  EXPECT_TRUE(Matches("a.md", "x/y/a.md"));
  EXPECT_FALSE(Matches("a.md", "a.md/b"));
  EXPECT_FALSE(Matches("a.md", "ba.md"));
}

TEST(IgnoreRules, ASlashInFrontOrInsideAnchors) {
  EXPECT_TRUE(Matches("/top.md", "top.md"));
  EXPECT_FALSE(Matches("/top.md", "docs/top.md"));
  EXPECT_TRUE(Matches("docs/top.md", "docs/top.md"));
  EXPECT_FALSE(Matches("docs/top.md", "x/docs/top.md"));
}

TEST(IgnoreRules, ASlashAtTheEndMatchesFoldersOnlyAtAnyDepth) {
  EXPECT_TRUE(Matches("build/", "build", true));
  EXPECT_TRUE(Matches("build/", "x/build", true));
  EXPECT_FALSE(Matches("build/", "build", false));
}

TEST(IgnoreRules, OneStarStaysWithinAPart) {
  EXPECT_TRUE(Matches("docs/*.md", "docs/a.md"));
  EXPECT_FALSE(Matches("docs/*.md", "docs/x/a.md"));
  EXPECT_TRUE(Matches("*.md", "docs/x/a.md"));
}

TEST(IgnoreRules, TwoStarsCrossPartsAtTheStartInTheMiddleAndAtTheEnd) {
  EXPECT_TRUE(Matches("**/a.md", "a.md"));
  EXPECT_TRUE(Matches("**/x/a.md", "y/z/x/a.md"));
  EXPECT_TRUE(Matches("x/**/a.md", "x/a.md"));
  EXPECT_TRUE(Matches("x/**/a.md", "x/y/z/a.md"));
  EXPECT_FALSE(Matches("x/**/a.md", "x/ya.md"));
  EXPECT_TRUE(Matches("x/**", "x/y/z"));
  EXPECT_FALSE(Matches("x/**", "x", true));
}

TEST(IgnoreRules, TwoStarsInsideAPartAreOne) {
  EXPECT_TRUE(Matches("/*x**/a", "yxz/a"));
  EXPECT_FALSE(Matches("/*x**/a", "yxz/w/a"));
}

TEST(IgnoreRules, ClassesRangesAndNegatedClasses) {
  EXPECT_TRUE(Matches("[a-c]x", "bx"));
  EXPECT_FALSE(Matches("[a-c]x", "dx"));
  EXPECT_TRUE(Matches("[!a-c]x", "dx"));
  EXPECT_TRUE(Matches("[^a-c]x", "dx"));
  EXPECT_TRUE(Matches("[]-]x", "]x"));
  EXPECT_TRUE(Matches("[]-]x", "-x"));
  EXPECT_TRUE(Matches("[[:digit:]_]x", "7x"));
  EXPECT_TRUE(Matches("[\\]]x", "]x"));
  EXPECT_FALSE(Matches("a[!b]c/d", "a/c/d"));
}

TEST(IgnoreRules, AClassThatNeverClosesMatchesNothing) {
  for (const char* pattern : {"[", "[a", "a[", "[!", "[a-", "[[:alpha:", "[[:nonsense:]]", "a\\"}) {
    for (const char* path : {"[", "[a", "a", "a[", "a\\", "b"}) {
      EXPECT_FALSE(Matches(pattern, path)) << pattern << " " << path;
    }
  }
}

TEST(IgnoreRules, AQuestionMarkIsOneByteButNoSlash) {
  EXPECT_TRUE(Matches("a?c", "abc"));
  EXPECT_FALSE(Matches("a?c", "ac"));
  EXPECT_FALSE(Matches("x/a?c", "x/a/c"));
  EXPECT_TRUE(Matches("??", "\xC3\xA9"));
}

TEST(IgnoreRules, CaseCounts) { EXPECT_FALSE(Matches("*.MD", "a.md")); }

TEST(IgnoreRules, ABackslashTakesTheNextByteAsItIs) {
  EXPECT_TRUE(Matches("\\*", "*"));
  EXPECT_FALSE(Matches("\\*", "a"));
  EXPECT_EQ(Ignored("\\#a\n\\!b\n", {"#a", "!b", "a", "b"}), (Strings{"#a", "!b"}));
}

TEST(IgnoreRules, CommentsAndBlankLinesAreNoPatterns) {
  EXPECT_TRUE(IgnoreRules::Parse("# a\n\n   \n#\n\r\n").empty());
}

TEST(IgnoreRules, BlanksAtTheEndDoNotCountUnlessEscaped) {
  EXPECT_EQ(Ignored("a  \n", {"a", "a  "}), Strings{"a"});
  EXPECT_EQ(Ignored("a\\  \n", {"a", "a "}), Strings{"a "});
  EXPECT_EQ(Ignored("a b\n", {"a b"}), Strings{"a b"});
}

TEST(IgnoreRules, ByteOrderMarkCarriageReturnsAndAMissingLineEndAreFine) {
  EXPECT_EQ(Ignored("\xEF\xBB\xBF"
                    "a\r\nb",
                    {"a", "b"}),
            (Strings{"a", "b"}));
}

TEST(IgnoreRules, TheLastMatchingPatternDecides) {
  const Strings paths = {"docs/drop.md", "docs/keep.md", "docs/n.md"};
  EXPECT_EQ(Ignored("d*.md\nk*.md\n!keep.md\n", paths), Strings{"docs/drop.md"});
  EXPECT_EQ(Ignored("!keep.md\nk*.md\n", paths), Strings{"docs/keep.md"});
}

TEST(IgnoreRules, OfAMissingFileOrAFolderThereAreNone) {
  const testing::TempFolder folder;
  fs::create_directory(folder.path() / ".gitignore");
  EXPECT_TRUE(IgnoreRules::Load(folder.path() / "missing")->empty());
  EXPECT_TRUE(IgnoreRules::Load(folder.path() / ".gitignore")->empty());
}

TEST(IgnoreRules, AreNotReadThroughALinkOrFromAPipe) {
  const testing::TempFolder folder;
  folder.Write("rules", "a\n");
  fs::create_symlink("rules", folder.path() / "link");
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(IgnoreRules::Load(folder.path() / "link").ok());
  EXPECT_TRUE(IgnoreRules::Load(folder.path() / "pipe")->empty());
}

TEST(IgnoreRules, AFileThatIsFarTooLargeIsRefused) {
  const testing::TempFolder folder;
  folder.Write("rules", std::string(std::size_t{5} << 20, '\n'));
  EXPECT_EQ(IgnoreRules::Load(folder.path() / "rules").status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(IgnoreScope, ADeeperFileWins) {
  IgnoreScope top;
  top.gitignore = IgnoreRules::Parse("*.md\n");
  IgnoreScope below;
  below.parent = &top;
  below.base = 5;
  below.gitignore = IgnoreRules::Parse("!/keep.md\n");
  EXPECT_FALSE(IsIgnored(&below, "docs/keep.md", false));
  EXPECT_TRUE(IsIgnored(&below, "docs/drop.md", false));
  EXPECT_FALSE(IsIgnored(nullptr, "docs/drop.md", false));
}

TEST(IgnoreScope, RagignoreWinsOverGitignoreInTheSameAndInDeeperFolders) {
  IgnoreScope top;
  top.ragignore = IgnoreRules::Parse("!a.md\nb.md\n");
  top.gitignore = IgnoreRules::Parse("a.md\n!b.md\n");
  IgnoreScope below;
  below.parent = &top;
  below.base = 5;
  below.gitignore = IgnoreRules::Parse("a.md\n!b.md\n");
  EXPECT_FALSE(IsIgnored(&top, "a.md", false));
  EXPECT_TRUE(IsIgnored(&top, "b.md", false));
  EXPECT_FALSE(IsIgnored(&below, "docs/a.md", false));
  EXPECT_TRUE(IsIgnored(&below, "docs/b.md", false));
}

TEST(Glob, ManyStarsTakeNoExponentialTime) {
  std::string stars;
  std::string path;
  for (int i = 0; i < 100; ++i) {
    stars += "**/*a*a/";
    path += "aaaaaaaaaaaaaaaaaaaa/";
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(Matches(stars + "b", path + "c"));
  EXPECT_FALSE(Matches(stars + "*b*", path + "ac"));
  EXPECT_TRUE(Matches(stars + "*c*", path + "ac"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

// Everything that `git check-ignore` says about a work tree, against IgnoreScope.
class GitOracle : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("git --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "git is not installed";
    ASSERT_EQ(Run("git init -q . && git config core.excludesFile /dev/null"), 0);
  }

  [[nodiscard]] int Run(const std::string& command) const {
    const std::string in =
        "cd '" + folder_.path().string() + "' && unset GIT_DIR GIT_WORK_TREE && ";
    return std::system((in + command).c_str());
  }

  std::string Pick(const Strings& from) { return from[random_() % from.size()]; }

  std::string RandomPattern() {
    static const Strings kPieces = {
        "a",   "b",   "ab",   "a*",   "*b",   "*",           "**",  "?",     "/",     "/",    "/",
        "**/", "/**", "/**/", "[ab]", "[!a]", "c#",          "\\*", "[b-c]", "[^/]",  "[]a]", "***",
        "*a*", "b**", "!",    " ",    "\\ ",  "[[:alpha:]]", "\\",  "[a",    "[[:x]", "[a-]"};
    std::string pattern = random_() % 5 == 0 ? "!" : "";
    for (std::size_t left = 1 + random_() % 5; left > 0; --left) pattern += Pick(kPieces);
    if (random_() % 6 == 0) pattern += "/";
    return pattern;
  }

  std::string RandomPath() {
    static const Strings kNames = {"a", "b", "c", "ab", "ba", "abc", "c#", "a b", "*", "[a", "aab"};
    std::string path = Pick(kNames);
    for (std::size_t left = random_() % 4; left > 0; --left) path += "/" + Pick(kNames);
    return path;
  }

  // As git and the walk do: what lies in an ignored folder is ignored.
  static bool IsIgnoredWithParents(const IgnoreRules& top, const IgnoreRules& in_a,
                                   const std::string& path) {
    IgnoreScope root;
    root.gitignore = top;
    IgnoreScope a;
    a.parent = &root;
    a.base = 2;
    a.gitignore = in_a;
    for (std::size_t slash = path.find('/');; slash = path.find('/', slash + 1)) {
      const std::string part = path.substr(0, slash);
      const IgnoreScope* scope = part.starts_with("a/") ? &a : &root;
      const bool is_folder = slash != std::string::npos || part == "a";  // the one that exists
      if (IsIgnored(scope, part, is_folder)) return true;
      if (slash == std::string::npos) return false;
    }
  }

  // The ignored ones of `paths`, which need not exist: git takes the last part for a file.
  [[nodiscard]] Strings AskGit(const Strings& paths) const {
    std::string input;
    for (const std::string& path : paths) input += path + '\0';
    folder_.Write(".git/input", input);
    const int status = Run("git check-ignore --no-index --stdin -z < .git/input > .git/output");
    EXPECT_NE(status, -1);
    const std::string output = testing::ReadAll(folder_.path() / ".git/output");
    Strings ignored;
    for (std::size_t pos = 0; pos < output.size();) {
      const std::size_t end = output.find('\0', pos);
      ignored.push_back(output.substr(pos, end - pos));
      pos = end + 1;
    }
    return ignored;
  }

  testing::TempFolder folder_;
  std::mt19937 random_{20260101};
};

TEST_F(GitOracle, AgreesOnRandomPatternsAndPaths) {
  constexpr int kRounds = 150;
  for (int round = 0; round < kRounds; ++round) {
    std::array<std::string, 2> files;
    for (std::string& file : files) {
      for (std::size_t left = 1 + random_() % 4; left > 0; --left) file += RandomPattern() + "\n";
    }
    folder_.Write(".gitignore", files[0]);
    folder_.Write("a/.gitignore", files[1]);
    Strings paths;
    for (int i = 0; i < 120; ++i) paths.push_back(RandomPath());
    const IgnoreRules top = IgnoreRules::Parse(files[0]);
    const IgnoreRules in_a = IgnoreRules::Parse(files[1]);
    Strings ignored;
    for (const std::string& path : paths) {
      if (IsIgnoredWithParents(top, in_a, path)) ignored.push_back(path);
    }
    ASSERT_EQ(ignored, AskGit(paths)) << "round " << round << "\n"
                                      << files[0] << "-- a/.gitignore\n"
                                      << files[1];
  }
}

}  // namespace
}  // namespace rag::indexer
