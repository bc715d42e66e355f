#include "indexer/walk.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "indexer/characters.h"

namespace rag::indexer {
namespace {

namespace fs = std::filesystem;

// A folder of one test.
class WalkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) /
            ("walk-" + std::to_string(::getpid()) + "-" + test->test_suite_name() + test->name());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  CorpusFile Write(const std::string& source, const std::string& bytes) {
    const fs::path path = root_ / source;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return {source, path};
  }

  LoadedFile Load(const std::string& bytes) { return LoadTextFile(Write("file.txt", bytes)); }

  [[nodiscard]] WalkResult Walk() const {
    absl::StatusOr<WalkResult> result = WalkCorpus(root_);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : WalkResult();
  }

  fs::path root_;
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
using WalkCorpusTest = WalkTest;
using LoadTextFileTest = WalkTest;

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
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every folder";
  Write("a.txt", "x");
  Write("locked/c.txt", "x");
  fs::permissions(root_ / "locked", fs::perms::none);

  const WalkResult result = Walk();
  fs::permissions(root_ / "locked", fs::perms::owner_all);

  EXPECT_EQ(Sources(result.files), Strings{"a.txt"});
  ASSERT_EQ(Skips(result.skipped), Strings{"locked: unreadable"});
  EXPECT_FALSE(result.skipped[0].detail.empty());
}

TEST_F(LoadTextFileTest, ReturnsTheBytesAsTheyAre) {
  const std::string bytes = "\xEF\xBB\xBF# T\r\n\r\nna\xC3\xAFve \xF0\x9F\x98\x80\r";

  const LoadedFile file = Load(bytes);

  ASSERT_TRUE(file.ok) << file.skipped.detail;
  EXPECT_EQ(file.bytes, bytes);
}

TEST_F(LoadTextFileTest, ReadsFilesLargerThanOneRead) {
  std::string bytes;
  for (int i = 0; i < 200000; ++i) bytes += std::to_string(i) + "\n";

  EXPECT_EQ(Load(bytes).bytes, bytes);
}

TEST_F(LoadTextFileTest, ANulByteMakesAFileBinary) {
  const LoadedFile file = Load(std::string("ab\0\xFF", 4));

  EXPECT_FALSE(file.ok);
  EXPECT_EQ(file.skipped.source, "file.txt");
  EXPECT_EQ(file.skipped.reason, SkipReason::kBinary);
  EXPECT_EQ(file.skipped.detail, "NUL byte at offset 2");
}

TEST_F(LoadTextFileTest, AHugeSparseFileIsBinaryAtOnce) {
  const CorpusFile file = Write("sparse", "");
  fs::resize_file(file.path, std::uintmax_t{1} << 36);

  EXPECT_EQ(LoadTextFile(file).skipped.reason, SkipReason::kBinary);
}

TEST_F(LoadTextFileTest, NamesTheOffsetOfInvalidUtf8) {
  const LoadedFile file = Load("caf\xE9 au lait");

  EXPECT_EQ(file.skipped.reason, SkipReason::kInvalidUtf8);
  EXPECT_EQ(file.skipped.detail, "not UTF-8 at offset 3");
}

TEST_F(LoadTextFileTest, NothingButWhiteSpaceIsBlank) {
  for (const char* bytes :
       {"", "\n", " \t\r\n\f\v", "\xEF\xBB\xBF", "\xEF\xBB\xBF\r\n", "\xC2\xA0\xE3\x80\x80\n"}) {
    EXPECT_EQ(Load(bytes).skipped.reason, SkipReason::kBlank) << bytes;
  }
}

TEST_F(LoadTextFileTest, AByteOrderMarkInsideIsText) { EXPECT_TRUE(Load(" \xEF\xBB\xBF").ok); }

TEST_F(LoadTextFileTest, AVanishedFileIsUnreadable) {
  const LoadedFile file = LoadTextFile({"gone.md", root_ / "gone.md"});

  EXPECT_EQ(file.skipped.reason, SkipReason::kUnreadable);
  EXPECT_FALSE(file.skipped.detail.empty());
}

