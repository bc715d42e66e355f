#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "formats/checksum.h"
#include "formats/coding.h"
#include "formats/keys.h"
#include "storage/file_io.h"
#include "storage/record_reader.h"
#include "storage/record_writer.h"

namespace rag::storage {
namespace {

namespace fs = std::filesystem;
using Entries = std::map<std::string, std::string>;  // in the order of the store: by bytes
using Store = std::map<std::string, Entries>;        // family -> entries

class RecordsStore : public ::testing::Test {
 protected:
  RecordsStore() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) /
            (std::string("records-") + test->name() + "-" + std::to_string(getpid()));
    fs::create_directories(root_);
  }
  ~RecordsStore() override { fs::remove_all(root_); }

  [[nodiscard]] fs::path Folder(const std::string& name = "records") const { return root_ / name; }

 private:
  fs::path root_;
};

// Records of all families; values repeat words, as text does, and some are empty or long.
Store RandomStore(std::uint32_t documents, unsigned seed) {
  std::mt19937 random(seed);
  const auto text = [&random](std::size_t words) {
    std::string value;
    for (std::size_t i = 0; i < words; ++i) value += "word" + std::to_string(random() % 500) + " ";
    return value;
  };
  Store store;
  for (std::uint32_t d = 0; d < documents; ++d) {
    store["documents"][formats::DocumentKey(d)] = text(random() % 20);
    store["sources"]["corpus/file-" + std::to_string(random()) + ".md"] = formats::DocumentKey(d);
    for (std::uint32_t i = 0; i < random() % 9; ++i) {
      store["chunks"][formats::ItemKey(d, i)] = text(random() % 60);
      store["parents"][formats::ItemKey(d, i)] = text(random() % 6);
      store["terms"][formats::ItemKey(d, i)] = text(random() % 300);
      store["summaries"][formats::NodeKey(d, i % 3, i)] = "";
    }
  }
  return store;
}

// Writes the families by turns, as a build does.
std::map<std::string, RecordWriter::FamilyInfo> Write(const fs::path& folder, const Store& store) {
  auto writer = RecordWriter::Create(folder).value();
  std::map<std::string, Entries::const_iterator> next;
  for (const auto& [family, entries] : store) next[family] = entries.begin();
  for (bool more = true; more;) {
    more = false;
    for (const auto& [family, entries] : store) {
      auto& it = next[family];
      if (it == entries.end()) continue;
      const absl::Status status = writer->Put(family, it->first, it->second);
      EXPECT_TRUE(status.ok()) << status;
      ++it;
      more = true;
    }
  }
  auto result = writer->Finish();
  EXPECT_TRUE(result.ok()) << result.status();
  return std::move(result).value();
}

std::unique_ptr<RecordReader> Open(const fs::path& folder) {
  auto reader = RecordReader::Open(folder);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return std::move(reader).value();
}

Entries ScanAll(const RecordReader& reader, std::string_view family, std::string_view prefix = "") {
  Entries entries;
  std::string last;
  const absl::Status status =
      reader.Scan(family, prefix, [&](std::string_view key, std::string_view value) {
        EXPECT_TRUE(entries.empty() || last < key);
        last = key;
        entries.emplace(key, value);
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  return entries;
}

// Everything that identifies the files of a folder: names, sizes, times.
std::set<std::string> Listing(const fs::path& folder) {
  std::set<std::string> listing;
  for (const auto& entry : fs::directory_iterator(folder)) {
    struct stat info = {};
    EXPECT_EQ(stat(entry.path().c_str(), &info), 0);
    listing.insert(entry.path().filename().string() + " " + std::to_string(info.st_size) + " " +
                   std::to_string(info.st_mtim.tv_sec) + "." +
                   std::to_string(info.st_mtim.tv_nsec));
  }
  return listing;
}

std::size_t CountThreads() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator()));
}

bool Contains(const absl::Status& status, std::string_view part) {
  return std::string(status.message()).find(part) != std::string::npos;
}

// Without a sync, which would make the tests slow.
void Overwrite(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// The SST file that holds most bytes.
fs::path LargestTable(const fs::path& folder) {
  fs::path largest;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".sst") continue;
    if (largest.empty() || entry.file_size() > fs::file_size(largest)) largest = entry.path();
  }
  return largest;
}

