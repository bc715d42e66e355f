#include "indexer/build.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "formats/chunk_group.h"
#include "formats/keys.h"
#include "storage/generation.h"
#include "storage/index_reader.h"
#include "tests/indexer/build_testing.h"
#include "tests/testing/temp_folder.h"
#include "tests/testing/test_index.h"

namespace rag::indexer {
namespace {

namespace fs = std::filesystem;
using storage::IndexReader;

TEST_F(BuildTest, DocumentsAreInOrderOfTheBytesOfTheirSources) {
  for (const char* source : {"b.md", "a/z.md", "a.md", "Z.txt", "é.md", "a-b.md", "a/b/c.md"}) {
    Write(source, "Some text.\n");
  }

  Build();

  EXPECT_EQ(Sources(*Open()), (std::vector<std::string>{"Z.txt", "a-b.md", "a.md", "a/b/c.md",
                                                        "a/z.md", "b.md", "é.md"}));
}

TEST_F(BuildTest, CountsAreThoseOfTheRecords) {
  WriteRandomCorpus(15);
  Write("empty.md", " \n");

  const formats::Counts counts = Build().manifest.counts;

  formats::Counts expected;
  const auto reader = Open();
  for (const formats::DocumentRecord& document : Documents(*reader)) {
    ++expected.documents;
    expected.chunks += document.num_chunks;
    expected.parents += document.num_parents;
    expected.segments += document.num_segments;
    expected.corpus_bytes += document.size_bytes;
    for (const std::uint32_t size : document.level_sizes) expected.summary_nodes += size;
    expected.document_vectors +=
        1 + (document.level_sizes.empty() ? 1 : document.level_sizes.front());
  }
  expected.skipped_files = 1;
  EXPECT_EQ(counts, expected);
  EXPECT_EQ(expected.documents, 15U);
}

TEST_F(BuildTest, FamiliesHoldAsManyKeysAsThereAreRecords) {
  WriteRandomCorpus(8);

  const formats::Manifest manifest = Build().manifest;

  const auto keys = [&manifest](std::string_view family) {
    return manifest.family_keys.at(std::string(family));
  };
  EXPECT_EQ(keys(formats::kDocumentsFamily), manifest.counts.documents);
  EXPECT_EQ(keys(formats::kSourcesFamily), manifest.counts.documents);
  std::uint64_t groups = 0;
  for (const formats::DocumentRecord& document : Documents(*Open())) {
    groups += formats::NumChunkGroups(document.num_chunks, document.chunks_per_group);
  }
  EXPECT_EQ(keys(formats::kChunksFamily), groups);
  EXPECT_EQ(keys(formats::kParentsFamily), manifest.counts.parents);
  EXPECT_EQ(keys(formats::kSummariesFamily), manifest.counts.summary_nodes);
  EXPECT_EQ(keys(formats::kTermsFamily), manifest.counts.segments);
}

TEST_F(BuildTest, ChunksAreTheBytesOfTheirFiles) {
  WriteRandomCorpus(8);
  Build();

  const auto reader = Open();
  std::uint32_t ordinal = 0;
  for (const formats::DocumentRecord& document : Documents(*reader)) {
    const std::string text = testing::ReadAll(options_.corpus / document.source);
    for (std::uint32_t i = 0; i < document.num_chunks; ++i) {
      const IndexReader::ChunkRef ref{ordinal, i};
      const formats::ChunkRecord chunk = reader->Chunks({&ref, 1}).value().front();
      EXPECT_EQ(chunk.text, text.substr(chunk.range.start, chunk.range.size()));
    }
    ++ordinal;
  }
}

TEST_F(BuildTest, ParametersAndDefaultsAreInTheManifest) {
  Write("a.md", "Some text.\n");

  const formats::Manifest manifest = Build().manifest;

  EXPECT_EQ(manifest.program, "rag-index test");
  EXPECT_EQ(manifest.created, "2024-01-01T00:00:00Z");
  EXPECT_EQ(manifest.build.splitter, "structure-v2/target=40/cap=200/max=400");
  EXPECT_EQ(manifest.build.token_counter, "chars4-v1");
  EXPECT_EQ(manifest.build.chunk_dim, options_.profile.chunk_dim);
  EXPECT_EQ(manifest.query, options_.profile.query);
  EXPECT_EQ(manifest, Open()->manifest());
}

TEST_F(BuildTest, FilesThatAreNoTextAreSkippedWithTheirReason) {
  Write("binary.md", std::string_view("text\0text", 9));
  Write("blank.md", "\n \t\n");
  Write("good.md", "Some text.\n");
  Write("latin1.md", "caf\xe9\n");
  Write(".hidden.md", "Some text.\n");
  fs::create_symlink(options_.corpus / "good.md", options_.corpus / "link.md");

  const BuildReport report = Build();

  std::map<std::string, std::string> reasons;
  std::vector<std::string> sources;
  for (const SkippedFile& file : report.skipped) {
    reasons[file.source] = ToString(file.reason);
    sources.push_back(file.source);
  }
  EXPECT_EQ(reasons, (std::map<std::string, std::string>{{".hidden.md", "hidden"},
                                                         {"binary.md", "binary"},
                                                         {"blank.md", "blank"},
                                                         {"latin1.md", "invalid-utf8"},
                                                         {"link.md", "symlink"}}));
  EXPECT_TRUE(std::is_sorted(sources.begin(), sources.end()));
  EXPECT_EQ(report.manifest.counts.skipped_files, 5U);
  EXPECT_EQ(Sources(*Open()), (std::vector<std::string>{"good.md"}));
}

TEST_F(BuildTest, AFileOfNothingButAByteOrderMarkIsSkipped) {
  Write("bom.md", "\xef\xbb\xbf");
  Write("good.md", "\xef\xbb\xbf# Title\n\nSome text.\n");

  const BuildReport report = Build();

  ASSERT_EQ(report.skipped.size(), 1U);
  EXPECT_EQ(report.skipped[0].source, "bom.md");
  EXPECT_EQ(Documents(*Open()).at(0).title, "Title");
}

TEST_F(BuildTest, AFolderWithoutDocumentsMakesAnEmptyIndex) {
  const BuildReport report = Build();

  EXPECT_EQ(report.manifest.counts, formats::Counts{});
  const auto reader = Open();
  EXPECT_EQ(reader->terms().totals(), formats::CorpusTotals{});
  EXPECT_TRUE(reader->document_vectors()
                  .SearchDistinct(std::vector<float>(options_.profile.document_dim, 1.0F), 5, 1)
                  .value()
                  .empty());
}

TEST_F(BuildTest, TitlesAreTheFirstHeadingOrTheNameOfTheFile) {
  Write("a.md", "Text first.\n\n## Copper *lamps*\n\n# Later\n");
  Write("sub/large_rag-notes.md", "No heading.\n");
  Write("z.txt", "# No heading in plain text\n");

  Build();

  const auto documents = Documents(*Open());
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0].title, "Copper lamps");
  EXPECT_EQ(documents[1].title, "large rag notes");
  EXPECT_EQ(documents[2].title, "z");
}

