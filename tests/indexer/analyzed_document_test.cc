#include "indexer/analyzed_document.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "formats/chunk_group.h"
#include "formats/chunk_header.h"
#include "formats/forward_index.h"
#include "indexer/stored_term_counter.h"
#include "tests/formats/damage.h"
#include "tests/testing/line_splitter.h"
#include "tests/testing/test_index.h"

namespace rag::indexer {
namespace {

using formats::ChunkTerms;
using formats::ForwardSegment;
using formats::HeaderStyle;
using formats::SectionTerms;
using formats::TermCount;
using testing::LineSplitter;
using testing::MadeUpWord;

const models::TokenCounter& Counter() {
  static const auto counter = models::MakeTokenCounter(models::kDefaultTokenCounter).value();
  return *counter;
}

AnalyzedDocument Analyze(const std::string& text, const std::string& source = "notes/some_file.md",
                         const Splitter& splitter = LineSplitter()) {
  models::TermAnalyzer analyzer;
  return AnalyzeDocument(source, "doc-1", text, formats::MediaType::kMarkdown, splitter, Counter(),
                         analyzer);
}

std::vector<ForwardSegment> Segments(const AnalyzedDocument& document) {
  std::vector<ForwardSegment> segments;
  for (const std::string& bytes : document.segments) {
    segments.push_back(formats::DecodeForwardSegment(bytes).value());
  }
  return segments;
}

std::string TextOf(const AnalyzedDocument& document, std::size_t chunk) {
  const formats::Span range = document.chunks[chunk].range;
  return document.text.substr(range.start, range.size());
}

std::vector<std::uint64_t> HashesOf(const std::string& text) {
  std::vector<std::uint64_t> hashes;
  models::TermAnalyzer().AppendTermHashes(text, hashes);
  return hashes;
}

// Terms of a text as a segment holds them.
SectionTerms TermsOf(const std::string& text) {
  std::map<std::uint64_t, std::uint32_t> counts;
  SectionTerms out;
  for (const std::uint64_t hash : HashesOf(text)) {
    ++counts[hash & formats::kTermMask];
    ++out.length;
  }
  for (const auto& [term, count] : counts) out.terms.push_back({term, count});
  return out;
}

// A document of `n` chunks with a heading before every `per_section`-th.
std::string Lines(int n, int per_section) {
  std::string text = "= " + MadeUpWord(500) + "\n";
  for (int i = 0; i < n; ++i) {
    if (i % per_section == 0) {
      text += "# " + MadeUpWord(static_cast<std::uint64_t>(i) % 300) + "\n";
    }
    text += MadeUpWord(static_cast<std::uint64_t>(i) * 7 % 200) + " " +
            MadeUpWord(static_cast<std::uint64_t>(i) % 13) + " " + MadeUpWord(7) + "\n";
  }
  return text;
}

TEST(AnalyzedDocument, TheTitleIsTheSplitters) {
  EXPECT_EQ(Analyze("= Copper lamps\nbody\n").title, "Copper lamps");
}

TEST(AnalyzedDocument, WithoutAHeadingTheTitleIsTheNameOfTheFile) {
  EXPECT_EQ(Analyze("body\n", "data/a b/large_rag-notes.v2.md").title, "large rag notes.v2");
  EXPECT_EQ(Analyze("body\n", "README").title, "README");
}

TEST(AnalyzedDocument, KeepsSourceIdTypeAndText) {
  const AnalyzedDocument document = Analyze("body\r\n\tmore ");

  EXPECT_EQ(document.source, "notes/some_file.md");
  EXPECT_EQ(document.doc_id, "doc-1");
  EXPECT_EQ(document.media_type, formats::MediaType::kMarkdown);
  EXPECT_EQ(document.text, "body\r\n\tmore ");
}

TEST(AnalyzedDocument, LinesOfChunksCountFromOneAndIncludeBothEnds) {
  const auto splitter = MakeArticleSplitter();
  const std::string text = "\n\none\ntwo\n\n" + std::string(500, 'x') + "\n\nlast\nline\n";

  const AnalyzedDocument document = Analyze(text, "a.md", *splitter);

  EXPECT_EQ(document.chunk_lines, (std::vector<std::uint32_t>{3, 4, 6, 6, 8, 9}));
}

TEST(AnalyzedDocument, SegmentsHoldTheTermsOfTitleHeadingsAndBodies) {
  const AnalyzedDocument document = Analyze(Lines(40, 6));

  const std::vector<ForwardSegment> segments = Segments(document);

  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0].title, TermsOf(document.title));
  ASSERT_EQ(segments[0].sections.size(), document.parents.size());
  for (std::size_t i = 0; i < document.parents.size(); ++i) {
    EXPECT_EQ(segments[0].sections[i], TermsOf(document.parents[i].heading_path));
  }
  ASSERT_EQ(segments[0].chunks.size(), 40U);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(segments[0].chunks[i].section, document.chunks[i].parent);
    EXPECT_EQ(segments[0].chunks[i].length, TermsOf(TextOf(document, i)).length);
    EXPECT_EQ(segments[0].chunks[i].terms, TermsOf(TextOf(document, i)).terms);
  }
}

