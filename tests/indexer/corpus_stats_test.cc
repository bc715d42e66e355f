#include "indexer/corpus_stats.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/forward_index.h"
#include "models/token_counter.h"
#include "models/words.h"
#include "tests/testing/line_splitter.h"
#include "tests/testing/test_index.h"

namespace rag::indexer {
namespace {

std::uint64_t HashOf(const std::string& word) {
  std::vector<std::uint64_t> hashes;
  models::TermAnalyzer().AppendTermHashes(word, hashes);
  return hashes.at(0);
}

AnalyzedDocument Analyze(const std::string& text) {
  const auto counter = models::MakeTokenCounter(models::kDefaultTokenCounter).value();
  models::TermAnalyzer analyzer;
  return AnalyzeDocument("s.md", "d", text, formats::MediaType::kPlainText, testing::LineSplitter(),
                         *counter, analyzer);
}

CorpusStats StatsOf(const std::vector<std::string>& texts) {
  CorpusStats stats;
  std::uint32_t file = 0;
  for (const std::string& text : texts) stats.Add(file++, Analyze(text).stats);
  return stats;
}

std::vector<std::uint32_t> Ordinals(std::size_t n) {
  std::vector<std::uint32_t> ordinals(n);
  std::iota(ordinals.begin(), ordinals.end(), 0U);
  return ordinals;
}

std::string TableOf(const std::vector<std::string>& texts) {
  return StatsOf(texts).EncodeTermTable(Ordinals(texts.size()));
}

// The table of `after`, made from that of `before` as a rebuild does it: documents that are in both
// are carried over, the others added or removed. Files are numbered as the ordinals of `after`.
std::string RebuiltTable(const std::vector<std::string>& before,
                         const std::vector<std::string>& after) {
  const std::string old_bytes = TableOf(before);
  const auto old_table = formats::TermTableView::Open(old_bytes, "terms.bin").value();
  std::vector<std::uint32_t> file_of_ordinal(before.size(), kNoFile);
  CorpusStats stats;
  for (std::uint32_t file = 0; file < after.size(); ++file) {
    const auto found = std::find(before.begin(), before.end(), after[file]);
    if (found == before.end()) {
      stats.Add(file, Analyze(after[file]).stats);
    } else {
      file_of_ordinal[static_cast<std::size_t>(found - before.begin())] = file;
    }
  }
  EXPECT_TRUE(stats.AddTable(old_table, file_of_ordinal).ok());
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (file_of_ordinal[i] != kNoFile) continue;
    EXPECT_TRUE(stats.Remove(Analyze(before[i]).stats).ok());
  }
  stats.Settle();
  for (std::uint32_t file = 0; file < after.size(); ++file) {
    for (const std::string& segment : Analyze(after[file]).segments) {
      const auto view = formats::ForwardSegmentView::Parse(segment, stats.doubtful());
      EXPECT_TRUE(view.ok()) << view.status();
      stats.Revisit(file, *view);
    }
  }
  return stats.EncodeTermTable(Ordinals(after.size()));
}

double Idf(double n, double df) { return std::log(1 + (n - df + 0.5) / (df + 0.5)); }

// Five chunks in three documents.
const std::vector<std::string>& Texts() {
  static const std::vector<std::string> texts = {"= Lamps\n# Copper\nlamp lamp oil\nwick\n",
                                                 "= Oil\noil lamp\noil\n", "= Rivers\nriver\n"};
  return texts;
}

TEST(CorpusStats, ChunkIdfCountsTheChunksThatHoldATerm) {
  const CorpusStats stats = StatsOf(Texts());

  EXPECT_DOUBLE_EQ(stats.ChunkIdf(HashOf("lamp")), Idf(5, 2));
  EXPECT_DOUBLE_EQ(stats.ChunkIdf(HashOf("oil")), Idf(5, 3));
  EXPECT_DOUBLE_EQ(stats.ChunkIdf(HashOf("wick")), Idf(5, 1));
}

TEST(CorpusStats, DocumentIdfCountsTheDocumentsThatHoldATerm) {
  const CorpusStats stats = StatsOf(Texts());

  EXPECT_DOUBLE_EQ(stats.DocumentIdf(HashOf("lamp")), Idf(3, 2));
  EXPECT_DOUBLE_EQ(stats.DocumentIdf(HashOf("oil")), Idf(3, 2));
  EXPECT_DOUBLE_EQ(stats.DocumentIdf(HashOf("river")), Idf(3, 1));
}

TEST(CorpusStats, TermsInNoBodyAreTheRarest) {
  const CorpusStats stats = StatsOf(Texts());

  EXPECT_DOUBLE_EQ(stats.ChunkIdf(HashOf("copper")), Idf(5, 0));
  EXPECT_DOUBLE_EQ(stats.ChunkIdf(HashOf("unheard")), Idf(5, 0));
  EXPECT_DOUBLE_EQ(stats.DocumentIdf(HashOf("copper")), Idf(3, 0));
}

TEST(CorpusStats, TotalsAreTheSumsOfTheDocuments) {
  CorpusStats stats;
  formats::CorpusTotals sums;
  for (const std::string& text : Texts()) {
    const AnalyzedDocument document = Analyze(text);
    stats.Add(0, document.stats);
    sums.num_documents += document.stats.totals.num_documents;
    sums.num_chunks += document.stats.totals.num_chunks;
    sums.num_sections += document.stats.totals.num_sections;
    sums.chunk_length += document.stats.totals.chunk_length;
    sums.section_length += document.stats.totals.section_length;
    sums.document_length += document.stats.totals.document_length;
    sums.near_length += document.stats.totals.near_length;
  }

  EXPECT_EQ(stats.totals(), sums);
}

TEST(CorpusStats, MeanChunkLengthCountsTitleAndHeadings) {
  // 3 + 1 body terms, 2 headings, 2 titles; 2 + 1 bodies, 2 titles; 1 body, 1 title.
  EXPECT_DOUBLE_EQ(StatsOf(Texts()).MeanChunkLength(), 15.0 / 5);
}

TEST(CorpusStats, OfNothingHaveLengthOneAndAnEmptyTable) {
  const CorpusStats stats;

  EXPECT_EQ(stats.MeanChunkLength(), 1);
  EXPECT_EQ(stats.totals(), formats::CorpusTotals{});
  const std::string bytes = stats.EncodeTermTable({});
  const auto table = formats::TermTableView::Open(bytes, "terms");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->size(), 0U);
}

