#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "benchmarks/made_up_prose.h"
#include "indexer/analyzed_document.h"
#include "indexer/recursive_splitter.h"
#include "indexer/sentence_splitter.h"
#include "indexer/sentences.h"
#include "indexer/splitter.h"
#include "indexer/summarizer.h"
#include "indexer/token_splitter.h"
#include "models/token_counter.h"
#include "models/words.h"

namespace rag::benchmarks {
namespace {

constexpr auto kMarkdown = formats::MediaType::kMarkdown;

void Split(benchmark::State& state, const indexer::Splitter& splitter) {
  const std::string text = MakeProse(1, static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(splitter.Split(text, kMarkdown));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void BM_SplitStructure(benchmark::State& state) {
  Split(state, *indexer::MakeStructureSplitter({}).value());
}
BENCHMARK(BM_SplitStructure)->ArgName("paragraphs")->Arg(20)->Arg(2000);

void BM_SplitArticle(benchmark::State& state) { Split(state, *indexer::MakeArticleSplitter()); }
BENCHMARK(BM_SplitArticle)->ArgName("paragraphs")->Arg(20)->Arg(2000);

void BM_SplitRecursive(benchmark::State& state) {
  Split(state, *indexer::MakeRecursiveSplitter({}, {}).value());
}
BENCHMARK(BM_SplitRecursive)->ArgName("paragraphs")->Arg(20)->Arg(2000);

void BM_SplitRecursiveWithOverlap(benchmark::State& state) {
  Split(state, *indexer::MakeRecursiveSplitter({.size = 400, .overlap = 50}, {}).value());
}
BENCHMARK(BM_SplitRecursiveWithOverlap)->ArgName("paragraphs")->Arg(20)->Arg(2000);

// No paragraph fits, so that most is cut at words.
void BM_SplitRecursiveSmall(benchmark::State& state) {
  Split(state, *indexer::MakeRecursiveSplitter({.size = 40}, {}).value());
}
BENCHMARK(BM_SplitRecursiveSmall)->ArgName("paragraphs")->Arg(20)->Arg(2000);

void BM_SplitSentence(benchmark::State& state) {
  Split(state, *indexer::MakeSentenceSplitter({}, {}).value());
}
BENCHMARK(BM_SplitSentence)->ArgName("paragraphs")->Arg(20)->Arg(2000);

void BM_SplitTokens(benchmark::State& state) {
  Split(state, *indexer::MakeTokenSplitter(
                    {}, models::MakeTokenCounter(models::kDefaultTokenCounter).value())
                    .value());
}
BENCHMARK(BM_SplitTokens)->ArgName("paragraphs")->Arg(20)->Arg(2000);

// A document as the summarisers see it, with the texts that it points into.
struct ReadDocument {
  explicit ReadDocument(int num_paragraphs) : bytes(MakeProse(1, num_paragraphs)) {
    models::TermAnalyzer analyzer;
    text.text = bytes;
    const auto splitter = indexer::MakeStructureSplitter({}).value();
    for (const indexer::SplitChunk& chunk : splitter->Split(bytes, kMarkdown).chunks) {
      text.chunks.push_back(chunk.range);
      text.chunk_first_sentence.push_back(static_cast<std::uint32_t>(text.sentences.size()));
      const std::string_view body = text.text.substr(chunk.range.start, chunk.range.size());
      for (const formats::Span& range : indexer::SplitSentences(body)) {
        indexer::Sentence sentence;
        sentence.range = {chunk.range.start + range.start, chunk.range.start + range.end};
        analyzer.AppendTermHashes(body.substr(range.start, range.size()), sentence.terms);
        text.sentences.push_back(std::move(sentence));
      }
    }
    text.chunk_first_sentence.push_back(static_cast<std::uint32_t>(text.sentences.size()));
  }
  std::string bytes;
  indexer::DocumentText text;
};

void BM_SummarizeCover(benchmark::State& state) {
  const ReadDocument document(static_cast<int>(state.range(0)));
  const auto summarizer =
      indexer::MakeCoverSummarizer({}, [](std::uint64_t hash) { return 1.0 + double(hash % 7); });
  for (auto _ : state) {
    std::vector<indexer::DraftSummary> summaries;
    for (std::uint32_t i = 0; i < document.text.chunks.size(); ++i) {
      summaries.push_back(summarizer->SummarizeChunk(document.text, i));
    }
    benchmark::DoNotOptimize(summarizer->Reduce(document.text, summaries, true));
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(document.text.chunks.size()));
}
BENCHMARK(BM_SummarizeCover)->ArgName("paragraphs")->Arg(20)->Arg(200);

// The whole first pass over a document: split, count terms, encode.
void BM_AnalyzeDocument(benchmark::State& state) {
  const std::string text = MakeProse(1, static_cast<int>(state.range(0)));
  const auto splitter = indexer::MakeStructureSplitter({}).value();
  const auto counter = models::MakeTokenCounter(models::kDefaultTokenCounter).value();
  models::TermAnalyzer analyzer;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        indexer::AnalyzeDocument("a.md", "a.md", text, kMarkdown, *splitter, *counter, analyzer));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(BM_AnalyzeDocument)->ArgName("paragraphs")->Arg(20)->Arg(2000);

}  // namespace
}  // namespace rag::benchmarks
