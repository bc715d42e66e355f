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
// Documents of up to so many chunks (eight forward segments, 2 MB of text) are scored whole.
constexpr std::size_t kWholeDocumentChunks = 8 * std::size_t{formats::kSegmentChunks};
// Documents that the vectors propose before rare terms are counted: far more than go on, so that
// asking for fewer documents gives the best of those that asking for more gives.
constexpr std::size_t kDocumentProposals = 256;
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
  const std::size_t proposals =
      article() ? kArticleProposals : std::max(kDocumentProposals, limits.top_documents);
  RAG_ASSIGN_OR_RETURN(
      const std::vector<VectorHit> hits,
      reader_.document_vectors().SearchDistinct(question_.document_vector, proposals, kProbes));
  std::vector<ScoredDocument> documents;
  documents.reserve(hits.size());
  for (const VectorHit& hit : hits) documents.push_back({hit.id, hit.score});
  if (article()) {
    RAG_ASSIGN_OR_RETURN(documents, ArticleDocuments(std::move(documents)));
  } else {
    RAG_RETURN_IF_ERROR(AddRareDocuments(documents));
  }
  KeepPositive(documents);
  Sort(documents);
  if (documents.size() > limits.top_documents) documents.resize(limits.top_documents);
  return documents;
}

// Vectors of hundreds of components give every document some score for every word. So the idf of
// the rare terms that a document does hold is added to its inner product, of which, for documents
// that the vectors did not propose, the same idf is a lower bound.
absl::Status Router::AddRareDocuments(std::vector<ScoredDocument>& documents) const {
  std::map<std::uint32_t, double> rare;
  for (const QuestionTerm& term : question_.terms) {
    RAG_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> holders,
                         reader_.terms().RareDocuments(term.hash));
    for (const std::uint32_t document : holders) rare[document] += term.count * term.idf;
  }
  for (ScoredDocument& hit : documents) {
    const auto it = rare.find(hit.document);
    if (it == rare.end()) continue;
    hit.score += it->second;
    rare.erase(it);
  }
  for (const auto& [document, score] : rare) documents.push_back({document, 2 * score});
  return absl::OkStatus();
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
  // Nothing to choose, or so little that exact scores of everything cost less than a wrong choice.
  if (num_chunks <= std::max<std::size_t>(limit, kWholeDocumentChunks)) {
    chunks.resize(num_chunks);
    std::iota(chunks.begin(), chunks.end(), 0U);
    return chunks;
  }
  RAG_ASSIGN_OR_RETURN(const std::vector<VectorHit> hits,
                       reader_.SearchDocument(document, question_.chunk_vector, limit));
  chunks.reserve(hits.size());
  for (const VectorHit& hit : hits) chunks.push_back(hit.id);
  std::sort(chunks.begin(), chunks.end());  // so that the chunks of a segment follow each other
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
    RAG_ASSIGN_OR_RETURN(chunks, Bm25Chunks(documents, proposed, limits.chunks_per_document));
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
    const std::vector<std::vector<std::uint32_t>>& proposed,
    std::size_t chunks_per_document) const {
  std::vector<IndexReader::ChunkRef> refs;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    for (const std::uint32_t chunk : proposed[i]) {
      refs.push_back({documents[i].document, chunk});
    }
  }
  RAG_RETURN_IF_ERROR(cache_.Load(refs));
  // A segment's scores come all at once, so all of its chunks stand for election.
  const Bm25Scorer scorer(question_, reader_.terms().totals());
  std::vector<ScoredChunk> chunks;
  std::vector<ScoredChunk> of_document;
  const formats::ForwardSegmentView* last = nullptr;
  for (std::size_t i = 0; i < refs.size(); ++i) {
    RAG_ASSIGN_OR_RETURN(const formats::ForwardSegmentView* segment,
                         cache_.SegmentOf(refs[i].document, refs[i].chunk));
    if (segment != last) {
      const std::vector<double> scores = scorer.ScoreSegment(*segment);
      for (std::uint32_t c = 0; c < scores.size(); ++c) {
        if (scores[c] > 0) {
          of_document.push_back({refs[i].document, segment->first_chunk() + c, scores[c]});
        }
      }
      last = segment;
    }
    if (i + 1 == refs.size() || refs[i + 1].document != refs[i].document) {
      Sort(of_document);
      if (of_document.size() > chunks_per_document) of_document.resize(chunks_per_document);
      chunks.insert(chunks.end(), of_document.begin(), of_document.end());
      of_document.clear();
    }
  }
  return chunks;
}

}  // namespace rag::querier