TEST_F(RecordsStore, ScanReturnsWhatWasWrittenInKeyOrder) {
  const Store store = RandomStore(400, 1);
  Write(Folder(), store);
  const auto reader = Open(Folder());
  for (const auto& [family, entries] : store)
    EXPECT_EQ(ScanAll(*reader, family), entries) << family;
}

TEST_F(RecordsStore, GetReturnsEveryValue) {
  const Store store = RandomStore(60, 2);
  Write(Folder(), store);
  const auto reader = Open(Folder());
  for (const auto& [family, entries] : store) {
    for (const auto& [key, value] : entries) ASSERT_EQ(reader->Get(family, key).value(), value);
  }
}

TEST_F(RecordsStore, MultiGetReturnsValuesInTheOrderOfTheKeys) {
  const Store store = RandomStore(400, 3);
  Write(Folder(), store);
  const auto reader = Open(Folder());
  std::vector<std::string> keys;
  for (const auto& [key, value] : store.at("chunks")) keys.push_back(key);
  std::shuffle(keys.begin(), keys.end(), std::mt19937(4));
  keys.resize(100);
  const std::vector<std::string> values = reader->MultiGet("chunks", keys).value();
  ASSERT_EQ(values.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(values[i], store.at("chunks").at(keys[i])) << i;
  }
}

TEST_F(RecordsStore, MultiGetAcceptsTheSameKeyTwice) {
  Write(Folder(), {{"chunks", {{"a", "1"}, {"b", "2"}}}});
  const std::vector<std::string> keys = {"b", "a", "b", "b"};
  EXPECT_EQ(Open(Folder())->MultiGet("chunks", keys).value(),
            std::vector<std::string>({"2", "1", "2", "2"}));
}

TEST_F(RecordsStore, MultiGetOfNoKeysIsEmpty) {
  Write(Folder(), {});
  EXPECT_TRUE(Open(Folder())->MultiGet("chunks", {}).value().empty());
}

TEST_F(RecordsStore, MultiGetOfAnAbsentKeyIsDataLossAndNamesIt) {
  Write(Folder(), {{"chunks", {{"a", "1"}}}});
  const std::vector<std::string> keys = {"a", "\x01\xff"};
  const absl::Status status = Open(Folder())->MultiGet("chunks", keys).status();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_TRUE(Contains(status, Folder().string() + ": chunks: key 01ff: ")) << status;
}

TEST_F(RecordsStore, GetOfAnAbsentKeyIsNotFound) {
  Write(Folder(), {{"sources", {{"a.md", "1"}}}});
  const auto reader = Open(Folder());
  EXPECT_TRUE(absl::IsNotFound(reader->Get("sources", "a.m").status()));
  EXPECT_TRUE(absl::IsNotFound(reader->Get("sources", "a.md2").status()));
}

TEST_F(RecordsStore, FamiliesAreApart) {
  Write(Folder(), {{"chunks", {{"k", "chunk"}}}, {"terms", {{"k", "term"}}}});
  const auto reader = Open(Folder());
  EXPECT_EQ(reader->Get("chunks", "k").value(), "chunk");
  EXPECT_EQ(reader->Get("terms", "k").value(), "term");
  EXPECT_TRUE(absl::IsNotFound(reader->Get("parents", "k").status()));
}

TEST_F(RecordsStore, AnEmptyStoreOpensAndHoldsNothing) {
  Write(Folder(), {});
  const auto reader = Open(Folder());
  for (const std::string_view family : kRecordFamilies) {
    EXPECT_TRUE(ScanAll(*reader, family).empty());
    EXPECT_TRUE(absl::IsNotFound(reader->Get(family, "k").status()));
  }
}

TEST_F(RecordsStore, EmptyAndLargeKeysAndValuesComeBack) {
  const std::string large(3 << 20, 'v');
  const Entries entries = {{"", "empty key"}, {"empty value", ""}, {std::string(5000, 'x'), large}};
  Write(Folder(), {{"chunks", entries}});
  EXPECT_EQ(ScanAll(*Open(Folder()), "chunks"), entries);
}

