// The journal of a build: what both passes have finished, by document.
#ifndef INDEXER_BUILD_JOURNAL_H_
#define INDEXER_BUILD_JOURNAL_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/manifest.h"
#include "indexer/analyzed_document.h"
#include "indexer/document_builder.h"
#include "indexer/journal.h"
#include "indexer/rebuild_plan.h"

namespace rag::indexer {

// Lies in INDEX/journal. Entries are known by the content, source and id of a document, and are
// taken over from a dead build when it had the same parameters and program, those of the second
// pass also the same statistics. A damaged entry counts as absent. Threads: methods may run
// concurrently, but BeginBuilding and Discard.
class BuildJournal {
 public:
  // Leaves nothing behind when the disk is full. REQUIRES: the WriterLock is held.
  static absl::StatusOr<std::unique_ptr<BuildJournal>> Open(const std::filesystem::path& index,
                                                            const formats::BuildParams& build,
                                                            std::string_view program);

  // Set planned.analyzed. A document is only found with all its parts, which are added first.
  std::optional<AnalyzedDocument> FindAnalyzed(PlannedDocument& planned) const;
  absl::StatusOr<std::uint64_t> AddPart(const AnalyzedPart& part);
  absl::Status AddAnalyzed(const AnalyzedDocument& document, PlannedDocument& planned);
  // REQUIRES: planned.analyzed is set.
  [[nodiscard]] absl::StatusOr<AnalyzedDocument> ReadAnalyzed(const PlannedDocument& planned) const;
  [[nodiscard]] absl::StatusOr<AnalyzedPart> ReadAnalyzedPart(std::uint64_t entry) const;

  // To call between the passes.
  absl::Status BeginBuilding(std::uint64_t fingerprint_of_statistics);
  // Without its log.
  [[nodiscard]] std::optional<BuiltDocument> FindBuilt(const PlannedDocument& planned) const;
  absl::StatusOr<std::uint64_t> AddPart(const storage::BundlePart& part);
  absl::Status AddBuilt(const BuiltDocument& built, const PlannedDocument& planned);
  [[nodiscard]] absl::StatusOr<storage::BundlePart> ReadBuiltPart(std::uint64_t entry) const;

  // Removes the folder: the build is done, or cannot be. What stays behind after an error, the next
  // build removes.
  absl::Status Discard();

 private:
  BuildJournal(std::filesystem::path folder, std::string purpose)
      : folder_(std::move(folder)), purpose_(std::move(purpose)) {}

  std::filesystem::path folder_;
  std::string purpose_;
  std::unique_ptr<Journal> analyzed_;
  std::unique_ptr<Journal> built_;
};

}  // namespace rag::indexer

#endif  // INDEXER_BUILD_JOURNAL_H_
