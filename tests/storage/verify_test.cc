// Verification of files: whatever happened to one is found and named.
#include "storage/verify.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/storage/verify_testing.h"

namespace rag::storage {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> FilesOf(const formats::Manifest& manifest) {
  std::vector<std::string> paths = {"MANIFEST.json"};
  for (const formats::FileEntry& file : manifest.files) paths.push_back(file.path);
  return paths;
}

TEST_F(VerifyTest, ASoundIndexHasNoProblems) {
  const VerifyReport report = Verify();

  EXPECT_EQ(report.problems, std::vector<std::string>());
  EXPECT_EQ(report.num_problems, 0U);
  EXPECT_TRUE(report.contents_checked);
  EXPECT_EQ(report.generation, 1U);
}

TEST_F(VerifyTest, TheReportCountsWhatWasChecked) {
  const formats::Manifest manifest = Manifest();
  std::uint64_t bytes = fs::file_size(generation_ / kManifestFile);
  for (const formats::FileEntry& file : manifest.files) bytes += file.size_bytes;
  std::uint64_t records = 0;
  for (const auto& [family, keys] : manifest.family_keys) records += keys;

  const VerifyReport report = Verify();

  EXPECT_EQ(report.files, manifest.files.size() + 1);
  EXPECT_EQ(report.bytes, bytes);
  EXPECT_EQ(report.documents, 3U);
  EXPECT_EQ(report.records, records);
  EXPECT_EQ(report.vectors, manifest.counts.chunks + manifest.counts.document_vectors);
}

TEST_F(VerifyTest, ARebuildOfTheStoreIsSound) {
  WriteStore(ReadStore(), /*consistent=*/false);
  EXPECT_EQ(Verify().problems, std::vector<std::string>());
}

TEST_F(VerifyTest, AnyFlippedByteIsNamedByItsFile) {
  for (const std::string& path : FilesOf(Manifest())) {
    const std::string bytes = testing::ReadAll(generation_ / path);
    const std::size_t step = bytes.size() / 23 + 1;
    for (std::size_t at = 0; at < bytes.size() + step - 1; at += step) {
      const std::size_t place = std::min(at, bytes.size() - 1);
      std::string damaged = bytes;
      damaged[place] = static_cast<char>(damaged[place] ^ (1 << (place % 8)));
      folder_.Write("index/gen-000001/" + path, damaged);
      const VerifyReport report = Verify();
      ASSERT_EQ(report.num_problems, 1U) << path << " byte " << place;
      EXPECT_TRUE(report.problems[0].starts_with("gen-000001/" + path + ": "))
          << report.problems[0];
    }
    folder_.Write("index/gen-000001/" + path, bytes);
  }
  EXPECT_EQ(Verify().num_problems, 0U);
}

TEST_F(VerifyTest, ACutFileIsNamed) {
  for (const std::string& path : FilesOf(Manifest())) {
    const std::string bytes = testing::ReadAll(generation_ / path);
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, bytes.size() - 1}) {
      folder_.Write("index/gen-000001/" + path, bytes.substr(0, size));
      ExpectProblem({"gen-000001/" + path});
    }
    folder_.Write("index/gen-000001/" + path, bytes);
  }
}

TEST_F(VerifyTest, AMissingFileIsNamed) {
  for (const std::string& path : FilesOf(Manifest())) {
    const std::string bytes = testing::ReadAll(generation_ / path);
    fs::remove(generation_ / path);
    ExpectProblem({"gen-000001/" + path, "missing"});
    folder_.Write("index/gen-000001/" + path, bytes);
  }
}

TEST_F(VerifyTest, SwappedFilesAreBothNamed) {
  fs::rename(generation_ / "docs.faiss", generation_ / "swap");
  fs::rename(generation_ / "chunks-0000.faiss", generation_ / "docs.faiss");
  fs::rename(generation_ / "swap", generation_ / "chunks-0000.faiss");

  const VerifyReport report = Verify();

  ASSERT_EQ(report.num_problems, 2U);
  EXPECT_TRUE(report.problems[0].starts_with("gen-000001/chunks-0000.faiss: "));
  EXPECT_TRUE(report.problems[1].starts_with("gen-000001/docs.faiss: "));
}

