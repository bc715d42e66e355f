#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "formats/keys.h"
#include "storage/bundle_reader.h"
#include "storage/generation.h"
#include "storage/verify.h"
#include "tests/indexer/build_testing.h"

namespace rag::indexer {
namespace {

namespace fs = std::filesystem;

// Forty documents, so that a few changes are far from a quarter of the chunks.
class RebuildTest : public BuildTest {
 protected:
  RebuildTest() {
    WriteRandomCorpus(40);
    first_ = Build();
    EXPECT_TRUE(first_.published);
  }
  void Remove(const std::string& source) const { fs::remove(options_.corpus / source); }
  void Change() const {
    Write("d7.md", testing::RandomDocument(107, 5, 3, 100));
    Write("a new one.md", testing::RandomDocument(108, 5, 3, 100));
    Write("sub/another.md", testing::RandomDocument(109, 3, 3, 100));
    Remove("d11.md");
    Remove("d38.md");
  }
  // The same corpus in another index, from nothing.
  [[nodiscard]] std::unique_ptr<storage::IndexReader> FreshBuild() {
    BuildOptions options = options_;
    options.index = folder_.path() / "fresh";
    EXPECT_TRUE(BuildIndex(options).ok());
    return storage::IndexReader::Open(options.index).value();
  }
  void ExpectSound() const {
    const auto report = storage::VerifyIndex(options_.index, {});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->contents_checked);
    for (const std::string& problem : report->problems) ADD_FAILURE() << problem;
  }
  static std::map<std::string, storage::DocumentBundle> Bundles(
      const storage::IndexReader& reader) {
    const auto bundles = storage::BundleReader::Open(reader).value();
    std::map<std::string, storage::DocumentBundle> by_source;
    for (std::uint32_t i = 0; i < reader.manifest().counts.documents; ++i) {
      storage::DocumentBundle bundle = bundles->ReadWhole(i).value();
      by_source.emplace(bundle.document.source, std::move(bundle));
    }
    return by_source;
  }

