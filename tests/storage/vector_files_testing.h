// What the tests of FAISS files share: small corpora of vectors, and a plain reference for
// searches.
#ifndef TESTS_STORAGE_VECTOR_FILES_TESTING_H_
#define TESTS_STORAGE_VECTOR_FILES_TESTING_H_

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/vector_files.h"

namespace rag::storage {

namespace fs = std::filesystem;

inline constexpr std::uint32_t kDim = 24;
inline constexpr float kRange = 1.5F;
inline constexpr float kTolerance = 1e-4F;

using Rows = std::vector<float>;

class VectorFiles : public ::testing::Test {
 protected:
  VectorFiles() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::path(::testing::TempDir()) / (std::string("vector-files-") + test->test_suite_name() +
                                          test->name() + "-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  ~VectorFiles() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path Path(const std::string& name = "x.faiss") const { return folder_ / name; }

 private:
  fs::path folder_;
};

inline Rows RandomRows(std::size_t n, unsigned seed, std::uint32_t dim = kDim) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.5F);
  Rows rows(n * dim);
  for (float& x : rows) x = normal(random);
  return rows;
}

// Random rows with a zero row in front and every third row equal to the one before.
inline Rows TrickyRows(std::size_t n, unsigned seed) {
  Rows rows = RandomRows(n, seed);
  std::fill_n(rows.begin(), n > 0 ? kDim : 0, 0.0F);
  for (std::size_t i = 2; i < n; i += 3) {
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>((i - 1) * kDim), kDim,
                rows.begin() + static_cast<std::ptrdiff_t>(i * kDim));
  }
  return rows;
}

inline std::vector<std::uint8_t> Encode(const Rows& rows, std::uint32_t dim = kDim) {
  std::vector<std::uint8_t> codes;
  EXPECT_TRUE(VectorCodec(dim, kRange).Encode(rows, codes).ok());
  return codes;
}

inline VectorFileInfo WriteShard(const fs::path& path, const std::vector<Rows>& documents,
                                 std::uint32_t dim = kDim) {
  auto writer = ChunkShardWriter::Create(path, dim, kRange);
  EXPECT_TRUE(writer.ok()) << writer.status();
  for (const Rows& rows : documents) {
    EXPECT_TRUE((*writer)->AddDocument(Encode(rows, dim)).ok());
  }
  auto info = (*writer)->Finish();
  EXPECT_TRUE(info.ok()) << info.status();
  return *info;
}

inline std::unique_ptr<VectorFile> OpenOrDie(const fs::path& path) {
  auto file = VectorFile::Open(path);
  EXPECT_TRUE(file.ok()) << file.status();
  return *std::move(file);
}

// Documents d = 0, 1 … with 1 + d % 4 rows each, in clusters.
inline VectorFileInfo WriteDocuments(const fs::path& path, std::uint32_t documents) {
  const Rows centres = RandomRows(40, 5);
  const Rows noise = RandomRows(std::size_t{documents} * 4, 6);
  DocumentVectorsWriter writer(kDim, kRange);
  std::size_t row = 0;
  for (std::uint32_t d = 0; d < documents; ++d) {
    Rows rows((1 + d % 4) * kDim);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i] = centres[(d * 7 % 40) * kDim + i % kDim] + 0.3F * noise[row++];
    }
    writer.Add(d, Encode(rows));
  }
  auto info = writer.Finish(path);
  EXPECT_TRUE(info.ok()) << info.status();
  return *info;
}

inline std::string ReadBytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void WriteBytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline float Dot(const float* a, const float* b, std::uint32_t dim = kDim) {
  double sum = 0;
  for (std::uint32_t i = 0; i < dim; ++i) sum += double{a[i]} * double{b[i]};
  return static_cast<float>(sum);
}

// Scores of the rows of a list, by the plain definition.
inline std::vector<VectorHit> ScoreAll(const VectorFile& file, std::uint64_t list,
                                       const Rows& query) {
  const Rows rows = *file.ReadList(list);
  const std::vector<std::uint32_t> ids = file.ReadListIds(list);
  std::vector<VectorHit> hits;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    hits.push_back({ids[i], Dot(&rows[i * file.dim()], query.data(), file.dim())});
  }
  return hits;
}

// That `hits` are k of `all` with the best scores, up to rounding, and in the promised order.
inline void ExpectBest(const std::vector<VectorHit>& hits, std::vector<VectorHit> all,
                       std::size_t k) {
  ASSERT_EQ(hits.size(), std::min(k, all.size()));
  std::map<std::uint32_t, float> score_of;
  for (const VectorHit& hit : all) score_of[hit.id] = hit.score;
  std::ranges::sort(all, [](const auto& a, const auto& b) { return a.score > b.score; });
  for (std::size_t i = 0; i < hits.size(); ++i) {
    EXPECT_NEAR(hits[i].score, all[i].score, kTolerance);
    EXPECT_NEAR(hits[i].score, score_of.at(hits[i].id), kTolerance);
    if (i == 0) continue;
    EXPECT_TRUE(hits[i - 1].score > hits[i].score ||
                (hits[i - 1].score == hits[i].score && hits[i - 1].id < hits[i].id));
  }
}

inline std::vector<VectorHit> BestPerId(const std::vector<VectorHit>& hits) {
  std::map<std::uint32_t, float> best;
  for (const VectorHit& hit : hits) {
    const auto [entry, inserted] = best.emplace(hit.id, hit.score);
    if (!inserted) entry->second = std::max(entry->second, hit.score);
  }
  std::vector<VectorHit> out;
  for (const auto& [id, score] : best) out.push_back({id, score});
  return out;
}

inline std::vector<std::uint32_t> Ids(const std::vector<VectorHit>& hits) {
  std::vector<std::uint32_t> ids;
  for (const VectorHit& hit : hits) ids.push_back(hit.id);
  return ids;
}

// 8,002 documents have 20,003 rows: just above kExactRows.
inline constexpr std::uint32_t kManyDocuments = 8'002;

inline std::vector<Rows> SomeDocuments() {
  std::vector<Rows> documents;
  unsigned seed = 0;
  for (const std::size_t n : {3U, 0U, 1U, 40U, 0U, 7U}) documents.push_back(TrickyRows(n, seed++));
  return documents;
}

}  // namespace rag::storage

#endif  // TESTS_STORAGE_VECTOR_FILES_TESTING_H_
