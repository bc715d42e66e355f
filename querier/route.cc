#include "querier/route.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/status_macros.h"
#include "models/article_words.h"
#include "models/hashed_bm25.h"
#include "querier/bm25_scorer.h"

namespace rag::querier {
namespace {

using storage::IndexReader;
using storage::VectorHit;

// Lists of docs.faiss that are scanned when it has more than one.
constexpr std::size_t kProbes = 32;
// Documents of up to so many chunks (eight forward segments, 2 MB of text) are scored whole: exact
// scores of so little cost less than a wrong choice.
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
void KeepAbove(double floor, std::vector<Hit>& hits) {
  std::erase_if(hits, [floor](const Hit& hit) { return !(hit.score > floor); });
}

// What rounding can make of an inner product with a stored vector that is 0. The partial sums are
// of codes, which reach twice the range.
double RoundingError(std::span<const float> query) {
  double magnitude = 0;
  double additions = 0;
  for (const float x : query) {
    magnitude += std::abs(x);
    additions += x != 0 ? 1 : 0;
  }
  return additions * magnitude * 2 * models::kRange * std::numeric_limits<float>::epsilon();
}

}  // namespace

absl::StatusOr<std::vector<ScoredDocument>> Router::Propose(const RouteLimits& limits) const {
  const std::size_t proposals =
      article() ? kArticleProposals : std::max(kDocumentProposals, limits.top_documents);
  RAG_ASSIGN_OR_RETURN(
      const std::vector<VectorHit> hits,
      reader_.document_vectors().SearchDistinct(question_.document_vector, proposals, kProbes));
  std::vector<ScoredDocument> documents;
  documents.reserve(hits.size());
  for (const VectorHit& hit : hits) documents.push_back({hit.id, hit.score});
  if (!article()) RAG_RETURN_IF_ERROR(AddRareDocuments(documents));
  if (left_out_ != nullptr) {
    std::erase_if(documents,
                  [this](const ScoredDocument& hit) { return left_out_->contains(hit.document); });
  }
  return documents;
}

absl::StatusOr<std::vector<ScoredDocument>> Router::Documents(std::vector<ScoredDocument> proposed,
                                                              const RouteLimits& limits) const {
  std::vector<ScoredDocument> documents = std::move(proposed);
  double floor = 0;
  if (article()) {
    RAG_ASSIGN_OR_RETURN(documents, ArticleDocuments(std::move(documents)));
  } else {
    floor = RoundingError(question_.document_vector);
  }
  KeepAbove(floor, documents);
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
    const absl::StatusOr<std::vector<std::uint32_t>> holders =
        reader_.terms().RareDocuments(term.hash);
    if (!holders.ok()) {
      return absl::DataLossError(absl::StrCat(
          (reader_.folder() / storage::kTermsFile).string(), ": ", holders.status().message(),
          "; the index is damaged, rebuild it with rag-index build"));
    }
    for (const std::uint32_t document : *holders) rare[document] += term.count * term.idf;
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

absl::StatusOr<std::uint64_t> Router::NumChunks(std::uint32_t document) const {
  const absl::StatusOr<std::uint64_t> num_chunks = reader_.NumChunks(document);
  if (!DoesWithout(num_chunks.status())) return num_chunks;
  RAG_ASSIGN_OR_RETURN(const formats::DocumentRecord record, reader_.Document(document));
  // Memory is taken by this number.
  if (record.num_chunks > reader_.manifest().counts.chunks) {
    return absl::DataLossError(absl::StrCat(
        (reader_.folder() / storage::kRecordsFolder).string(), ": document ", document, ": has ",
        record.num_chunks, " chunks, the index ", reader_.manifest().counts.chunks,
        "; the index is damaged, rebuild it with rag-index build"));
  }
  return record.num_chunks;
}

absl::StatusOr<std::vector<std::uint32_t>> Router::Favoured(std::uint32_t document,
                                                            std::uint64_t num_chunks,
                                                            std::size_t limit) const {
  const absl::StatusOr<std::vector<VectorHit>> hits =
      reader_.SearchDocument(document, question_.chunk_vector, limit);
  if (DoesWithout(hits.status())) {
    std::vector<std::uint32_t> all(num_chunks);
    std::iota(all.begin(), all.end(), 0U);
    return all;
  }
  RAG_RETURN_IF_ERROR(hits.status());
  std::vector<std::uint32_t> chunks;
  chunks.reserve(hits->size());
  for (const VectorHit& hit : *hits) chunks.push_back(hit.id);
  std::sort(chunks.begin(), chunks.end());
  return chunks;
}

absl::Status Router::AddSegments(std::uint32_t document, std::size_t limit,
                                 std::vector<IndexReader::ChunkRef>& segments) const {
  RAG_ASSIGN_OR_RETURN(const std::uint64_t num_chunks, NumChunks(document));
  if (num_chunks <= std::max(limit, kWholeDocumentChunks)) {
    for (std::uint32_t first = 0; first < num_chunks; first += formats::kSegmentChunks) {
      segments.push_back({document, first});
    }
    return absl::OkStatus();
  }
  RAG_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> chunks,
                       Favoured(document, num_chunks, limit));
  for (const std::uint32_t chunk : chunks) {
    const IndexReader::ChunkRef segment{document, chunk - chunk % formats::kSegmentChunks};
    if (segments.empty() || segments.back() != segment) segments.push_back(segment);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ScoredChunk>> Router::Chunks(
    const std::vector<ScoredDocument>& documents, const RouteLimits& limits) const {
  std::vector<ScoredChunk> chunks;
  if (article()) {
    for (const ScoredDocument& hit : documents) {
      RAG_ASSIGN_OR_RETURN(std::vector<ScoredChunk> scored, ArticleChunks(hit.document));
      if (scored.size() > limits.chunks_per_document) scored.resize(limits.chunks_per_document);
      chunks.insert(chunks.end(), scored.begin(), scored.end());
    }
  } else {
    RAG_ASSIGN_OR_RETURN(chunks, Bm25Chunks(documents, limits.chunks_per_document));
  }
  KeepAbove(0, chunks);
  Sort(chunks);
  if (chunks.size() > limits.chunks) chunks.resize(limits.chunks);
  return chunks;
}

absl::StatusOr<std::vector<ScoredChunk>> Router::ArticleChunks(std::uint32_t document) const {
  RAG_ASSIGN_OR_RETURN(const std::uint64_t num_chunks, NumChunks(document));
  std::vector<std::uint32_t> proposed(num_chunks);
  std::iota(proposed.begin(), proposed.end(), 0U);
  if (num_chunks > std::max(kArticleProposals, kWholeDocumentChunks)) {
    RAG_ASSIGN_OR_RETURN(proposed, Favoured(document, num_chunks, kArticleProposals));
  }
  std::vector<IndexReader::ChunkRef> refs;
  refs.reserve(proposed.size());
  for (const std::uint32_t chunk : proposed) refs.push_back({document, chunk});
  RAG_ASSIGN_OR_RETURN(const std::vector<formats::ChunkRecord> records, reader_.Chunks(refs));
  std::vector<ScoredChunk> chunks;
  for (std::size_t i = 0; i < refs.size(); ++i) {
    chunks.push_back({document, refs[i].chunk,
                      models::ArticleSimilarity(question_.text, records[i].summary.text)});
  }
  KeepAbove(0, chunks);
  Sort(chunks);
  return chunks;
}

// A segment's scores come all at once, so all of its chunks stand for election.
absl::StatusOr<std::vector<ScoredChunk>> Router::Bm25Chunks(
    const std::vector<ScoredDocument>& documents, std::size_t chunks_per_document) const {
  std::vector<IndexReader::ChunkRef> segments;
  for (const ScoredDocument& hit : documents) {
    RAG_RETURN_IF_ERROR(AddSegments(hit.document, chunks_per_document, segments));
  }
  RAG_RETURN_IF_ERROR(cache_.Load(segments));
  const Bm25Weights weights;
  const Bm25Scorer scorer(question_, reader_.terms().totals(), weights);
  Coverage coverage(question_);
  std::vector<ScoredChunk> chunks;
  std::vector<ScoredChunk> of_document;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto [document, first_chunk] = segments[i];
    RAG_ASSIGN_OR_RETURN(const formats::ForwardSegmentView* segment,
                         cache_.SegmentOf(document, first_chunk));
    const std::vector<double> scores = scorer.ScoreSegment(*segment);
    coverage.Add(*segment);
    for (std::uint32_t c = 0; c < scores.size(); ++c) {
      if (scores[c] > 0) of_document.push_back({document, first_chunk + c, scores[c]});
    }
    if (i + 1 == segments.size() || segments[i + 1].document != document) {
      Sort(of_document);
      if (of_document.size() > chunks_per_document) of_document.resize(chunks_per_document);
      const double share = weights.document * coverage.Take();
      for (ScoredChunk& chunk : of_document) chunk.score += share;
      chunks.insert(chunks.end(), of_document.begin(), of_document.end());
      of_document.clear();
    }
  }
  return chunks;
}

}  // namespace rag::querier