  BuildReport first_;
};

TEST_F(RebuildTest, AnUnchangedCorpusPublishesNothing) {
  const BuildReport report = Build();

  EXPECT_FALSE(report.published);
  EXPECT_EQ(report.manifest.generation, first_.manifest.generation);
  EXPECT_EQ(report.unchanged, 40U);
  EXPECT_EQ(storage::ListGenerations(options_.index).value().size(), 1U);
  EXPECT_FALSE(fs::exists(options_.index / storage::kJournalFolder));
}

TEST_F(RebuildTest, NewTimesOfEqualBytesAreNoChange) {
  fs::last_write_time(options_.corpus / "d3.md", fs::file_time_type::clock::now());
  Write("d4.md", testing::RandomDocument(4, 1 + 4 % 9, 3, 100));

  EXPECT_FALSE(Build().published);
}

TEST_F(RebuildTest, TheReportNamesWhatCameAndWent) {
  Change();

  const BuildReport report = Build();

  EXPECT_TRUE(report.published);
  EXPECT_EQ(report.why_full, "");
  EXPECT_EQ(report.added, (std::vector<std::string>{"a new one.md", "sub/another.md"}));
  EXPECT_EQ(report.changed, std::vector<std::string>{"d7.md"});
  EXPECT_EQ(report.removed, (std::vector<std::string>{"d11.md", "d38.md"}));
  EXPECT_EQ(report.unchanged, 37U);
  EXPECT_TRUE(report.stale.empty());
  EXPECT_EQ(report.manifest.generation, first_.manifest.generation + 1);
}

TEST_F(RebuildTest, UnchangedDocumentsKeepTheirBytes) {
  const auto before = Bundles(*Open());
  Change();
  Build();

  const auto after = Bundles(*Open());

  for (const auto& [source, bundle] : after) {
    if (source == "d7.md" || !before.contains(source)) continue;
    EXPECT_EQ(bundle, before.at(source)) << source;
  }
  EXPECT_NE(after.at("d7.md"), before.at("d7.md"));
}

TEST_F(RebuildTest, WhatDoesNotRestOnStatisticsIsThatOfAFreshBuild) {
  Change();
  Build();
  const auto rebuilt_reader = Open();
  const auto fresh_reader = FreshBuild();

  const auto rebuilt = Bundles(*rebuilt_reader);
  const auto fresh = Bundles(*fresh_reader);

  EXPECT_EQ(Sources(*rebuilt_reader), Sources(*fresh_reader));
  for (const auto& [source, bundle] : fresh) {
    EXPECT_EQ(rebuilt.at(source).segments, bundle.segments) << source;
    EXPECT_EQ(rebuilt.at(source).parents, bundle.parents) << source;
    EXPECT_EQ(rebuilt.at(source).document.num_chunks, bundle.document.num_chunks) << source;
    EXPECT_EQ(rebuilt.at(source).document.content_sha256, bundle.document.content_sha256);
  }
}

TEST_F(RebuildTest, TheTermTableIsThatOfAFreshBuild) {
  Change();
  Build();
  const auto fresh = FreshBuild();

  const auto table = [this](const char* index, std::uint64_t generation) {
    return testing::ReadAll(folder_.path() / index / storage::GenerationName(generation) /
                            storage::kTermsFile);
  };
  EXPECT_EQ(table("index", 2), table("fresh", fresh->generation()));
}

TEST_F(RebuildTest, TheResultIsSound) {
  Change();
  Build();

  ExpectSound();
}

TEST_F(RebuildTest, ManySmallChangesStaySound) {
  for (int i = 0; i < 12; ++i) {
    Write("d" + std::to_string(i) + ".md",
          testing::RandomDocument(static_cast<std::uint64_t>(300 + i), 1 + i % 4, 3, 100));
    if (i % 3 == 0) Remove("d" + std::to_string(20 + i) + ".md");
    Build();
  }

  ExpectSound();
}

TEST_F(RebuildTest, AnyNumberOfThreadsGivesTheSameBytes) {
  fs::copy(options_.index, folder_.path() / "copy", fs::copy_options::recursive);
  Change();
  const formats::Manifest two = Build().manifest;
  options_.index = folder_.path() / "copy";
  options_.threads = 1;

  const formats::Manifest one = Build().manifest;

  EXPECT_EQ(one.family_digests, two.family_digests);
  for (const char* file : {"docs.faiss", "chunks-0000.faiss", "model/terms.bin"}) {
    EXPECT_EQ(testing::ReadAll(folder_.path() / "copy" / "gen-000002" / file),
              testing::ReadAll(folder_.path() / "index" / "gen-000002" / file));
  }
}

TEST_F(RebuildTest, ADocumentThatComesBackIsWhatItWas) {
  const auto before = Bundles(*Open());
  const std::string text = testing::ReadAll(options_.corpus / "d5.md");
  Remove("d5.md");
  Build();
  Write("d5.md", text);
  Build();

  EXPECT_EQ(Bundles(*Open()).at("d5.md"), before.at("d5.md"));
}

TEST_F(RebuildTest, AnotherParameterMakesAllAnewAndSaysWhich) {
  options_.profile.chunk_dim = 64;

  const BuildReport report = Build();

  EXPECT_TRUE(report.published);
  EXPECT_EQ(report.why_full, "chunk dimensions was '128', is '64'");
  EXPECT_EQ(Open()->manifest().fit.changed_chunks, 0U);
}

TEST_F(RebuildTest, FullMakesAllAnewThoughNothingChanged) {
  options_.full = true;

  const BuildReport report = Build();

  EXPECT_TRUE(report.published);
  EXPECT_EQ(report.unchanged, 40U);
  EXPECT_EQ(report.manifest.family_digests, first_.manifest.family_digests);
}

TEST_F(RebuildTest, AQuarterOfTheChunksMakesAllAnew) {
  for (int i = 0; i < 20; ++i) {
    Write("d" + std::to_string(i) + ".md",
          testing::RandomDocument(static_cast<std::uint64_t>(200 + i), 1 + i % 9, 3, 100));
  }

  const BuildReport report = Build();

  EXPECT_NE(report.why_full, "");
  EXPECT_EQ(report.changed.size(), 20U);
  EXPECT_EQ(report.unchanged, 20U);
  EXPECT_EQ(report.manifest.family_digests, FreshBuild()->manifest().family_digests);
}

TEST_F(RebuildTest, SmallChangesAddUpToAQuarter) {
  const std::uint64_t chunks = first_.manifest.counts.chunks;
  bool refitted = false;
  for (int i = 0; i < 40 && !refitted; ++i) {
    Write("d" + std::to_string(i) + ".md",
          testing::RandomDocument(static_cast<std::uint64_t>(200 + i), 1 + i % 9, 3, 100));
    const BuildReport report = Build();
    refitted = !report.why_full.empty();
    const formats::Fit& fit = report.manifest.fit;
    EXPECT_LE(fit.changed_chunks * 4, fit.chunks);
    EXPECT_EQ(fit.chunks, refitted ? report.manifest.counts.chunks : chunks);
  }

  EXPECT_TRUE(refitted);
}

TEST_F(RebuildTest, OtherQueryDefaultsArePublishedWithAllCarriedOver) {
  options_.profile.query.budget_tokens += 100;

  const BuildReport report = Build();

  EXPECT_TRUE(report.published);
  EXPECT_EQ(report.why_full, "");
  EXPECT_EQ(report.unchanged, 40U);
  EXPECT_EQ(report.manifest.family_digests, first_.manifest.family_digests);
}

TEST_F(RebuildTest, ADryRunSaysWhatWouldChangeAndWritesNothing) {
  Change();
  options_.dry_run = true;

  const BuildReport report = Build();

  EXPECT_FALSE(report.published);
  EXPECT_EQ(report.added, (std::vector<std::string>{"a new one.md", "sub/another.md"}));
  EXPECT_EQ(report.changed, std::vector<std::string>{"d7.md"});
  EXPECT_EQ(report.removed, (std::vector<std::string>{"d11.md", "d38.md"}));
  EXPECT_EQ(Open()->manifest(), first_.manifest);
  EXPECT_FALSE(fs::exists(options_.index / storage::kJournalFolder));
}

TEST_F(RebuildTest, ADryRunSkipsWhatABuildSkips) {
  Write("front.md", "---\ntitle: x\n---\n");
  Write("late.md", std::string(5 << 20, 'x') + "\xFF");
  Write("blank.md", std::string(5 << 20, '\n'));
  Write("new.md", "# New\n\nText.\n");
  options_.dry_run = true;

  const BuildReport report = Build();

  EXPECT_EQ(report.added, std::vector<std::string>{"new.md"});
  EXPECT_EQ(report.skipped.size(), 3U);
}

TEST_F(RebuildTest, ADryRunMakesNoIndexFolder) {
  options_.index = folder_.path() / "none";
  options_.dry_run = true;

  EXPECT_EQ(Build().added.size(), 40U);
  EXPECT_FALSE(fs::exists(options_.index));
}

TEST_F(RebuildTest, AFileThatIsNoRegularFileNowKeepsWhatWasIndexed) {
  const auto before = Bundles(*Open());
  Remove("d9.md");
  ASSERT_EQ(mkfifo((options_.corpus / "d9.md").c_str(), 0600), 0);

  const BuildReport report = Build();

  EXPECT_EQ(report.stale, std::vector<std::string>{"d9.md"});
  EXPECT_TRUE(report.removed.empty());
  storage::DocumentBundle after = Bundles(*Open()).at("d9.md");
  EXPECT_EQ(after.document.metadata, (std::map<std::string, std::string>{{"stale", "true"}}));
  after.document.metadata.clear();
  EXPECT_EQ(after, before.at("d9.md"));
  EXPECT_FALSE(Build().published);
}

TEST_F(RebuildTest, AStaleDocumentThatCanBeReadAgainIsStaleNoMore) {
  const auto before = Bundles(*Open());
  const std::string text = testing::ReadAll(options_.corpus / "d9.md");
  Remove("d9.md");
  ASSERT_EQ(mkfifo((options_.corpus / "d9.md").c_str(), 0600), 0);
  Build();
  Remove("d9.md");
  Write("d9.md", text);

  EXPECT_TRUE(Build().published);

  EXPECT_EQ(Bundles(*Open()).at("d9.md"), before.at("d9.md"));
}

TEST_F(RebuildTest, AStaleDocumentOutlivesABuildFromNothing) {
  Remove("d9.md");
  ASSERT_EQ(mkfifo((options_.corpus / "d9.md").c_str(), 0600), 0);
  options_.full = true;

  EXPECT_EQ(Build().stale, std::vector<std::string>{"d9.md"});

  EXPECT_EQ(Open()->terms().totals().num_documents, 40U);
  ExpectSound();
}

TEST_F(RebuildTest, AVanishedFileIsRemoved) {
  Remove("d9.md");

  const BuildReport report = Build();

  EXPECT_EQ(report.removed, std::vector<std::string>{"d9.md"});
  EXPECT_TRUE(report.stale.empty());
}

TEST_F(RebuildTest, ADamagedIndexIsMadeAnew) {
  const fs::path file = options_.index / "gen-000001" / "docs.faiss";
  fs::resize_file(file, fs::file_size(file) / 2);

  const BuildReport report = Build();

  EXPECT_TRUE(report.published);
  EXPECT_NE(report.why_full.find("docs.faiss"), std::string::npos) << report.why_full;
  ExpectSound();
}

TEST_F(RebuildTest, DamageThatOpeningDoesNotSeeIsNotCarriedOver) {
  const fs::path file = options_.index / "gen-000001" / "chunks-0000.faiss";
  std::string bytes = testing::ReadAll(file);
  bytes[bytes.size() - 1] ^= 1;
  folder_.Write("index/gen-000001/chunks-0000.faiss", bytes);
  Change();

  const BuildReport report = Build();

  EXPECT_NE(report.why_full.find("chunks-0000.faiss"), std::string::npos) << report.why_full;
  ExpectSound();
}

TEST_F(RebuildTest, ACorpusThatBecameEmptyEmptiesTheIndex) {
  for (int i = 0; i < 40; ++i) Remove("d" + std::to_string(i) + ".md");

  const BuildReport report = Build();

  EXPECT_EQ(report.removed.size(), 40U);
  EXPECT_EQ(Open()->manifest().counts.documents, 0U);
  ExpectSound();
}

TEST_F(RebuildTest, AnEmptyIndexGrows) {
  options_.index = folder_.path() / "other";
  options_.corpus = folder_.path() / "empty";
  fs::create_directories(options_.corpus);
  Build();
  folder_.Write("empty/a.md", "# Lamp\n\nOil burns.\n");

  EXPECT_EQ(Build().added, std::vector<std::string>{"a.md"});
  EXPECT_EQ(Sources(*Open()), std::vector<std::string>{"a.md"});
}

}  // namespace
}  // namespace rag::indexer