TEST(AnalyzedDocument, CostsAreThoseOfHeaderAndText) {
  const AnalyzedDocument document =
      Analyze("# h\nfirst chunk\nsecond — «chunk»\n日本語のテキスト\n");

  const ForwardSegment segment = Segments(document).at(0);

  for (std::uint32_t i = 0; i < 3; ++i) {
    for (const HeaderStyle style : {HeaderStyle::kNone, HeaderStyle::kShort, HeaderStyle::kFull}) {
      const std::string header =
          formats::ChunkHeader(style, {.source = document.source,
                                       .doc_id = document.doc_id,
                                       .chunk = i,
                                       .line_start = document.chunk_lines[2 * std::size_t{i}],
                                       .line_end = document.chunk_lines[2 * std::size_t{i} + 1]});
      EXPECT_EQ(segment.chunks[i].cost[static_cast<int>(style)],
                Counter().Cost(header + TextOf(document, i)));
    }
  }
}

class LargeDocument : public ::testing::Test {
 protected:
  static constexpr int kChunks = 2 * int{formats::kSegmentChunks} + 100;
  AnalyzedDocument document_ = Analyze(Lines(kChunks, 100));
};

TEST_F(LargeDocument, HasASegmentForEach1024Chunks) {
  const std::vector<ForwardSegment> segments = Segments(document_);

  ASSERT_EQ(segments.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(segments[i].first_chunk, i * formats::kSegmentChunks);
    EXPECT_EQ(segments[i].chunks.size(), i < 2 ? formats::kSegmentChunks : 100U);
    EXPECT_EQ(segments[i].title, segments[0].title);
  }
}

TEST_F(LargeDocument, ChunksOfEverySegmentKnowTheirHeadings) {
  for (const ForwardSegment& segment : Segments(document_)) {
    for (std::size_t i = 0; i < segment.chunks.size(); ++i) {
      const ChunkTerms& chunk = segment.chunks[i];
      const std::size_t ordinal = segment.first_chunk + i;
      const std::uint32_t parent = document_.chunks[ordinal].parent;
      ASSERT_LT(chunk.section, segment.sections.size());
      ASSERT_EQ(segment.sections[chunk.section], TermsOf(document_.parents[parent].heading_path));
      ASSERT_EQ(chunk.terms, TermsOf(TextOf(document_, ordinal)).terms);
    }
  }
}

TEST_F(LargeDocument, ASegmentHoldsTheSectionsOfItsOwnChunksOnly) {
  const std::vector<ForwardSegment> segments = Segments(document_);

  EXPECT_EQ(segments[0].sections.size(), 11U);  // chunks 0–1023 of sections of 100
  EXPECT_EQ(segments[1].sections.size(), 11U);  // chunks 1024–2047, sections 10–20
  EXPECT_EQ(segments[2].sections.size(), 2U);   // chunks 2048–2147, sections 20 and 21
}

// Statistics of a document, recounted the slow way.
std::map<std::uint64_t, std::uint32_t> CountFrequencies(const AnalyzedDocument& document) {
  std::map<std::uint64_t, std::uint32_t> frequencies;
  const auto mention = [&](const std::string& text) {
    for (const std::uint64_t hash : HashesOf(text)) frequencies.emplace(hash, 0);
  };
  mention(document.title);
  for (const formats::ParentRecord& parent : document.parents) mention(parent.heading_path);
  for (std::size_t i = 0; i < document.chunks.size(); ++i) {
    const std::vector<std::uint64_t> hashes = HashesOf(TextOf(document, i));
    for (const std::uint64_t hash : std::set<std::uint64_t>(hashes.begin(), hashes.end())) {
      ++frequencies[hash];
    }
  }
  return frequencies;
}