TEST(CorpusStats, TheTermTableHoldsEveryTermWithItsFrequencies) {
  const CorpusStats stats = StatsOf(Texts());

  const std::string bytes = stats.EncodeTermTable(Ordinals(3));
  const auto table = formats::TermTableView::Open(bytes, "terms").value();

  EXPECT_EQ(table.totals(), stats.totals());
  EXPECT_EQ(table.size(), 5U);
  const std::map<std::string, std::pair<std::uint32_t, std::uint32_t>> expected = {
      {"lamp", {2, 2}}, {"oil", {3, 2}}, {"wick", {1, 1}}, {"river", {1, 1}}, {"copper", {0, 0}}};
  for (const auto& [word, frequencies] : expected) {
    const auto row = table.Find(HashOf(word));
    ASSERT_TRUE(row.has_value()) << word;
    EXPECT_EQ(row->chunk_frequency, frequencies.first) << word;
    EXPECT_EQ(row->document_frequency, frequencies.second) << word;
  }
}

TEST(CorpusStats, TheTermTableNamesTheDocumentsOfRareTermsAlone) {
  CorpusStats stats;
  for (std::uint32_t i = 0; i <= formats::kRareDocuments; ++i) {
    stats.Add(i, Analyze(i < 2    ? "= Many\nriver wick\n"
                         : i == 2 ? "= Many\nriver lamp\n"
                                  : "= Many\nriver\n")
                     .stats);
  }
  const std::string bytes = stats.EncodeTermTable(Ordinals(formats::kRareDocuments + 1));
  const auto table = formats::TermTableView::Open(bytes, "terms.bin");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->RareDocuments(HashOf("wick")).value(), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(table->RareDocuments(HashOf("lamp")).value(), (std::vector<std::uint32_t>{2}));
  EXPECT_TRUE(table->RareDocuments(HashOf("river")).value().empty());
}

