// Small indexes for tests, made by the real build and opened by the real reader.
#ifndef TESTS_TESTING_TEST_INDEX_H_
#define TESTS_TESTING_TEST_INDEX_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "indexer/build.h"
#include "storage/index_reader.h"
#include "tests/testing/made_up_text.h"
#include "tests/testing/temp_folder.h"

namespace rag::testing {

using Corpus = std::map<std::string, std::string>;  // source -> text

inline indexer::Profile DefaultProfile() { return indexer::FindProfile("default").value(); }

// A chunk of every line that a blank line ends, up to about 40 characters.
inline indexer::Profile TinyChunks() {
  indexer::Profile profile = DefaultProfile();
  profile.structure = {.target = 40, .cap = 200, .hard_max = 400};
  return profile;
}

class TestIndex {
 public:
  explicit TestIndex(const Corpus& corpus, indexer::Profile profile = TinyChunks(),
                     const std::string& source_prefix = "") {
    for (const auto& [source, text] : corpus) folder_.Write("corpus/" + source, text);
    indexer::BuildOptions options;
    options.corpus = folder_.path() / "corpus";
    options.index = folder_.path() / "index";
    options.profile = std::move(profile);
    options.source_prefix = source_prefix;
    options.threads = 2;
    const absl::StatusOr<indexer::BuildReport> report = indexer::BuildIndex(options);
    EXPECT_TRUE(report.ok()) << report.status();
    reader_ = storage::IndexReader::Open(options.index).value();
  }

  [[nodiscard]] const storage::IndexReader& reader() const { return *reader_; }
  [[nodiscard]] formats::DocumentRecord Document(std::uint32_t document) const {
    return reader_->Document(document).value();
  }
  [[nodiscard]] formats::ChunkRecord Chunk(std::uint32_t document, std::uint32_t chunk) const {
    const storage::IndexReader::ChunkRef ref{document, chunk};
    return reader_->Chunks({&ref, 1}).value().front();
  }

 private:
  TempFolder folder_;
  std::unique_ptr<storage::IndexReader> reader_;
};

}  // namespace rag::testing

#endif  // TESTS_TESTING_TEST_INDEX_H_
