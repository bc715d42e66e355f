#include "querier/packer.h"

#include <algorithm>

namespace rag::querier {
namespace {

class Packing {
 public:
  Packing(std::span<const PackItem> items, const PackOptions& options)
      : items_(items), options_(options), is_included_(items.size()) {
    packed_.used = options.frame;
  }

  Packed Run() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (is_included_[i] || items_[i].only_as_companion) continue;
      if (IsDuplicate(i) || !Fits({&i, 1})) {
        packed_.skipped.push_back(i);
        continue;
      }
      Include(i);
      IncludeCompanions(i);
    }
    std::sort(packed_.included.begin(), packed_.included.end());
    return std::move(packed_);
  }

 private:
  bool IsDuplicate(std::size_t i) {
    if (items_[i].content == 0) return false;
    const auto same = included_contents_.find(items_[i].content);
    if (same == included_contents_.end()) return false;
    packed_.duplicates[i] = same->second;
    return true;
  }

  [[nodiscard]] bool Fits(std::span<const std::size_t> more) const {
    std::uint64_t used = packed_.used;
    bool first = packed_.included.empty();
    for (const std::size_t i : more) {
      used += (first ? 0 : options_.separator) + items_[i].cost;
      first = false;
    }
    return used <= options_.budget;
  }

  void Include(std::size_t i) {
    packed_.used += (packed_.included.empty() ? 0 : options_.separator) + items_[i].cost;
    packed_.included.push_back(i);
    is_included_[i] = true;
    if (items_[i].content != 0) included_contents_.emplace(items_[i].content, i);
  }

  void IncludeCompanions(std::size_t i) {
    std::vector<std::size_t> missing;
    for (const std::size_t companion : items_[i].companions) {
      const std::size_t content = items_[companion].content;
      const bool is_said = content != 0 && included_contents_.contains(content);
      if (!is_included_[companion] && !is_said) missing.push_back(companion);
    }
    if (!Fits(missing)) return;
    for (const std::size_t companion : missing) Include(companion);
  }

  std::span<const PackItem> items_;
  const PackOptions& options_;
  Packed packed_;
  std::vector<bool> is_included_;
  std::map<std::size_t, std::size_t> included_contents_;
};

}  // namespace

Packed Pack(std::span<const PackItem> items, const PackOptions& options) {
  return Packing(items, options).Run();
}

}  // namespace rag::querier
