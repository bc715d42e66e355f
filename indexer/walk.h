// The sorted walk of a corpus folder: which files are documents, and why others are not.
#ifndef INDEXER_WALK_H_
#define INDEXER_WALK_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace rag::indexer {

enum class SkipReason {
  kHidden,       // name starts with "."
  kIgnored,      // a rule of a .gitignore or .ragignore file
  kExcluded,     // matches an exclude glob, or no include glob
  kSymlink,      // links are not followed; or a link to a folder above the corpus
  kIndex,        // an index folder
  kDuplicate,    // links are followed, and the same file or folder has a shorter path
  kSpecial,      // socket, device, pipe
  kUnreadable,   // permission, vanished, I/O error
  kChanged,      // changed each time it was read
  kBinary,       // holds a NUL byte
  kInvalidUtf8,  // text in another encoding
  kBlank,        // nothing but white space
};
std::string_view ToString(SkipReason reason);  // "hidden", "symlink", …
// Left out by a rule or an option, which is no news: kHidden to kExcluded, kIndex and kDuplicate.
bool IsByRule(SkipReason reason);
// The file system's doing, which a person should hear of: kSpecial, kUnreadable and kChanged.
bool IsWarning(SkipReason reason);

struct SkippedFile {
  std::string source;
  SkipReason reason = SkipReason::kHidden;
  std::string detail;  // e.g. the system's message; may be empty
};

struct CorpusFile {
  std::string source;          // relative path with "/" between parts, no prefix
  std::filesystem::path path;  // to open it; no link in its last part
};

struct WalkOptions {
  bool hidden = false;  // take hidden files and folders, too; .git never
  bool use_ignore_files = true;
  bool follow_symlinks = false;
  // gitignore patterns that are matched against sources, the last match in a list deciding. A file
  // is taken when `include` is empty or matches it or a folder above it, and `exclude` neither. An
  // excluded folder is not entered.
  std::vector<std::string> include = {};
  std::vector<std::string> exclude = {};
  // A folder that is passed over without a word when it is met: the index. May be empty or missing.
  std::filesystem::path leave_out = {};
};

struct WalkResult {
  std::vector<CorpusFile> files;     // ascending by the bytes of `source`
  std::vector<SkippedFile> skipped;  // likewise
};

// Lists the regular files under `root` that `options` take. With follow_symlinks each real file and
// folder is met once, under its shortest path: the fewest folders, then one without links, then the
// first in the order of bytes. So loops end, and hard links count as one file.
// NOT_FOUND when root does not exist, INVALID_ARGUMENT when it is no folder, PERMISSION_DENIED when
// it cannot be listed. An unreadable folder below it is skipped and named, never an error.
absl::StatusOr<WalkResult> WalkCorpus(const std::filesystem::path& root,
                                      const WalkOptions& options = {});

}  // namespace rag::indexer

#endif  // INDEXER_WALK_H_
