#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "benchmarks/forward_segments.h"
#include "formats/forward_index.h"
#include "formats/term_table.h"

namespace rag::benchmarks {
namespace {

// What a query pays for each segment that it looks at.
void BM_ParseSegment(benchmark::State& state) {
  const auto num_chunks = static_cast<std::size_t>(state.range(0));
  const std::string bytes = formats::Encode(MakeSegment(1, num_chunks));
  const std::vector<std::uint64_t> wanted = WantedTerms(static_cast<std::size_t>(state.range(1)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(formats::ForwardSegmentView::Parse(bytes, wanted));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["bytes"] = static_cast<double>(bytes.size());
}
BENCHMARK(BM_ParseSegment)
    ->ArgNames({"chunks", "terms"})
    ->Args({20, 5})
    ->Args({1024, 5})
    ->Args({1024, 20});

void BM_FindTerm(benchmark::State& state) {
  std::mt19937_64 random(1);
  std::vector<formats::TermRow> rows(static_cast<std::size_t>(state.range(0)));
  for (formats::TermRow& row : rows) row = {random(), 1, 1};
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.hash < b.hash; });
  const std::string bytes = formats::EncodeTermTable({}, rows);
  const formats::TermTableView table = formats::TermTableView::Open(bytes, "terms").value();
  std::vector<std::uint64_t> wanted;  // half of them are known
  for (std::size_t i = 0; i < 1024; ++i) {
    wanted.push_back(i % 2 == 0 ? rows[random() % rows.size()].hash : random());
  }
  std::size_t at = 0;
  for (auto _ : state) benchmark::DoNotOptimize(table.Find(wanted[at++ % wanted.size()]));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FindTerm)->ArgName("rows")->Arg(10'000)->Arg(1'000'000);

}  // namespace
}  // namespace rag::benchmarks
