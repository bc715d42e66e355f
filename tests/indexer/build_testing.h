// The fixture of the tests of builds: a corpus folder, an index folder, and options for both.
#ifndef TESTS_INDEXER_BUILD_TESTING_H_
#define TESTS_INDEXER_BUILD_TESTING_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "indexer/build.h"
#include "storage/index_reader.h"
#include "tests/testing/temp_folder.h"
#include "tests/testing/test_index.h"

namespace rag::indexer {

class BuildTest : public ::testing::Test {
 protected:
  BuildTest() {
    std::filesystem::create_directories(folder_.path() / "corpus");
    options_.corpus = folder_.path() / "corpus";
    options_.index = folder_.path() / "index";
    options_.profile = testing::TinyChunks();
    options_.threads = 2;
    options_.program = "rag-index test";
    options_.created = "2024-01-01T00:00:00Z";
  }

  void Write(const std::string& source, std::string_view bytes) const {
    folder_.Write("corpus/" + source, bytes);
  }
  void WriteRandomCorpus(int num_documents) const {
    for (int i = 0; i < num_documents; ++i) {
      Write("d" + std::to_string(i) + ".md",
            testing::RandomDocument(static_cast<std::uint64_t>(i), 1 + i % 9, 3, 100));
    }
  }
  BuildReport Build() const {
    absl::StatusOr<BuildReport> report = BuildIndex(options_);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *std::move(report) : BuildReport();
  }
  [[nodiscard]] std::unique_ptr<storage::IndexReader> Open() const {
    return storage::IndexReader::Open(options_.index).value();
  }
  [[nodiscard]] static std::vector<formats::DocumentRecord> Documents(
      const storage::IndexReader& reader) {
    std::vector<std::uint32_t> ordinals;
    for (std::uint32_t i = 0; i < reader.manifest().counts.documents; ++i) ordinals.push_back(i);
    return reader.Documents(ordinals).value();
  }
  [[nodiscard]] static std::vector<std::string> Sources(const storage::IndexReader& reader) {
    std::vector<std::string> sources;
    for (const auto& document : Documents(reader)) sources.push_back(document.source);
    return sources;
  }

  testing::TempFolder folder_;
  BuildOptions options_;
};

}  // namespace rag::indexer

#endif  // TESTS_INDEXER_BUILD_TESTING_H_
