// The budget decides: candidates in score order, skip what does not fit and go on.
#ifndef QUERIER_PACKER_H_
#define QUERIER_PACKER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace rag::querier {

struct PackItem {
  std::uint64_t cost = 0;  // units of the token counter, header included
  // Items with the same number say the same: only the first that fits is included. 0: like no
  // other.
  std::size_t content = 0;
  // Indices of items that are included right after this one, if all of them fit that are not
  // included yet, nor like one that is.
  std::vector<std::size_t> companions = {};
  bool only_as_companion = false;  // not included on its own, nor counted as skipped
};

struct PackOptions {
  std::uint64_t budget = 0;     // units
  std::uint64_t separator = 0;  // units between two included items
  std::uint64_t frame = 0;      // units spent whatever is included
};

struct Packed {
  std::vector<std::size_t> included;  // indices of items, in item order
  std::vector<std::size_t> skipped;
  std::map<std::size_t, std::size_t> duplicates;  // skipped item -> the included one like it
  std::uint64_t used = 0;  // units, frame and separators included; 0 + frame when nothing fits
};

// O(n log n) and the companions. An item that is like no included one is included when used +
// separator (if it is not the first) + cost <= budget.
Packed Pack(std::span<const PackItem> items, const PackOptions& options);

}  // namespace rag::querier

#endif  // QUERIER_PACKER_H_
