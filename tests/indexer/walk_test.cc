#include "indexer/walk.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "indexer/text_file.h"
#include "tests/testing/temp_folder.h"
#include "tests/testing/unprivileged.h"

namespace rag::indexer {
namespace {

namespace fs = std::filesystem;

class WalkCorpusTest : public ::testing::Test {
 protected:
  CorpusFile Write(const std::string& source, const std::string& bytes = "x") const {
    folder_.Write("corpus/" + source, bytes);
    return {source, root_ / source};
  }

  void SetUp() override { fs::create_directories(root_); }

  void Link(const std::string& target, const std::string& source) const {
    fs::create_directories((root_ / source).parent_path());
    fs::create_symlink(target, root_ / source);
  }

  [[nodiscard]] WalkResult Walk(const WalkOptions& options = {}) const {
    absl::StatusOr<WalkResult> result = WalkCorpus(root_, options);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : WalkResult();
  }

  testing::TempFolder folder_;
  const fs::path root_ = folder_.path() / "corpus";
};

std::vector<std::string> Sources(const std::vector<CorpusFile>& files) {
  std::vector<std::string> out;
  for (const CorpusFile& file : files) out.push_back(file.source);
  return out;
}

std::vector<std::string> Skips(const std::vector<SkippedFile>& files) {
  std::vector<std::string> out;
  for (const SkippedFile& file : files) {
    out.push_back(file.source + ": " + std::string(ToString(file.reason)));
  }
  return out;
}

using Strings = std::vector<std::string>;

TEST_F(WalkCorpusTest, SortsByTheBytesOfTheWholeSource) {
  for (const char* source :
       {"b.md", "a/z.md", "a.md", "a-b.md", "B.md", "a/b/c.md", "\xC3\xA9.md"}) {
    Write(source, "x");
  }

  EXPECT_EQ(Sources(Walk().files),
            (Strings{"B.md", "a-b.md", "a.md", "a/b/c.md", "a/z.md", "b.md", "\xC3\xA9.md"}));
}

TEST_F(WalkCorpusTest, PathsOpenTheFilesTheyName) {
  Write("sub/a.md", "text of a");

  const WalkResult result = Walk();

  ASSERT_EQ(result.files.size(), 1U);
  EXPECT_EQ(LoadTextFile(result.files[0]).bytes, "text of a");
}

TEST_F(WalkCorpusTest, AnEmptyFolderHasNoFiles) {
  const WalkResult result = Walk();

  EXPECT_TRUE(result.files.empty());
  EXPECT_TRUE(result.skipped.empty());
}

TEST_F(WalkCorpusTest, SkipsHiddenFilesAndDoesNotEnterHiddenFolders) {
  Write("a.md", "x");
  Write(".hidden.md", "x");
  Write(".git/config", "x");
  Write("sub/.cache/x.md", "x");

  const WalkResult result = Walk();

  EXPECT_EQ(Sources(result.files), Strings{"a.md"});
  EXPECT_EQ(Skips(result.skipped),
            (Strings{".git: hidden", ".hidden.md: hidden", "sub/.cache: hidden"}));
}

TEST_F(WalkCorpusTest, DoesNotFollowLinksEvenInLoops) {
  Write("a.txt", "x");
  Write("sub/b.txt", "x");
  fs::create_symlink(".", root_ / "loop");
  fs::create_symlink("..", root_ / "sub/up");
  fs::create_symlink("self", root_ / "self");
  fs::create_symlink("a.txt", root_ / "copy.txt");
  fs::create_symlink("missing", root_ / "broken");

  const WalkResult result = Walk();

  EXPECT_EQ(Sources(result.files), (Strings{"a.txt", "sub/b.txt"}));
  EXPECT_EQ(Skips(result.skipped), (Strings{"broken: symlink", "copy.txt: symlink", "loop: symlink",
                                            "self: symlink", "sub/up: symlink"}));
}

TEST_F(WalkCorpusTest, FollowsALinkThatIsTheRootItself) {
  Write("real/a.md", "x");
  fs::create_directory_symlink(root_ / "real", root_ / "link");

  absl::StatusOr<WalkResult> result = WalkCorpus(root_ / "link");

  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(Sources(result->files), Strings{"a.md"});
}

TEST_F(WalkCorpusTest, SkipsPipes) {
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);

