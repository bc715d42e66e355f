#include "querier/packer.h"

namespace rag::querier {

Packed Pack(std::span<const PackItem> items, const PackOptions& options) {
  Packed packed;
  packed.used = options.frame;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::uint64_t separator = packed.included.empty() ? 0 : options.separator;
    if (!items[i].duplicate_of.has_value() &&
        packed.used + separator + items[i].cost <= options.budget) {
      packed.used += separator + items[i].cost;
      packed.included.push_back(i);
    } else {
      packed.skipped.push_back(i);
    }
  }
  return packed;
}

}  // namespace rag::querier
