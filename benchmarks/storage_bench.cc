// Scans of coded vectors, by questions with few components other than 0 (as those that the built-in
// embedder makes: five terms have 20) and by dense ones, which FAISS's own scanner serves.
//
// Measured over 20'000 rows with Debian 12's FAISS 1.7.3 on a shared 2-core machine, in CPU time:
// the sparse question takes 1/7 of the dense one's at 128 dimensions and 1/15 at 512; over a list
// of 20 rows 1/3 and 1/10.
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "benchmarks/require.h"
#include "storage/vector_files.h"
#include "tests/testing/temp_folder.h"

namespace rag::benchmarks {
namespace {

constexpr float kRange = 8;

std::vector<float> RandomRow(std::mt19937_64& random, std::uint32_t dim) {
  std::normal_distribution<float> normal;
  std::vector<float> row(dim);
  for (float& x : row) x = normal(random);
  return row;
}

std::vector<std::uint8_t> RandomCodes(std::size_t num_rows, std::uint32_t dim) {
  std::mt19937_64 random(1);
  const storage::VectorCodec codec(dim, kRange);
  std::vector<std::uint8_t> codes;
  for (std::size_t i = 0; i < num_rows; ++i) Require(codec.Encode(RandomRow(random, dim), codes));
  return codes;
}

std::vector<float> MakeQuery(std::uint32_t dim, bool sparse) {
  std::mt19937_64 random(2);
  if (!sparse) return RandomRow(random, dim);
  std::vector<float> query(dim, 0.0F);
  for (int i = 0; i < 20; ++i) query[random() % dim] = i % 2 == 0 ? 1.5F : -1.5F;
  return query;
}

void BM_SearchList(benchmark::State& state) {
  const auto dim = static_cast<std::uint32_t>(state.range(0));
  const auto num_rows = static_cast<std::size_t>(state.range(1));
  const testing::TempFolder folder;
  const auto path = folder.path() / "chunks.faiss";
  const auto writer = storage::ChunkShardWriter::Create(path, dim, kRange).value();
  Require(writer->AddDocument(RandomCodes(num_rows, dim)));
  Require(writer->Finish().status());
  const auto file = storage::VectorFile::Open(path).value();
  const std::vector<float> query = MakeQuery(dim, state.range(2) != 0);
  for (auto _ : state) benchmark::DoNotOptimize(file->SearchList(0, query, 64));
  state.SetItemsProcessed(state.iterations() * state.range(1));
}
BENCHMARK(BM_SearchList)
    ->ArgNames({"dim", "rows", "sparse"})
    ->ArgsProduct({{128, 512}, {20, 1000}, {0, 1}});

// Four rows a document, as a build writes them; one list, which is an exact scan.
void BM_SearchDistinct(benchmark::State& state) {
  const auto dim = static_cast<std::uint32_t>(state.range(0));
  const auto num_rows = static_cast<std::size_t>(state.range(1));
  const testing::TempFolder folder;
  const auto path = folder.path() / "docs.faiss";
  storage::DocumentVectorsWriter writer(dim, kRange);
  const std::vector<std::uint8_t> codes = RandomCodes(num_rows, dim);
  const std::size_t step = std::size_t{4} * dim;
  for (std::size_t at = 0; at < codes.size(); at += step) {
    writer.Add(static_cast<std::uint32_t>(at / step), {codes.data() + at, step});
  }
  Require(writer.Finish(path).status());
  const auto file = storage::VectorFile::Open(path).value();
  const std::vector<float> query = MakeQuery(dim, state.range(2) != 0);
  for (auto _ : state) benchmark::DoNotOptimize(file->SearchDistinct(query, 20, 32));
  state.SetItemsProcessed(state.iterations() * state.range(1));
}
BENCHMARK(BM_SearchDistinct)
    ->ArgNames({"dim", "rows", "sparse"})
    ->ArgsProduct({{128, 512}, {20'000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace rag::benchmarks
