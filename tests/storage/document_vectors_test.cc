#include <omp.h>

#include <cmath>
#include <cstdlib>

#include "tests/storage/vector_files_testing.h"
#include "tests/testing/temp_folder.h"

namespace rag::storage {
namespace {

class DocumentVectors : public VectorFiles {};

TEST_F(DocumentVectors, FewDocumentVectorsAreOneExactList) {
  const VectorFileInfo info = WriteDocuments(Path(), 500);
  EXPECT_EQ(info.num_lists, 1U);
  EXPECT_EQ(info.num_rows, 1250U);
  const auto file = OpenOrDie(Path());
  for (unsigned seed = 0; seed < 5; ++seed) {
    const Rows query = RandomRows(1, seed);
    const auto expected = BestPerId(ScoreAll(*file, 0, query));
    for (const std::size_t k : {0U, 1U, 10U, 500U, 900U}) {
      ExpectBest(*file->SearchDistinct(query, k, 1), expected, k);
    }
  }
}

TEST_F(DocumentVectors, DocumentsNeedNotArriveInOrder) {
  const Rows rows = RandomRows(3, 9);
  DocumentVectorsWriter writer(kDim, kRange);
  const std::vector<std::uint8_t> codes = Encode(rows);
  for (const std::uint32_t document : {7U, 3U, 7U, 3U}) writer.Add(document, codes);
  ASSERT_TRUE(writer.Finish(Path()).ok());
  EXPECT_EQ(Ids(*OpenOrDie(Path())->SearchDistinct(RandomRows(1, 1), 5, 1)),
            (std::vector<std::uint32_t>{3, 7}));
}

TEST_F(DocumentVectors, NoDocumentVectorsGiveNoHits) {
  DocumentVectorsWriter writer(kDim, kRange);
  ASSERT_TRUE(writer.Finish(Path()).ok());
  EXPECT_TRUE(OpenOrDie(Path())->SearchDistinct(Rows(kDim), 5, 1)->empty());
}

TEST_F(DocumentVectors, ManyDocumentVectorsAreInListsOfTheirNeighbours) {
  const VectorFileInfo info = WriteDocuments(Path(), kManyDocuments);
  EXPECT_EQ(info.num_rows, 20'003U);
  EXPECT_EQ(info.num_lists, 141U);
  const auto file = OpenOrDie(Path());
  std::size_t found = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Rows query = *file->ReadList(seed);
    query.resize(kDim);
    const auto exact = Ids(*file->SearchDistinct(query, 10, info.num_lists));
    for (const std::uint32_t id : Ids(*file->SearchDistinct(query, 10, 16))) {
      found += static_cast<std::size_t>(std::ranges::count(exact, id));
    }
  }
  EXPECT_GE(found, 190U) << "of 200";
}

// As a rebuild does it: rows whose list is known, and rows for which it has to be found.
TEST_F(DocumentVectors, TheCentroidsOfAnEarlierFileGiveTheSameFile) {
  WriteDocuments(Path(), kManyDocuments);
  const auto earlier = OpenOrDie(Path());
  struct Row {
    std::uint32_t document = 0;
    std::uint32_t list = 0;
    std::span<const std::uint8_t> code;
  };
  std::vector<Row> rows;
  for (std::uint32_t list = 0; list < earlier->num_lists(); ++list) {
    const std::vector<std::uint32_t> ids = earlier->ReadListIds(list);
    const std::span<const std::uint8_t> codes = *earlier->ListCodes(list);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      rows.push_back({ids[i], list, codes.subspan(i * kDim, kDim)});
    }
  }
  std::ranges::stable_sort(rows, {}, &Row::document);
  DocumentVectorsWriter writer(kDim, kRange);
  writer.UseCentroids(earlier->Centroids());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::span known(&rows[i].list, i % 3 == 0 ? 0 : 1);
    writer.Add(rows[i].document, rows[i].code, known);
  }
  const auto path = Path("rebuilt.faiss");

  ASSERT_TRUE(writer.Finish(path).ok());

  EXPECT_EQ(testing::ReadAll(path), testing::ReadAll(Path()));
}

