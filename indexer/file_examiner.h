// The first pass over one file: is it a document, is it known, and if not, what is in it.
#ifndef INDEXER_FILE_EXAMINER_H_
#define INDEXER_FILE_EXAMINER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "indexer/analyzed_document.h"
#include "indexer/build_journal.h"
#include "indexer/previous_index.h"
#include "indexer/profile.h"
#include "indexer/rebuild_plan.h"
#include "indexer/splitter.h"
#include "indexer/text_file.h"
#include "indexer/walk.h"
#include "models/token_counter.h"
#include "models/words.h"

namespace rag::indexer {

struct ExaminedFile {
  absl::Status status;  // of the journal: when it fails, so does the build
  bool ok = false;      // it is a document; else `skipped` says why not
  bool resumed = false;
  PlannedDocument document;
  DocumentStats stats;  // when document.analyzed is set
  SkippedFile skipped;
};

// Threads: const methods may run concurrently, each with its own analyzer.
class FileExaminer {
 public:
  // All borrowed.
  struct Parts {
    const Profile& profile;
    const std::string& source_prefix;
    const Splitter& splitter;
    const models::TokenCounter& counter;
    const PreviousIndex* previous;  // may be null
    bool carry_over;                // what `previous` holds is not analyzed again
    BuildJournal* journal;          // null: nothing is kept, as for a dry run
  };
  explicit FileExaminer(const Parts& parts) : parts_(parts) {}

  [[nodiscard]] ExaminedFile Examine(std::uint32_t file_number, const CorpusFile& file,
                                     models::TermAnalyzer& analyzer) const;

 private:
  // What the generation before holds of a source; null when it holds nothing.
  [[nodiscard]] const PreviousIndex::Document* Known(std::string_view source) const;
  // Whether the generation before holds a document that is the same but for its source and id.
  bool FindTwin(PlannedDocument& document) const;
  // False when the file changed between two readings, and nothing came of it.
  bool ExamineOnce(const CorpusFile& file, models::TermAnalyzer& analyzer,
                   ExaminedFile& result) const;
  // `same`: false when what was analyzed is not what was loaded.
  absl::Status Analyze(const CorpusFile& file, LoadedFile loaded, models::TermAnalyzer& analyzer,
                       ExaminedFile& result, bool& same) const;
  // All parts but the last go into the journal.
  absl::StatusOr<std::optional<SkippedFile>> AnalyzeParts(const CorpusFile& file,
                                                          DocumentAnalyzer& document,
                                                          std::vector<std::uint64_t>& earlier_parts,
                                                          AnalyzedPart& last_part) const;

  Parts parts_;
};

}  // namespace rag::indexer

#endif  // INDEXER_FILE_EXAMINER_H_