TEST_F(RecordsStore, ScanVisitsThePrefixOnly) {
  const Store store = RandomStore(100, 5);
  Write(Folder(), store);
  const auto reader = Open(Folder());
  for (std::uint32_t d = 0; d < 101; ++d) {
    const std::string prefix = formats::DocumentKey(d);
    Entries expected;
    for (const auto& [key, value] : store.at("chunks")) {
      if (key.rfind(prefix, 0) == 0) expected.emplace(key, value);
    }
    ASSERT_EQ(ScanAll(*reader, "chunks", prefix), expected) << d;
  }
}

TEST_F(RecordsStore, ScanOfAPrefixOfHighBytesStopsAtItsEnd) {
  const std::string high = "\xff\xff";
  Write(Folder(), {{"chunks", {{"a\xff", "1"}, {"b", "2"}, {high, "3"}, {high + "x", "4"}}}});
  const auto reader = Open(Folder());
  EXPECT_EQ(ScanAll(*reader, "chunks", "a\xff"), Entries({{"a\xff", "1"}}));
  EXPECT_EQ(ScanAll(*reader, "chunks", high), Entries({{high, "3"}, {high + "x", "4"}}));
}

TEST_F(RecordsStore, ScanPassesTheVisitorsErrorOnAndStops) {
  Write(Folder(), {{"chunks", {{"a", "1"}, {"b", "2"}, {"c", "3"}}}});
  int visited = 0;
  const absl::Status status =
      Open(Folder())->Scan("chunks", "", [&visited](std::string_view key, std::string_view) {
        ++visited;
        return key == "b" ? absl::OutOfRangeError("enough") : absl::OkStatus();
      });
  EXPECT_EQ(status, absl::OutOfRangeError("enough"));
  EXPECT_EQ(visited, 2);
}