TEST(AnalyzedDocument, FrequenciesCountTheChunksWhoseBodyHoldsATerm) {
  const AnalyzedDocument document = Analyze(Lines(60, 7) + "# heading word alone\nlamp lamp\n");

  std::map<std::uint64_t, std::uint32_t> frequencies;
  for (const TermFrequency& term : document.stats.frequencies) frequencies[term.hash] = term.chunks;

  EXPECT_EQ(frequencies, CountFrequencies(document));
  EXPECT_EQ(frequencies.at(HashesOf("heading").at(0)), 0U);
  EXPECT_EQ(frequencies.at(HashesOf("lamp").at(0)), 1U);
}

TEST(AnalyzedDocument, FrequenciesAscend) {
  const AnalyzedDocument document = Analyze(Lines(60, 7));

  for (std::size_t i = 1; i < document.stats.frequencies.size(); ++i) {
    EXPECT_LT(document.stats.frequencies[i - 1].hash, document.stats.frequencies[i].hash);
  }
}

formats::CorpusTotals CountTotals(const AnalyzedDocument& document) {
  formats::CorpusTotals totals;
  totals.num_documents = 1;
  totals.num_chunks = document.chunks.size();
  totals.num_sections = document.parents.size();
  const double title = TermsOf(document.title).length;
  const auto with_heading = [&](std::size_t chunk) {
    return TermsOf(TextOf(document, chunk)).length +
           TermsOf(document.parents[document.chunks[chunk].parent].heading_path).length;
  };
  std::vector<double> lengths;
  double bodies = 0;
  for (std::size_t i = 0; i < document.chunks.size(); ++i) {
    lengths.push_back(with_heading(i));
    bodies += TermsOf(TextOf(document, i)).length;
    totals.chunk_length += static_cast<std::uint64_t>(lengths.back() + title);
  }
  double headings = 0;
  for (const auto& parent : document.parents) headings += TermsOf(parent.heading_path).length;
  totals.section_length = static_cast<std::uint64_t>(
      bodies + headings + title * static_cast<double>(document.parents.size()));
  totals.document_length = static_cast<std::uint64_t>(bodies + headings + title);
  const int n = static_cast<int>(lengths.size());
  for (int i = 0; i < n; ++i) {
    totals.near_length += title;
    for (int j = std::max(0, i - 8); j <= std::min(n - 1, i + 8); ++j) {
      totals.near_length += std::pow(0.7, std::abs(i - j)) * lengths[static_cast<std::size_t>(j)];
    }
  }
  return totals;
}

void ExpectTotals(const formats::CorpusTotals& totals, const formats::CorpusTotals& expected) {
  EXPECT_EQ(totals.num_documents, expected.num_documents);
  EXPECT_EQ(totals.num_chunks, expected.num_chunks);
  EXPECT_EQ(totals.num_sections, expected.num_sections);
  EXPECT_EQ(totals.chunk_length, expected.chunk_length);
  EXPECT_EQ(totals.section_length, expected.section_length);
  EXPECT_EQ(totals.document_length, expected.document_length);
  EXPECT_NEAR(totals.near_length, expected.near_length, 1.0 / 2048 + 1e-9 * expected.near_length);
  EXPECT_EQ(totals.near_length * 1024, std::round(totals.near_length * 1024));
}

TEST(AnalyzedDocument, TotalsAreASlowRecount) {
  for (const int num_chunks : {1, 2, 9, 50}) {
    const AnalyzedDocument document = Analyze(Lines(num_chunks, 6));
    ExpectTotals(document.stats.totals, CountTotals(document));
  }
}

TEST_F(LargeDocument, TotalsDoNotDependOnSegments) {
  ExpectTotals(document_.stats.totals, CountTotals(document_));
}

TEST(AnalyzedDocument, TextWithoutASingleTermIsStillChunks) {
  const AnalyzedDocument document = Analyze("of the\n???\n", "the.md");

  EXPECT_EQ(document.chunks.size(), 2U);
  EXPECT_EQ(document.stats.totals.chunk_length, 0U);
  EXPECT_TRUE(document.stats.frequencies.empty());
}

