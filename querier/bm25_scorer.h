// Exact scores of chunks from a document's forward segments: BM25 at three levels and the share of
// the question that the document covers, as docs/design.md, "Scoring" defines them.
//
//   score(chunk) = [ bm25(chunk) + near * bm25(neighbourhood) + section * bm25(section) ] / ideal
//                  + document * coverage(document)
//
// bm25 has k1 1.2, b 0.75, the idf of chunks at every level, and each text's length against the
// mean of its own level. ideal = 2.2 * sum of the idf of the question's terms (with repeats), so
// scores have an absolute scale. coverage is the share of the question's terms, weighted with their
// idf over documents, that occur anywhere in the document: 0 to 1.
#ifndef QUERIER_BM25_SCORER_H_
#define QUERIER_BM25_SCORER_H_

#include <vector>

#include "formats/forward_index.h"
#include "formats/term_table.h"
#include "querier/question.h"

namespace rag::querier {

struct Bm25Weights {
  double near = 1.6;
  double section = 0.8;
  double document = 0.2;
};

// Borrows the question and the totals. Threads: const methods may run concurrently.
class Bm25Scorer {
 public:
  Bm25Scorer(const Question& question, const formats::CorpusTotals& totals,
             const Bm25Weights& weights = {});

  // Scores of all chunks of a segment, in order. Neighbourhoods and sections end at the segment's
  // edges.
  // Without the coverage.
  [[nodiscard]] std::vector<double> ScoreSegment(const formats::ForwardSegmentView& segment) const;

 private:
  struct Level;
  const Question& question_;
  Bm25Weights weights_;
  double mean_chunk_;
  double mean_near_;
  double mean_section_;
  double ideal_ = 0;
};

// The coverage of one document, from its segments. Borrows the question. Threads: one thread.
class Coverage {
 public:
  explicit Coverage(const Question& question);
  void Add(const formats::ForwardSegmentView& segment);
  // Of the segments added since the last call.
  [[nodiscard]] double Take();

 private:
  const Question& question_;
  double all_ = 0;
  std::vector<bool> held_;  // by term of the question
};

}  // namespace rag::querier

#endif  // QUERIER_BM25_SCORER_H_
