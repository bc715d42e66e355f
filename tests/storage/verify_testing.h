// An index made by the real build that tests then damage with care: files, records, vectors, and a
// manifest that fits them again or not.
#ifndef TESTS_STORAGE_VERIFY_TESTING_H_
#define TESTS_STORAGE_VERIFY_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "formats/manifest.h"
#include "indexer/build.h"
#include "storage/file_io.h"
#include "storage/generation.h"
#include "storage/index_reader.h"
#include "storage/record_reader.h"
#include "storage/record_writer.h"
#include "storage/verify.h"
#include "tests/testing/temp_folder.h"
#include "tests/testing/test_index.h"

namespace rag::storage {

using Store = std::map<std::string, std::map<std::string, std::string>>;  // family, key -> value

// Three documents: a.md with sections and a tree of summaries, b.txt with one chunk, c.md.
class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() {
    folder_.Write(
        "corpus/a.md",
        "# Pumps\n\nA pump has a seal.\n\nThe seal wears out.\n\n## Care\n\nGrease the "
        "seal in spring.\n\nNever run it dry.\n\nAsk the dealer for parts of the pump.\n");
    folder_.Write("corpus/b.txt", "A valve leaks.\n");
    folder_.Write("corpus/c.md",
                  "# Filters\n\nFilters clog.\n\nRinse them weekly in warm water.\n");
    indexer::BuildOptions options;
    options.corpus = folder_.path() / "corpus";
    options.index = index_;
    options.profile = testing::TinyChunks();
    const absl::StatusOr<indexer::BuildReport> report = indexer::BuildIndex(options);
    EXPECT_TRUE(report.ok()) << report.status();
  }

  [[nodiscard]] VerifyReport Verify(bool quick = false) const {
    VerifyOptions options;
    options.quick = quick;
    return VerifyIndex(index_, options).value();
  }

  // Asserts that some problem holds all of `texts`.
  void ExpectProblem(const std::vector<std::string>& texts) const {
    const VerifyReport report = Verify();
    const bool found = std::ranges::any_of(report.problems, [&](const std::string& problem) {
      return std::ranges::all_of(
          texts, [&](const std::string& text) { return problem.find(text) != std::string::npos; });
    });
    EXPECT_TRUE(found) << ::testing::PrintToString(texts) << " not in "
                       << ::testing::PrintToString(report.problems);
  }

  [[nodiscard]] formats::Manifest Manifest() const { return ReadManifest(index_, 1).value(); }

  // Replaces the manifest by one that describes the files as they are now.
  void WriteManifest(formats::Manifest manifest) const {
    std::map<std::string, std::uint64_t> header_bytes;
    for (const formats::FileEntry& file : manifest.files) {
      header_bytes[file.path] = file.header_bytes;
    }
    manifest.files.clear();
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(generation_)) {
      if (entry.is_regular_file()) {
        paths.push_back(entry.path().lexically_relative(generation_).string());
      }
    }
    std::ranges::sort(paths);
    for (const std::string& path : paths) {
      if (path == kManifestFile) continue;
      const bool whole = path.starts_with(kRecordsFolder) && !path.ends_with(".sst");
      manifest.files.push_back(
          DescribeFile(generation_, path,
                       whole ? std::filesystem::file_size(generation_ / path) : header_bytes[path])
              .value());
    }
    folder_.Write("index/gen-000001/MANIFEST.json", formats::EncodeManifest(manifest));
  }

  void ChangeManifest(const std::function<void(formats::Manifest&)>& change) const {
    formats::Manifest manifest = Manifest();
    change(manifest);
    WriteManifest(std::move(manifest));
  }

  [[nodiscard]] Store ReadStore() const {
    Store store;
    const auto reader = RecordReader::Open(generation_ / kRecordsFolder).value();
    for (const std::string_view family : kRecordFamilies) {
      std::map<std::string, std::string>& entries = store[std::string(family)];
      const absl::Status status =
          reader->Scan(family, "", [&](std::string_view key, std::string_view value) {
            entries.emplace(key, value);
            return absl::OkStatus();
          });
      EXPECT_TRUE(status.ok()) << status;
    }
    return store;
  }

  // Replaces the record store; the manifest then describes its files. With `consistent` also its
  // keys and digests, so that only the contents can tell.
  void WriteStore(const Store& store, bool consistent) const {
    std::filesystem::remove_all(generation_ / kRecordsFolder);
    const auto writer = RecordWriter::Create(generation_ / kRecordsFolder).value();
    for (const auto& [family, entries] : store) {
      for (const auto& [key, value] : entries) {
        const absl::Status status = writer->Put(family, key, value);
        EXPECT_TRUE(status.ok()) << status;
      }
    }
    const auto families = writer->Finish().value();
    ChangeManifest([&](formats::Manifest& manifest) {
      if (!consistent) return;
      for (const auto& [name, family] : families) {
        manifest.family_keys[name] = family.num_keys;
        manifest.family_digests[name] = family.digest;
      }
    });
  }

  testing::TempFolder folder_;
  const std::filesystem::path index_ = folder_.path() / "index";
  const std::filesystem::path generation_ = index_ / "gen-000001";
};

}  // namespace rag::storage

#endif  // TESTS_STORAGE_VERIFY_TESTING_H_