void ExpectSameFrequencies(const DocumentStats& a, const DocumentStats& b) {
  ASSERT_EQ(a.frequencies.size(), b.frequencies.size());
  for (std::size_t i = 0; i < a.frequencies.size(); ++i) {
    EXPECT_EQ(a.frequencies[i].hash, b.frequencies[i].hash);
    EXPECT_EQ(a.frequencies[i].chunks, b.frequencies[i].chunks);
  }
}

void ExpectSame(const AnalyzedDocument& a, const AnalyzedDocument& b) {
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.doc_id, b.doc_id);
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.media_type, b.media_type);
  EXPECT_EQ(a.parents, b.parents);
  EXPECT_EQ(a.chunk_lines, b.chunk_lines);
  EXPECT_EQ(a.segments, b.segments);
  ASSERT_EQ(a.chunks.size(), b.chunks.size());
  for (std::size_t i = 0; i < a.chunks.size(); ++i) {
    EXPECT_EQ(a.chunks[i].range, b.chunks[i].range);
    EXPECT_EQ(a.chunks[i].kind, b.chunks[i].kind);
    EXPECT_EQ(a.chunks[i].parent, b.chunks[i].parent);
  }
  ExpectTotals(a.stats.totals, b.stats.totals);
  ExpectSameFrequencies(a.stats, b.stats);
}

TEST_F(LargeDocument, StatisticsAreThoseOfItsStoredParts) {
  models::TermAnalyzer analyzer;
  StoredTermCounter counter(analyzer);
  storage::BundlePart parents;
  for (const formats::ParentRecord& parent : document_.parents) {
    parents.parents.push_back(formats::Encode(parent));
  }
  ASSERT_TRUE(counter.Add(parents).ok());
  for (std::size_t i = 0; i < document_.chunks.size(); ++i) {
    formats::ChunkRecord chunk;
    chunk.parent = document_.chunks[i].parent;
    chunk.text = TextOf(document_, i);
    chunk.range = document_.chunks[i].range;
    storage::BundlePart part;
    part.chunk_groups.push_back(formats::EncodeChunkGroup(std::vector{chunk}).value());
    ASSERT_TRUE(counter.Add(part).ok());
  }

  const DocumentStats stats = counter.Finish(document_.title);

  EXPECT_EQ(stats.totals, document_.stats.totals);
  ExpectSameFrequencies(stats, document_.stats);
}

TEST(StoredTerms, AChunkOfNoParentIsDamage) {
  models::TermAnalyzer analyzer;
  StoredTermCounter counter(analyzer);
  formats::ChunkRecord chunk;
  chunk.range = {0, 4};
  chunk.text = "text";
  storage::BundlePart part;
  part.chunk_groups.push_back(formats::EncodeChunkGroup(std::vector{chunk}).value());

  EXPECT_TRUE(absl::IsDataLoss(counter.Add(part)));
}

TEST(AnalyzedCodec, ComesBackWhole) {
  const auto splitter = MakeStructureSplitter({}).value();
  const AnalyzedDocument document = Analyze(
      "\xef\xbb\xbf# Title\n\nProse — text.\r\n\n```\ncode\n```\n\n## Sub\n\n| a | b |\n|---|---|\n"
      "| 1 | 2 |\n\n* item\n* item\n",
      "a.md", *splitter);

  const absl::StatusOr<AnalyzedDocument> back = DecodeAnalyzedDocument(Encode(document));

  ASSERT_TRUE(back.ok()) << back.status();
  ExpectSame(*back, document);
}

TEST_F(LargeDocument, ComesBackWholeFromItsCode) {
  const absl::StatusOr<AnalyzedDocument> back = DecodeAnalyzedDocument(Encode(document_));

  ASSERT_TRUE(back.ok()) << back.status();
  ExpectSame(*back, document_);
}

TEST(AnalyzedCodec, EveryCutIsAnError) {
  formats::ForEachCut(Encode(Analyze(Lines(5, 2))), [](std::string_view bytes) {
    EXPECT_FALSE(DecodeAnalyzedDocument(bytes).ok()) << bytes.size() << " bytes";
  });
}

TEST(AnalyzedCodec, NoChangedByteIsACrash) {
  std::size_t decoded = 0;
  formats::ForEachFlip(Encode(Analyze(Lines(5, 2))), [&](std::string_view bytes) {
    if (DecodeAnalyzedDocument(bytes).ok()) ++decoded;
  });
  EXPECT_GT(decoded, 0U);  // a changed letter of the text is no damage that can be seen
}

}  // namespace
}  // namespace rag::indexer
