#include "formats/term_table.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "formats/checksum.h"
#include "tests/formats/damage.h"

namespace rag::formats {
namespace {

constexpr std::uint64_t kMaxU64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kHeaderBytes = 128;

CorpusTotals SampleTotals() {
  return {.num_documents = 3,
          .num_chunks = 40,
          .num_sections = 9,
          .chunk_length = 4000,
          .section_length = 3900,
          .document_length = 3800,
          .near_length = 12345.625};
}

std::vector<TermRow> ToRows(const std::map<std::uint64_t, std::uint32_t>& frequencies) {
  std::vector<TermRow> rows;
  for (const auto& [hash, frequency] : frequencies) {
    rows.push_back(
        {.hash = hash, .chunk_frequency = frequency, .document_frequency = frequency / 2});
  }
  return rows;
}

std::vector<TermRow> RandomRows(std::size_t n, std::uint64_t mask = kMaxU64) {
  std::mt19937_64 random(n + 1);
  std::map<std::uint64_t, std::uint32_t> frequencies;
  while (frequencies.size() < n) {
    frequencies[random() & mask] = static_cast<std::uint32_t>(frequencies.size()) + 1;
  }
  return ToRows(frequencies);
}

// Looks for every row, its neighbours and some others, and compares with the rows themselves.
void ExpectFinds(const std::vector<TermRow>& rows) {
  const std::string bytes = EncodeTermTable(SampleTotals(), rows);
  const auto table = TermTableView::Open(bytes, "terms.bin");
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->size(), rows.size());
  std::map<std::uint64_t, TermRow> expected;
  for (const TermRow& row : rows) expected[row.hash] = row;
  std::vector<std::uint64_t> questions = {0, 1, kMaxU64 / 2, kMaxU64 - 1, kMaxU64};
  for (const TermRow& row : rows) {
    questions.insert(questions.end(), {row.hash - 1, row.hash, row.hash + 1});
  }
  for (const std::uint64_t hash : questions) {
    const std::optional<TermRow> found = table->Find(hash);
    const auto row = expected.find(hash);
    ASSERT_EQ(found.has_value(), row != expected.end()) << hash;
    if (!found) continue;
    EXPECT_EQ(found->hash, hash);
    EXPECT_EQ(found->chunk_frequency, row->second.chunk_frequency);
    EXPECT_EQ(found->document_frequency, row->second.document_frequency);
  }
}

TEST(TermTable, TotalsAndRowsComeBack) {
  const std::vector<TermRow> rows = RandomRows(100);
  const std::string bytes = EncodeTermTable(SampleTotals(), rows);
  const auto table = TermTableView::Open(bytes, "terms.bin");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->totals(), SampleTotals());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(table->row(i).hash, rows[i].hash);
    EXPECT_EQ(table->row(i).chunk_frequency, rows[i].chunk_frequency);
    EXPECT_EQ(table->row(i).document_frequency, rows[i].document_frequency);
  }
}

TEST(TermTable, DefaultViewIsEmpty) {
  const TermTableView table;
  EXPECT_EQ(table.size(), 0U);
  EXPECT_FALSE(table.Find(7).has_value());
}

TEST(TermTable, FindsUniformHashesInTablesOfEverySize) {
  for (const std::size_t n : {0U, 1U, 2U, 3U, 15U, 16U, 17U, 1000U, 30000U}) {
    ExpectFinds(RandomRows(n));
  }
}

TEST(TermTable, FindsHashesThatAreFarFromUniform) {
  ExpectFinds(RandomRows(500, 0xfff));
  ExpectFinds(RandomRows(500, 0xf00000000000000fU | 0xff000));
  std::map<std::uint64_t, std::uint32_t> powers = {{0, 1}, {kMaxU64, 2}};
  for (int bit = 0; bit < 64; ++bit) powers[std::uint64_t{1} << bit] = 3;
  ExpectFinds(ToRows(powers));
}

TEST(TermTable, ArraysStartAtMultiplesOfSixtyFour) {
  for (const std::size_t n : {0U, 1U, 8U, 9U, 16U, 17U}) {
    const std::vector<TermRow> rows = RandomRows(n);
    const std::string bytes = EncodeTermTable({}, rows);
    const std::size_t hashes = (n * 8 + 63) / 64 * 64;
    const std::size_t frequencies = (n * 4 + 63) / 64 * 64;
    ASSERT_EQ(bytes.size(), kHeaderBytes + hashes + 3 * frequencies);
    for (std::size_t i = 0; i < n; ++i) {
      std::uint64_t hash = 0;
      std::uint32_t frequency = 0;
      std::memcpy(&hash, &bytes[kHeaderBytes + 8 * i], 8);
      std::memcpy(&frequency, &bytes[kHeaderBytes + hashes + frequencies + 4 * i], 4);
      EXPECT_EQ(hash, rows[i].hash);
      EXPECT_EQ(frequency, rows[i].document_frequency);
    }
  }
}

TEST(TermTable, EveryCutIsDamage) {
  ForEachCut(EncodeTermTable(SampleTotals(), RandomRows(20)), [](std::string_view bytes) {
    EXPECT_EQ(TermTableView::Open(bytes, "terms.bin").status().code(), absl::StatusCode::kDataLoss);
  });
}

