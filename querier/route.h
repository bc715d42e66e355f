// From a question to scored chunks: the vectors propose documents and chunks inside them, exact
// scores decide. The scorer is the index's own (QueryDefaults::scorer).
#ifndef QUERIER_ROUTE_H_
#define QUERIER_ROUTE_H_

#include <cstdint>
#include <set>
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
// scores above 0, or for a document's vectors above what rounding makes of 0.
class Router {
 public:
  // All borrowed. `left_out`: documents that are no hits; where it is given, chunk vectors that are
  // damaged are done without: all chunks of their documents are scored.
  Router(const storage::IndexReader& reader, const Question& question, ForwardCache& cache,
         const std::set<std::uint32_t>* left_out = nullptr)
      : reader_(reader), question_(question), cache_(cache), left_out_(left_out) {}

  // Documents that may be hits, in no order, with the scores of their vectors.
  [[nodiscard]] absl::StatusOr<std::vector<ScoredDocument>> Propose(
      const RouteLimits& limits) const;
  // The best of them.
  [[nodiscard]] absl::StatusOr<std::vector<ScoredDocument>> Documents(
      std::vector<ScoredDocument> proposed, const RouteLimits& limits) const;
  [[nodiscard]] absl::StatusOr<std::vector<ScoredChunk>> Chunks(
      const std::vector<ScoredDocument>& documents, const RouteLimits& limits) const;

 private:
  [[nodiscard]] bool article() const { return reader_.manifest().query.scorer == "article"; }
  // Raises the scores of documents that hold rare terms of the question, and adds those not yet
  // there.
  absl::Status AddRareDocuments(std::vector<ScoredDocument>& documents) const;
  // Whether a failure of chunk vectors is damage to do without.
  [[nodiscard]] bool DoesWithout(const absl::Status& status) const {
    return left_out_ != nullptr && absl::IsDataLoss(status);
  }
  [[nodiscard]] absl::StatusOr<std::uint64_t> NumChunks(std::uint32_t document) const;
  // The chunks that a document's vectors favour, ascending.
  [[nodiscard]] absl::StatusOr<std::vector<std::uint32_t>> Favoured(std::uint32_t document,
                                                                    std::uint64_t num_chunks,
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
  const std::set<std::uint32_t>* left_out_;
};

}  // namespace rag::querier

#endif  // QUERIER_ROUTE_H_
