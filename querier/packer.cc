#include "querier/packer.h"

namespace rag::querier {

Packed Pack(std::span<const PackItem> items, const PackOptions& options) {
  Packed packed;
  packed.used = options.frame;
  std::map<std::size_t, std::size_t> included_contents;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const PackItem& item = items[i];
    if (item.content != 0) {
      const auto same = included_contents.find(item.content);
      if (same != included_contents.end()) {
        packed.duplicates[i] = same->second;
        packed.skipped.push_back(i);
        continue;
      }
    }
    const std::uint64_t separator = packed.included.empty() ? 0 : options.separator;
    if (packed.used + separator + item.cost <= options.budget) {
      packed.used += separator + item.cost;
      packed.included.push_back(i);
      if (item.content != 0) included_contents[item.content] = i;
    } else {
      packed.skipped.push_back(i);
    }
  }
  return packed;
}

}  // namespace rag::querier
