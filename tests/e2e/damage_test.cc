// A damaged index is named and refused: never a crash, never an empty answer that looks right.
// tests/damage goes through all bytes.
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "querier/query.h"
#include "storage/index_reader.h"
#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;

constexpr const char* kQuestion = "pump valve seal";

class DamageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteFile(folder_.path() / "corpus" / "a.md", "# Pump\n\nThe pump has a seal.\n");
    WriteFile(folder_.path() / "corpus" / "b.md", "# Valve\n\nThe valve leaks.\n\nOpen it.\n");
    Build(folder_ / "corpus", index_.string());
    files_ = ReadTree(index_);
    files_.erase("LOCK");  // readers need no lock
    ASSERT_TRUE(Answer().ok()) << Answer().status();
    context_ = *Answer();
  }

  // The context of one question, by the library; what rag-query prints.
  [[nodiscard]] absl::StatusOr<std::string> Answer() const {
    const auto reader = storage::IndexReader::Open(index_);
    if (!reader.ok()) return reader.status();
    const auto result = querier::Query(**reader, kQuestion, {});
    if (!result.ok()) return result.status();
    return result->context;
  }

  void Restore(const std::string& name) const { WriteFile(index_ / name, files_.at(name)); }

  void FlipByte(const std::string& name, std::size_t at, int mask) const {
    std::string bytes = files_.at(name);
    bytes[at] = static_cast<char>(bytes[at] ^ mask);
    WriteFile(index_ / name, bytes);
  }

  // Asserts that a flipped bit, another in each of the first bytes, is refused.
  void ExpectFlipsRefused(const std::string& name, std::size_t num_bytes) const {
    for (std::size_t at = 0; at < num_bytes; ++at) ExpectFlipRefused(name, at, 1 << (at % 8));
    Restore(name);
    EXPECT_TRUE(Answer().ok());
  }

  void ExpectFlipRefused(const std::string& name, std::size_t at, int mask) const {
    FlipByte(name, at, mask);
    const absl::Status status = storage::IndexReader::Open(index_).status();
    EXPECT_TRUE(IsBadIndex(status)) << name << " byte " << at << " mask " << mask << ": " << status;
  }

  // The codes for which rag-query exits with 3.
  static bool IsBadIndex(const absl::Status& status) {
    return absl::IsDataLoss(status) || absl::IsNotFound(status) ||
           absl::IsFailedPrecondition(status);
  }

  void ExpectRefused(const std::string& name) const {
    SCOPED_TRACE(name);
    const std::string file = fs::path(name).filename().string();
    const std::string index = index_.string();
    ExpectError(RagQuery({"-i", index, kQuestion}), 3, "rag-query", file);
    ExpectError(RagQuery({"-i", index, "--json", kQuestion}), 3, "rag-query", file);
  }

  TempFolder folder_;
  const fs::path index_ = folder_.path() / "index";
  std::map<std::string, std::string> files_;
  std::string context_;
};

TEST_F(DamageTest, EveryTruncatedFileIsNamed) {
  for (const auto& [name, bytes] : files_) {
    WriteFile(index_ / name, bytes.substr(0, bytes.size() / 2));
    ExpectRefused(name);
    Restore(name);
  }
}

TEST_F(DamageTest, EveryEmptiedFileIsNamed) {
  for (const auto& [name, bytes] : files_) {
    WriteFile(index_ / name, "");
    ExpectRefused(name);
    Restore(name);
  }
}

TEST_F(DamageTest, EveryRemovedFileIsNamed) {
  for (const auto& [name, bytes] : files_) {
    fs::remove(index_ / name);
    ExpectRefused(name);
    Restore(name);
  }
}

TEST_F(DamageTest, EveryFileWithABytePutAfterItsEndIsNamed) {
  for (const auto& [name, bytes] : files_) {
    WriteFile(index_ / name, bytes + "x");
    ExpectRefused(name);
    Restore(name);
  }
}