  EXPECT_EQ(Skips(Walk().skipped), Strings{"pipe: special"});
}

TEST_F(WalkCorpusTest, KeepsTheBytesOfOddNames) {
  const Strings names = {"-n.txt",        "back\\slash tab\t.txt", "caf\xE9.txt",
                         "e\xCC\x81.txt", "new\nline.txt",         "quote\"x.txt"};
  for (const std::string& name : names) Write(name, "x");

  EXPECT_EQ(Sources(Walk().files), names);
}

TEST_F(WalkCorpusTest, AMissingRootIsNotFound) {
  EXPECT_EQ(WalkCorpus(root_ / "missing").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(WalkCorpusTest, AFileAsRootIsAnInvalidArgument) {
  const CorpusFile file = Write("a.md", "x");

  EXPECT_EQ(WalkCorpus(file.path).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(WalkCorpusTest, NamesAnUnreadableFolderAndGoesOn) {
  Write("a.txt");
  Write("b/b.txt");
  Write("locked/c.txt");
  fs::permissions(root_ / "locked", fs::perms::none);
  const testing::Unprivileged nobody;

  const WalkResult result = Walk();

  EXPECT_EQ(Sources(result.files), (Strings{"a.txt", "b/b.txt"}));
  ASSERT_EQ(Skips(result.skipped), Strings{"locked: unreadable"});
  EXPECT_EQ(result.skipped[0].detail, "Permission denied");
}

TEST_F(WalkCorpusTest, AnUnreadableRootIsAnError) {
  fs::permissions(root_, fs::perms::none);
  const testing::Unprivileged nobody;

  EXPECT_EQ(WalkCorpus(root_).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(WalkCorpusTest, HiddenFilesCanBeTakenButGitNever) {
  for (const char* source : {"a.md", ".hidden.md", ".git/config", "sub/.cache/x.md"}) Write(source);
  Write("module/.git", "gitdir: ../.git/modules/module\n");

  const WalkResult result = Walk({.hidden = true});

  EXPECT_EQ(Sources(result.files), (Strings{".hidden.md", "a.md", "sub/.cache/x.md"}));
  EXPECT_EQ(Skips(result.skipped), (Strings{".git: hidden", "module/.git: hidden"}));
}

// A project with build output and nested rules.
class IgnoreFilesTest : public WalkCorpusTest {
 protected:
  void SetUp() override {
    for (const char* source :
         {"a.md", "top.md", "docs/top.md", "docs/keep.md", "docs/drop.md", "docs/n.md",
          "build/out.md", "docs/tmp/x.md", "run.log", ".hidden/h.md", ".git/g.md"}) {
      Write(source);
    }
    Write(".gitignore", "build/\n*.log\n/top.md\n");
    Write("docs/.gitignore", "d*.md\nk*.md\n!keep.md\ntmp/\n");
  }
};

TEST_F(IgnoreFilesTest, AreHonouredOutsideARepository) {
  fs::remove_all(root_ / ".git");

  const WalkResult result = Walk();

  EXPECT_EQ(Sources(result.files), (Strings{"a.md", "docs/keep.md", "docs/n.md", "docs/top.md"}));
  EXPECT_EQ(Skips(result.skipped),
            (Strings{".gitignore: hidden", ".hidden: hidden", "build: ignored",
                     "docs/.gitignore: hidden", "docs/drop.md: ignored", "docs/tmp: ignored",
                     "run.log: ignored", "top.md: ignored"}));
}

TEST_F(IgnoreFilesTest, CanBeTurnedOff) {
  EXPECT_EQ(Sources(Walk({.use_ignore_files = false}).files),
            (Strings{"a.md", "build/out.md", "docs/drop.md", "docs/keep.md", "docs/n.md",
                     "docs/tmp/x.md", "docs/top.md", "run.log", "top.md"}));
}

TEST_F(IgnoreFilesTest, RagignoreAddsToGitignoreAndWinsOverIt) {
  Write(".ragignore", "!/top.md\nn.md\n");

  EXPECT_EQ(Sources(Walk().files), (Strings{"a.md", "docs/keep.md", "docs/top.md", "top.md"}));
}

TEST_F(IgnoreFilesTest, NothingBelowAnIgnoredFolderComesBack) {
  Write("build/.gitignore", "!*\n");

  EXPECT_EQ(Sources(Walk().files), (Strings{"a.md", "docs/keep.md", "docs/n.md", "docs/top.md"}));
}

TEST_F(WalkCorpusTest, AnUnreadableIgnoreFileIsNamed) {
  Write("a.md");
  Write(".gitignore", "a.md\n");
  fs::permissions(root_ / ".gitignore", fs::perms::none);
  const testing::Unprivileged nobody;

  const WalkResult result = Walk();

  EXPECT_EQ(Sources(result.files), Strings{"a.md"});
  EXPECT_EQ(Skips(result.skipped), Strings{".gitignore: unreadable"});
}

TEST_F(WalkCorpusTest, ExcludeLeavesOutFilesAndDoesNotEnterFolders) {
  for (const char* source : {"a.md", "b.log", "x/b.log", "x/out/c.md", "x/c.md"}) Write(source);

  const WalkResult result = Walk({.exclude = {"*.log", "/x/out/"}});

  EXPECT_EQ(Sources(result.files), (Strings{"a.md", "x/c.md"}));
  EXPECT_EQ(Skips(result.skipped),
            (Strings{"b.log: excluded", "x/b.log: excluded", "x/out: excluded"}));
}

TEST_F(WalkCorpusTest, IncludeTakesMatchingFilesAndWhatLiesInMatchingFolders) {
  for (const char* source : {"a.md", "b.log", "x/b.md", "x/docs/c.log", "x/docs/y/d"})
    Write(source);

  EXPECT_EQ(Sources(Walk({.include = {"/*.md", "docs/"}}).files),
            (Strings{"a.md", "x/docs/c.log", "x/docs/y/d"}));
}

TEST_F(WalkCorpusTest, ExcludeWinsOverIncludeAndTheLastMatchOfAListDecides) {
  for (const char* source : {"a.md", "b.md", "c.md", "d/a.md"}) Write(source);

  EXPECT_EQ(Sources(Walk({.include = {"*.md", "!c.md"}, .exclude = {"a.md", "!/d/a.md"}}).files),
            (Strings{"b.md", "d/a.md"}));
}

TEST_F(WalkCorpusTest, GlobsDoNotBringBackWhatIsIgnored) {
  Write("a.md");
  Write(".gitignore", "a.md\n");

  EXPECT_EQ(Skips(Walk({.include = {"a.md"}, .exclude = {"!a.md"}}).skipped),
            (Strings{".gitignore: hidden", "a.md: ignored"}));
}

TEST_F(WalkCorpusTest, OtherIndexFoldersAreSkipped) {
  Write("a.md");
  Write("old/CURRENT", "gen-000007 808d0d84f4f34668\n");
  Write("old/gen-000007/MANIFEST.json", "{}");
  Write("no index/CURRENT", "amperes\n");

  const WalkResult result = Walk({});

  EXPECT_EQ(Sources(result.files), (Strings{"a.md", "no index/CURRENT"}));
  EXPECT_EQ(Skips(result.skipped), Strings{"old: index"});
}

TEST_F(WalkCorpusTest, TheFolderToLeaveOutIsPassedOverWithoutAWord) {
  Write("a.md");
  Write("index/CURRENT");
  Link("index", "link");

  const WalkResult result = Walk({.follow_symlinks = true, .leave_out = root_ / "." / "index"});

  EXPECT_EQ(Sources(result.files), Strings{"a.md"});
  EXPECT_TRUE(result.skipped.empty());
}

class FollowLinksTest : public WalkCorpusTest {
 protected:
  [[nodiscard]] WalkResult Follow() const { return Walk({.follow_symlinks = true}); }
};

TEST_F(FollowLinksTest, LoopsEndAndFoldersAboveAreNotEntered) {
  Write("a.txt");
  Write("sub/b.txt");
  Link(".", "loop");
  Link("..", "sub/up");
  Link("self", "self");
  Link("/", "rootlink");
  Link("../..", "sub/above");

  const WalkResult result = Follow();

  EXPECT_EQ(Sources(result.files), (Strings{"a.txt", "sub/b.txt"}));
  EXPECT_EQ(Skips(result.skipped),
            (Strings{"loop: duplicate", "rootlink: symlink", "self: unreadable",
                     "sub/above: symlink", "sub/up: duplicate"}));
}

TEST_F(FollowLinksTest, FilesAndFoldersOutsideAreTaken) {
  folder_.Write("outside/deep/c.md", "text of c");
  folder_.Write("single.md", "text of single");
  Link("../outside", "linked");
  Link("../single.md", "one.md");

  const WalkResult result = Follow();

  ASSERT_EQ(Sources(result.files), (Strings{"linked/deep/c.md", "one.md"}));
  EXPECT_EQ(LoadTextFile(result.files[0]).bytes, "text of c");
  EXPECT_EQ(LoadTextFile(result.files[1]).bytes, "text of single");
}

TEST_F(FollowLinksTest, EachFileIsTakenOnceUnderItsShortestPath) {
  Write("x/y/a.md");
  Write("b.md");
  Link("x/y", "short");
  Link("b.md", "a-link-to-b.md");
  Link("../b.md", "x/b.md");

  const WalkResult result = Follow();

  EXPECT_EQ(Sources(result.files), (Strings{"b.md", "short/a.md"}));
  EXPECT_EQ(Skips(result.skipped),
            (Strings{"a-link-to-b.md: duplicate", "x/b.md: duplicate", "x/y: duplicate"}));
}

TEST_F(FollowLinksTest, TwoFoldersThatLinkToEachOtherEnd) {
  folder_.Write("outside/o.md", "x");
  fs::create_symlink(root_ / "a", folder_.path() / "outside/back");
  Write("a/a.md");
  Link(folder_.path() / "outside", "a/out");

  EXPECT_EQ(Sources(Follow().files), (Strings{"a/a.md", "a/out/o.md"}));
}

TEST_F(FollowLinksTest, WhatIsIgnoredUnderOnePathIsTakenUnderAnother) {
  Write("build/docs/a.md");
  Write(".gitignore", "/build/\n");
  Link("build/docs", "docs");

  EXPECT_EQ(Sources(Follow().files), Strings{"docs/a.md"});
}

TEST_F(FollowLinksTest, LinksToFoldersMatchPatternsForFolders) {
  folder_.Write("outside/o.md", "x");
  Link("../outside", "out");
  Write(".gitignore", "out/\n");

  EXPECT_EQ(Skips(Follow().skipped), (Strings{".gitignore: hidden", "out: ignored"}));
}

TEST_F(FollowLinksTest, BrokenLinksAndLinksToPipesAreNamed) {
  Link("missing", "broken");
  ASSERT_EQ(::mkfifo((folder_.path() / "pipe").c_str(), 0600), 0);
  Link("../pipe", "pipe");

  EXPECT_EQ(Skips(Follow().skipped), (Strings{"broken: unreadable", "pipe: special"}));
}

TEST_F(FollowLinksTest, HardLinksCountOnce) {
  Write("b.md");
  fs::create_hard_link(root_ / "b.md", root_ / "a.md");

  EXPECT_EQ(Sources(Follow().files), Strings{"a.md"});
  EXPECT_EQ(Sources(Walk().files), (Strings{"a.md", "b.md"}));
}

}  // namespace
}  // namespace rag::indexer
