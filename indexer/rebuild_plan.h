// What a rebuild has to do: which documents it carries over, makes and drops.
#ifndef INDEXER_REBUILD_PLAN_H_
#define INDEXER_REBUILD_PLAN_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "indexer/previous_index.h"
#include "indexer/walk.h"

namespace rag::indexer {

// A document of the generation that is being built.
struct PlannedDocument {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::string source;  // with its prefix
  std::string doc_id;
  formats::Sha256 content{};       // of its file
  std::uint32_t file = 0;          // its number in CorpusStats
  std::uint32_t previous = kNone;  // ordinal of the same document in the generation before
  // Where a document lies that is the same but for source and id, so that this one need not be
  // made: its ordinal in the generation before, or its place among the documents of the plan.
  std::uint32_t previous_twin = kNone;
  std::uint32_t twin = kNone;
  bool moved = false;  // its previous_twin has no file any more, and no other document in its place
  bool stale = false;  // its file cannot be read: what is known of it is kept
  std::optional<std::uint64_t> analyzed;  // its entry in the journal of the first pass
  std::uint32_t num_chunks = 0;           // 0 when it was not analyzed
  // Equal for documents of equal content that are the same but for source and id; 0: not known.
  std::uint64_t likeness = 0;
};

struct MovedDocument {
  std::string from;
  std::string source;
};

// Sources with their prefix, each list ascending.
struct RebuildPlan {
  std::vector<PlannedDocument> documents;  // ascending by source
  std::vector<std::uint32_t> gone;         // ordinals whose text goes: removed and changed ones
  std::vector<std::string> added;
  std::vector<MovedDocument> moved;  // in neither `added` nor `removed`
  std::vector<std::string> changed;
  std::vector<std::string> removed;
  std::vector<std::string> stale;
  std::uint64_t unchanged = 0;  // documents, the stale ones not counted

  // The chunks that are added and taken out.
  std::uint64_t changed_chunks = 0;
  // The generation would hold what the previous one holds.
  bool nothing_to_do = false;
};

// `documents`: what the files that could be read gave, in any order. `previous` may be null: all is
// new then. Documents of files that are there but cannot be read, or lie in folders that cannot,
// are kept as stale when `keep_stale`; `skipped` and `root` say which those are. Documents with a
// previous_twin get the one that they take the place of, if there is one.
RebuildPlan PlanRebuild(std::vector<PlannedDocument> documents, const PreviousIndex* previous,
                        const std::vector<SkippedFile>& skipped, const std::filesystem::path& root,
                        const std::string& source_prefix, bool keep_stale);

// Sets `twin` of documents that are analyzed and like an earlier one of the plan.
void FindTwins(RebuildPlan& plan);

}  // namespace rag::indexer

#endif  // INDEXER_REBUILD_PLAN_H_
