#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "benchmarks/made_up_prose.h"
#include "models/token_counter.h"
#include "models/words.h"

namespace rag::benchmarks {
namespace {

// About 64 KiB: ASCII prose, or prose in which every word has a mark to strip.
std::string MakeText(bool ascii) {
  std::string text = MakeProse(1, 240);
  if (ascii) return text;
  std::string marked;
  for (const char c : text) {
    if (c == 'x') {
      marked += "é";
    } else {
      marked += c;
    }
  }
  return marked;
}

void BM_AppendTermHashes(benchmark::State& state) {
  const std::string text = MakeText(state.range(0) != 0);
  models::TermAnalyzer analyzer;
  std::vector<std::uint64_t> hashes;
  for (auto _ : state) {
    hashes.clear();
    analyzer.AppendTermHashes(text, hashes);
    benchmark::DoNotOptimize(hashes.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(BM_AppendTermHashes)->ArgName("ascii")->Arg(1)->Arg(0);

void BM_CountTokens(benchmark::State& state) {
  const std::string text = MakeText(state.range(0) != 0);
  const auto counter = models::MakeTokenCounter(models::kDefaultTokenCounter).value();
  for (auto _ : state) benchmark::DoNotOptimize(counter->Cost(text));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(BM_CountTokens)->ArgName("ascii")->Arg(1)->Arg(0);

}  // namespace
}  // namespace rag::benchmarks