TEST(CorpusStats, TheTermTableIsTheSameBytesEveryTime) {
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < 20; ++i) texts.push_back(testing::RandomDocument(i, 10, 3, 400));

  EXPECT_EQ(TableOf(texts), TableOf(texts));
}

TEST(CorpusStats, ARebuildGivesTheTableOfAFreshBuild) {
  std::vector<std::string> before;
  for (std::uint64_t i = 0; i < 100; ++i) before.push_back(testing::RandomDocument(i, 10, 3, 400));
  std::vector<std::string> after(before.begin() + 20, before.end());
  for (std::uint64_t i = 200; i < 210; ++i) {
    after.insert(after.begin() + static_cast<std::ptrdiff_t>(7 * (i - 200)),
                 testing::RandomDocument(i, 12, 3, 400));
  }

  EXPECT_EQ(RebuiltTable(before, after), TableOf(after));
}

TEST(CorpusStats, ATermThatBecomesRareIsListedAgain) {
  std::vector<std::string> before;
  for (std::uint32_t i = 0; i < formats::kRareDocuments + 2; ++i) {
    before.push_back("= T\nriver n" + std::to_string(i) + "\n");
  }
  std::vector<std::string> after(before.begin() + 3, before.end());
  after.emplace_back("= T\nriver wick\n");

  const std::string bytes = RebuiltTable(before, after);

  EXPECT_EQ(bytes, TableOf(after));
  const auto table = formats::TermTableView::Open(bytes, "terms.bin").value();
  EXPECT_EQ(table.RareDocuments(HashOf("river")).value().size(), after.size());
}

TEST(CorpusStats, ATermThatTwoVersionsTogetherMakeCommonStaysListed) {
  std::vector<std::string> before;
  std::vector<std::string> after;
  for (std::uint32_t i = 0; i < formats::kRareDocuments; ++i) {
    before.push_back("= T\nriver n" + std::to_string(i) + "\n");
    after.push_back(i % 2 == 0 ? before.back() : "= T\nriver m" + std::to_string(i) + "\n");
  }

  EXPECT_EQ(RebuiltTable(before, after), TableOf(after));
}

TEST(CorpusStats, ATermLeavesTheTableWithTheLastHeadingThatHoldsIt) {
  const std::vector<std::string> before = {"= Lamps\n# Copper\noil\n", "= Lamps\n# Copper\nwick\n",
                                           "= Oil\ncopper\n"};

  EXPECT_EQ(RebuiltTable(before, {before[0]}), TableOf({before[0]}));
  EXPECT_EQ(RebuiltTable(before, {before[2]}), TableOf({before[2]}));
  EXPECT_EQ(RebuiltTable(before, {before[0], before[1]}), TableOf({before[0], before[1]}));
}

TEST(CorpusStats, WhatTheTableDoesNotCountCannotBeRemoved) {
  const std::string bytes = TableOf(Texts());
  CorpusStats stats;
  ASSERT_TRUE(stats
                  .AddTable(formats::TermTableView::Open(bytes, "terms.bin").value(),
                            std::vector<std::uint32_t>(3, kNoFile))
                  .ok());

  EXPECT_TRUE(absl::IsDataLoss(stats.Remove(Analyze("= New\nunheard\n").stats)));
}

TEST(CorpusStats, FingerprintsTellStatisticsApart) {
  const std::vector<std::string> two = {Texts()[0], Texts()[1]};

  EXPECT_EQ(StatsOf(Texts()).Fingerprint(), StatsOf(Texts()).Fingerprint());
  EXPECT_NE(StatsOf(Texts()).Fingerprint(), StatsOf(two).Fingerprint());
  EXPECT_NE(StatsOf({"a b\nb c\n"}).Fingerprint(), StatsOf({"a b\nc c\n"}).Fingerprint());
}

}  // namespace
}  // namespace rag::indexer