TEST_F(BuildTest, ThePrefixStandsBeforeEverySource) {
  options_.source_prefix = "data/";
  Write("a.md", "Some text.\n");
  Write("b/c.md", "Some text.\n");

  const BuildReport report = Build();

  EXPECT_EQ(Sources(*Open()), (std::vector<std::string>{"data/a.md", "data/b/c.md"}));
  EXPECT_EQ(Documents(*Open()).at(0).doc_id, "data/a.md");
  EXPECT_EQ(report.manifest.build.source_prefix, "data/");
}

TEST_F(BuildTest, TheArticlesDocumentsAreNumberedInOrderOfTheirSources) {
  options_.profile = FindProfile("article").value();
  Write("b_notes.md", "Some text.\n");
  Write("a.md", "Some text.\n");

  Build();

  EXPECT_EQ(Documents(*Open()).at(0).doc_id, "doc-001-a");
  EXPECT_EQ(Documents(*Open()).at(1).doc_id, "doc-002-b_notes");
}

TEST_F(BuildTest, ADocumentOfMoreThan1024ChunksHasSeveralSegments) {
  Write("a.md", "First.\n");
  Write("large.md", testing::RandomDocument(1, 2500, 50, 80));
  Write("z.md", "Last.\n");

  Build();

  const auto documents = Documents(*Open());
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[1].num_chunks, 2500U);
  EXPECT_EQ(documents[1].num_segments, 3U);
  EXPECT_EQ(documents[2].num_segments, 1U);
}

// The manifest without what differs between builds by intent: the number of the generation, and
// names and contents of RocksDB's own files (which hold times and ids).
formats::Manifest Comparable(formats::Manifest manifest) {
  manifest.generation = 0;
  std::erase_if(manifest.files,
                [](const formats::FileEntry& file) { return file.path.starts_with("records/"); });
  return manifest;
}

TEST_F(BuildTest, TheResultDoesNotDependOnTheNumberOfThreads) {
  WriteRandomCorpus(30);
  options_.threads = 1;
  const formats::Manifest expected = Comparable(Build().manifest);
  EXPECT_FALSE(expected.files.empty());
  for (const unsigned threads : {2U, 3U, 8U}) {
    options_.threads = threads;
    EXPECT_EQ(Comparable(Build().manifest), expected) << threads << " threads";
  }
}

TEST_F(BuildTest, NoThreadsAreRefused) {
  options_.threads = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(BuildIndex(options_).status()));
}

TEST_F(BuildTest, ACorpusThatIsMissingOrNoFolderIsRefused) {
  options_.corpus = folder_.path() / "missing";
  EXPECT_TRUE(absl::IsNotFound(BuildIndex(options_).status()));
  Write("a.md", "Some text.\n");
  options_.corpus = folder_.path() / "corpus" / "a.md";
  EXPECT_TRUE(absl::IsInvalidArgument(BuildIndex(options_).status()));
}

