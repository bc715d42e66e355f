// Files that were moved, and files that are equal: they are not made again.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "formats/chunk_group.h"
#include "formats/chunk_header.h"
#include "formats/forward_index.h"
#include "models/token_counter.h"
#include "storage/bundle_reader.h"
#include "storage/verify.h"
#include "tests/indexer/build_testing.h"

namespace rag::indexer {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

class TwinsTest : public BuildTest {
 protected:
  TwinsTest() {
    WriteRandomCorpus(40);
    Watch(options_);
  }

  // Notes of which documents the summaries are reduced.
  void Watch(BuildOptions& options) {
    options.reduction_log = [this](std::string_view source, std::string_view /*line*/) {
      made_.emplace(source);
    };
  }
  BuildReport BuildWatched() {
    made_.clear();
    return Build();
  }
  void Rename(const std::string& from, const std::string& to) const {
    fs::create_directories((options_.corpus / to).parent_path());
    fs::rename(options_.corpus / from, options_.corpus / to);
  }
  void Copy(const std::string& from, const std::string& to) const {
    fs::create_directories((options_.corpus / to).parent_path());
    fs::copy_file(options_.corpus / from, options_.corpus / to);
  }
  // All but the order of the bytes in RocksDB's files.
  static std::map<std::string, std::string> Contents(const formats::Manifest& manifest) {
    std::map<std::string, std::string> contents = manifest.family_digests;
    for (const formats::FileEntry& file : manifest.files) {
      if (!file.path.starts_with("records/")) contents[file.path] = file.xxh128;
    }
    return contents;
  }
  void ExpectIsAFreshBuild() const {
    const auto report = storage::VerifyIndex(options_.index, {});
    ASSERT_TRUE(report.ok()) << report.status();
    for (const std::string& problem : report->problems) ADD_FAILURE() << problem;
    BuildOptions options = options_;
    options.index = folder_.path() / "fresh";
    options.full = true;
    options.reduction_log = {};
    const auto fresh = BuildIndex(options);
    ASSERT_TRUE(fresh.ok()) << fresh.status();
    EXPECT_EQ(Contents(Open()->manifest()), Contents(fresh->manifest));
  }
  storage::DocumentBundle Bundle(const std::string& source) const {
    const auto reader = Open();
    const Strings sources = Sources(*reader);
    const auto at = std::find(sources.begin(), sources.end(), source) - sources.begin();
    return storage::BundleReader::Open(*reader)
        .value()
        ->ReadWhole(static_cast<std::uint32_t>(at))
        .value();
  }

