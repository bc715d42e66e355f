// A question as the index sees it: its terms with their weights, and its vectors.
#ifndef QUERIER_QUESTION_H_
#define QUERIER_QUESTION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/manifest.h"
#include "formats/term_table.h"

namespace rag::querier {

struct QuestionTerm {
  std::uint64_t hash = 0;   // all 64 bits, as in the term table
  std::uint64_t term = 0;   // 40 bits, as in forward segments
  std::uint32_t count = 0;  // in the question
  double idf = 0;           // over chunks
  double document_idf = 0;  // over documents
};

struct Question {
  std::string text;
  std::vector<QuestionTerm> terms;  // those that the corpus knows; strictly ascending by term
  std::vector<std::uint64_t>
      wanted;  // the same terms alone, as ForwardSegmentView::Parse takes them
  std::vector<float> document_vector;  // 1 x build.document_dim
  std::vector<float> chunk_vector;     // 1 x build.chunk_dim
};

// FAILED_PRECONDITION when the index was built with another embedder than this binary has; the
// message names both.
absl::StatusOr<Question> AnalyzeQuestion(std::string_view text, const formats::BuildParams& build,
                                         const formats::TermTableView& table);

}  // namespace rag::querier

#endif  // QUERIER_QUESTION_H_
