#include "storage/file_io.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "formats/checksum.h"

namespace rag::storage {
namespace {

namespace fs = std::filesystem;

class FileIo : public ::testing::Test {
 protected:
  FileIo() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) /
              (std::string("file-io-") + test->name() + "-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  ~FileIo() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path Path(const std::string& name = "file") const { return folder_ / name; }
  [[nodiscard]] const fs::path& folder() const { return folder_; }

  // Without a sync, which would make the tests slow.
  fs::path Write(std::string_view bytes, const std::string& name = "file") const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }

 private:
  fs::path folder_;
};

// Every byte value, in an order without short periods.
std::string Pattern(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

bool Contains(const absl::Status& status, std::string_view part) {
  return std::string(status.message()).find(part) != std::string::npos;
}

TEST_F(FileIo, ReadFileReturnsEveryByte) {
  for (const std::size_t size : {0U, 1U, 4095U, 4096U, 4097U, 100'000U}) {
    const std::string bytes = Pattern(size);
    EXPECT_EQ(ReadFile(Write(bytes)).value(), bytes) << size;
  }
}

TEST_F(FileIo, ReadFileOfAMissingFileIsNotFoundAndNamesIt) {
  const absl::Status status = ReadFile(Path("absent")).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_TRUE(Contains(status, Path("absent").string())) << status;
}

TEST_F(FileIo, ReadFileBelowAFileIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(ReadFile(Write("x") / "below").status()));
}

TEST_F(FileIo, ReadFileOfAFolderIsAnError) {
  const absl::Status status = ReadFile(folder()).status();
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_TRUE(Contains(status, folder().string())) << status;
}

TEST_F(FileIo, ReadPrefixReturnsTheFirstBytes) {
  const std::string bytes = Pattern(300);
  const fs::path path = Write(bytes);
  for (std::size_t n = 0; n <= bytes.size(); ++n) {
    EXPECT_EQ(ReadPrefix(path, n).value(), bytes.substr(0, n));
  }
}

TEST_F(FileIo, ReadPrefixOfAShorterFileIsDataLoss) {
  const absl::Status status = ReadPrefix(Write("abc"), 4).status();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_TRUE(Contains(status, "needs 4 bytes, the file has 3")) << status;
}

TEST_F(FileIo, ReadPrefixDoesNotAllocateWhatTheFileDoesNotHold) {
  EXPECT_TRUE(absl::IsDataLoss(
      ReadPrefix(Write("abc"), std::numeric_limits<std::uint64_t>::max()).status()));
}

TEST_F(FileIo, ReadSuffixReturnsTheLastBytesOrTheWholeFile) {
  const std::string bytes = Pattern(300);
  const fs::path path = Write(bytes);
  for (std::size_t n = 0; n <= bytes.size(); ++n) {
    EXPECT_EQ(ReadSuffix(path, n).value(), bytes.substr(bytes.size() - n));
  }
  EXPECT_EQ(ReadSuffix(path, std::numeric_limits<std::uint64_t>::max()).value(), bytes);
}

TEST_F(FileIo, WriteFileDurablyMakesAFileOfTheseBytes) {
  for (const std::size_t size : {0U, 1U, 5'000'000U}) {
    const std::string bytes = Pattern(size);
    ASSERT_TRUE(WriteFileDurably(Path(), bytes).ok());
    EXPECT_EQ(ReadFile(Path()).value(), bytes) << size;
  }
}

TEST_F(FileIo, WriteFileDurablyTruncatesWhatWasThere) {
  const fs::path path = Write("a long text");
  ASSERT_TRUE(WriteFileDurably(path, "short").ok());
  EXPECT_EQ(ReadFile(path).value(), "short");
}

TEST_F(FileIo, WriteFileDurablyIntoAMissingFolderIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(WriteFileDurably(Path("absent") / "file", "x")));
}

TEST_F(FileIo, AFullDiskIsResourceExhaustedAndSaysSo) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  const absl::Status status = WriteFileDurably("/dev/full", "x");
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_TRUE(Contains(status, "/dev/full: disk full: ")) << status;
}

