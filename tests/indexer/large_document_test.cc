// Documents that are worked on in parts.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/chunk_group.h"
#include "indexer/analyzed_document.h"
#include "storage/bundle_reader.h"
#include "storage/verify.h"
#include "tests/indexer/build_testing.h"

namespace rag::indexer {
namespace {

// A document of two parts, with a section across their edge and unlike lines.
std::string LargeText() {
  std::string text = "# Log of the lighthouse\n\n";
  std::uint64_t n = 0;
  while (text.size() < kPartBytes + kPartBytes / 8) {
    n = n * 6364136223846793005U + 1442695040888963407U;
    if (text.size() < kPartBytes / 2 && n >> 60 == 0) {
      text += "## Month " + std::to_string(n >> 50) + "\n\n";
    }
    text += "Lamp " + std::to_string(n >> 44) + " was lit at " + std::to_string(n >> 58) +
            " and burned " + std::to_string(n % 10000) + " hours. The keeper wrote it down.\n\n";
  }
  return text;
}

class LargeDocumentTest : public BuildTest {
 protected:
  LargeDocumentTest() {
    options_.profile = *FindProfile("default");
    Write("a.md", "# Small\n\nNothing to see.\n");
    Write("b.md", text_);
  }

  void ExpectSound() const {
    const auto report = storage::VerifyIndex(options_.index, {});
    ASSERT_TRUE(report.ok()) << report.status();
    for (const std::string& problem : report->problems) ADD_FAILURE() << problem;
  }

  // The chunks of the large document are the bytes of its file.
  void ExpectChunks(const storage::IndexReader& reader) const {
    const auto bundles = storage::BundleReader::Open(reader).value();
    std::uint64_t end = 0;
    std::size_t num_parts = 1;
    counted_ = 0;
    line_ = 1;
    const auto check = [&](const storage::BundlePart& part) -> absl::Status {
      for (const std::string& group : part.chunk_groups) {
        const std::vector<formats::ChunkRecord> chunks = formats::DecodeChunkGroup(group).value();
        for (const formats::ChunkRecord& chunk : chunks) {
          EXPECT_EQ(chunk.text, text_.substr(chunk.range.start, chunk.range.size()));
          EXPECT_LE(chunk.range.start - end, 4U);
          EXPECT_EQ(chunk.line_start, LineOf(chunk.range.start));
          end = chunk.range.end;
        }
      }
      return absl::OkStatus();
    };
    const auto last = bundles->Read(1, [&](const storage::BundlePart& part) {
      ++num_parts;
      return check(part);
    });
    ASSERT_TRUE(last.ok()) << last.status();
    ASSERT_TRUE(check(*last).ok());
    EXPECT_EQ(end, text_.find_last_not_of('\n') + 1);
    EXPECT_GT(num_parts, 1U);
    EXPECT_EQ(last->document.content_sha256, formats::ComputeSha256(text_));
    EXPECT_EQ(last->document.title, "Log of the lighthouse");
    EXPECT_GT(last->document.level_sizes.size(), 3U);
    EXPECT_EQ(last->document.level_sizes.back(), 1U);
  }

  static std::map<std::string, std::string> Digests(const BuildReport& report) {
    return report.manifest.family_digests;
  }

  const std::string text_ = LargeText();

 private:
  [[nodiscard]] std::uint32_t LineOf(std::uint64_t offset) const {
    line_ += static_cast<std::uint32_t>(
        std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                   text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    counted_ = offset;
    return line_;
  }
  mutable std::uint64_t counted_ = 0;
  mutable std::uint32_t line_ = 1;
};

TEST_F(LargeDocumentTest, IsIndexedCarriedOverAndTakenOut) {
  std::vector<std::string> log;
  options_.reduction_log = [&log](std::string_view source, std::string_view line) {
    if (source == "b.md") log.emplace_back(line);
  };
  const BuildReport first = Build();
  ExpectSound();
  ExpectChunks(*Open());
  ASSERT_GT(log.size(), 3U);
  EXPECT_TRUE(log[0].ends_with(" at level 1")) << log[0];
  EXPECT_TRUE(log[2].ends_with(" at level 3")) << log[2];

  // Carried over, it is what it was.
  Write("c.md", "# New\n\nOne more.\n");
  const BuildReport second = Build();
  EXPECT_TRUE(second.published);
  EXPECT_EQ(second.unchanged, 2U);
  ExpectSound();
  BuildOptions fresh = options_;
  fresh.index = folder_.path() / "fresh";
  const BuildReport anew = BuildIndex(fresh).value();
  ExpectChunks(*Open());
  for (const char* family : {"terms", "parents", "sources"}) {
    EXPECT_EQ(Digests(second).at(family), Digests(anew).at(family)) << family;
  }

  // Its terms go with it.
  std::filesystem::remove(options_.corpus / "b.md");
  const BuildReport third = Build();
  EXPECT_EQ(third.removed, std::vector<std::string>{"b.md"});
  ExpectSound();
  EXPECT_EQ(third.manifest.counts.documents, 2U);
}

TEST_F(LargeDocumentTest, AnInterruptedBuildGoesOnFromItsParts) {
  std::atomic<bool> cancel = false;
  options_.cancel = &cancel;
  options_.progress = [&cancel](const BuildProgress& progress) {
    if (std::string_view(progress.phase) == "indexing" && progress.documents == 2) cancel = true;
  };
  EXPECT_TRUE(absl::IsCancelled(BuildIndex(options_).status()));
  cancel = false;
  options_.progress = {};

  const BuildReport report = Build();

  EXPECT_EQ(report.resumed, 2U);
  ExpectSound();
  ExpectChunks(*Open());
  BuildOptions fresh = options_;
  fresh.index = folder_.path() / "fresh";
  EXPECT_EQ(Digests(report), Digests(BuildIndex(fresh).value()));
}

TEST_F(LargeDocumentTest, LateDamageOfItsTextSkipsAllOfIt) {
  Write("b.md", text_ + "\xFF");

  const BuildReport report = Build();

  EXPECT_EQ(report.manifest.counts.documents, 1U);
  ASSERT_EQ(report.skipped.size(), 1U);
  EXPECT_EQ(report.skipped[0].reason, SkipReason::kInvalidUtf8);
  EXPECT_EQ(report.skipped[0].detail, "not UTF-8 at offset " + std::to_string(text_.size()));
  ExpectSound();
}

}  // namespace
}  // namespace rag::indexer
