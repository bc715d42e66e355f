#include "indexer/reduction.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "indexer/sentences.h"

namespace rag::indexer {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

// Consecutive summaries that are reduced together.
struct Batch {
  std::uint32_t first = 0;
  std::uint32_t size = 0;
  std::uint64_t cost = 0;
};

// The largest n in [1, max] with fits(n), 1 when there is none. `fits` turns false once and stays
// so.
template <typename Fits>
std::size_t LargestFitting(std::size_t max, Fits fits) {
  std::size_t low = 1;
  std::size_t high = std::max<std::size_t>(max, 1);
  while (low < high) {
    const std::size_t middle = high - (high - low) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// `at`, or the end of the UTF-8 sequence that it lies in.
std::size_t CodePointEnd(std::string_view text, std::size_t at) {
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
  return at;
}

// Where to cut `text` so that at most `limit` bytes are kept: after a sentence, unless that drops
// more than half of what could stay; else after a word; else, in a word that is too long, at
// `limit`.
std::size_t CutPosition(std::string_view text, std::size_t limit) {
  std::size_t sentence_end = 0;
  for (const formats::Span& sentence : SplitSentences(text)) {
    if (sentence.end <= limit) sentence_end = sentence.end;
  }
  if (sentence_end >= limit - limit / 2) return sentence_end;
  const std::size_t space = text.find_last_of(kWhiteSpace, limit);
  if (space == std::string_view::npos || space == 0) return limit;
  const std::size_t word_last = text.find_last_not_of(kWhiteSpace, space - 1);
  return word_last == std::string_view::npos ? limit : word_last + 1;
}

// Plans and runs the batches of one document.
class Reducer {
 public:
  Reducer(const DocumentText& document, const Summarizer& summarizer,
          const models::TokenCounter& counter, const ReductionOptions& options)
      : document_(document),
        summarizer_(summarizer),
        counter_(counter),
        strict_(options.cut_forced_pairs),
        budget_(std::uint64_t{options.budget_tokens} * counter.units_per_token()),
        separator_(strict_ ? counter.Cost(" ") : 0) {}

  // Packs in order; pairs where that makes too little progress.
  [[nodiscard]] std::vector<Batch> Plan(const std::vector<DraftSummary>& summaries) const {
    std::vector<std::uint64_t> costs;
    costs.reserve(summaries.size());
    for (const DraftSummary& summary : summaries) costs.push_back(CostOf(summary));
    std::vector<Batch> batches = Group(costs, [this](const Batch& batch, std::uint64_t cost) {
      return batch.cost + separator_ + cost <= budget_;
    });
    const std::size_t enough = strict_ ? (costs.size() + 1) / 2 : costs.size() - 1;
    if (batches.size() <= enough) return batches;
    return Group(costs, [](const Batch& batch, std::uint64_t) { return batch.size < 2; });
  }

  // One node per batch. Cuts `summaries` where a batch is over the budget.
  // `last_level`: its summary is the document's, but for the last pass.
  std::vector<ReductionNode> ReduceLevel(std::vector<DraftSummary>& summaries,
                                         const std::vector<Batch>& batches, bool last_level) {
    std::vector<ReductionNode> level;
    level.reserve(batches.size());
    for (const Batch& batch : batches) {
      const std::uint64_t cost = FitBatch(summaries, batch);
      ReductionNode& node = level.emplace_back();
      node.first_child = batch.first;
      node.num_children = batch.size;
      node.input_tokens = static_cast<std::uint32_t>(counter_.Tokens(cost));
      node.summary = summarizer_.Reduce(
          document_, std::span(summaries).subspan(batch.first, batch.size), last_level);
    }
    return level;
  }

  DraftSummary ReduceLast(std::vector<DraftSummary>& summaries) {
    FitBatch(summaries, {0, 1, CostOf(summaries.front())});
    return summarizer_.Reduce(document_, summaries, /*final=*/true);
  }

  [[nodiscard]] std::uint32_t cut_summaries() const { return cut_summaries_; }

 private:
  // Starts a new batch wherever `joins` refuses a summary of that cost.
  template <typename Joins>
  [[nodiscard]] std::vector<Batch> Group(const std::vector<std::uint64_t>& costs,
                                         Joins joins) const {
    std::vector<Batch> batches;
    for (std::uint32_t i = 0; i < costs.size(); ++i) {
      if (batches.empty() || !joins(batches.back(), costs[i])) {
        batches.push_back({i, 1, costs[i]});
      } else {
        ++batches.back().size;
        batches.back().cost += separator_ + costs[i];
      }
    }
    return batches;
  }

  // Gives each member of a batch over the budget an equal share of it. Returns the batch's cost
  // then.
  std::uint64_t FitBatch(std::vector<DraftSummary>& summaries, const Batch& batch) {
    if (!strict_ || batch.cost <= budget_) return batch.cost;
    const std::uint64_t separators = separator_ * (batch.size - 1);
    const std::uint64_t share =
        budget_ > separators ? (budget_ - separators) / batch.size : std::uint64_t{0};
    std::uint64_t cost = separators;
    for (std::uint32_t i = batch.first; i < batch.first + batch.size; ++i) {
      if (CostOf(summaries[i]) > share) {
        Cut(summaries[i], share);
        ++cut_summaries_;
      }
      cost += CostOf(summaries[i]);
    }
    return cost;
  }

  // Drops trailing sentences, or cuts literal text; something always stays.
  void Cut(DraftSummary& summary, std::uint64_t limit) const {
    if (summary.text.empty()) {
      const std::size_t size = summary.sentences.size();
      const std::size_t kept = LargestFitting(size, [&](std::size_t count) {
        DraftSummary head;
        head.sentences.assign(summary.sentences.begin(),
                              summary.sentences.begin() + static_cast<std::ptrdiff_t>(count));
        return CostOf(head) <= limit;
      });
      summary.sentences.resize(std::min(kept, size));
      return;
    }
    const std::string_view text = summary.text;
    const std::size_t bytes = LargestFitting(text.size(), [&](std::size_t size) {
      return counter_.Cost(text.substr(0, CodePointEnd(text, size))) <= limit;
    });
    summary.text.resize(CutPosition(text, CodePointEnd(text, bytes)));
  }

  [[nodiscard]] std::uint64_t CostOf(const DraftSummary& summary) const {
    return counter_.Cost(RenderSummary(document_, summary));
  }

  const DocumentText& document_;
  const Summarizer& summarizer_;
  const models::TokenCounter& counter_;
  const bool strict_;
  const std::uint64_t budget_;     // in the counter's units
  const std::uint64_t separator_;  // between two summaries, likewise
  std::uint32_t cut_summaries_ = 0;
};

std::vector<DraftSummary> SummariesOf(const std::vector<ReductionNode>& level) {
  std::vector<DraftSummary> summaries;
  summaries.reserve(level.size());
  for (const ReductionNode& node : level) summaries.push_back(node.summary);
  return summaries;
}

void LogLevel(const ReductionLog& log, std::size_t summaries, std::size_t batches,
              std::size_t level) {
  if (!log) return;
  log(absl::StrCat("Reducing ", summaries, " summaries into ", batches,
                   " batch summaries at level ", level));
}

// The levels above `first_level`, down to one summary, and the last pass.
Reduction ReduceFrom(std::size_t first_level, const DocumentText& document,
                     std::vector<DraftSummary> summaries, const Summarizer& summarizer,
                     const models::TokenCounter& counter, const ReductionOptions& options,
                     const ReductionLog& log) {
  Reduction result;
  if (summaries.empty()) {
    result.document.text = kNoSummary;
    return result;
  }
  Reducer reducer(document, summarizer, counter, options);
  while (summaries.size() > 1) {
    const std::vector<Batch> batches = reducer.Plan(summaries);
    LogLevel(log, summaries.size(), batches.size(), first_level + result.levels.size() + 1);
    result.levels.push_back(reducer.ReduceLevel(summaries, batches, batches.size() == 1));
    summaries = SummariesOf(result.levels.back());
  }
  result.document = reducer.ReduceLast(summaries);
  result.cut_summaries = reducer.cut_summaries();
  return result;
}

}  // namespace

Reduction ReduceSummaries(const DocumentText& document, std::vector<DraftSummary> chunks,
                          const Summarizer& summarizer, const models::TokenCounter& counter,
                          const ReductionOptions& options, const ReductionLog& log) {
  return ReduceFrom(0, document, std::move(chunks), summarizer, counter, options, log);
}

std::vector<std::vector<ReductionNode>> PartwiseReduction::AddPart(
    const DocumentText& part, std::vector<DraftSummary> chunks) {
  if (chunks.empty()) return {};
  Reducer reducer(part, summarizer_, counter_, options_);
  std::vector<std::vector<ReductionNode>> levels;
  std::vector<DraftSummary> summaries = std::move(chunks);
  for (std::size_t level = 0; level < kPartLevels; ++level) {
    const auto num_summaries = static_cast<std::uint32_t>(summaries.size());
    levels.push_back(reducer.ReduceLevel(summaries, reducer.Plan(summaries), false));
    for (ReductionNode& node : levels.back()) node.first_child += sizes_[level];
    sizes_[level] += num_summaries;
    summaries = SummariesOf(levels.back());
  }
  sizes_[kPartLevels] += static_cast<std::uint32_t>(summaries.size());
  cut_summaries_ += reducer.cut_summaries();
  for (const DraftSummary& summary : summaries) Keep(part, summary);
  return levels;
}

void PartwiseReduction::Keep(const DocumentText& part, const DraftSummary& summary) {
  DraftSummary& kept = summaries_.emplace_back();
  kept.text = summary.text;
  for (const std::uint32_t index : summary.sentences) {
    const Sentence& sentence = part.sentences[index];
    // A bar keeps neighbours here from looking like neighbours in the document.
    rest_text_ += "|";
    Sentence& copy = rest_.sentences.emplace_back();
    copy.range = {rest_text_.size(), rest_text_.size() + sentence.range.size()};
    copy.terms = sentence.terms;
    copy.shift = sentence.range.start + sentence.shift - copy.range.start;
    rest_text_ += part.text.substr(sentence.range.start, sentence.range.size());
    kept.sentences.push_back(static_cast<std::uint32_t>(rest_.sentences.size() - 1));
  }
}

Reduction PartwiseReduction::Finish(const ReductionLog& log) {
  rest_.text = rest_text_;
  for (std::size_t level = 0; level < kPartLevels; ++level) {
    LogLevel(log, sizes_[level], sizes_[level + 1], level + 1);
  }
  Reduction result =
      ReduceFrom(kPartLevels, rest_, std::move(summaries_), summarizer_, counter_, options_, log);
  result.cut_summaries += cut_summaries_;
  return result;
}

}  // namespace rag::indexer
