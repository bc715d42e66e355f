#include "querier/bm25_scorer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "models/hashed_bm25.h"

namespace rag::querier {
namespace {

using formats::ForwardSegmentView;
using formats::Posting;
using models::kBm25B;
using models::kBm25K1;

constexpr int kRadius = formats::kNearRadius;

double Mean(double sum, std::uint64_t n) { return n == 0 ? 1.0 : sum / static_cast<double>(n); }

// A value reaches kRadius chunks either way: a window of 2 * kRadius + 1, made even for vectors of
// two. The addition of 0 at its end changes nothing.
constexpr std::size_t kWindow = 2 * kRadius + 2;

std::array<double, kWindow> MakeWindow() {
  std::array<double, kWindow> window{};
  for (int d = -kRadius; d <= kRadius; ++d) {
    window[static_cast<std::size_t>(d + kRadius)] = std::pow(formats::kNearDecay, std::abs(d));
  }
  return window;
}

// Adds each value to the chunks around it, weighted by distance. Two sweeps of a bounded geometric
// sum would be fewer additions, but drift in rounding: equal chunks must get equal scores.
// `padded` is room for the sums.
void Spread(std::vector<double>& values, std::vector<double>& padded) {
  static const std::array<double, kWindow> kWeights = MakeWindow();
  padded.assign(values.size() + kWindow, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    if (value == 0) continue;
    double* const out = padded.data() + i;  // stands for chunk i - kRadius
    for (std::size_t j = 0; j < kWindow; ++j) out[j] += value * kWeights[j];
  }
  std::copy_n(padded.begin() + kRadius, values.size(), values.begin());
}

}  // namespace

// One level of text: a length for each unit and what a unit's score is made of.
struct Bm25Scorer::Level {
  std::vector<double> length;
  std::vector<double> score;
  double mean = 1;

  void Add(std::size_t unit, double count, double weight) {
    if (count == 0) return;
    const double norm = kBm25K1 * (1 - kBm25B + kBm25B * length[unit] / mean);
    score[unit] += weight * count * (kBm25K1 + 1) / (count + norm);
  }
};

Bm25Scorer::Bm25Scorer(const Question& question, const formats::CorpusTotals& totals,
                       const Bm25Weights& weights)
    : question_(question),
      weights_(weights),
      mean_chunk_(Mean(static_cast<double>(totals.chunk_length), totals.num_chunks)),
      mean_near_(Mean(totals.near_length, totals.num_chunks)),
      mean_section_(Mean(static_cast<double>(totals.section_length), totals.num_sections)) {
  for (const QuestionTerm& term : question.terms) ideal_ += term.count * term.idf;
  ideal_ = std::max(ideal_ * (kBm25K1 + 1), 1e-6);
}

std::vector<double> Bm25Scorer::ScoreSegment(const ForwardSegmentView& segment) const {
  const std::size_t num_chunks = segment.num_chunks();
  const std::size_t num_sections = segment.num_sections();
  const double title_length = segment.title_length();
  Level chunks{std::vector<double>(num_chunks), std::vector<double>(num_chunks, 0.0), mean_chunk_};
  Level near = chunks;
  near.mean = mean_near_;
  Level sections{std::vector<double>(num_sections), std::vector<double>(num_sections, 0.0),
                 mean_section_};
  for (std::uint32_t s = 0; s < num_sections; ++s) {
    sections.length[s] = segment.heading_length(s) + title_length;
  }
  for (std::uint32_t c = 0; c < num_chunks; ++c) {
    const std::uint32_t s = segment.section_of(c);
    sections.length[s] += segment.body_length(c);
    near.length[c] = segment.body_length(c) + segment.heading_length(s);
    chunks.length[c] = near.length[c] + title_length;
  }
  std::vector<double> padded;
  Spread(near.length, padded);
  for (double& length : near.length) length += title_length;

  std::vector<double> headings(num_sections);
  std::vector<double> counts(num_chunks);
  std::vector<double> section_counts(num_sections);
  for (std::size_t t = 0; t < question_.terms.size(); ++t) {
    const formats::TermPostings& postings = segment.postings(t);
    if (postings.title == 0 && postings.body.empty() && postings.headings.empty()) continue;
    const double weight = question_.terms[t].count * question_.terms[t].idf;
    const double title = postings.title;
    std::fill(headings.begin(), headings.end(), 0.0);
    for (const Posting& posting : postings.headings) headings[posting.where] = posting.count;
    for (std::uint32_t s = 0; s < num_sections; ++s) section_counts[s] = headings[s] + title;
    for (std::uint32_t c = 0; c < num_chunks; ++c) counts[c] = headings[segment.section_of(c)];
    for (const Posting& posting : postings.body) {
      counts[posting.where] += posting.count;
      section_counts[segment.section_of(posting.where)] += posting.count;
    }
    for (std::size_t c = 0; c < num_chunks; ++c) chunks.Add(c, counts[c] + title, weight);
    for (std::size_t s = 0; s < num_sections; ++s) sections.Add(s, section_counts[s], weight);
    Spread(counts, padded);
    for (std::size_t c = 0; c < num_chunks; ++c) near.Add(c, counts[c] + title, weight);
  }
  std::vector<double> out(num_chunks);
  for (std::uint32_t c = 0; c < num_chunks; ++c) {
    out[c] = (chunks.score[c] + weights_.near * near.score[c] +
              weights_.section * sections.score[segment.section_of(c)]) /
             ideal_;
  }
  return out;
}

Coverage::Coverage(const Question& question) : question_(question), held_(question.terms.size()) {
  for (const QuestionTerm& term : question.terms) all_ += term.count * term.document_idf;
}

void Coverage::Add(const ForwardSegmentView& segment) {
  for (std::size_t t = 0; t < held_.size(); ++t) {
    const formats::TermPostings& postings = segment.postings(t);
    if (postings.title > 0 || !postings.body.empty() || !postings.headings.empty()) held_[t] = true;
  }
}

double Coverage::Take() {
  double held = 0;
  for (std::size_t t = 0; t < held_.size(); ++t) {
    if (held_[t]) held += question_.terms[t].count * question_.terms[t].document_idf;
    held_[t] = false;
  }
  return all_ > 0 ? held / all_ : 0;
}

}  // namespace rag::querier