TEST(TermTable, BytesLeftOverAreDamage) {
  const std::string bytes = EncodeTermTable(SampleTotals(), RandomRows(20)) + std::string(64, '\0');
  EXPECT_FALSE(TermTableView::Open(bytes, "terms.bin").ok());
}

TEST(TermTable, EveryFlipInTheHeaderIsDamage) {
  const std::string bytes = EncodeTermTable(SampleTotals(), RandomRows(20));
  ForEachFlip(std::string_view(bytes).substr(0, kHeaderBytes), [&](std::string_view header) {
    const std::string damaged = std::string(header) + bytes.substr(kHeaderBytes);
    EXPECT_EQ(TermTableView::Open(damaged, "terms.bin").status().code(),
              absl::StatusCode::kDataLoss);
  });
}

TEST(TermTable, FlipsInTheArraysNeverLeadTheSearchOut) {
  const std::vector<TermRow> rows = RandomRows(20);
  ForEachFlip(EncodeTermTable(SampleTotals(), rows), [&](std::string_view bytes) {
    const auto table = TermTableView::Open(bytes, "terms.bin");
    if (!table.ok()) return;
    for (const TermRow& row : rows) {
      for (const std::uint64_t hash : {row.hash, std::uint64_t{0}, kMaxU64}) {
        const std::optional<TermRow> found = table->Find(hash);
        EXPECT_TRUE(!found || found->hash == hash);
      }
    }
  });
}

// Changes a field of the header and seals it again.
template <typename T>
std::string Patched(std::string bytes, std::size_t offset, T value) {
  std::memcpy(&bytes[offset], &value, sizeof(value));
  const std::uint64_t checksum = Xxh3(std::string_view(bytes).substr(0, kHeaderBytes - 8));
  std::memcpy(&bytes[kHeaderBytes - 8], &checksum, 8);
  return bytes;
}

// Rows of 20 terms of which every second is held by one or two of the sample's 3 documents.
std::vector<RareTerm> SampleRare(const std::vector<TermRow>& rows) {
  std::vector<RareTerm> rare;
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    for (auto document = static_cast<std::uint32_t>(i % 3); document < 3; document += 2) {
      rare.push_back({rows[i].hash, document});
    }
  }
  return rare;
}

TEST(TermTable, RareTermsNameTheirDocuments) {
  const std::vector<TermRow> rows = RandomRows(20);
  const std::vector<RareTerm> rare = SampleRare(rows);
  const std::string bytes = EncodeTermTable(SampleTotals(), rows, rare);
  const auto table = TermTableView::Open(bytes, "terms.bin");
  ASSERT_TRUE(table.ok()) << table.status();
  for (const TermRow& row : rows) {
    std::vector<std::uint32_t> expected;
    for (const RareTerm& term : rare) {
      if (term.hash == row.hash) expected.push_back(term.document);
    }
    EXPECT_EQ(table->RareDocuments(row.hash).value(), expected);
  }
  EXPECT_TRUE(table->RareDocuments(rows[0].hash + 1).value().empty());
}

TEST(TermTable, FlippedRareDocumentsGiveDocumentsOfTheCorpusOrDamage) {
  const std::vector<TermRow> rows = RandomRows(20);
  const std::string good = EncodeTermTable(SampleTotals(), rows, SampleRare(rows));
  const std::size_t ends_at =
      kHeaderBytes + 192 + 2 * 128;  // after the hashes and both frequencies
  for (std::size_t at = ends_at; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      const auto table = TermTableView::Open(bytes, "terms.bin");
      ASSERT_TRUE(table.ok()) << table.status();
      for (const TermRow& row : rows) {
        const auto documents = table->RareDocuments(row.hash);
        if (!documents.ok()) {
          EXPECT_EQ(documents.status().code(), absl::StatusCode::kDataLoss);
          continue;
        }
        for (const std::uint32_t document : *documents) EXPECT_LT(document, 3U);
      }
    }
  }
}

TEST(TermTable, AnotherVersionIsNamedAndRefused) {
  const std::string bytes = EncodeTermTable(SampleTotals(), RandomRows(20));
  const auto table = TermTableView::Open(Patched(bytes, 8, std::uint32_t{2}), "terms.bin");
  EXPECT_EQ(table.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(table.status().message(),
            "terms.bin: term table version 2, this program reads version 1; rebuild with rag-index "
            "build");
}

TEST(TermTable, RowCountThatDoesNotFitTheFileIsDamage) {
  const std::string bytes = EncodeTermTable(SampleTotals(), RandomRows(20));
  for (const std::uint64_t rows : {std::uint64_t{0}, std::uint64_t{33}, kMaxU64, kMaxU64 / 8 + 1}) {
    EXPECT_EQ(TermTableView::Open(Patched(bytes, 16, rows), "terms.bin").status().code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST(TermTable, LengthThatIsNoNumberIsDamage) {
  const std::string bytes = EncodeTermTable(SampleTotals(), RandomRows(20));
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0}) {
    EXPECT_EQ(TermTableView::Open(Patched(bytes, 72, value), "terms.bin").status().code(),
              absl::StatusCode::kDataLoss);
  }
}

}  // namespace
}  // namespace rag::formats
