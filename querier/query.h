// The one entry point of the query side: a question in; raw chunks within a token budget, and the
// trace of how they were chosen, out.
//
//   route: documents → chunks inside them → exact scores → candidates (hit, next, previous) → pack
//   → print
#ifndef QUERIER_QUERY_H_
#define QUERIER_QUERY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/forward_index.h"
#include "querier/damage.h"
#include "storage/index_reader.h"

namespace rag::querier {

enum class OutputFormat { kContext, kPrompt };

// What is absent comes from the index's own defaults (formats::QueryDefaults).
struct QueryOptions {
  std::optional<std::uint32_t> budget_tokens;  // at least 1
  std::optional<std::uint32_t> top_documents;
  std::optional<std::uint32_t> chunks_per_document;
  std::optional<bool> neighbors;
  std::optional<formats::HeaderStyle> header;
  OutputFormat format = OutputFormat::kContext;
  // Leaves out documents whose records are damaged, and does without damaged chunk vectors.
  bool skip_damaged = false;
};

struct DocumentHit {
  std::uint32_t document = 0;  // ordinal
  std::string doc_id;
  std::string source;
  double score = 0;
};

// `index` counts from 1 within the document, as chunk ids do.
struct ChunkHit {
  std::string chunk_id;
  std::string doc_id;
  std::string source;
  std::uint32_t index = 0;
  double score = 0;
};

struct IncludedChunk {
  std::string chunk_id;
  std::string doc_id;
  std::string source;
  std::uint32_t index = 0;
  std::uint64_t start = 0;  // bytes of the original file, [start, end)
  std::uint64_t end = 0;
  std::uint32_t line_start = 1;  // 1-based, inclusive
  std::uint32_t line_end = 1;
  std::uint64_t tokens = 0;     // with header and separator, rounded up
  std::optional<double> score;  // absent when the chunk came in as a neighbour
};

struct SkippedChunk {
  std::string chunk_id;
  std::string source;
  std::uint32_t index = 0;
  std::uint64_t tokens = 0;
  std::string reason;  // "budget", or "duplicate of CHUNK_ID", of a file with equal bytes
};

// Microseconds of each step.
struct Timings {
  std::uint64_t analyze = 0;  // text → terms and vectors
  std::uint64_t route = 0;    // question → documents
  std::uint64_t chunks = 0;   // documents → scored chunks
  std::uint64_t pack = 0;     // candidates → included and skipped
  std::uint64_t print = 0;    // raw text → context
  std::uint64_t total = 0;
};

// What was done without.
struct Damage {
  std::vector<std::string> files;          // chunk vectors, a line each: all chunks were scored
  std::vector<DamagedDocument> documents;  // that were met on the way and left out
};

struct QueryResult {
  std::string question;
  std::uint64_t generation = 0;
  std::uint64_t budget_tokens = 0;
  std::uint64_t used_tokens = 0;
  std::uint64_t known_terms = 0;        // terms of the question that the index has, each once
  std::vector<DocumentHit> documents;   // best first
  std::vector<ChunkHit> chunks;         // best first
  std::vector<IncludedChunk> included;  // as printed: by source, then index
  std::vector<SkippedChunk> skipped;    // in the order in which they were tried
  std::string context;                  // or the prompt; ends with a line break unless empty
  std::optional<Damage> damage;         // with skip_damaged
  Timings timings_us;
};

// INVALID_ARGUMENT: blank question, budget 0 or too small for the prompt's frame.
// FAILED_PRECONDITION: the index needs components that this program lacks. DATA_LOSS: damage found
// on the way, with skip_damaged only where no document can be told to have it. A question that
// matches nothing is not an error. Equal scores are ordered by (source, index). Threads: may be
// called concurrently on one reader.
absl::StatusOr<QueryResult> Query(const storage::IndexReader& reader, std::string_view question,
                                  const QueryOptions& options);

}  // namespace rag::querier

#endif  // QUERIER_QUERY_H_