TEST_F(DocumentVectors, OnlyFilesOfSeveralListsHaveCentroids) {
  WriteDocuments(Path(), 10);
  EXPECT_TRUE(OpenOrDie(Path())->Centroids().empty());
  WriteDocuments(Path(), kManyDocuments);
  const auto file = OpenOrDie(Path());
  EXPECT_EQ(file->Centroids().size(), file->num_lists() * kDim);
}

TEST_F(DocumentVectors, AllProbesAreAnExactSearch) {
  WriteDocuments(Path(), kManyDocuments);
  const auto file = OpenOrDie(Path());
  const Rows query = RandomRows(1, 77);
  std::vector<VectorHit> all;
  for (std::uint64_t list = 0; list < file->num_lists(); ++list) {
    for (const VectorHit& hit : ScoreAll(*file, list, query)) all.push_back(hit);
  }
  ExpectBest(*file->SearchDistinct(query, 50, 10'000), BestPerId(all), 50);
}

TEST_F(DocumentVectors, RowsOfAListKeepTheirOrder) {
  WriteDocuments(Path(), kManyDocuments);
  const auto file = OpenOrDie(Path());
  for (std::uint64_t list = 0; list < file->num_lists(); ++list) {
    EXPECT_TRUE(std::ranges::is_sorted(file->ReadListIds(list)));
  }
}

TEST_F(DocumentVectors, BytesDoNotDependOnTheNumberOfThreads) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  WriteDocuments(Path("one"), kManyDocuments);
  omp_set_num_threads(3);
  WriteDocuments(Path("three"), kManyDocuments);
  EXPECT_EQ(omp_get_max_threads(), 3) << "the writer must restore the setting";
  omp_set_num_threads(threads);
  EXPECT_EQ(ReadBytes(Path("one")), ReadBytes(Path("three")));
}

TEST_F(DocumentVectors, ManyZeroVectorsAreOneList) {
  DocumentVectorsWriter writer(kDim, kRange);
  const std::vector<std::uint8_t> codes = Encode(Rows(100 * kDim));
  for (std::uint32_t d = 0; d < 201; ++d) writer.Add(d, codes);
  const auto info = writer.Finish(Path());
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->num_lists, 1U);
  EXPECT_EQ(Ids(*OpenOrDie(Path())->SearchDistinct(Rows(kDim, 1), 2, 1)),
            (std::vector<std::uint32_t>{0, 1}));
}

std::string Join(const std::vector<float>& numbers) {
  std::string out;
  for (const float x : numbers) out += (out.empty() ? "" : ",") + std::to_string(x);
  return "[" + out + "]";
}

// One entry of HITS.json for check_faiss_files.py.
std::string HitsAsJson(const std::string& name, const VectorFile& file, std::uint64_t list,
                       Rows query) {
  for (float& x : query) x = std::round(x * 64) / 64;  // exact in decimal
  std::vector<float> ids;
  std::vector<float> scores;
  const std::vector<VectorHit> hits = *file.SearchList(list, query, 4);
  for (const VectorHit& hit : hits) {
    ids.push_back(static_cast<float>(hit.id));
    scores.push_back(hit.score);
  }
  return "{\"file\":\"" + name + "\",\"list\":" + std::to_string(list) +
         ",\"query\":" + Join(query) + ",\"ids\":" + Join(ids) + ",\"scores\":" + Join(scores) +
         "}";
}

// The files for tests/python/check_faiss_files.py, when a folder for them is given.
TEST_F(DocumentVectors, WritesFilesForThePythonCheck) {
  const char* given = std::getenv("RAG_FAISS_FILES");
  const fs::path folder = given != nullptr ? fs::path(given) : Path().parent_path();
  WriteDocuments(folder / "docs.faiss", kManyDocuments);
  WriteShard(folder / "chunks.faiss", SomeDocuments());
  std::string json;
  unsigned seed = 0;
  for (const std::string name : {"docs", "chunks"}) {
    const auto file = OpenOrDie(folder / (name + ".faiss"));
    for (std::uint64_t list = 0; list < file->num_lists(); ++list) {
      json += (json.empty() ? "" : ",\n") + HitsAsJson(name, *file, list, RandomRows(1, seed++));
    }
  }
  WriteBytes(folder / "hits.json", "[" + json + "]\n");
  EXPECT_TRUE(fs::exists(folder / "hits.json"));
}

}  // namespace
}  // namespace rag::storage
