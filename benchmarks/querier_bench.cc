#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "benchmarks/forward_segments.h"
#include "benchmarks/made_up_prose.h"
#include "benchmarks/require.h"
#include "indexer/build.h"
#include "querier/bm25_scorer.h"
#include "querier/query.h"
#include "storage/index_reader.h"
#include "tests/testing/temp_folder.h"

namespace rag::benchmarks {
namespace {

void BM_ScoreSegment(benchmark::State& state) {
  const auto num_chunks = static_cast<std::size_t>(state.range(0));
  querier::Question question;
  question.wanted = WantedTerms(5);
  for (const std::uint64_t term : question.wanted) {
    question.terms.push_back({.term = term, .count = 1, .idf = 3});
  }
  const auto view = formats::ForwardSegmentView::Parse(formats::Encode(MakeSegment(1, num_chunks)),
                                                       question.wanted)
                        .value();
  const formats::CorpusTotals totals{.num_documents = 1,
                                     .num_chunks = num_chunks,
                                     .num_sections = num_chunks / 5 + 1,
                                     .chunk_length = 30 * num_chunks,
                                     .section_length = 26 * num_chunks,
                                     .near_length = 100.0 * static_cast<double>(num_chunks)};
  const querier::Bm25Scorer scorer(question, totals);
  for (auto _ : state) benchmark::DoNotOptimize(scorer.ScoreSegment(view));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_ScoreSegment)->ArgName("chunks")->Arg(20)->Arg(1024);

// An index of documents of 20 chunks.
std::unique_ptr<storage::IndexReader> MakeIndex(int num_documents) {
  const testing::TempFolder folder;
  const std::filesystem::path corpus = folder.path() / "corpus";
  std::filesystem::create_directories(corpus);
  for (int i = 0; i < num_documents; ++i) {
    std::ofstream(corpus / (std::to_string(i) + ".md"))
        << MakeProse(static_cast<std::uint64_t>(i), 20);
  }
  indexer::BuildOptions options;
  options.corpus = corpus;
  options.index = folder.path() / "index";
  options.profile = indexer::FindProfile("default").value();
  options.threads = 2;
  Require(indexer::BuildIndex(options).status());
  auto reader = storage::IndexReader::Open(options.index).value();
  // The files may go once they are mapped; shards of chunks are mapped when first used.
  Require(reader->ChunkShard(0).status());
  return reader;
}

// Made on first use. Never destroyed: RocksDB's own statics may go before ours.
const storage::IndexReader& SharedIndex(int num_documents) {
  static auto* const indexes = new std::map<int, std::unique_ptr<storage::IndexReader>>();
  auto& index = (*indexes)[num_documents];
  if (index == nullptr) index = MakeIndex(num_documents);
  return *index;
}

// A whole query on a reader that is open, its pages and blocks in memory.
void BM_Query(benchmark::State& state) {
  const storage::IndexReader& reader = SharedIndex(static_cast<int>(state.range(0)));
  querier::QueryOptions options;
  options.budget_tokens = static_cast<std::uint32_t>(state.range(1));
  std::mt19937_64 random(1);
  std::vector<std::string> questions;
  for (int i = 0; i < 64; ++i) questions.push_back(MakeQuestion(random));
  std::size_t at = 0;
  for (auto _ : state) {
    const auto result = querier::Query(reader, questions[at++ % questions.size()], options);
    Require(result.status());
    benchmark::DoNotOptimize(result->context.data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Query)
    ->ArgNames({"documents", "budget"})
    ->ArgsProduct({{100, 2000}, {250, 1200, 4000}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace rag::benchmarks