TEST_F(DamageTest, EveryFileThatIsAFolderIsNamed) {
  for (const auto& [name, bytes] : files_) {
    SCOPED_TRACE(name);
    fs::remove(index_ / name);
    fs::create_directory(index_ / name);
    const Outcome outcome = RagQuery({"-i", index_.string(), kQuestion});
    EXPECT_TRUE(outcome.exit_code == 1 || outcome.exit_code == 3) << outcome;  // I/O or damage
    ExpectError(outcome, outcome.exit_code, "rag-query", fs::path(name).filename().string());
    fs::remove(index_ / name);
    Restore(name);
  }
}

TEST_F(DamageTest, MissingGenerationIsNamed) {
  fs::rename(index_ / "gen-000001", index_ / "gen-000009");
  ExpectError(RagQuery({"-i", index_.string(), kQuestion}), 3, "rag-query", "gen-000001");
}

TEST_F(DamageTest, MissingLockIsNoDamage) {
  fs::remove(index_ / "LOCK");
  EXPECT_EQ(RagQuery({"-i", index_.string(), kQuestion}).out, context_);
}

TEST_F(DamageTest, AnyBitOfCurrentCounts) {
  for (std::size_t at = 0; at < files_.at("CURRENT").size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) ExpectFlipRefused("CURRENT", at, 1 << bit);
  }
}

TEST_F(DamageTest, AnyBitOfTheManifestsChecksumCounts) {
  const std::string name = "gen-000001/MANIFEST.json";
  const std::size_t size = files_.at(name).size();
  for (std::size_t at = size - 35; at < size; ++at) {
    for (int bit = 0; bit < 8; ++bit) ExpectFlipRefused(name, at, 1 << bit);
  }
}

TEST_F(DamageTest, AnyByteOfAFaissHeaderCounts) {
  const auto reader = storage::IndexReader::Open(index_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  std::size_t checked = 0;
  for (const formats::FileEntry& entry : (*reader)->manifest().files) {
    if (!entry.path.ends_with(".faiss")) continue;
    EXPECT_GT(entry.header_bytes, 100U) << entry.path;
    ExpectFlipsRefused("gen-000001/" + entry.path, entry.header_bytes);
    ++checked;
  }
  EXPECT_EQ(checked, 2U);
}

TEST_F(DamageTest, ProgramRefusesFlippedBytesOfWhatItChecks) {
  for (const auto& [name, bytes] : files_) {
    if (name.ends_with(".sst")) continue;  // blocks that are not read are not checked
    for (const std::size_t at : {std::size_t{0}, std::size_t{9}, std::size_t{15}}) {
      FlipByte(name, at, 0x10);
      ExpectRefused(name);
    }
    Restore(name);
  }
}

TEST_F(DamageTest, FilesOfAnotherIndexAreRefused) {
  WriteFile(folder_.path() / "corpus" / "c.md", "# Filter\n\nThe filter is full.\n");
  const fs::path other = folder_.path() / "other";
  Build(folder_ / "corpus", other.string());
  for (const std::string name :
       {"docs.faiss", "chunks-0000.faiss", "records/CURRENT", "MANIFEST.json"}) {
    const std::string full = std::string("gen-000001/") + name;
    if (ReadFile(other / full) == files_.at(full)) continue;
    WriteFile(index_ / full, ReadFile(other / full));
    const Outcome outcome = RagQuery({"-i", index_.string(), kQuestion});
    ExpectError(outcome, 3, "rag-query");
    Restore(full);
  }
}

TEST_F(DamageTest, RebuildRepairsADamagedIndex) {
  WriteFile(index_ / "CURRENT", "gen-");
  WriteFile(index_ / "gen-000001" / "docs.faiss", "");
  Build(folder_ / "corpus", index_.string());
  EXPECT_EQ(RagQuery({"-i", index_.string(), kQuestion}).out, context_);
}

}  // namespace
}  // namespace rag::e2e
