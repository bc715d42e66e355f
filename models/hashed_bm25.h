// The built-in embedder: BM25 folded into a small dense vector, so that an inner product of
// question and text approximates their BM25 score. No model file; what it learns from the corpus is
// its term table.
//
// A term owns kSlots slots of the vector, each with a sign, drawn from its 64-bit hash. A text adds
//   sqrt(idf) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length)) / sqrt(kSlots)
// per slot, a question sqrt(idf) * tf / sqrt(kSlots); k1 1.2, b 0.75, idf = ln(1 + (N - df + 0.5) /
// (df + 0.5)). Vectors are dim x float32, not normalised; components beyond +-kRange are clipped
// when stored as int8.
#ifndef MODELS_HASHED_BM25_H_
#define MODELS_HASHED_BM25_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace rag::models {

inline constexpr int kSlots = 4;
inline constexpr float kRange = 8.0F;
inline constexpr double kBm25K1 = 1.2;
inline constexpr double kBm25B = 0.75;

// ln(1 + (num - frequency + 0.5) / (frequency + 0.5)).
double Bm25Idf(std::uint64_t num, std::uint64_t frequency);

// A term and its weight in the text; see formats::TermCount for the 40-bit form. Here the hash is
// whole.
struct WeightedTerm {
  std::uint64_t hash = 0;
  std::uint32_t count = 0;
};

// Sorts and counts hashes. Ascending by hash.
std::vector<WeightedTerm> CountTerms(std::vector<std::uint64_t> hashes);

// Threads: const methods may run concurrently.
class HashedBm25 {
 public:
  explicit HashedBm25(std::uint32_t dim) : dim_(dim) {}
  [[nodiscard]] std::uint32_t dim() const { return dim_; }
  // "hashed-bm25-v1/slots=4/range=8/" + WordsId(). The dimension is a build parameter of its own.
  static std::string Id();

  // Adds the terms of a text to out[dim]. `idf` maps a hash to its idf; `mean_length` is that of
  // the level (chunks, windows, documents) that the text belongs to.
  void AddText(std::span<const WeightedTerm> terms, std::uint64_t length, double mean_length,
               const std::function<double(std::uint64_t)>& idf, std::span<float> out) const;
  void AddQuestion(std::span<const WeightedTerm> terms,
                   const std::function<double(std::uint64_t)>& idf, std::span<float> out) const;

 private:
  void AddTerm(std::uint64_t hash, double weight, std::span<float> out) const;
  std::uint32_t dim_;
};

}  // namespace rag::models

#endif  // MODELS_HASHED_BM25_H_
