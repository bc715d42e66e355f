// Budgeted recursive reduction: chunk summaries → batches under a token budget → one summary each →
// again, level by level, until one is left; then a last pass makes the document's summary.
#ifndef INDEXER_REDUCTION_H_
#define INDEXER_REDUCTION_H_

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/records.h"
#include "indexer/summarizer.h"
#include "models/token_counter.h"

namespace rag::indexer {

inline constexpr std::string_view kNoSummary = "No summary available.";

struct ReductionOptions {
  std::uint32_t budget_tokens = 300;  // of the summaries sent to be reduced together
  // True: no request exceeds the budget, the spaces between summaries included. When packing does
  // not halve their number (rounded up), summaries are paired instead; the members of a pair over
  // the budget are cut to half of it, and a lone summary over it to the whole. Something of each
  // always stays: one sentence. False, the source article's way: spaces are not counted, summaries
  // are paired only when every batch would hold one, and nothing is cut.
  bool cut_forced_pairs = true;
};

struct ReductionNode {
  std::uint32_t first_child = 0;
  std::uint32_t num_children = 0;
  std::uint32_t input_tokens = 0;  // after cuts
  DraftSummary summary;
};

struct Reduction {
  std::vector<std::vector<ReductionNode>> levels;  // level 0 reduces chunk summaries
  DraftSummary document;                           // text kNoSummary when there were no summaries
  std::uint32_t cut_summaries = 0;  // members that were over their share of the budget
};

// The levels that a part of a long document is reduced by before the parts are reduced together.
inline constexpr std::size_t kPartLevels = 2;

// Called before each level: "Reducing N summaries into M batch summaries at level L" (L from 1).
using ReductionLog = std::function<void(std::string_view line)>;

// `chunks` are the chunk summaries in order. A single summary makes no level: only the last pass
// runs. Every input is in exactly one batch of its level, in order. Ends for every summariser:
// after at most ceil(log2 n) levels, or n - 1 without cut_forced_pairs.
Reduction ReduceSummaries(const DocumentText& document, std::vector<DraftSummary> chunks,
                          const Summarizer& summarizer, const models::TokenCounter& counter,
                          const ReductionOptions& options, const ReductionLog& log = nullptr);

// A document in parts: the first kPartLevels levels are made within each part, so that no batch
// holds summaries of two; the others of all parts together. Keeps the sentences that the summaries
// still consist of and nothing else. Borrows its parts. Threads: one thread.
class PartwiseReduction {
 public:
  PartwiseReduction(const Summarizer& summarizer, const models::TokenCounter& counter,
                    const ReductionOptions& options)
      : summarizer_(summarizer), counter_(counter), options_(options) {}

  // The first levels of the next part, nodes with the ordinals of the document.
  std::vector<std::vector<ReductionNode>> AddPart(const DocumentText& part,
                                                  std::vector<DraftSummary> chunks);
  // The levels above, and the document's summary.
  Reduction Finish(const ReductionLog& log);
  // What the summaries of Finish() refer to.
  [[nodiscard]] const DocumentText& rest() const { return rest_; }

 private:
  void Keep(const DocumentText& part, const DraftSummary& summary);

  const Summarizer& summarizer_;
  const models::TokenCounter& counter_;
  const ReductionOptions& options_;
  std::array<std::uint32_t, kPartLevels + 1> sizes_{};  // of chunks, then of nodes in each level
  std::uint32_t cut_summaries_ = 0;
  std::string rest_text_;
  DocumentText rest_;
  std::vector<DraftSummary> summaries_;
};

}  // namespace rag::indexer

#endif  // INDEXER_REDUCTION_H_
