#include "querier/route.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "formats/status_macros.h"
#include "models/article_words.h"
#include "querier/bm25_scorer.h"

namespace rag::querier {
namespace {

using storage::IndexReader;
using storage::VectorHit;

// Lists of docs.faiss that are scanned when it has more than one.
constexpr std::size_t kProbes = 32;
// The article compares the question with everything; beyond this many the vectors choose.
constexpr std::size_t kArticleProposals = 4096;

void Sort(std::vector<ScoredDocument>& hits) {
  std::sort(hits.begin(), hits.end(), [](const ScoredDocument& a, const ScoredDocument& b) {
    return std::tuple(-a.score, a.document) < std::tuple(-b.score, b.document);
  });
}

void Sort(std::vector<ScoredChunk>& hits) {
  std::sort(hits.begin(), hits.end(), [](const ScoredChunk& a, const ScoredChunk& b) {
    return std::tuple(-a.score, a.document, a.chunk) < std::tuple(-b.score, b.document, b.chunk);
  });
}

template <typename Hit>
void KeepPositive(std::vector<Hit>& hits) {
  std::erase_if(hits, [](const Hit& hit) { return hit.score <= 0; });
}

}  // namespace

absl::StatusOr<std::vector<ScoredDocument>> Router::Documents(const RouteLimits& limits) const {
  const std::size_t proposals = article() ? kArticleProposals : limits.top_documents;
  RAG_ASSIGN_OR_RETURN(
      const std::vector<VectorHit> hits,
      reader_.document_vectors().SearchDistinct(question_.document_vector, proposals, kProbes));
  std::vector<ScoredDocument> documents;
  documents.reserve(hits.size());
  for (const VectorHit& hit : hits) documents.push_back({hit.id, hit.score});
  if (article()) {
    RAG_ASSIGN_OR_RETURN(documents, ArticleDocuments(std::move(documents)));
  }
  KeepPositive(documents);
  Sort(documents);
  if (documents.size() > limits.top_documents) documents.resize(limits.top_documents);
  return documents;
}

absl::StatusOr<std::vector<ScoredDocument>> Router::ArticleDocuments(
    std::vector<ScoredDocument> proposed) const {
  std::vector<std::uint32_t> ordinals;
  ordinals.reserve(proposed.size());
  for (const ScoredDocument& hit : proposed) ordinals.push_back(hit.document);
  RAG_ASSIGN_OR_RETURN(const std::vector<formats::DocumentRecord> records,
                       reader_.Documents(ordinals));
  for (std::size_t i = 0; i < proposed.size(); ++i) {
    proposed[i].score = models::ArticleSimilarity(question_.text, records[i].summary.text);
  }
  return proposed;
}

absl::StatusOr<std::vector<std::uint32_t>> Router::Propose(std::uint32_t document,
                                                           std::size_t limit) const {
  RAG_ASSIGN_OR_RETURN(const std::uint64_t num_chunks, reader_.NumChunks(document));
  std::vector<std::uint32_t> chunks;
  if (num_chunks <= limit) {  // nothing to choose: the vectors need not be looked at
    chunks.resize(num_chunks);
    std::iota(chunks.begin(), chunks.end(), 0U);
    return chunks;
  }
  RAG_ASSIGN_OR_RETURN(const std::vector<VectorHit> hits,
                       reader_.SearchDocument(document, question_.chunk_vector, limit));
  chunks.reserve(hits.size());
  for (const VectorHit& hit : hits) chunks.push_back(hit.id);
  return chunks;
}

absl::StatusOr<std::vector<ScoredChunk>> Router::Chunks(
    const std::vector<ScoredDocument>& documents, const RouteLimits& limits) const {
  const std::size_t proposals = article() ? kArticleProposals : limits.chunks_per_document;
  std::vector<std::vector<std::uint32_t>> proposed;
  proposed.reserve(documents.size());
  for (const ScoredDocument& hit : documents) {
    RAG_ASSIGN_OR_RETURN(std::vector<std::uint32_t> of_document, Propose(hit.document, proposals));
    proposed.push_back(std::move(of_document));
  }
  std::vector<ScoredChunk> chunks;
  if (article()) {
    for (std::size_t i = 0; i < documents.size(); ++i) {
      RAG_ASSIGN_OR_RETURN(std::vector<ScoredChunk> scored,
                           ArticleChunks(documents[i].document, proposed[i]));
      if (scored.size() > limits.chunks_per_document) scored.resize(limits.chunks_per_document);
      chunks.insert(chunks.end(), scored.begin(), scored.end());
    }
  } else {
    RAG_ASSIGN_OR_RETURN(chunks, Bm25Chunks(documents, proposed));
  }
  KeepPositive(chunks);
  Sort(chunks);
  if (chunks.size() > limits.chunks) chunks.resize(limits.chunks);
  return chunks;
}

absl::StatusOr<std::vector<ScoredChunk>> Router::ArticleChunks(
    std::uint32_t document, const std::vector<std::uint32_t>& proposed) const {
  std::vector<IndexReader::ChunkRef> refs;
  refs.reserve(proposed.size());
  for (const std::uint32_t chunk : proposed) refs.push_back({document, chunk});
  RAG_ASSIGN_OR_RETURN(const std::vector<formats::ChunkRecord> records, reader_.Chunks(refs));
  std::vector<ScoredChunk> chunks;
  for (std::size_t i = 0; i < refs.size(); ++i) {
    chunks.push_back({document, refs[i].chunk,
                      models::ArticleSimilarity(question_.text, records[i].summary.text)});
  }
  KeepPositive(chunks);
  Sort(chunks);
  return chunks;
}

absl::StatusOr<std::vector<ScoredChunk>> Router::Bm25Chunks(
    const std::vector<ScoredDocument>& documents,
    const std::vector<std::vector<std::uint32_t>>& proposed) const {
  std::vector<IndexReader::ChunkRef> refs;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    for (const std::uint32_t chunk : proposed[i]) {
      refs.push_back({documents[i].document, chunk});
    }
  }
  RAG_RETURN_IF_ERROR(cache_.Load(refs));
  const Bm25Scorer scorer(question_, reader_.terms().totals());
  std::map<const formats::ForwardSegmentView*, std::vector<double>> scored;
  std::vector<ScoredChunk> chunks;
  chunks.reserve(refs.size());
  for (const IndexReader::ChunkRef& ref : refs) {
    RAG_ASSIGN_OR_RETURN(const formats::ForwardSegmentView* segment,
                         cache_.SegmentOf(ref.document, ref.chunk));
    const auto [it, fresh] = scored.try_emplace(segment);
    if (fresh) it->second = scorer.ScoreSegment(*segment);
    chunks.push_back({ref.document, ref.chunk, it->second[ref.chunk - segment->first_chunk()]});
  }
  return chunks;
}

}  // namespace rag::querier