TEST_F(LoadTextFileTest, AFileThatBecameALinkIsNotFollowed) {
  Write("a.md", "x");
  fs::create_symlink("a.md", root_ / "b.md");

  EXPECT_EQ(LoadTextFile({"b.md", root_ / "b.md"}).skipped.reason, SkipReason::kSymlink);
}

TEST_F(LoadTextFileTest, APipeIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);

  EXPECT_EQ(LoadTextFile({"pipe", root_ / "pipe"}).skipped.reason, SkipReason::kSpecial);
}

TEST_F(LoadTextFileTest, AFolderIsSpecial) {
  EXPECT_EQ(LoadTextFile({"d", root_}).skipped.reason, SkipReason::kSpecial);
}

TEST_F(LoadTextFileTest, AFileWithoutPermissionIsUnreadable) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every file";
  const CorpusFile file = Write("secret.txt", "x");
  fs::permissions(file.path, fs::perms::none);

  EXPECT_EQ(LoadTextFile(file).skipped.reason, SkipReason::kUnreadable);
}

TEST_F(LoadTextFileTest, AFileThatGrowsAndShrinksGivesWholeWrites) {
  const CorpusFile file = Write("churn.txt", "line\n");
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    while (!stop) {
      std::ofstream(file.path, std::ios::binary | std::ios::app) << std::string(50000, 'x');
      fs::resize_file(file.path, 5);
    }
  });

  for (int i = 0; i < 200; ++i) {
    const LoadedFile loaded = LoadTextFile(file);
    ASSERT_TRUE(loaded.ok || loaded.skipped.reason == SkipReason::kBinary);
    ASSERT_TRUE(!loaded.ok || loaded.bytes.substr(0, 5) == "line\n");
  }
  stop = true;
  writer.join();
}

std::string Encode(char32_t c) {
  std::string out;
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
  }
  if (c >= 0x80) put(0x80 | (c & 0x3F));
  return out;
}

TEST(Utf8, ExactlyTheScalarValuesAreValid) {
  for (char32_t c = 0; c < 0x120000; ++c) {
    const std::string bytes = Encode(c);
    const bool scalar = c < 0xD800 || (c >= 0xE000 && c < 0x110000);
    ASSERT_EQ(ValidUtf8Prefix(bytes) == bytes.size(), scalar) << static_cast<std::uint32_t>(c);
    ASSERT_TRUE(!scalar || DecodeAt(bytes, 0).value == c);
  }
}

TEST(Utf8, OverlongFormsAreInvalid) {
  for (const char* bytes : {"\xC0\xAF", "\xC1\xBF", "\xE0\x80\xAF", "\xE0\x9F\xBF",
                            "\xF0\x80\x80\xAF", "\xF0\x8F\xBF\xBF", "\xF8\x88\x80\x80\x80"}) {
    EXPECT_EQ(ValidUtf8Prefix(bytes), 0U);
  }
}

TEST(Utf8, EveryTruncationOfASequenceIsInvalid) {
  for (const char32_t c : {0xE9U, 0x20ACU, 0x1F600U}) {
    const std::string bytes = Encode(c);
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      EXPECT_EQ(ValidUtf8Prefix("a" + bytes.substr(0, size)), 1U);
    }
  }
}

TEST(MediaTypeOf, MarkdownEndingsInAnyCaseAreMarkdown) {
  for (const char* name : {"a.md", "a.MD", "x/y.Markdown", "a.b.mdown", "a.mkd"}) {
    EXPECT_EQ(MediaTypeOf(name), formats::MediaType::kMarkdown) << name;
  }
}

TEST(MediaTypeOf, EverythingElseIsPlainText) {
  for (const char* name : {"a.txt", "md", "a.md/b", "a.md.txt", "a.mdx", "", "a."}) {
    EXPECT_EQ(MediaTypeOf(name), formats::MediaType::kPlainText) << name;
  }
}

TEST(FileStem, DropsFoldersAndTheLastExtension) {
  EXPECT_EQ(FileStem("a/b.c/notes.tar.gz"), "notes.tar");
  EXPECT_EQ(FileStem("notes.md"), "notes");
  EXPECT_EQ(FileStem("a.b/README"), "README");
  EXPECT_EQ(FileStem("a/.profile"), ".profile");
  EXPECT_EQ(FileStem("ends."), "ends");
}

}  // namespace
}  // namespace rag::indexer
