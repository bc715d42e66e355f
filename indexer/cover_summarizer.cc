#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "indexer/summarizer.h"

namespace rag::indexer {
namespace {

using Idf = std::function<double(std::uint64_t)>;
using SentenceIndices = std::vector<std::uint32_t>;

// Added to the length of a sentence, so that very short ones do not win by their length alone.
constexpr double kLengthOffset = 5.0;

// The sentences that compete for a summary, their terms numbered densely.
// Picking costs O(terms log terms) once and O(terms) for each sentence picked.
class Cover {
 public:
  Cover(const DocumentText& document, const SentenceIndices& candidates, const Idf& idf) {
    NumberTerms(document, candidates, idf);
    for (const std::uint32_t index : candidates) {
      entries_.push_back(MakeEntry(document.sentences[index].terms));
    }
  }

  // Positions among the candidates, ascending. REQUIRES: fewer than candidates are asked for.
  std::vector<std::size_t> Pick(std::size_t num_sentences) {
    std::vector<std::size_t> picked;
    while (picked.size() < num_sentences) {
      const std::size_t best = FindBest();
      entries_[best].taken = true;
      for (const std::size_t term : entries_[best].terms) covered_[term] = true;
      picked.push_back(best);
    }
    std::sort(picked.begin(), picked.end());
    return picked;
  }

 private:
  struct Entry {
    std::vector<std::size_t> terms;  // each once
    double divisor = 1;
    bool taken = false;
  };

  void NumberTerms(const DocumentText& document, const SentenceIndices& candidates,
                   const Idf& idf) {
    std::vector<std::uint64_t> all;
    for (const std::uint32_t index : candidates) {
      const std::vector<std::uint64_t>& terms = document.sentences[index].terms;
      all.insert(all.end(), terms.begin(), terms.end());
    }
    std::sort(all.begin(), all.end());
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      while (end < all.size() && all[end] == all[begin]) ++end;
      hashes_.push_back(all[begin]);
      weights_.push_back(std::sqrt(static_cast<double>(end - begin)) * idf(all[begin]));
    }
    covered_.assign(hashes_.size(), false);
  }

  [[nodiscard]] Entry MakeEntry(const std::vector<std::uint64_t>& hashes) const {
    Entry entry;
    entry.divisor = std::sqrt(static_cast<double>(hashes.size()) + kLengthOffset);
    for (const std::uint64_t hash : hashes) {
      const auto at = std::lower_bound(hashes_.begin(), hashes_.end(), hash);
      entry.terms.push_back(static_cast<std::size_t>(at - hashes_.begin()));
    }
    std::sort(entry.terms.begin(), entry.terms.end());
    entry.terms.erase(std::unique(entry.terms.begin(), entry.terms.end()), entry.terms.end());
    return entry;
  }

  [[nodiscard]] double Gain(const Entry& entry) const {
    double gain = 0;
    for (const std::size_t term : entry.terms) {
      if (!covered_[term]) gain += weights_[term];
    }
    return gain / entry.divisor;
  }

  // The first of the best that are not taken.
  [[nodiscard]] std::size_t FindBest() const {
    std::size_t best = entries_.size();
    double best_gain = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].taken) continue;
      const double gain = Gain(entries_[i]);
      if (best == entries_.size() || gain > best_gain) {
        best = i;
        best_gain = gain;
      }
    }
    return best;
  }

  std::vector<std::uint64_t> hashes_;  // ascending; a term's number is its position
  std::vector<double> weights_;
  std::vector<bool> covered_;
  std::vector<Entry> entries_;
};

DraftSummary Summarize(const DocumentText& document, SentenceIndices candidates,
                       std::size_t max_sentences, const Idf& idf) {
  DraftSummary summary;
  if (candidates.size() <= max_sentences) {
    summary.sentences = std::move(candidates);
    return summary;
  }
  for (const std::size_t position : Cover(document, candidates, idf).Pick(max_sentences)) {
    summary.sentences.push_back(candidates[position]);
  }
  return summary;
}

// Summaries are made of sentences only; `parts` are expected to be its own.
class CoverSummarizer final : public Summarizer {
 public:
  CoverSummarizer(const CoverSizes& sizes, Idf idf) : sizes_(sizes), idf_(std::move(idf)) {}

  [[nodiscard]] std::string Id() const override {
    return absl::StrCat("cover-v2/chunk=", sizes_.chunk_sentences,
                        "/batch=", sizes_.batch_sentences, "/final=", sizes_.final_sentences);
  }

  [[nodiscard]] DraftSummary SummarizeChunk(const DocumentText& document,
                                            std::uint32_t chunk) const override {
    const std::uint32_t first = document.chunk_first_sentence[chunk];
    const std::uint32_t end = document.chunk_first_sentence[chunk + 1];
    SentenceIndices candidates(end - first);
    std::iota(candidates.begin(), candidates.end(), first);
    return Summarize(document, std::move(candidates), sizes_.chunk_sentences, idf_);
  }

  [[nodiscard]] DraftSummary Reduce(const DocumentText& document,
                                    std::span<const DraftSummary> parts,
                                    bool final) const override {
    SentenceIndices candidates;
    for (const DraftSummary& part : parts) {
      candidates.insert(candidates.end(), part.sentences.begin(), part.sentences.end());
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    return Summarize(document, std::move(candidates),
                     final ? sizes_.final_sentences : sizes_.batch_sentences, idf_);
  }

 private:
  CoverSizes sizes_;
  Idf idf_;
};

}  // namespace

std::unique_ptr<Summarizer> MakeCoverSummarizer(const CoverSizes& sizes,
                                                std::function<double(std::uint64_t)> idf) {
  return std::make_unique<CoverSummarizer>(sizes, std::move(idf));
}

}  // namespace rag::indexer
