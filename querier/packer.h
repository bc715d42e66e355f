// The budget decides: candidates in score order, skip what does not fit and go on.
#ifndef QUERIER_PACKER_H_
#define QUERIER_PACKER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rag::querier {

struct PackItem {
  std::uint64_t cost = 0;  // units of the token counter, header included
  // An earlier item that says the same; this one is left out then.
  std::optional<std::size_t> duplicate_of = std::nullopt;
};

struct PackOptions {
  std::uint64_t budget = 0;     // units
  std::uint64_t separator = 0;  // units between two included items
  std::uint64_t frame = 0;      // units spent whatever is included
};

struct Packed {
  std::vector<std::size_t> included;  // indices of items, in item order
  std::vector<std::size_t> skipped;
  std::uint64_t used = 0;  // units, frame and separators included; 0 + frame when nothing fits
};

// O(n). An item that is no duplicate is included when used + separator (if it is not the first) +
// cost <= budget.
Packed Pack(std::span<const PackItem> items, const PackOptions& options);

}  // namespace rag::querier

#endif  // QUERIER_PACKER_H_
