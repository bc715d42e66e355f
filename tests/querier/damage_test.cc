// Queries that go on without what is damaged.
#include "querier/damage.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "tests/querier/query_testing.h"

namespace rag::querier {
namespace {

namespace fs = std::filesystem;

std::string ReadBytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void WriteBytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class DamageTest : public ::testing::TestWithParam<const char*> {
 protected:
  static testing::Corpus Documents() {
    testing::Corpus corpus = RandomCorpus(60);
    // Vectors choose among the chunks of this one.
    corpus["long.md"] = testing::RandomDocument(7, 9 * formats::kSegmentChunks, 40, 60);
    return corpus;
  }
  static indexer::Profile ProfileOf(const std::string& name) {
    indexer::Profile profile = testing::TinyChunks();
    if (name == "article") profile = indexer::FindProfile("article").value();
    return profile;
  }

  [[nodiscard]] fs::path generation() const { return index_.reader().folder(); }

  // Opened anew, as a program does.
  [[nodiscard]] absl::StatusOr<QueryResult> AskAnew(bool skip_damaged) const {
    const auto reader = storage::IndexReader::Open(generation().parent_path(),
                                                   {.skip_damaged_shards = skip_damaged});
    if (!reader.ok()) return reader.status();
    QueryOptions options = Wide(5000);
    options.chunks_per_document = 10;
    options.skip_damaged = skip_damaged;
    return Query(**reader, RandomQuestion(3), options);
  }

  // All tables of records, the largest first.
  [[nodiscard]] std::vector<fs::path> Tables() const {
    std::vector<fs::path> tables;
    for (const auto& entry : fs::directory_iterator(generation() / "records")) {
      if (entry.path().extension() == ".sst") tables.push_back(entry.path());
    }
    std::sort(tables.begin(), tables.end(), [](const fs::path& a, const fs::path& b) {
      return fs::file_size(a) > fs::file_size(b);
    });
    return tables;
  }

  testing::TestIndex index_{Documents(), ProfileOf(GetParam())};
};

TEST_P(DamageTest, SoundIndexGivesTheSameAnswerAndNoDamage) {
  const QueryResult plain = AskAnew(false).value();
  EXPECT_FALSE(plain.damage.has_value());

  const QueryResult result = AskAnew(true).value();

  EXPECT_EQ(Ids(result.chunks), Ids(plain.chunks));
  EXPECT_EQ(result.context, plain.context);
  ASSERT_TRUE(result.damage.has_value());
  EXPECT_TRUE(result.damage->files.empty());
  EXPECT_TRUE(result.damage->documents.empty());
}

TEST_P(DamageTest, DocumentsInADamagedBlockOfRecordsAreLeftOut) {
  int answered_from_others = 0;
  for (const fs::path& table : Tables()) {
    const std::string sound = ReadBytes(table);
    for (std::size_t at = 100; at < sound.size(); at += sound.size() / 6 + 100) {
      std::string bytes = sound;
      bytes[at] ^= 1;
      WriteBytes(table, bytes);
      const absl::Status plain = AskAnew(false).status();
      const absl::StatusOr<QueryResult> result = AskAnew(true);
      if (plain.ok()) {
        ASSERT_TRUE(result.ok()) << table << " " << at << ": " << result.status();
        continue;
      }
      ASSERT_TRUE(absl::IsDataLoss(plain)) << plain;
      if (!result.ok()) continue;  // the table could not be opened
      ASSERT_FALSE(result->damage->documents.empty()) << table << " " << at;
      for (const DamagedDocument& document : result->damage->documents) {
        EXPECT_NE(document.problem.find("rag-index build"), std::string::npos) << document.problem;
        if (!document.source.has_value()) continue;
        const std::vector<std::string> sources = Sources(*result);
        EXPECT_EQ(std::count(sources.begin(), sources.end(), *document.source), 0);
      }
      answered_from_others += result->included.empty() ? 0 : 1;
    }
    WriteBytes(table, sound);
  }
  EXPECT_GT(answered_from_others, 2);
}

TEST_P(DamageTest, DamagedShardLeavesNothingOut) {
  const QueryResult sound = AskAnew(false).value();
  const fs::path shard = generation() / "chunks-0000.faiss";
  fs::resize_file(shard, fs::file_size(shard) - 1);
  EXPECT_TRUE(absl::IsDataLoss(AskAnew(false).status()));

  const QueryResult result = AskAnew(true).value();

  ASSERT_EQ(result.damage->files.size(), 1U);
  EXPECT_NE(result.damage->files[0].find("chunks-0000.faiss"), std::string::npos);
  EXPECT_TRUE(result.damage->documents.empty());
  EXPECT_EQ(Sources(result), Sources(sound));
  // Of the long document all chunks were scored, so no other can be better.
  EXPECT_GE(result.chunks.front().score, sound.chunks.front().score);
  EXPECT_GE(result.included.size(), sound.included.size());
}

TEST_P(DamageTest, DamageThatHitsEverythingIsAnErrorAllTheSame) {
  for (const char* name : {"docs.faiss", "model/terms.bin", "MANIFEST.json"}) {
    const std::string sound = ReadBytes(generation() / name);
    WriteBytes(generation() / name, sound.substr(0, sound.size() / 2));
    const absl::Status status = AskAnew(true).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << name << ": " << status;
    WriteBytes(generation() / name, sound);
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, DamageTest, ::testing::Values("default", "article"));

}  // namespace
}  // namespace rag::querier
