#include "indexer/text_file.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "indexer/characters.h"
#include "tests/testing/temp_folder.h"
#include "tests/testing/unprivileged.h"

namespace rag::indexer {
namespace {

namespace fs = std::filesystem;

class LoadTextFileTest : public ::testing::Test {
 protected:
  CorpusFile Write(const std::string& source, const std::string& bytes) const {
    folder_.Write(source, bytes);
    return {source, root_ / source};
  }

  [[nodiscard]] LoadedFile Load(const std::string& bytes) const {
    return LoadTextFile(Write("file.txt", bytes));
  }

  testing::TempFolder folder_;
  const fs::path root_ = folder_.path();
};

void Append(const CorpusFile& file, const std::string& bytes) {
  std::ofstream(file.path, std::ios::binary | std::ios::app) << bytes;
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

TEST_F(LoadTextFileTest, BytesThatAreKnownAreNotJudgedAgain) {
  const CorpusFile file = Write("file.txt", "not \xFF text");
  formats::Sha256 seen{};
  const auto known = [&seen](const formats::Sha256& content) {
    seen = content;
    return true;
  };

  EXPECT_TRUE(LoadTextFile(file, {.is_known = known}).ok);
  EXPECT_EQ(seen, formats::ComputeSha256("not \xFF text"));
  const auto unknown = [](const formats::Sha256& /*content*/) { return false; };
  EXPECT_FALSE(LoadTextFile(file, {.is_known = unknown}).ok);
}

TEST_F(LoadTextFileTest, OfALargeFileOnlyTheChecksumIsKept) {
  const CorpusFile file = Write("file.txt", "some text, not \xFF UTF-8");

  const LoadedFile loaded = LoadTextFile(file, {.max_bytes = 10});
  EXPECT_TRUE(loaded.ok);
  EXPECT_TRUE(loaded.large);
  EXPECT_EQ(loaded.bytes, "");
  EXPECT_EQ(loaded.content, formats::ComputeSha256("some text, not \xFF UTF-8"));
  EXPECT_FALSE(LoadTextFile(file, {.max_bytes = 23}).large);

  const CorpusFile binary = Write("file.bin", std::string(300000, 'x') + '\0');
  EXPECT_EQ(LoadTextFile(binary, {.max_bytes = 10}).skipped.detail, "NUL byte at offset 300000");
}

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
  const CorpusFile file = Write("secret.txt", "x");
  fs::permissions(file.path, fs::perms::none);
  const testing::Unprivileged nobody;

  const LoadedFile loaded = LoadTextFile(file);

  EXPECT_EQ(loaded.skipped.reason, SkipReason::kUnreadable);
  EXPECT_EQ(loaded.skipped.detail, "Permission denied");
}

TEST_F(LoadTextFileTest, AFileThatChangesOnceIsReadAgain) {
  const CorpusFile file = Write("a.txt", "one\n");
  int readings = 0;

  const LoadedFile loaded = LoadTextFile(file, {.after_read = [&] {
                                           if (++readings == 1) Append(file, "two\n");
                                         }});

  EXPECT_EQ(readings, 2);
  EXPECT_EQ(loaded.bytes, "one\ntwo\n");
}

TEST_F(LoadTextFileTest, AFileThatChangesEachTimeIsSkippedAfterFourReadings) {
  const CorpusFile file = Write("a.txt", "one\n");
  int readings = 0;

  const LoadedFile loaded = LoadTextFile(file, {.after_read = [&] {
                                           ++readings;
                                           Append(file, "more\n");
                                         }});

  EXPECT_FALSE(loaded.ok);
  EXPECT_EQ(readings, 4);
  EXPECT_EQ(loaded.skipped.source, "a.txt");
  EXPECT_EQ(loaded.skipped.reason, SkipReason::kChanged);
}

TEST_F(LoadTextFileTest, AChangeThatKeepsTheSizeIsSeenAtOnce) {
  const CorpusFile file = Write("a.txt", "one\n");
  int readings = 0;

  const LoadedFile loaded = LoadTextFile(file, {.after_read = [&] {
                                           if (++readings == 1) std::fstream(file.path) << "two";
                                         }});

  EXPECT_EQ(loaded.bytes, "two\n");
}

TEST_F(LoadTextFileTest, AFileThatIsCutShortWhileReadIsReadAgain) {
  const CorpusFile file = Write("a.txt", "one\ntwo\n");
  int readings = 0;

  const LoadedFile loaded = LoadTextFile(file, {.after_read = [&] {
                                           if (++readings == 1) fs::resize_file(file.path, 4);
                                         }});

  EXPECT_EQ(loaded.bytes, "one\n");
}

TEST_F(LoadTextFileTest, AFileThatVanishesBetweenTwoReadingsIsUnreadable) {
  const CorpusFile file = Write("a.txt", "one\n");

  const LoadedFile loaded = LoadTextFile(file, {.after_read = [&] {
                                           Append(file, "two\n");
                                           fs::remove(file.path);
                                         }});

  EXPECT_EQ(loaded.skipped.reason, SkipReason::kUnreadable);
}

TEST_F(LoadTextFileTest, AFileThatIsReplacedWhileReadIsOneOfBothWhole) {
  const CorpusFile file = Write("a.txt", "old\n");
  const CorpusFile other = Write("b.txt", "newer\n");

  const LoadedFile loaded = LoadTextFile(file, {.after_read = [&] {
                                           if (fs::exists(other.path))
                                             fs::rename(other.path, file.path);
                                         }});

  EXPECT_TRUE(loaded.bytes == "old\n" || loaded.bytes == "newer\n") << loaded.skipped.detail;
}

TEST_F(LoadTextFileTest, AFileThatGrowsAndShrinksIsWholeOrSkipped) {
  const CorpusFile file = Write("churn.txt", "");
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (char c = 'a'; !stop; c = c == 'z' ? 'a' : static_cast<char>(c + 1)) {
      std::ofstream out(file.path, std::ios::binary);
      out << std::string(400000, c);
      out.close();
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
    }
  });

  for (int i = 0; i < 20; ++i) {
    const LoadedFile loaded = LoadTextFile(file);
    // The writer truncates first, so that a prefix of one letter is a state of the file, too.
    EXPECT_TRUE(!loaded.ok || loaded.bytes.find_first_not_of(loaded.bytes[0]) == std::string::npos);
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