TEST_F(FileIo, ReplaceFileLeavesTheNewBytesAndNothingElse) {
  const fs::path path = Write("old");
  ASSERT_TRUE(ReplaceFile(path, "new").ok());
  EXPECT_EQ(ReadFile(path).value(), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), fs::directory_iterator()), 1);
}

TEST_F(FileIo, ReplaceFileThatFailsRemovesItsTemporaryFile) {
  fs::create_directory(Path());
  const absl::Status status = ReplaceFile(Path(), "new");
  EXPECT_TRUE(absl::IsInternal(status)) << status;
  EXPECT_TRUE(fs::is_directory(Path()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), fs::directory_iterator()), 1);
}

TEST_F(FileIo, ReplaceFileWorksWithoutAFolderInThePath) {
  const fs::path before = fs::current_path();
  fs::current_path(folder());
  const absl::Status status = ReplaceFile("bare", "x");
  fs::current_path(before);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(ReadFile(Path("bare")).value(), "x");
}

TEST_F(FileIo, ReadersOfAReplacedFileSeeOldOrNewBytesUntilTheWriterIsKilled) {
  const std::string first = Pattern(20'000);
  const std::string second(30'000, 'b');
  const fs::path path = Write(first);
  const pid_t writer = fork();
  if (writer == 0) {
    while (true) {
      if (!ReplaceFile(path, second).ok() || !ReplaceFile(path, first).ok()) _exit(1);
    }
  }
  for (int i = 0; i < 300; ++i) {
    const std::string bytes = ReadFile(path).value();
    ASSERT_TRUE(bytes == first || bytes == second);
  }
  kill(writer, SIGKILL);
  int state = 0;
  waitpid(writer, &state, 0);
  EXPECT_TRUE(WIFSIGNALED(state));
  const std::string bytes = ReadFile(path).value();
  EXPECT_TRUE(bytes == first || bytes == second);
}

TEST_F(FileIo, SyncFileAndSyncFolderAcceptWhatExists) {
  EXPECT_TRUE(SyncFile(Write("x")).ok());
  EXPECT_TRUE(SyncFolder(folder()).ok());
}

TEST_F(FileIo, SyncFolderOfAFileIsAnError) { EXPECT_FALSE(SyncFolder(Write("x")).ok()); }

TEST_F(FileIo, DescribeFileAgreesWithTheChecksumsOfTheWholeBytes) {
  for (const std::size_t size : {0U, 1U, 262'143U, 262'144U, 262'145U, 700'000U}) {
    const std::string bytes = Pattern(size);
    Write(bytes, "a");
    const std::uint64_t header = size / 2;
    const formats::FileEntry entry = DescribeFile(folder(), "a", header).value();
    EXPECT_EQ(entry.path, "a");
    EXPECT_EQ(entry.size_bytes, size);
    EXPECT_EQ(entry.xxh128, formats::Xxh128Hex(bytes));
    EXPECT_EQ(entry.header_bytes, header);
    EXPECT_EQ(entry.header_xxh3,
              header == 0 ? "" : formats::ToHex(formats::Xxh3(bytes.substr(0, header))));
  }
}

TEST_F(FileIo, DescribeFileRefusesAHeaderLongerThanTheFile) {
  Write("abc", "a");
  EXPECT_TRUE(absl::IsDataLoss(DescribeFile(folder(), "a", 4).status()));
}

TEST_F(FileIo, CheckFileAcceptsWhatDescribeFileDescribed) {
  fs::create_directory(Path("sub"));
  Write(Pattern(500), "sub/a");
  for (const std::uint64_t header : {0U, 1U, 500U}) {
    const absl::Status status =
        CheckFile(folder(), DescribeFile(folder(), "sub/a", header).value());
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST_F(FileIo, CheckFileSaysWhatIsWrongWithASizeAndWhatToDo) {
  const fs::path path = Write(Pattern(100), "docs.faiss");
  formats::FileEntry entry = DescribeFile(folder(), "docs.faiss", 0).value();
  entry.size_bytes = 2048;
  EXPECT_EQ(CheckFile(folder(), entry),
            absl::DataLossError(path.string() +
                                ": size is 100 bytes, the manifest says 2048; the index is "
                                "damaged, rebuild it with rag-index build"));
}

TEST_F(FileIo, CheckFileRefusesEveryOtherLength) {
  const std::string bytes = Pattern(100);
  const fs::path path = Write(bytes);
  const formats::FileEntry entry = DescribeFile(folder(), "file", 40).value();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    fs::resize_file(path, n);
    EXPECT_TRUE(absl::IsDataLoss(CheckFile(folder(), entry))) << n;
    Write(bytes);
  }
  Write(bytes + "x");
  EXPECT_TRUE(absl::IsDataLoss(CheckFile(folder(), entry)));
}

TEST_F(FileIo, CheckFileSeesEveryChangedByteOfTheHeaderAndReadsNoMore) {
  const std::string bytes = Pattern(100);
  Write(bytes);
  const formats::FileEntry entry = DescribeFile(folder(), "file", 40).value();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    Write(changed);
    EXPECT_EQ(absl::IsDataLoss(CheckFile(folder(), entry)), i < 40) << i;
  }
}

TEST_F(FileIo, CheckFileCallsAMissingFileDamage) {
  Write("x");
  const formats::FileEntry entry = DescribeFile(folder(), "file", 0).value();
  fs::remove(Path());
  const absl::Status status = CheckFile(folder(), entry);
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_TRUE(Contains(status, Path().string())) << status;
}

TEST_F(FileIo, CheckFileCallsAFolderInPlaceOfAFileDamage) {
  Write("x");
  const formats::FileEntry entry = DescribeFile(folder(), "file", 0).value();
  fs::remove(Path());
  fs::create_directory(Path());
  EXPECT_TRUE(absl::IsDataLoss(CheckFile(folder(), entry)));
}

TEST_F(FileIo, CheckFileRefusesAnEntryWhoseHeaderIsLongerThanTheFile) {
  Write("x");
  formats::FileEntry entry = DescribeFile(folder(), "file", 0).value();
  entry.header_bytes = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(absl::IsDataLoss(CheckFile(folder(), entry)));
}

TEST_F(FileIo, MappedFileShowsTheBytesOfTheFile) {
  const std::string bytes = Pattern(10'000);
  const MappedFile mapped = MappedFile::Open(Write(bytes)).value();
  EXPECT_EQ(mapped.bytes(), bytes);
}

TEST_F(FileIo, MappedFileOfAnEmptyFileIsEmpty) {
  EXPECT_EQ(MappedFile::Open(Write("")).value().bytes(), "");
}

TEST_F(FileIo, MappedFileOutlivesTheNameOfTheFile) {
  const MappedFile mapped = MappedFile::Open(Write("still here")).value();
  fs::remove(Path());
  EXPECT_EQ(mapped.bytes(), "still here");
}

TEST_F(FileIo, MappedFileMovesItsMapping) {
  MappedFile first = MappedFile::Open(Write("moved")).value();
  MappedFile second(std::move(first));
  MappedFile third;
  third = std::move(second);
  EXPECT_EQ(third.bytes(), "moved");
}

TEST_F(FileIo, MappedFileOfAMissingFileIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(MappedFile::Open(Path("absent")).status()));
}

TEST_F(FileIo, MappedFileOfAFolderIsAnError) {
  EXPECT_TRUE(absl::IsInternal(MappedFile::Open(folder()).status()));
}

}  // namespace
}  // namespace rag::storage