TEST_F(BuildTest, ASecondWriterIsTurnedAway) {
  Write("a.md", "Some text.\n");
  const auto lock = storage::WriterLock::Acquire(options_.index).value();

  EXPECT_TRUE(absl::IsUnavailable(BuildIndex(options_).status()));
}

TEST_F(BuildTest, ANewBuildReplacesTheOld) {
  Write("a.md", "Some text.\n");
  EXPECT_EQ(Build().manifest.generation, 1U);
  fs::remove(options_.corpus / "a.md");
  Write("b.md", "Other text.\n");

  EXPECT_EQ(Build().manifest.generation, 2U);

  EXPECT_EQ(Sources(*Open()), (std::vector<std::string>{"b.md"}));
}

TEST_F(BuildTest, KeepsAsManyGenerationsAsAsked) {
  Write("a.md", "Some text.\n");
  options_.keep_generations = 1;
  Build();
  Write("b.md", "Some more text.\n");
  Build();

  EXPECT_FALSE(fs::exists(options_.index / "gen-000001"));
  EXPECT_TRUE(fs::exists(options_.index / "gen-000002"));
}

TEST_F(BuildTest, ACancelledBuildLeavesTheOldGeneration) {
  WriteRandomCorpus(10);
  Build();
  Write("more.md", "More text.\n");
  for (const std::uint64_t stop_after : {1U, 5U, 11U, 12U, 20U}) {
    std::atomic<bool> cancel{false};
    std::uint64_t reports = 0;
    options_.cancel = &cancel;
    options_.progress = [&](const BuildProgress&) { cancel = ++reports >= stop_after; };

    EXPECT_TRUE(absl::IsCancelled(BuildIndex(options_).status()));

    const auto reader = Open();
    EXPECT_EQ(reader->generation(), 1U);
    EXPECT_EQ(reader->manifest().counts.documents, 10U);
    EXPECT_FALSE(fs::exists(options_.index / "building"));
  }
}

TEST_F(BuildTest, ABuildAfterACancelledOneSucceeds) {
  WriteRandomCorpus(3);
  std::atomic<bool> cancel{true};
  options_.cancel = &cancel;
  EXPECT_TRUE(absl::IsCancelled(BuildIndex(options_).status()));
  EXPECT_TRUE(absl::IsNotFound(IndexReader::Open(options_.index).status()));

  cancel = false;

  EXPECT_EQ(Build().manifest.counts.documents, 3U);
}

TEST_F(BuildTest, ProgressCountsTheFilesOfBothPasses) {
  WriteRandomCorpus(5);
  Write("blank.md", "\n");
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::uint64_t>>> seen;
  options_.progress = [&](const BuildProgress& progress) {
    seen[progress.phase].emplace_back(progress.documents, progress.total);
  };

  Build();

  using Steps = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(seen["reading"], (Steps{{1, 6}, {2, 6}, {3, 6}, {4, 6}, {5, 6}, {6, 6}}));
  EXPECT_EQ(seen["indexing"], (Steps{{1, 5}, {2, 5}, {3, 5}, {4, 5}, {5, 5}}));
}

TEST_F(BuildTest, TheReductionLogComesInOrderOfTheSources) {
  Write("a.md", testing::RandomDocument(1, 40, 5, 90));
  Write("b.md", testing::RandomDocument(2, 40, 5, 90));
  std::vector<std::string> sources;
  options_.reduction_log = [&](std::string_view source, std::string_view line) {
    EXPECT_TRUE(line.starts_with("Reducing ")) << line;
    sources.emplace_back(source);
  };

  Build();

  ASSERT_GE(sources.size(), 2U);
  EXPECT_EQ(sources.front(), "a.md");
  EXPECT_EQ(sources.back(), "b.md");
  EXPECT_TRUE(std::is_sorted(sources.begin(), sources.end()));
}

TEST_F(BuildTest, AnIndexInsideItsCorpusIsNotIndexed) {
  options_.index = options_.corpus / "index";
  Write("a.md", "Some text.\n");
  Build();

  Build();

  EXPECT_EQ(Sources(*Open()), (std::vector<std::string>{"a.md"}));
}

TEST_F(BuildTest, AFolderBesideTheIndexWithItsNameAsAPrefixIsIndexed) {
  options_.index = options_.corpus / "index";
  Write("index-of-lamps/a.md", "Some text.\n");
  Build();

  EXPECT_EQ(Sources(*Open()), (std::vector<std::string>{"index-of-lamps/a.md"}));
}

TEST_F(BuildTest, ThePublishedFolderHoldsNoTemporaryFiles) {
  WriteRandomCorpus(4);

  const formats::Manifest manifest = Build().manifest;

  std::set<std::string> named = {"MANIFEST.json"};
  for (const formats::FileEntry& file : manifest.files) named.insert(file.path);
  std::set<std::string> found;
  const fs::path root = Open()->folder();
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) found.insert(entry.path().lexically_relative(root).string());
  }
  EXPECT_EQ(found, named);
}

}  // namespace
}  // namespace rag::indexer
