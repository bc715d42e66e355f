#include "indexer/document_builder.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "formats/checksum.h"
#include "formats/chunk_group.h"
#include "tests/testing/test_index.h"

namespace rag::indexer {
namespace {

using Hashes = std::vector<std::uint64_t>;

constexpr std::uint32_t kChunkDim = 32;
constexpr std::uint32_t kDocumentDim = 64;

// All that the second pass has, for a few random documents.
class DocumentBuilderTest : public ::testing::Test {
 protected:
  DocumentBuilderTest() {
    profile_ = testing::TinyChunks();
    profile_.chunk_dim = kChunkDim;
    profile_.document_dim = kDocumentDim;
    profile_.reduction.budget_tokens = 60;
    splitter_ = MakeSplitter(profile_).value();
    counter_ = models::MakeTokenCounter(profile_.token_counter).value();
    summarizer_ = MakeSummarizer(profile_, [this](std::uint64_t h) { return stats_.ChunkIdf(h); });
    for (std::uint64_t i = 0; i < 6; ++i) {
      documents_.push_back(
          Analyze("d" + std::to_string(i) + ".md",
                  testing::RandomDocument(i, 1 + 7 * static_cast<int>(i), 4, 150)));
    }
    documents_.push_back(
        Analyze("prose.md",
                "# Lamps\n\nA lamp burns oil. The wick draws it. Some lamps are of "
                "copper. Most are not.\n\n## Care\n\nTrim the wick. Fill the oil.\n"));
    for (const AnalyzedDocument& document : documents_) stats_.Add(0, document.stats);
    builder_ = std::make_unique<DocumentBuilder>(profile_, stats_, *summarizer_, *counter_,
                                                 chunk_codec_, document_codec_);
  }

  AnalyzedDocument Analyze(const std::string& source, const std::string& text) {
    return AnalyzeDocument(source, source, text, formats::MediaType::kMarkdown, *splitter_,
                           *counter_, analyzer_);
  }

  BuiltDocument Build(const AnalyzedDocument& document) {
    return builder_->Build(document, analyzer_).value();
  }

  static std::vector<formats::ChunkRecord> Chunks(const storage::DocumentBundle& bundle) {
    std::vector<formats::ChunkRecord> all;
    for (const std::string& group : bundle.chunk_groups) {
      const std::vector<formats::ChunkRecord> chunks = formats::DecodeChunkGroup(group).value();
      all.insert(all.end(), chunks.begin(), chunks.end());
    }
    return all;
  }

  Hashes TermsOf(const std::string& text) {
    Hashes hashes;
    analyzer_.AppendTermHashes(text, hashes);
    return hashes;
  }

  Hashes SummaryTerms(const AnalyzedDocument& document, const formats::Summary& summary) {
    Hashes all;
    for (const formats::Span& span : summary.spans) {
      Append(all, TermsOf(document.text.substr(span.start, span.size())));
    }
    return all;
  }

  Hashes BodyTerms(const AnalyzedDocument& document, std::size_t first, std::size_t n) {
    Hashes all;
    for (std::size_t i = first; i < first + n; ++i) {
      const formats::Span range = document.chunks[i].range;
      Append(all, TermsOf(document.text.substr(range.start, range.size())));
    }
    return all;
  }

