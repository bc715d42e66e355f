// From a question to scored chunks: the vectors propose documents and chunks inside them, exact
// scores decide. The scorer is the index's own (QueryDefaults::scorer).
#ifndef QUERIER_ROUTE_H_
#define QUERIER_ROUTE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "querier/forward_cache.h"
#include "querier/question.h"
#include "storage/index_reader.h"

namespace rag::querier {

struct ScoredDocument {
  std::uint32_t document = 0;
  double score = 0;
};
struct ScoredChunk {
  std::uint32_t document = 0;
  std::uint32_t chunk = 0;
  double score = 0;
};

struct RouteLimits {
  std::size_t top_documents = 0;
  std::size_t chunks_per_document = 0;
  std::size_t chunks = 0;  // the best of all documents that go on to packing
};

// "bm25": documents by their best vector; inside each the vectors propose chunks_per_document
// chunks, scored by Bm25Scorer. "article": documents by the article's similarity to their summary,
// inside each chunks by that to the chunk's summary. Score descending, then (document, chunk); only
// scores above 0.
class Router {
 public:
  // All borrowed.
  Router(const storage::IndexReader& reader, const Question& question, ForwardCache& cache)
      : reader_(reader), question_(question), cache_(cache) {}

  [[nodiscard]] absl::StatusOr<std::vector<ScoredDocument>> Documents(
      const RouteLimits& limits) const;
  [[nodiscard]] absl::StatusOr<std::vector<ScoredChunk>> Chunks(
      const std::vector<ScoredDocument>& documents, const RouteLimits& limits) const;

 private:
  [[nodiscard]] bool article() const { return reader_.manifest().query.scorer == "article"; }
  // Raises the scores of documents that hold rare terms of the question, and adds those not yet
  // there.
  absl::Status AddRareDocuments(std::vector<ScoredDocument>& documents) const;
  // The chunks that a document's vectors favour, ascending.
  [[nodiscard]] absl::StatusOr<std::vector<std::uint32_t>> Favoured(std::uint32_t document,
                                                                    std::size_t limit) const;
  // Appends the first chunks of the segments worth reading: all of a document's, or where those are
  // many, those of the `limit` chunks that its vectors favour.
  absl::Status AddSegments(std::uint32_t document, std::size_t limit,
                           std::vector<storage::IndexReader::ChunkRef>& segments) const;
  [[nodiscard]] absl::StatusOr<std::vector<ScoredDocument>> ArticleDocuments(
      std::vector<ScoredDocument> proposed) const;
  [[nodiscard]] absl::StatusOr<std::vector<ScoredChunk>> ArticleChunks(
      std::uint32_t document) const;
  [[nodiscard]] absl::StatusOr<std::vector<ScoredChunk>> Bm25Chunks(
      const std::vector<ScoredDocument>& documents, std::size_t chunks_per_document) const;

  const storage::IndexReader& reader_;
  const Question& question_;
  ForwardCache& cache_;
};

}  // namespace rag::querier

#endif  // QUERIER_ROUTE_H_
