#include "storage/vector_files.h"

#include <limits>
#include <thread>

#include <faiss/IndexFlat.h>
#include <faiss/IndexScalarQuantizer.h>
#include <faiss/impl/io.h>
#include <faiss/index_io.h>

#include "tests/storage/vector_files_testing.h"

namespace rag::storage {
namespace {

// The file that FAISS writes for the same lists, held in memory.
std::string WrittenByFaiss(const std::vector<Rows>& documents) {
  faiss::IndexFlatIP no_centroids(kDim);
  faiss::IndexIVFScalarQuantizer index(&no_centroids, kDim, documents.size(),
                                       faiss::ScalarQuantizer::QT_8bit_uniform,
                                       faiss::METRIC_INNER_PRODUCT, false);
  index.sq.trained = {-kRange, 2 * kRange};
  index.is_trained = true;
  index.nprobe = std::min<std::size_t>(documents.size(), 16);
  for (std::size_t list = 0; list < documents.size(); ++list) {
    const auto n = static_cast<faiss::Index::idx_t>(documents[list].size() / kDim);
    std::vector<faiss::Index::idx_t> ids;
    for (faiss::Index::idx_t id = 0; id < n; ++id) ids.push_back(id);
    const std::vector<faiss::Index::idx_t> lists(ids.size(),
                                                 static_cast<faiss::Index::idx_t>(list));
    if (n > 0) index.add_core(n, documents[list].data(), ids.data(), lists.data());
  }
  faiss::VectorIOWriter writer;
  faiss::write_index(&index, &writer);
  return {writer.data.begin(), writer.data.end()};
}

TEST(VectorCodec, GivesTheBytesOfFaiss) {
  const Rows rows = RandomRows(50, 1);
  faiss::ScalarQuantizer quantizer(kDim, faiss::ScalarQuantizer::QT_8bit_uniform);
  quantizer.trained = {-kRange, 2 * kRange};
  std::vector<std::uint8_t> expected(rows.size());
  quantizer.compute_codes(rows.data(), expected.data(), 50);
  EXPECT_EQ(Encode(rows), expected);
}

TEST(VectorCodec, AppendsToTheCodes) {
  std::vector<std::uint8_t> codes = {9};
  ASSERT_TRUE(VectorCodec(kDim, kRange).Encode(Rows(kDim), codes).ok());
  EXPECT_EQ(codes.size(), 1 + kDim);
  EXPECT_EQ(codes[0], 9);
}

TEST(VectorCodec, ClampsWhatIsOutOfRange) {
  const std::vector<std::uint8_t> codes = Encode(Rows{-1e30F, 1e30F}, 2);
  EXPECT_EQ(codes, (std::vector<std::uint8_t>{0, 255}));
}

TEST(VectorCodec, RefusesWhatIsNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    Rows rows(2 * kDim);
    rows[kDim + 3] = bad;
    std::vector<std::uint8_t> codes;
    EXPECT_EQ(VectorCodec(kDim, kRange).Encode(rows, codes).code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(codes.empty());
  }
}

TEST(VectorCodec, RefusesPartsOfRows) {
  std::vector<std::uint8_t> codes;
  EXPECT_EQ(VectorCodec(kDim, kRange).Encode(Rows(kDim + 1), codes).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(VectorFiles, ShardIsByteIdenticalToWhatFaissWrites) {
  WriteShard(Path(), SomeDocuments());
  EXPECT_EQ(ReadBytes(Path()), WrittenByFaiss(SomeDocuments()));
}

TEST_F(VectorFiles, ShardLeavesNoSpool) {
  WriteShard(Path(), SomeDocuments());
  EXPECT_FALSE(fs::exists(Path("x.faiss.tmp")));
}

TEST_F(VectorFiles, AbandonedShardLeavesNothing) {
  {
    auto writer = ChunkShardWriter::Create(Path(), kDim, kRange);
    ASSERT_TRUE((*writer)->AddDocument(Encode(RandomRows(3, 1))).ok());
  }
  EXPECT_TRUE(fs::is_empty(Path().parent_path()));
}

TEST_F(VectorFiles, ShardCannotBeFinishedTwice) {
  auto writer = ChunkShardWriter::Create(Path(), kDim, kRange);
  ASSERT_TRUE((*writer)->Finish().ok());
  EXPECT_EQ((*writer)->Finish().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ((*writer)->AddDocument({}).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(VectorFiles, ShardRefusesPartsOfRows) {
  auto writer = ChunkShardWriter::Create(Path(), kDim, kRange);
  EXPECT_EQ((*writer)->AddDocument(std::vector<std::uint8_t>(kDim + 1)).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(VectorFiles, ShardRefusesAMissingFolder) {
  EXPECT_FALSE(ChunkShardWriter::Create(Path("no/such/x.faiss"), kDim, kRange).ok());
}

TEST_F(VectorFiles, InfoCountsListsRowsAndHeader) {
  const VectorFileInfo info = WriteShard(Path(), SomeDocuments());
  EXPECT_EQ(info.num_lists, 6U);
  EXPECT_EQ(info.num_rows, 51U);
  EXPECT_EQ(info.header_bytes + 51 * (kDim + 8), fs::file_size(Path()));
}

TEST_F(VectorFiles, ReadsBackTheRowsOfEveryList) {
  const std::vector<Rows> documents = SomeDocuments();
  WriteShard(Path(), documents);
  const auto file = OpenOrDie(Path());
  EXPECT_EQ(file->dim(), kDim);
  EXPECT_EQ(file->num_rows(), 51U);
  ASSERT_EQ(file->num_lists(), documents.size());
  for (std::uint64_t list = 0; list < documents.size(); ++list) {
    const Rows rows = *file->ReadList(list);
    ASSERT_EQ(rows.size(), documents[list].size());
    EXPECT_EQ(file->list_size(list) * kDim, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const float expected = std::clamp(documents[list][i], -kRange, kRange);
      EXPECT_NEAR(rows[i], expected, kRange / 255 + 1e-6F);
    }
    const std::vector<std::uint32_t> ids = file->ReadListIds(list);
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], i);
  }
}

TEST_F(VectorFiles, ShardWithoutDocumentsOpens) {
  WriteShard(Path(), {});
  const auto file = OpenOrDie(Path());
  EXPECT_EQ(file->num_lists(), 0U);
  EXPECT_EQ(file->SearchList(0, Rows(kDim), 1).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(file->SearchDistinct(Rows(kDim), 3, 3)->empty());
}

TEST_F(VectorFiles, SearchListAgreesWithBruteForce) {
  WriteShard(Path(), SomeDocuments());
  const auto file = OpenOrDie(Path());
  for (unsigned seed = 100; seed < 110; ++seed) {
    const Rows query = RandomRows(1, seed);
    for (std::uint64_t list = 0; list < file->num_lists(); ++list) {
      for (const std::size_t k : {0U, 1U, 2U, 5U, 40U, 1000U}) {
        const auto hits = file->SearchList(list, query, k);
        ASSERT_TRUE(hits.ok()) << hits.status();
        ExpectBest(*hits, ScoreAll(*file, list, query), k);
      }
    }
  }
}

TEST_F(VectorFiles, TiesGoToTheLowestIds) {
  WriteShard(Path(), {Rows(30 * kDim, 0.25F)});
  const auto hits = OpenOrDie(Path())->SearchList(0, Rows(kDim, 1.0F), 4);
  EXPECT_EQ(Ids(*hits), (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST_F(VectorFiles, FewerHitsAreAPrefixOfMore) {
  WriteShard(Path(), {TrickyRows(60, 3)});
  const auto file = OpenOrDie(Path());
  const Rows query = RandomRows(1, 4);
  const std::vector<std::uint32_t> all = Ids(*file->SearchList(0, query, 60));
  for (std::size_t k = 0; k <= 60; ++k) {
    EXPECT_EQ(Ids(*file->SearchList(0, query, k)),
              std::vector<std::uint32_t>(all.begin(), all.begin() + static_cast<int>(k)));
  }
}

TEST_F(VectorFiles, ZeroQueryReturnsTheFirstRows) {
  WriteShard(Path(), {RandomRows(9, 3)});
  EXPECT_EQ(Ids(*OpenOrDie(Path())->SearchList(0, Rows(kDim), 3)),
            (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST_F(VectorFiles, HugeQueryStillFindsAllRows) {
  WriteShard(Path(), {RandomRows(9, 3)});
  const Rows query(kDim, std::numeric_limits<float>::max());
  EXPECT_EQ(OpenOrDie(Path())->SearchList(0, query, 20)->size(), 9U);
}

TEST_F(VectorFiles, RefusesBadQueries) {
  WriteShard(Path(), {RandomRows(9, 3)});
  const auto file = OpenOrDie(Path());
  Rows not_finite(kDim);
  not_finite[5] = std::numeric_limits<float>::quiet_NaN();
  Rows infinite(kDim);
  infinite[0] = std::numeric_limits<float>::infinity();
  for (const Rows& query : {Rows(kDim - 1), Rows(kDim + 1), Rows(), not_finite, infinite}) {
    EXPECT_EQ(file->SearchList(0, query, 1).status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(file->SearchDistinct(query, 1, 1).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(VectorFiles, RefusesMissingLists) {
  WriteShard(Path(), {RandomRows(9, 3)});
  const auto file = OpenOrDie(Path());
  EXPECT_EQ(file->SearchList(1, Rows(kDim), 1).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(file->ReadList(1).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(file->ReadListIds(1).empty());
  EXPECT_EQ(file->list_size(1), 0U);
}

TEST_F(VectorFiles, ManyListsWithoutCentroidsCannotBeProbed) {
  WriteShard(Path(), SomeDocuments());
  EXPECT_EQ(OpenOrDie(Path())->SearchDistinct(Rows(kDim), 1, 2).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(VectorFiles, SearchesMayRunConcurrently) {
  WriteShard(Path(), {TrickyRows(200, 1)});
  const auto file = OpenOrDie(Path());
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&file, seed] {
      const Rows query = RandomRows(1, seed);
      for (int i = 0; i < 20; ++i) {
        ExpectBest(*file->SearchList(0, query, 5), ScoreAll(*file, 0, query), 5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::uint64_t ResidentBytes() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  in >> total_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

TEST_F(VectorFiles, OpeningMapsInsteadOfReading) {
  constexpr std::uint32_t kWide = 256;
  {
    auto writer = ChunkShardWriter::Create(Path(), kWide, kRange);
    const std::vector<std::uint8_t> codes(std::size_t{1000} * kWide, 1);
    for (int i = 0; i < 200; ++i) ASSERT_TRUE((*writer)->AddDocument(codes).ok());
    ASSERT_TRUE((*writer)->Finish().ok());
  }
  ASSERT_GT(fs::file_size(Path()), 50'000'000U);
  const std::uint64_t before = ResidentBytes();
  const auto file = OpenOrDie(Path());
  EXPECT_LT(ResidentBytes(), before + 3'000'000);
  EXPECT_EQ(file->num_rows(), 200'000U);
}

}  // namespace
}  // namespace rag::storage
