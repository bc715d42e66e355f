// Any question to a sound index. Byte 0: options, byte 1: budget; the rest: the question.
#include <memory>
#include <string>

#include "models/token_counter.h"
#include "querier/query.h"
#include "storage/index_reader.h"
#include "tests/damage/damaged_index.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch_folder.h"

namespace rag::fuzz {
namespace {

const storage::IndexReader& Reader() {
  static const ScratchFolder folder;
  static const testing::DamagedIndex index(folder.path());  // never damaged here
  static const std::unique_ptr<storage::IndexReader> reader =
      storage::IndexReader::Open(index.path()).value();
  return *reader;
}

void CheckResult(const querier::QueryResult& result) {
  Require(result.used_tokens <= result.budget_tokens, "the budget holds");
  const auto counter = models::MakeTokenCounter(Reader().manifest().build.token_counter);
  RequireOk(counter.status());
  Require((*counter)->CountTokens(result.context) == result.used_tokens,
          "what is printed is what was counted");
  for (const querier::IncludedChunk& chunk : result.included) {
    Require(chunk.start < chunk.end && chunk.line_start <= chunk.line_end, "chunks have a place");
  }
  for (std::size_t i = 1; i < result.chunks.size(); ++i) {
    Require(result.chunks[i - 1].score >= result.chunks[i].score, "the best come first");
  }
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  fuzz::Input input(data, size);
  const std::uint8_t flags = input.Byte();
  querier::QueryOptions options;
  options.budget_tokens = input.Byte();
  if ((flags & 1) != 0) options.format = querier::OutputFormat::kPrompt;
  if ((flags & 2) != 0) options.neighbors = (flags & 4) != 0;
  if ((flags & 8) != 0) options.header = static_cast<formats::HeaderStyle>((flags >> 4) % 3);
  if ((flags & 64) != 0) options.top_documents = 1;
  if ((flags & 128) != 0) options.chunks_per_document = 2;

  const auto result = querier::Query(fuzz::Reader(), input.Rest(), options);

  if (result.ok()) {
    fuzz::CheckResult(*result);
  } else {
    fuzz::Require(absl::IsInvalidArgument(result.status()), result.status().ToString());
  }
  return 0;
}
