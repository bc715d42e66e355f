// The rules of .gitignore and .ragignore files: which paths they leave out.
//
// The grammar and its meaning are git's (gitignore(5)); the test compares with `git check-ignore`.
// What is not here because the walk does it: nothing below an ignored folder is looked at.
#ifndef INDEXER_IGNORE_RULES_H_
#define INDEXER_IGNORE_RULES_H_

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "indexer/glob.h"

namespace rag::indexer {

// What the last pattern that matches a path says about it; kNone when none does. kNegated is a
// pattern with "!".
enum class Verdict { kNone, kMatched, kNegated };

// An ordered list of patterns. Threads: const methods may run concurrently.
class IgnoreRules {
 public:
  // The lines of an ignore file. Blank lines and those that start with "#" are none.
  static IgnoreRules Parse(std::string_view file);
  // The file at `path`; no rules when there is none, or something that is no regular file.
  // PERMISSION_DENIED with the system's message when it cannot be read or is a link (as for git),
  // RESOURCE_EXHAUSTED above 4 MiB.
  static absl::StatusOr<IgnoreRules> Load(const std::filesystem::path& path);

  // One pattern as it stands: "#" starts no comment and blanks at the end count.
  void Add(std::string_view pattern);

  // `path` is relative to the folder of the rules, with "/" between its parts.
  [[nodiscard]] Verdict Match(std::string_view path, bool is_folder) const;
  [[nodiscard]] bool empty() const { return patterns_.empty(); }

 private:
  struct Pattern {
    Glob glob;
    bool negated = false;
    bool folders_only = false;
    bool name_only = false;  // without "/": matches the last part of the path
  };
  std::vector<Pattern> patterns_;
};

// The rules of one folder, and by `parent` those of the folders above it.
struct IgnoreScope {
  const IgnoreScope* parent = nullptr;  // borrowed; null at the top
  std::size_t base = 0;                 // bytes of the folder's source and its "/"
  IgnoreRules ragignore;
  IgnoreRules gitignore;
};

// Whether the rules leave `source` out, which lies in the folder of `scope` (null: no rules). A
// deeper file wins over a higher one, and any .ragignore over any .gitignore.
bool IsIgnored(const IgnoreScope* scope, std::string_view source, bool is_folder);

}  // namespace rag::indexer

#endif  // INDEXER_IGNORE_RULES_H_
