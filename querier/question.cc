#include "querier/question.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/forward_index.h"
#include "models/hashed_bm25.h"
#include "models/words.h"

namespace rag::querier {
namespace {

// A term of the question that the corpus knows, with its idf.
struct KnownTerm {
  models::WeightedTerm term;
  double idf = 0;           // over chunks
  double document_idf = 0;  // over documents
};

std::vector<KnownTerm> KnownTerms(std::string_view text, const formats::TermTableView& table) {
  models::TermAnalyzer analyzer;
  std::vector<std::uint64_t> hashes;
  analyzer.AppendTermHashes(text, hashes);
  std::vector<KnownTerm> known;
  for (const models::WeightedTerm& term : models::CountTerms(std::move(hashes))) {
    const std::optional<formats::TermRow> row = table.Find(term.hash);
    if (!row.has_value()) continue;
    known.push_back({term, models::Bm25Idf(table.totals().num_chunks, row->chunk_frequency),
                     models::Bm25Idf(table.totals().num_documents, row->document_frequency)});
  }
  return known;
}

std::vector<float> Embed(std::uint32_t dim, const std::vector<KnownTerm>& known) {
  std::vector<float> vector(dim, 0.0F);
  const models::HashedBm25 embedder(dim);
  for (const KnownTerm& term : known) {
    embedder.AddQuestion(
        std::span(&term.term, 1), [&term](std::uint64_t) { return term.idf; }, vector);
  }
  return vector;
}

}  // namespace

absl::StatusOr<Question> AnalyzeQuestion(std::string_view text, const formats::BuildParams& build,
                                         const formats::TermTableView& table) {
  if (build.embedder != models::HashedBm25::Id()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the index was built with embedder ", build.embedder, ", this program has ",
                     models::HashedBm25::Id(), "; rebuild it with rag-index build"));
  }
  Question question;
  question.text = text;
  const std::vector<KnownTerm> known = KnownTerms(text, table);
  for (const KnownTerm& term : known) {
    question.terms.push_back({.hash = term.term.hash,
                              .term = term.term.hash & formats::kTermMask,
                              .count = term.term.count,
                              .idf = term.idf,
                              .document_idf = term.document_idf});
  }
  std::sort(question.terms.begin(), question.terms.end(),
            [](const auto& a, const auto& b) { return a.term < b.term; });
  const auto same = [](const auto& a, const auto& b) { return a.term == b.term; };
  question.terms.erase(std::unique(question.terms.begin(), question.terms.end(), same),
                       question.terms.end());
  for (const QuestionTerm& term : question.terms) question.wanted.push_back(term.term);
  question.document_vector = Embed(build.document_dim, known);
  question.chunk_vector = Embed(build.chunk_dim, known);
  return question;
}

}  // namespace rag::querier