  std::set<std::string> made_;  // sources
};

TEST_F(TwinsTest, AMovedFileIsNotMadeAgain) {
  Build();
  Rename("d7.md", "below/moved.md");

  const BuildReport report = BuildWatched();

  EXPECT_TRUE(report.published);
  ASSERT_EQ(report.moved.size(), 1U);
  EXPECT_EQ(report.moved[0].from, "d7.md");
  EXPECT_EQ(report.moved[0].source, "below/moved.md");
  EXPECT_EQ(report.added, Strings());
  EXPECT_EQ(report.removed, Strings());
  EXPECT_EQ(report.unchanged, 39U);
  EXPECT_EQ(made_, std::set<std::string>());
  EXPECT_EQ(report.manifest.fit.changed_chunks, 0U);
  ExpectIsAFreshBuild();
}

TEST_F(TwinsTest, ADryRunNamesWhatWasMoved) {
  Build();
  Rename("d7.md", "e.md");
  options_.dry_run = true;

  const BuildReport report = Build();

  ASSERT_EQ(report.moved.size(), 1U);
  EXPECT_EQ(report.moved[0].source, "e.md");
}

TEST_F(TwinsTest, ACopyOfAKnownFileIsNotMadeAgain) {
  Build();
  Copy("d7.md", "below/copy.md");
  Copy("d7.md", "a.md");

  const BuildReport report = BuildWatched();

  EXPECT_EQ(report.added, (Strings{"a.md", "below/copy.md"}));
  EXPECT_TRUE(report.moved.empty());
  EXPECT_EQ(made_, std::set<std::string>());
  const storage::DocumentBundle original = Bundle("d7.md");
  EXPECT_EQ(Bundle("a.md").chunk_codes, original.chunk_codes);
  EXPECT_EQ(Bundle("a.md").document_codes, original.document_codes);
}

TEST_F(TwinsTest, OfTwoCopiesOfAFileThatIsGoneOneTakesItsPlace) {
  Build();
  Copy("d7.md", "z.md");
  Rename("d7.md", "y.md");

  const BuildReport report = BuildWatched();

  ASSERT_EQ(report.moved.size(), 1U);
  EXPECT_EQ(report.moved[0].source, "y.md");
  EXPECT_EQ(report.added, Strings{"z.md"});
  EXPECT_EQ(report.removed, Strings());
  EXPECT_EQ(made_, std::set<std::string>());
}

TEST_F(TwinsTest, FilesThatChangedPlacesAreNotMadeAgain) {
  Build();
  Rename("d7.md", "x");
  Rename("d8.md", "d7.md");
  Rename("x", "d8.md");

  const BuildReport report = BuildWatched();

  EXPECT_EQ(report.changed, (Strings{"d7.md", "d8.md"}));
  EXPECT_EQ(made_, std::set<std::string>());
  ExpectIsAFreshBuild();
}

TEST_F(TwinsTest, OfEqualFilesTheFirstIsMade) {
  Copy("d7.md", "a/same.md");
  Copy("d7.md", "z/same.md");

  const BuildReport report = BuildWatched();

  EXPECT_EQ(report.added.size(), 42U);
  EXPECT_TRUE(made_.contains("a/same.md"));
  EXPECT_FALSE(made_.contains("d7.md"));
  EXPECT_FALSE(made_.contains("z/same.md"));
  const storage::DocumentBundle first = Bundle("a/same.md");
  const storage::DocumentBundle last = Bundle("z/same.md");
  EXPECT_EQ(last.chunk_groups, first.chunk_groups);
  EXPECT_EQ(last.levels, first.levels);
  EXPECT_EQ(last.document_codes, first.document_codes);
  const auto problems = storage::VerifyIndex(options_.index, {});
  ASSERT_TRUE(problems.ok());
  EXPECT_TRUE(problems->problems.empty());
}

// What a chunk costs depends on the name that is printed over it.
TEST_F(TwinsTest, CostsAreThoseUnderTheNewName) {
  Build();
  Rename("d7.md", "a-much-longer-name-for-the-same-document.md");
  Build();

  const storage::DocumentBundle bundle = Bundle("a-much-longer-name-for-the-same-document.md");

  const auto counter = models::MakeTokenCounter(options_.profile.token_counter).value();
  std::vector<formats::ChunkRecord> chunks;
  for (const std::string& group : bundle.chunk_groups) {
    const std::vector<formats::ChunkRecord> some = formats::DecodeChunkGroup(group).value();
    chunks.insert(chunks.end(), some.begin(), some.end());
  }
  std::uint32_t number = 0;
  for (const std::string& encoded : bundle.segments) {
    const formats::ForwardSegment segment = formats::DecodeForwardSegment(encoded).value();
    for (const formats::ChunkTerms& terms : segment.chunks) {
      const formats::ChunkRecord& chunk = chunks.at(number);
      const std::string printed =
          formats::ChunkHeader(formats::HeaderStyle::kFull, {.source = bundle.document.source,
                                                             .doc_id = bundle.document.doc_id,
                                                             .chunk = number,
                                                             .line_start = chunk.line_start,
                                                             .line_end = chunk.line_end}) +
          chunk.text;
      EXPECT_EQ(terms.cost[static_cast<int>(formats::HeaderStyle::kFull)], counter->Cost(printed));
      ++number;
    }
  }
  EXPECT_EQ(number, chunks.size());
  EXPECT_GT(number, 0U);
}

// A document whose file is there but cannot be read stays, whatever else there is.
TEST_F(TwinsTest, NothingTakesThePlaceOfADocumentThatIsStale) {
  Build();
  Copy("d7.md", "copy.md");
  fs::remove(options_.corpus / "d7.md");
  ASSERT_EQ(mkfifo((options_.corpus / "d7.md").c_str(), 0600), 0);

  for (const char* added : {"copy.md", "again.md"}) {
    const BuildReport report = BuildWatched();
    EXPECT_EQ(report.added, Strings{added});
    EXPECT_TRUE(report.moved.empty());
    EXPECT_EQ(report.stale, Strings{"d7.md"});
    EXPECT_EQ(made_, std::set<std::string>());
    EXPECT_EQ(Bundle("d7.md").document.metadata.count("stale"), 1U);
    if (added == std::string("copy.md")) Copy("copy.md", "again.md");
  }
}

TEST_F(TwinsTest, ATitleThatComesFromTheNameMakesItAnotherDocument) {
  Write("plain.txt", "Words without any heading.\n\nAnd more of them.\n");
  Write("same_name.txt", "Other words without any heading.\n\nAnd more.\n");
  Build();
  Rename("plain.txt", "renamed.txt");
  Rename("same_name.txt", "below/same-name.txt");

  const BuildReport report = Build();

  EXPECT_EQ(report.added, Strings{"renamed.txt"});
  EXPECT_EQ(report.removed, Strings{"plain.txt"});
  ASSERT_EQ(report.moved.size(), 1U);
  EXPECT_EQ(report.moved[0].source, "below/same-name.txt");
}

TEST_F(TwinsTest, AnotherMediaTypeMakesItAnotherDocument) {
  Build();
  Rename("d7.md", "d7.txt");

  EXPECT_EQ(Build().added, Strings{"d7.txt"});
}

// The article numbers its documents: a new first one gives all others another id.
TEST_F(TwinsTest, DocumentsThatOnlyGetAnotherNumberAreNotMadeAgain) {
  options_.profile = *FindProfile("article");
  Build();
  Write("a.md",
        "# First\n\nOil burns. It gives light. It is warm. It is dear.\n\nWicks need care.\n");

  const BuildReport report = BuildWatched();

  EXPECT_EQ(report.added, Strings{"a.md"});
  EXPECT_EQ(report.changed.size(), 40U);
  for (const std::string& source : made_) EXPECT_EQ(source, "a.md");
  const formats::DocumentRecord record = Bundle("d0.md").document;
  EXPECT_EQ(record.doc_id, "doc-002-d0");
}

}  // namespace
}  // namespace rag::indexer
