#include "indexer/corpus_stats.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

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
  for (const std::string& text : texts) stats.Add(Analyze(text));
  return stats;
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
    stats.Add(document);
    sums.num_documents += document.totals.num_documents;
    sums.num_chunks += document.totals.num_chunks;
    sums.num_sections += document.totals.num_sections;
    sums.chunk_length += document.totals.chunk_length;
    sums.section_length += document.totals.section_length;
    sums.document_length += document.totals.document_length;
    sums.near_length += document.totals.near_length;
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
  const std::string bytes = stats.EncodeTermTable();
  const auto table = formats::TermTableView::Open(bytes, "terms");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->size(), 0U);
}

TEST(CorpusStats, TheTermTableHoldsEveryTermWithItsFrequencies) {
  const CorpusStats stats = StatsOf(Texts());

  const std::string bytes = stats.EncodeTermTable();
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
    stats.Add(Analyze(i < 2    ? "= Many\nriver wick\n"
                      : i == 2 ? "= Many\nriver lamp\n"
                               : "= Many\nriver\n"));
  }
  const std::string bytes = stats.EncodeTermTable();
  const auto table = formats::TermTableView::Open(bytes, "terms.bin");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->RareDocuments(HashOf("wick")).value(), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(table->RareDocuments(HashOf("lamp")).value(), (std::vector<std::uint32_t>{2}));
  EXPECT_TRUE(table->RareDocuments(HashOf("river")).value().empty());
}

TEST(CorpusStats, TheTermTableIsTheSameBytesEveryTime) {
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < 20; ++i) texts.push_back(testing::RandomDocument(i, 10, 3, 400));

  EXPECT_EQ(StatsOf(texts).EncodeTermTable(), StatsOf(texts).EncodeTermTable());
}

}  // namespace
}  // namespace rag::indexer
