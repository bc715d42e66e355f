#include "indexer/rebuild_plan.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

namespace rag::indexer {
namespace {

namespace fs = std::filesystem;

bool BySource(const PlannedDocument& a, const PlannedDocument& b) { return a.source < b.source; }

// Sources, without prefix, that something is wrong with although they are there: files, and folders
// that stand for all below them.
class Unreadable {
 public:
  Unreadable(const std::vector<SkippedFile>& skipped, const fs::path& root) {
    for (const SkippedFile& file : skipped) {
      if (!IsWarning(file.reason)) continue;
      std::string_view name = file.source;
      if (name.ends_with('/')) name.remove_suffix(1);
      std::error_code error;
      const fs::file_type type = fs::symlink_status(root / fs::path(name), error).type();
      if (type == fs::file_type::not_found) continue;  // vanished while the corpus was read
      sources_.emplace_back(name);
    }
    std::sort(sources_.begin(), sources_.end());
  }

  [[nodiscard]] bool Holds(std::string_view source) const {
    for (std::size_t end = source.size(); end != std::string_view::npos && end > 0;
         end = source.rfind('/', end - 1)) {
      if (std::binary_search(sources_.begin(), sources_.end(), source.substr(0, end))) return true;
    }
    return false;
  }

 private:
  std::vector<std::string> sources_;
};

// Sorts documents of the previous generation that no file stands for into stale and removed ones.
class Comparison {
 public:
  // `prefix_bytes`: of the prefix of sources.
  Comparison(const PreviousIndex& previous, const Unreadable& unreadable, std::size_t prefix_bytes,
             RebuildPlan& plan)
      : previous_(previous),
        unreadable_(unreadable),
        prefix_bytes_(prefix_bytes),
        plan_(plan),
        seen_(previous.documents().size()) {}

  void AddCurrent() {
    std::vector<PlannedDocument*> added;
    for (PlannedDocument& document : plan_.documents) {
      const std::uint32_t ordinal = previous_.Find(document.source);
      if (ordinal == seen_.size()) {
        added.push_back(&document);
        continue;
      }
      seen_[ordinal] = true;
      if (document.previous != PlannedDocument::kNone) {
        ++plan_.unchanged;
        woken_ = woken_ || previous_.documents()[ordinal].stale;
        continue;
      }
      plan_.changed.push_back(document.source);
      plan_.gone.push_back(ordinal);
    }
    // Now it is known which documents of the generation before have no file any more.
    for (PlannedDocument* document : added) {
      if (!Move(*document)) plan_.added.push_back(document->source);
    }
  }

  void AddMissing() {
    for (std::uint32_t ordinal = 0; ordinal < seen_.size(); ++ordinal) {
      if (seen_[ordinal]) continue;
      const PreviousIndex::Document& document = previous_.documents()[ordinal];
      if (IsUnreadable(ordinal)) {
        woken_ = woken_ || !document.stale;
        plan_.stale.push_back(document.source);
        plan_.documents.push_back({.source = document.source,
                                   .doc_id = document.doc_id,
                                   .previous = ordinal,
                                   .stale = true,
                                   .analyzed = {},
                                   .num_chunks = document.num_chunks});
      } else {
        plan_.removed.push_back(document.source);
        plan_.gone.push_back(ordinal);
      }
    }
  }

  void Finish() {
    std::sort(plan_.gone.begin(), plan_.gone.end());
    CountChunks();
    plan_.nothing_to_do =
        plan_.added.empty() && plan_.moved.empty() && plan_.gone.empty() && !woken_;
  }

 private:
  // Its file is there still, so the document stays.
  [[nodiscard]] bool IsUnreadable(std::uint32_t ordinal) const {
    const std::string_view source = previous_.documents()[ordinal].source;
    return unreadable_.Holds(source.substr(prefix_bytes_));
  }

  // False when it takes no other document's place.
  bool Move(PlannedDocument& document) {
    if (document.previous_twin == PlannedDocument::kNone) return false;
    for (const std::uint32_t twin : previous_.FindTwins(document.content, document.source)) {
      if (seen_[twin] || IsUnreadable(twin)) continue;
      seen_[twin] = true;
      document.previous_twin = twin;
      document.moved = true;
      plan_.moved.push_back({previous_.documents()[twin].source, document.source});
      return true;
    }
    return false;
  }

  // A text that goes and comes back in another document is no change.
  void CountChunks() {
    std::vector<bool> leaves(seen_.size());
    for (const std::uint32_t ordinal : plan_.gone) leaves[ordinal] = true;
    for (const PlannedDocument& document : plan_.documents) {
      if (document.previous != PlannedDocument::kNone || document.moved) continue;
      const std::uint32_t twin = document.previous_twin;
      if (twin != PlannedDocument::kNone && leaves[twin]) {
        leaves[twin] = false;
      } else {
        plan_.changed_chunks += document.num_chunks;
      }
    }
    for (std::uint32_t ordinal = 0; ordinal < leaves.size(); ++ordinal) {
      if (leaves[ordinal]) plan_.changed_chunks += previous_.documents()[ordinal].num_chunks;
    }
  }

  const PreviousIndex& previous_;
  const Unreadable& unreadable_;
  std::size_t prefix_bytes_;
  RebuildPlan& plan_;
  std::vector<bool> seen_;
  bool woken_ = false;  // a document became stale, or is so no more
};

}  // namespace

RebuildPlan PlanRebuild(std::vector<PlannedDocument> documents, const PreviousIndex* previous,
                        const std::vector<SkippedFile>& skipped, const fs::path& root,
                        const std::string& source_prefix, bool keep_stale) {
  RebuildPlan plan;
  plan.documents = std::move(documents);
  std::sort(plan.documents.begin(), plan.documents.end(), BySource);
  if (previous == nullptr) {
    for (const PlannedDocument& document : plan.documents) {
      plan.added.push_back(document.source);
      plan.changed_chunks += document.num_chunks;
    }
    return plan;
  }
  static const std::vector<SkippedFile> kNone;
  const Unreadable unreadable(keep_stale ? skipped : kNone, root);
  Comparison comparison(*previous, unreadable, source_prefix.size(), plan);
  comparison.AddCurrent();
  comparison.AddMissing();
  std::sort(plan.documents.begin(), plan.documents.end(), BySource);
  comparison.Finish();
  return plan;
}

void FindTwins(RebuildPlan& plan) {
  std::map<std::pair<std::uint64_t, formats::Sha256>, std::uint32_t> first;
  for (std::uint32_t i = 0; i < plan.documents.size(); ++i) {
    PlannedDocument& document = plan.documents[i];
    if (!document.analyzed.has_value() || document.likeness == 0) continue;
    const auto [it, is_first] = first.try_emplace({document.likeness, document.content}, i);
    if (!is_first) document.twin = it->second;
  }
}

}  // namespace rag::indexer
