// Forward segments of made-up prose, for benchmarks.
#ifndef BENCHMARKS_FORWARD_SEGMENTS_H_
#define BENCHMARKS_FORWARD_SEGMENTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "formats/forward_index.h"

namespace rag::benchmarks {

inline constexpr std::uint64_t kTerms = 4096;

// Spread over the 40 bits as hashes are; a small number is a frequent term.
inline std::uint64_t TermOf(std::uint64_t number) {
  return (number + 1) * 0x9E3779B97F4A7C15U & formats::kTermMask;
}

// Chunks of 25 terms in sections of five.
inline formats::ForwardSegment MakeSegment(std::uint64_t seed, std::size_t num_chunks) {
  std::mt19937_64 random(seed);
  const auto terms = [&random](std::uint32_t length) {
    std::map<std::uint64_t, std::uint32_t> counts;
    for (std::uint32_t i = 0; i < length; ++i) {
      ++counts[TermOf((random() % kTerms) * (random() % kTerms) / kTerms)];
    }
    formats::SectionTerms out;
    out.length = length;
    for (const auto& [term, count] : counts) out.terms.push_back({term, count});
    return out;
  };
  formats::ForwardSegment segment;
  segment.title = terms(3);
  for (std::size_t i = 0; i < num_chunks; ++i) {
    if (i % 5 == 0) segment.sections.push_back(terms(2));
    formats::SectionTerms body = terms(25);
    formats::ChunkTerms chunk;
    chunk.section = static_cast<std::uint32_t>(segment.sections.size() - 1);
    chunk.length = body.length;
    chunk.cost[0] = 280;
    chunk.cost[1] = 310;
    chunk.cost[2] = 380;
    chunk.terms = std::move(body.terms);
    segment.chunks.push_back(std::move(chunk));
  }
  return segment;
}

// `n` terms as a question would have: frequent ones and rare ones. Ascending.
inline std::vector<std::uint64_t> WantedTerms(std::size_t n) {
  std::vector<std::uint64_t> wanted;
  for (std::size_t i = 0; i < n; ++i) wanted.push_back(TermOf(i * i * 37 % kTerms));
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted;
}

}  // namespace rag::benchmarks

#endif  // BENCHMARKS_FORWARD_SEGMENTS_H_