TEST_F(RecordsStore, AnUnknownFamilyIsRefused) {
  auto writer = RecordWriter::Create(Folder()).value();
  EXPECT_TRUE(absl::IsInvalidArgument(writer->Put("default", "k", "v")));
  ASSERT_TRUE(writer->Finish().ok());
  const auto reader = Open(Folder());
  const std::vector<std::string> keys = {"k"};
  EXPECT_TRUE(absl::IsInvalidArgument(reader->Get("default", "k").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(reader->MultiGet("", keys).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(reader->Scan("other", "", {})));
}

TEST_F(RecordsStore, KeysThatDoNotAscendAreRefusedAndTheRestIsKept) {
  auto writer = RecordWriter::Create(Folder()).value();
  ASSERT_TRUE(writer->Put("chunks", "b", "1").ok());
  const absl::Status status = writer->Put("chunks", "a", "2");
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_TRUE(Contains(status, "chunks: key 61 does not follow 62")) << status;
  EXPECT_TRUE(absl::IsInvalidArgument(writer->Put("chunks", "b", "3")));
  ASSERT_TRUE(writer->Put("chunks", "\xff", "4").ok());  // bytes are unsigned
  EXPECT_EQ(writer->Finish().value().at("chunks").num_keys, 2U);
  EXPECT_EQ(ScanAll(*Open(Folder()), "chunks"), Entries({{"b", "1"}, {"\xff", "4"}}));
}

TEST_F(RecordsStore, TheWriterRefusesAFolderThatExists) {
  fs::create_directory(Folder());
  EXPECT_TRUE(absl::IsInvalidArgument(RecordWriter::Create(Folder()).status()));
}

TEST_F(RecordsStore, TheWriterNeedsTheParentFolder) {
  EXPECT_TRUE(absl::IsNotFound(RecordWriter::Create(Folder("absent") / "records").status()));
}

TEST_F(RecordsStore, NothingCanBeWrittenAfterFinish) {
  auto writer = RecordWriter::Create(Folder()).value();
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_TRUE(absl::IsInvalidArgument(writer->Put("chunks", "k", "v")));
  EXPECT_TRUE(absl::IsInvalidArgument(writer->Finish().status()));
}

TEST_F(RecordsStore, DigestsAndCountsAreThoseOfTheContent) {
  const Store store = RandomStore(50, 6);
  const auto families = Write(Folder(), store);
  ASSERT_EQ(families.size(), kRecordFamilies.size());
  for (const std::string_view name : kRecordFamilies) {
    const auto& info = families.at(std::string(name));
    const auto entries = store.find(std::string(name));
    formats::ByteWriter content;
    for (const auto& [key, value] : entries->second) {
      content.LengthPrefixed(key);
      content.LengthPrefixed(value);
    }
    EXPECT_EQ(info.num_keys, entries->second.size());
    EXPECT_EQ(info.digest, formats::Xxh128Hex(content.view()));
  }
}

TEST_F(RecordsStore, TheDigestOfAnEmptyFamilyIsThatOfNoBytes) {
  EXPECT_EQ(Write(Folder(), {}).at("terms").digest, formats::Xxh128Hex(""));
}

TEST_F(RecordsStore, OnlyWhatAReaderNeedsIsLeftInTheFolder) {
  Write(Folder(), RandomStore(20, 7));
  std::map<std::string, int> kinds;
  for (const auto& entry : fs::directory_iterator(Folder())) {
    const std::string name = entry.path().filename().string();
    ++kinds[entry.path().extension() == ".sst" ? "sst" : name.substr(0, name.find('-'))];
  }
  const std::map<std::string, int> expected = {{"CURRENT", 1}, {"MANIFEST", 1}, {"sst", 6}};
  EXPECT_EQ(kinds, expected);
}

TEST_F(RecordsStore, AFamilyWithoutKeysMakesNoFile) {
  Write(Folder(), {{"chunks", {{"k", "v"}}}});
  std::size_t tables = 0;
  for (const auto& entry : fs::directory_iterator(Folder())) {
    tables += entry.path().extension() == ".sst" ? 1U : 0U;
  }
  EXPECT_EQ(tables, 1U);
}

TEST_F(RecordsStore, ReadingChangesNoFile) {
  const Store store = RandomStore(50, 8);
  Write(Folder(), store);
  const auto before = Listing(Folder());
  {
    const auto reader = Open(Folder());
    EXPECT_EQ(ScanAll(*reader, "chunks"), store.at("chunks"));
    EXPECT_EQ(Listing(Folder()), before);
  }
  EXPECT_EQ(Listing(Folder()), before);
}

TEST_F(RecordsStore, AReaderWithoutWritePermissionCanRead) {
  Write(Folder(), {{"chunks", {{"k", "v"}}}});
  fs::permissions(Folder(), fs::perms(0555));
  const pid_t child = fork();
  if (child == 0) {
    // Root may write everywhere, so it becomes nobody.
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
    if (access(Folder().c_str(), W_OK) == 0) _exit(3);
    const auto reader = RecordReader::Open(Folder());
    if (!reader.ok()) _exit(4);
    _exit((*reader)->Get("chunks", "k").value() == "v" ? 0 : 5);
  }
  int state = 0;
  waitpid(child, &state, 0);
  fs::permissions(Folder(), fs::perms(0755));
  ASSERT_TRUE(WIFEXITED(state));
  EXPECT_EQ(WEXITSTATUS(state), 0);
}

TEST_F(RecordsStore, ReadingStartsNoThread) {
  // Written by another process: what a writer starts must not hide what a reader starts.
  const pid_t child = fork();
  if (child == 0) {
    Write(Folder(), RandomStore(50, 9));
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  const std::size_t before = CountThreads();
  const auto reader = Open(Folder());
  ScanAll(*reader, "chunks");
  EXPECT_EQ(CountThreads(), before);
}

TEST_F(RecordsStore, AReaderOutlivesTheFilesOfItsStore) {
  const Store store = RandomStore(200, 10);
  Write(Folder(), store);
  const auto reader = Open(Folder());
  fs::remove_all(Folder());
  for (const auto& [family, entries] : store)
    EXPECT_EQ(ScanAll(*reader, family), entries) << family;
}

TEST_F(RecordsStore, ThreadsMayReadAtTheSameTime) {
  const Store store = RandomStore(200, 11);
  Write(Folder(), store);
  const auto reader = Open(Folder());
  std::vector<std::string> keys;
  for (const auto& [key, value] : store.at("chunks")) keys.push_back(key);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const std::vector<std::string> values = reader->MultiGet("chunks", keys).value();
      for (std::size_t k = 0; k < keys.size(); ++k) {
        ASSERT_EQ(values[k], store.at("chunks").at(keys[k]));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(RecordsStore, OpeningAFolderWithoutAStoreIsDataLoss) {
  fs::create_directory(Folder());
  EXPECT_TRUE(absl::IsDataLoss(RecordReader::Open(Folder()).status()));
  EXPECT_TRUE(absl::IsDataLoss(RecordReader::Open(Folder("absent")).status()));
  EXPECT_FALSE(fs::exists(Folder("absent")));
}

TEST_F(RecordsStore, AMissingTableIsDataLoss) {
  Write(Folder(), RandomStore(20, 12));
  fs::remove(LargestTable(Folder()));
  const absl::Status status = RecordReader::Open(Folder()).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_TRUE(Contains(status, Folder().string()) && Contains(status, "rag-index build")) << status;
}

TEST_F(RecordsStore, AWriteAheadLogThatSomeoneAddedIsRefused) {
  Write(Folder(), {{"chunks", {{"k", "v"}}}});
  Overwrite(Folder() / "000099.log", "");
  EXPECT_TRUE(absl::IsDataLoss(RecordReader::Open(Folder()).status()));
}

// Checks that with any one byte of the table changed at `positions`, "terms" is damaged or as
// expected.
void CheckDamage(const fs::path& folder, const Entries& expected,
                 const std::vector<std::size_t>& positions) {
  const fs::path table = LargestTable(folder);
  const std::string bytes = ReadFile(table).value();
  std::size_t damaged = 0;
  for (const std::size_t i : positions) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x80);
    Overwrite(table, changed);
    const auto reader = RecordReader::Open(folder);
    absl::Status status = reader.status();
    Entries found;
    if (reader.ok()) {
      status = (*reader)->Scan("terms", "", [&found](std::string_view key, std::string_view value) {
        found.emplace(key, value);
        return absl::OkStatus();
      });
    }
    if (status.ok()) {
      EXPECT_EQ(found, expected) << i;
    } else {
      ++damaged;
      EXPECT_TRUE(absl::IsDataLoss(status)) << i << ": " << status;
    }
  }
  EXPECT_GT(damaged, 0U);
}

TEST_F(RecordsStore, ChangedBytesOfATableAreDamageOrChangeNothing) {
  const Store store = RandomStore(12, 13);
  Write(Folder(), store);
  const std::size_t size = fs::file_size(LargestTable(Folder()));
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < size; i += 41) positions.push_back(i);
  CheckDamage(Folder(), store.at("terms"), positions);
}

// Where the engine keeps what it reads before anything else.
TEST_F(RecordsStore, ChangedBytesAtTheEndOfATableAreDamageOrChangeNothing) {
  const Store store = {{"terms", {{"k", "v"}}}};
  Write(Folder(), store);
  const std::size_t size = fs::file_size(LargestTable(Folder()));
  std::vector<std::size_t> positions;
  for (std::size_t i = size - 120; i < size; ++i) positions.push_back(i);
  CheckDamage(Folder(), store.at("terms"), positions);
}

TEST_F(RecordsStore, DamageInABlockNamesFolderFamilyAndKey) {
  Store store;
  for (std::uint32_t i = 0; i < 40; ++i) {
    store["chunks"][formats::ItemKey(0, i)] = RandomStore(3, i)["terms"].begin()->second;
  }
  Write(Folder(), store);
  const fs::path table = LargestTable(Folder());
  std::string bytes = ReadFile(table).value();
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  Overwrite(table, bytes);
  const auto reader = Open(Folder());
  const std::vector<std::string> keys = {formats::ItemKey(0, 0)};
  for (const absl::Status& status :
       {reader->Get("chunks", keys[0]).status(), reader->MultiGet("chunks", keys).status()}) {
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_TRUE(Contains(status, Folder().string() + ": chunks: key 0000000000000000: ")) << status;
  }
}

TEST_F(RecordsStore, ACutTableIsDataLoss) {
  Write(Folder(), RandomStore(12, 14));
  const fs::path table = LargestTable(Folder());
  const std::string bytes = ReadFile(table).value();
  for (std::size_t n = 0; n < bytes.size(); n += 1 + bytes.size() / 40) {
    fs::resize_file(table, n);
    const absl::Status status = RecordReader::Open(Folder()).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << n << ": " << status;
    Overwrite(table, bytes);
  }
}

}  // namespace
}  // namespace rag::storage
