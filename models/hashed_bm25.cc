#include "models/hashed_bm25.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "models/words.h"

namespace rag::models {
namespace {

// Above any idf of 64-bit counts (ln(2^65) = 45.1), so that a damaged table cannot make a vector
// infinite.
constexpr double kMaxIdf = 64.0;

// One step of splitmix64 (Steele, Lea, Flood 2014; public domain code of Vigna).
std::uint64_t SplitMix64(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

// sqrt(idf), 0 for what is no idf.
double RootIdf(double idf) { return idf > 0 ? std::sqrt(std::min(idf, kMaxIdf)) : 0.0; }

}  // namespace

double Bm25Idf(std::uint64_t num, std::uint64_t frequency) {
  const auto df = static_cast<double>(std::min(num, frequency));
  return std::log(1.0 + (static_cast<double>(num) - df + 0.5) / (df + 0.5));
}

std::vector<WeightedTerm> CountTerms(std::vector<std::uint64_t> hashes) {
  std::sort(hashes.begin(), hashes.end());
  std::vector<WeightedTerm> terms;
  for (const std::uint64_t hash : hashes) {
    if (terms.empty() || terms.back().hash != hash) terms.push_back({hash, 0});
    if (terms.back().count < std::numeric_limits<std::uint32_t>::max()) ++terms.back().count;
  }
  return terms;
}

std::string HashedBm25::Id() {
  return "hashed-bm25-v1/slots=" + std::to_string(kSlots) +
         "/range=" + std::to_string(static_cast<int>(kRange)) + "/" + std::string(WordsId());
}

void HashedBm25::AddText(std::span<const WeightedTerm> terms, std::uint64_t length,
                         double mean_length, const std::function<double(std::uint64_t)>& idf,
                         std::span<float> out) const {
  // A level without a mean has no lengths to compare.
  const double ratio = mean_length > 0 ? static_cast<double>(length) / mean_length : 1.0;
  const double saturation = kBm25K1 * (1.0 - kBm25B + kBm25B * ratio);
  for (const WeightedTerm& term : terms) {
    const auto tf = static_cast<double>(term.count);
    AddTerm(term.hash, RootIdf(idf(term.hash)) * tf * (kBm25K1 + 1.0) / (tf + saturation), out);
  }
}

void HashedBm25::AddQuestion(std::span<const WeightedTerm> terms,
                             const std::function<double(std::uint64_t)>& idf,
                             std::span<float> out) const {
  for (const WeightedTerm& term : terms) {
    AddTerm(term.hash, RootIdf(idf(term.hash)) * static_cast<double>(term.count), out);
  }
}

// The vector is cut into kSlots blocks of (nearly) equal width, and the term owns one slot in each,
// so that it never meets itself. Block i takes the i-th number of a splitmix64 sequence that starts
// at the hash: its high 32 bits, as a fraction, choose the slot, its lowest bit the sign.
// Dimensions below kSlots leave some blocks empty.
void HashedBm25::AddTerm(std::uint64_t hash, double weight, std::span<float> out) const {
  assert(out.size() == dim_);
  const auto share = static_cast<float>(weight / std::sqrt(static_cast<double>(kSlots)));
  std::uint64_t state = hash;
  for (std::uint64_t block = 0; block < kSlots; ++block) {
    const std::uint64_t begin = block * dim_ / kSlots;
    const std::uint64_t width = (block + 1) * dim_ / kSlots - begin;
    const std::uint64_t random = SplitMix64(state);
    if (width == 0) continue;
    const std::uint64_t slot = begin + (((random >> 32U) * width) >> 32U);
    out[static_cast<std::size_t>(slot)] += (random & 1U) != 0 ? -share : share;
  }
}

}  // namespace rag::models
