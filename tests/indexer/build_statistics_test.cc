#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/term_table.h"
#include "models/words.h"
#include "storage/index_reader.h"
#include "tests/indexer/build_testing.h"

namespace rag::indexer {
namespace {

using storage::IndexReader;

// Recounts the statistics of the corpus from the chunks as they were stored.
class StatisticsTest : public BuildTest {
 protected:
  struct Frequency {
    std::uint32_t chunks = 0;
    std::uint32_t documents = 0;
    friend bool operator==(const Frequency&, const Frequency&) = default;
  };

  [[nodiscard]] std::set<std::uint64_t> TermsOf(const std::string& text) {
    std::vector<std::uint64_t> hashes;
    analyzer_.AppendTermHashes(text, hashes);
    num_terms_ = hashes.size();
    return {hashes.begin(), hashes.end()};
  }

  void Recount(const IndexReader& reader) {
    std::uint32_t ordinal = 0;
    for (const formats::DocumentRecord& document : Documents(reader)) {
      std::set<std::uint64_t> in_bodies;
      for (const std::uint64_t hash : TermsOf(document.title)) frequencies_[hash];
      const std::uint64_t title = num_terms_;
      std::vector<std::uint64_t> heading_lengths;
      totals_.document_length += title;
      for (std::uint32_t i = 0; i < document.num_parents; ++i) {
        const formats::ParentRecord parent = reader.Parent(ordinal, i).value();
        for (const std::uint64_t hash : TermsOf(parent.heading_path)) frequencies_[hash];
        heading_lengths.push_back(num_terms_);
        totals_.section_length += num_terms_ + title;
        totals_.document_length += num_terms_;
      }
      for (std::uint32_t i = 0; i < document.num_chunks; ++i) {
        const IndexReader::ChunkRef ref{ordinal, i};
        const formats::ChunkRecord chunk = reader.Chunks({&ref, 1}).value().front();
        for (const std::uint64_t hash : TermsOf(chunk.text)) {
          ++frequencies_[hash].chunks;
          in_bodies.insert(hash);
        }
        totals_.chunk_length += num_terms_ + heading_lengths[chunk.parent] + title;
        totals_.section_length += num_terms_;
        totals_.document_length += num_terms_;
      }
      for (const std::uint64_t hash : in_bodies) ++frequencies_[hash].documents;
      ++totals_.num_documents;
      totals_.num_chunks += document.num_chunks;
      totals_.num_sections += document.num_parents;
      ++ordinal;
    }
  }

  models::TermAnalyzer analyzer_;
  std::size_t num_terms_ = 0;  // of the text that was last counted
  std::map<std::uint64_t, Frequency> frequencies_;
  formats::CorpusTotals totals_;
};

TEST_F(StatisticsTest, FrequenciesEqualANaiveRecount) {
  WriteRandomCorpus(20);
  Write("prose.md", "# Lamps\n\nA lamp burns oil; most lamps do.\n\n## Kupfer und Öl\n\nDas Öl.\n");
  Build();
  const auto reader = Open();

  Recount(*reader);

  std::map<std::uint64_t, Frequency> stored;
  for (std::uint64_t i = 0; i < reader->terms().size(); ++i) {
    const formats::TermRow row = reader->terms().row(i);
    stored[row.hash] = {row.chunk_frequency, row.document_frequency};
  }
  EXPECT_EQ(stored, frequencies_);
}

TEST_F(StatisticsTest, TotalsEqualANaiveRecount) {
  WriteRandomCorpus(20);
  Build();
  const auto reader = Open();

  Recount(*reader);

  totals_.near_length = reader->terms().totals().near_length;  // analyzed_document_test.cc
  EXPECT_EQ(reader->terms().totals(), totals_);
  EXPECT_EQ(totals_.num_chunks, reader->manifest().counts.chunks);
}

}  // namespace
}  // namespace rag::indexer