  static void Append(Hashes& to, const Hashes& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  // The n terms of largest (1 + ln tf) * idf outside `except`, by sorting all.
  static Hashes Keywords(const Hashes& all, std::size_t n, const Hashes& except,
                         const std::function<double(std::uint64_t)>& idf) {
    std::map<std::uint64_t, double> counts;
    for (const std::uint64_t hash : all) counts[hash] += 1;
    for (const std::uint64_t hash : except) counts.erase(hash);
    std::vector<std::pair<double, std::uint64_t>> scored;
    for (const auto& [hash, count] : counts) {
      scored.emplace_back(-(1 + std::log(count)) * idf(hash), hash);
    }
    std::sort(scored.begin(), scored.end());
    Hashes out;
    for (std::size_t i = 0; i < std::min(n, scored.size()); ++i) out.push_back(scored[i].second);
    return out;
  }

  // The code of the vector of these terms.
  std::vector<std::uint8_t> Embed(const Hashes& terms, std::uint32_t dim, double mean_length) {
    std::vector<float> row(dim, 0.0F);
    models::HashedBm25(dim).AddText(
        models::CountTerms(terms), terms.size(), mean_length,
        [this](std::uint64_t hash) { return stats_.ChunkIdf(hash); }, row);
    std::vector<std::uint8_t> code;
    const absl::Status status = storage::VectorCodec(dim, models::kRange).Encode(row, code);
    EXPECT_TRUE(status.ok()) << status;
    return code;
  }

  static std::vector<std::uint8_t> Row(const std::vector<std::uint8_t>& codes, std::size_t row,
                                       std::size_t dim) {
    const auto begin = codes.begin() + static_cast<std::ptrdiff_t>(row * dim);
    return {begin, begin + static_cast<std::ptrdiff_t>(dim)};
  }

  Profile profile_;
  std::unique_ptr<Splitter> splitter_;
  std::unique_ptr<models::TokenCounter> counter_;
  std::unique_ptr<Summarizer> summarizer_;
  models::TermAnalyzer analyzer_;
  CorpusStats stats_;
  std::vector<AnalyzedDocument> documents_;
  storage::VectorCodec chunk_codec_{kChunkDim, models::kRange};
  storage::VectorCodec document_codec_{kDocumentDim, models::kRange};
  std::unique_ptr<DocumentBuilder> builder_;
};

TEST_F(DocumentBuilderTest, RecordsDescribeTheDocument) {
  for (const AnalyzedDocument& document : documents_) {
    const storage::DocumentBundle bundle = Build(document).bundle;
    const formats::DocumentRecord& record = bundle.document;
    EXPECT_EQ(record.source, document.source);
    EXPECT_EQ(record.doc_id, document.doc_id);
    EXPECT_EQ(record.title, document.title);
    EXPECT_EQ(record.content_sha256, formats::ComputeSha256(document.text));
    EXPECT_EQ(record.size_bytes, document.text.size());
    EXPECT_EQ(record.num_chunks, document.chunks.size());
    EXPECT_EQ(record.num_parents, document.parents.size());
    EXPECT_EQ(record.num_segments, document.segments.size());
    ASSERT_EQ(bundle.parents.size(), document.parents.size());
    for (std::size_t i = 0; i < bundle.parents.size(); ++i) {
      EXPECT_EQ(formats::DecodeParent(bundle.parents[i]).value(), document.parents[i]);
    }
    EXPECT_EQ(bundle.segments, document.segments);
  }
}

TEST_F(DocumentBuilderTest, ChunksHoldTheFilesOwnBytes) {
  for (const AnalyzedDocument& document : documents_) {
    const storage::DocumentBundle bundle = Build(document).bundle;
    const std::vector<formats::ChunkRecord> chunks = Chunks(bundle);
    ASSERT_EQ(chunks.size(), document.chunks.size());
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const formats::ChunkRecord& chunk = chunks[i];
      EXPECT_EQ(chunk.range, document.chunks[i].range);
      EXPECT_EQ(chunk.text, document.text.substr(chunk.range.start, chunk.range.size()));
      EXPECT_EQ(chunk.parent, document.chunks[i].parent);
      EXPECT_EQ(chunk.line_start, document.chunk_lines[2 * i]);
      EXPECT_EQ(chunk.line_end, document.chunk_lines[2 * i + 1]);
    }
  }
}

TEST_F(DocumentBuilderTest, EveryGroupButTheLastIsFull) {
  AnalyzedDocument document = Analyze("long.md", testing::RandomDocument(9, 1200, 4, 150));
  const storage::DocumentBundle bundle = Build(document).bundle;
  const std::uint32_t per_group = bundle.document.chunks_per_group;

  EXPECT_EQ(per_group, formats::ChunksPerGroup(document.text.size(), bundle.document.num_chunks));
  ASSERT_GT(bundle.chunk_groups.size(), 2U);
  EXPECT_EQ(bundle.chunk_groups.size(),
            formats::NumChunkGroups(bundle.document.num_chunks, per_group));
  for (std::size_t i = 0; i + 1 < bundle.chunk_groups.size(); ++i) {
    EXPECT_EQ(formats::DecodeChunkGroup(bundle.chunk_groups[i])->size(), per_group) << i;
  }
}

TEST_F(DocumentBuilderTest, EveryRecordCanBeDecodedAgain) {
  for (const AnalyzedDocument& document : documents_) {
    const storage::DocumentBundle bundle = Build(document).bundle;
    EXPECT_EQ(formats::DecodeDocument(formats::Encode(bundle.document)).value(), bundle.document);
    for (const auto& level : bundle.levels) {
      for (const std::string& node : level) {
        EXPECT_TRUE(formats::DecodeSummaryNode(node).ok());
      }
    }
  }
}

TEST_F(DocumentBuilderTest, EveryLevelOfTheTreeTilesTheOneBelow) {
  for (const AnalyzedDocument& document : documents_) {
    const storage::DocumentBundle bundle = Build(document).bundle;
    std::size_t below = document.chunks.size();
    ASSERT_EQ(bundle.document.level_sizes.size(), bundle.levels.size());
    for (std::size_t level = 0; level < bundle.levels.size(); ++level) {
      EXPECT_EQ(bundle.document.level_sizes[level], bundle.levels[level].size());
      std::size_t next = 0;
      for (const std::string& encoded : bundle.levels[level]) {
        const formats::SummaryNode node = formats::DecodeSummaryNode(encoded).value();
        EXPECT_EQ(node.first_child, next);
        EXPECT_GT(node.num_children, 0U);
        next += node.num_children;
      }
      EXPECT_EQ(next, below);
      below = bundle.levels[level].size();
    }
    EXPECT_EQ(below, 1U);
  }
}

TEST_F(DocumentBuilderTest, TheLogHasALineALevel) {
  for (const AnalyzedDocument& document : documents_) {
    const BuiltDocument built = Build(document);
    ASSERT_EQ(built.log.size(), built.bundle.levels.size());
    for (std::size_t level = 0; level < built.log.size(); ++level) {
      EXPECT_TRUE(built.log[level].ends_with("at level " + std::to_string(level + 1)))
          << built.log[level];
    }
  }
}

TEST_F(DocumentBuilderTest, AChunksVectorIsOfTitleHeadingSummaryAndEightKeywords) {
  const auto idf = [this](std::uint64_t hash) { return stats_.ChunkIdf(hash); };
  for (const AnalyzedDocument& document : documents_) {
    const storage::DocumentBundle bundle = Build(document).bundle;
    const std::vector<formats::ChunkRecord> chunks = Chunks(bundle);
    ASSERT_EQ(bundle.chunk_codes.size(), document.chunks.size() * kChunkDim);
    for (std::size_t i = 0; i < document.chunks.size(); ++i) {
      const Hashes summary = SummaryTerms(document, chunks[i].summary);
      Hashes terms = TermsOf(document.title);
      Append(terms, TermsOf(document.parents[document.chunks[i].parent].heading_path));
      Append(terms, summary);
      Append(terms, Keywords(BodyTerms(document, i, 1), 8, summary, idf));
      ASSERT_EQ(Row(bundle.chunk_codes, i, kChunkDim),
                Embed(terms, kChunkDim, stats_.MeanChunkLength()))
          << document.source << " chunk " << i;
    }
  }
}

TEST_F(DocumentBuilderTest, TheFirstDocumentVectorIsOfTitleSummaryAnd64Keywords) {
  const auto idf = [this](std::uint64_t hash) { return stats_.DocumentIdf(hash); };
  for (const AnalyzedDocument& document : documents_) {
    const storage::DocumentBundle bundle = Build(document).bundle;
    Hashes terms = TermsOf(document.title);
    Append(terms, SummaryTerms(document, bundle.document.summary));
    Append(terms, Keywords(BodyTerms(document, 0, document.chunks.size()), 64, {}, idf));
    EXPECT_EQ(Row(bundle.document_codes, 0, kDocumentDim),
              Embed(terms, kDocumentDim, static_cast<double>(terms.size())))
        << document.source;
  }
}

TEST_F(DocumentBuilderTest, TheOtherDocumentVectorsAreOfTheWindowsOfLevelZero) {
  for (const AnalyzedDocument& document : documents_) {
    const storage::DocumentBundle bundle = Build(document).bundle;
    std::vector<std::pair<std::size_t, std::size_t>> windows;  // first chunk, number
    if (bundle.levels.empty()) {
      windows = {{0, 1}};
    } else {
      for (const std::string& encoded : bundle.levels[0]) {
        const formats::SummaryNode node = formats::DecodeSummaryNode(encoded).value();
        windows.emplace_back(node.first_child, node.num_children);
      }
    }
    ASSERT_EQ(bundle.document_codes.size(), (1 + windows.size()) * kDocumentDim);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const auto [first, n] = windows[i];
      Hashes terms = TermsOf(document.title);
      std::set<std::uint32_t> parents;
      for (std::size_t chunk = first; chunk < first + n; ++chunk) {
        parents.insert(document.chunks[chunk].parent);
      }
      for (const std::uint32_t parent : parents) {
        Append(terms, TermsOf(document.parents[parent].heading_path));
      }
      Append(terms, BodyTerms(document, first, n));
      EXPECT_EQ(Row(bundle.document_codes, i + 1, kDocumentDim),
                Embed(terms, kDocumentDim, 4 * stats_.MeanChunkLength()))
          << document.source << " window " << i;
    }
  }
}

TEST_F(DocumentBuilderTest, TheResultIsTheSameOnEveryThread) {
  const storage::DocumentBundle expected = Build(documents_[5]).bundle;
  std::vector<storage::DocumentBundle> bundles(4);
  std::vector<std::thread> threads;
  for (storage::DocumentBundle& bundle : bundles) {
    threads.emplace_back([this, &bundle] {
      models::TermAnalyzer analyzer;
      bundle = builder_->Build(documents_[5], analyzer).value().bundle;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const storage::DocumentBundle& bundle : bundles) {
    EXPECT_EQ(bundle.chunk_codes, expected.chunk_codes);
    EXPECT_EQ(bundle.document_codes, expected.document_codes);
    EXPECT_EQ(bundle.chunk_groups, expected.chunk_groups);
    EXPECT_EQ(bundle.levels, expected.levels);
  }
}

}  // namespace
}  // namespace rag::indexer