TEST_F(VerifyTest, AllDamagedFilesAreListedAndContentsLeftAlone) {
  const std::vector<std::string> paths = {"chunks-0000.faiss", "docs.faiss", "model/terms.bin"};
  for (const std::string& path : paths) {
    const std::string bytes = testing::ReadAll(generation_ / path);
    folder_.Write("index/gen-000001/" + path, bytes.substr(0, bytes.size() - 1) + '\x55');
  }

  const VerifyReport report = Verify();

  EXPECT_EQ(report.num_problems, 3U);
  EXPECT_FALSE(report.contents_checked);
}

TEST_F(VerifyTest, ProblemsAboveTheLimitAreCounted) {
  for (const std::string path : {"chunks-0000.faiss", "docs.faiss", "model/terms.bin"}) {
    folder_.Write("index/gen-000001/" + path, "");
  }
  VerifyOptions options;
  options.max_problems = 2;

  const VerifyReport report = VerifyIndex(index_, options).value();

  EXPECT_EQ(report.problems.size(), 2U);
  EXPECT_EQ(report.num_problems, 3U);
}

TEST_F(VerifyTest, FilesAndFoldersThatTheManifestDoesNotNameAreNamed) {
  folder_.Write("index/gen-000001/model/notes.txt", "hello");
  fs::create_directory(generation_ / "scratch");

  const VerifyReport report = Verify();

  EXPECT_EQ(report.problems,
            (std::vector<std::string>{"gen-000001/model/notes.txt: the manifest does not name it",
                                      "gen-000001/scratch: the manifest does not name it"}));
  EXPECT_TRUE(report.contents_checked);
}

TEST_F(VerifyTest, QuickFindsWhatOpeningFinds) {
  const std::string bytes = testing::ReadAll(generation_ / "docs.faiss");
  std::string header = bytes;
  header[5] ^= 1;
  folder_.Write("index/gen-000001/docs.faiss", header);
  EXPECT_EQ(Verify(/*quick=*/true).num_problems, 1U);

  std::string vectors = bytes;
  vectors.back() ^= 1;
  folder_.Write("index/gen-000001/docs.faiss", vectors);
  EXPECT_EQ(Verify(/*quick=*/true).num_problems, 0U);
  EXPECT_EQ(Verify(/*quick=*/false).num_problems, 1U);
}

TEST_F(VerifyTest, ADamagedCurrentIsAProblem) {
  folder_.Write("index/CURRENT", "gen-000001\n");
  const VerifyReport report = Verify();
  ASSERT_EQ(report.num_problems, 1U);
  EXPECT_TRUE(report.problems[0].starts_with("CURRENT: ")) << report.problems[0];
}

TEST_F(VerifyTest, ACurrentThatNamesNothingIsAProblem) {
  fs::rename(generation_, index_ / "gen-000002");
  ExpectProblem({"CURRENT: ", "gen-000001"});
}

TEST_F(VerifyTest, NoIndexIsAnError) {
  EXPECT_TRUE(absl::IsNotFound(VerifyIndex(folder_.path() / "nowhere", {}).status()));
}

TEST_F(VerifyTest, AnotherFormatVersionIsAnErrorAndNoDamage) {
  ChangeManifest([](formats::Manifest& manifest) { manifest.format_version = 2; });
  EXPECT_TRUE(absl::IsFailedPrecondition(VerifyIndex(index_, {}).status()));
}

TEST_F(VerifyTest, AnEmptyIndexIsSound) {
  indexer::BuildOptions options;
  fs::create_directory(folder_.path() / "none");
  options.corpus = folder_.path() / "none";
  options.index = folder_.path() / "empty";
  options.profile = testing::DefaultProfile();
  ASSERT_TRUE(indexer::BuildIndex(options).ok());
  const VerifyReport report = VerifyIndex(options.index, {}).value();
  EXPECT_EQ(report.problems, std::vector<std::string>());
}

TEST_F(VerifyTest, ProgressReachesTheEndOfEachPhase) {
  std::map<std::string, VerifyProgress> last;
  VerifyOptions options;
  options.progress = [&](const VerifyProgress& at) { last[at.phase] = at; };

  ASSERT_TRUE(VerifyIndex(index_, options).ok());

  ASSERT_TRUE(last.contains("checking documents"));
  EXPECT_EQ(last["checking documents"].done, 3U);
  EXPECT_EQ(last["checking documents"].total, 3U);
  EXPECT_EQ(last["checking vectors"].done, 3U);
}

}  // namespace
}  // namespace rag::storage
