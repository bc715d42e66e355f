#include "indexer/walk.h"

#include <algorithm>
#include <cerrno>
#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include <sys/stat.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "formats/names.h"
#include "formats/status_macros.h"
#include "indexer/ignore_rules.h"
#include "indexer/open_file.h"
#include "storage/file_io.h"
#include "storage/generation.h"

namespace rag::indexer {
namespace {

namespace fs = std::filesystem;

// What a path leads to, whatever the path.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  auto operator<=>(const Identity&) const = default;
};

// Follows links. Nothing, and errno, when there is nothing.
std::optional<Identity> IdentityOf(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return Identity{status.st_dev, status.st_ino};
}

// The folders that `root` lies in, itself not among them.
std::set<Identity> FoldersAbove(const fs::path& root) {
  std::set<Identity> above;
  std::error_code error;
  fs::path folder = fs::canonical(root, error);
  while (!error && folder != folder.parent_path()) {
    folder = folder.parent_path();
    if (const auto identity = IdentityOf(folder)) above.insert(*identity);
  }
  return above;
}

// The root, or a file or folder that was met below it. The order is that in which paths to the same
// thing are preferred.
struct Place {
  std::string source;  // "" for the root
  fs::path path;
  std::size_t depth = 0;
  bool linked = false;    // a link is part of the path
  bool included = false;  // by its own name or that of a folder above
  const IgnoreScope* scope = nullptr;

  [[nodiscard]] auto Key() const { return std::tie(depth, linked, source); }
};

bool IsShorter(const Place& a, const Place& b) { return a.Key() < b.Key(); }

IgnoreRules Globs(const std::vector<std::string>& patterns) {
  IgnoreRules rules;
  for (const std::string& pattern : patterns) rules.Add(pattern);
  return rules;
}

// Goes through the folders level by level, so that the first path to a folder is the shortest.
class Walker {
 public:
  explicit Walker(const WalkOptions& options)
      : options_(options), include_(Globs(options.include)), exclude_(Globs(options.exclude)) {
    if (!options.leave_out.empty()) leave_out_ = IdentityOf(options.leave_out);
  }

  absl::StatusOr<WalkResult> Walk(const fs::path& root) {
    if (options_.follow_symlinks) above_ = FoldersAbove(root);
    std::vector<Place> level;
    level.push_back({.source = "", .path = root, .included = options_.include.empty()});
    while (!level.empty()) {
      for (const Place& folder : level) RAG_RETURN_IF_ERROR(EnterFolder(folder));
      level = std::exchange(folders_, {});
      std::sort(level.begin(), level.end(), IsShorter);
    }
    KeepShortestPaths();
    for (Place& file : files_) {
      result_.files.push_back({std::move(file.source), std::move(file.path)});
    }
    const auto by_source = [](const auto& a, const auto& b) { return a.source < b.source; };
    std::sort(result_.files.begin(), result_.files.end(), by_source);
    std::sort(result_.skipped.begin(), result_.skipped.end(), by_source);
    return std::move(result_);
  }

 private:
  absl::Status EnterFolder(const Place& folder) {
    if (options_.follow_symlinks || leave_out_.has_value()) {
      const std::optional<Identity> identity = IdentityOf(folder.path);
      if (!identity.has_value()) {
        Skip(folder.source, SkipReason::kUnreadable, ErrnoMessage(errno));
        return absl::OkStatus();
      }
      if (identity == leave_out_) return absl::OkStatus();
      if (options_.follow_symlinks) {
        const auto [first, is_new] = entered_.try_emplace(*identity, folder.source);
        if (!is_new) {
          Skip(folder.source, SkipReason::kDuplicate,
               first->second.empty()
                   ? "the corpus itself"
                   : absl::StrCat("same folder as ", formats::PrintableName(first->second)));
          return absl::OkStatus();
        }
      }
    }
    if (!folder.source.empty() && storage::ReadCurrent(folder.path).ok()) {
      Skip(folder.source, SkipReason::kIndex);
      return absl::OkStatus();
    }
    return ReadFolder(folder);
  }

  absl::Status ReadFolder(Place folder) {
    std::error_code error;
    fs::directory_iterator entry(folder.path, error);
    if (!error && options_.use_ignore_files) folder.scope = LoadRules(folder);
    while (!error && entry != fs::directory_iterator()) {
      AddEntry(folder, *entry);
      entry.increment(error);
    }
    if (!error) return absl::OkStatus();
    if (folder.source.empty()) {
      return storage::SystemError(folder.path, "list", error.value());
    }
    Skip(folder.source, SkipReason::kUnreadable, error.message());
    return absl::OkStatus();
  }

  // The rules that hold in the folder: its own and those from above.
  const IgnoreScope* LoadRules(const Place& folder) {
    auto scope = std::make_unique<IgnoreScope>();
    scope->parent = folder.scope;
    scope->base = folder.source.empty() ? 0 : folder.source.size() + 1;
    for (const auto& [name, rules] :
         {std::pair(".ragignore", &scope->ragignore), std::pair(".gitignore", &scope->gitignore)}) {
      absl::StatusOr<IgnoreRules> loaded = IgnoreRules::Load(folder.path / name);
      if (loaded.ok()) {
        *rules = *std::move(loaded);
      } else {
        unread_rules_.emplace(SourceOf(folder, name), std::string(loaded.status().message()));
      }
    }
    if (scope->ragignore.empty() && scope->gitignore.empty()) return folder.scope;
    scopes_.push_back(std::move(scope));
    return scopes_.back().get();
  }

  static std::string SourceOf(const Place& folder, const std::string& name) {
    return folder.source.empty() ? name : absl::StrCat(folder.source, "/", name);
  }

  void AddEntry(const Place& folder, const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().native();
    Place place = folder;
    place.source = SourceOf(folder, name);
    place.path = entry.path();
    place.depth = folder.depth + 1;
    if (name == ".git" || (name[0] == '.' && !options_.hidden)) return SkipHidden(place);
    std::error_code error;
    fs::file_type type = entry.symlink_status(error).type();
    const bool follow = type == fs::file_type::symlink && options_.follow_symlinks;
    if (follow) type = entry.status(error).type();
    const bool is_folder = type == fs::file_type::directory;
    if (IsIgnored(place.scope, place.source, is_folder)) {
      return Skip(std::move(place.source), SkipReason::kIgnored);
    }
    if (exclude_.Match(place.source, is_folder) == Verdict::kMatched) {
      return Skip(std::move(place.source), SkipReason::kExcluded);
    }
    const Verdict included = include_.Match(place.source, is_folder);
    if (included != Verdict::kNone) place.included = included == Verdict::kMatched;
    if (type == fs::file_type::symlink) {
      return Skip(std::move(place.source), SkipReason::kSymlink);
    }
    if (!is_folder && !place.included) {
      return Skip(std::move(place.source), SkipReason::kExcluded);
    }
    if (follow && !error) FollowLink(place, error);
    if (type == fs::file_type::none || type == fs::file_type::not_found || error) {
      return Skip(std::move(place.source), SkipReason::kUnreadable,
                  error ? error.message() : ErrnoMessage(ENOENT));
    }
    Take(std::move(place), type);
  }

  // A file of rules that could not be read is more than a hidden file: what it hides is now shown.
  void SkipHidden(const Place& place) {
    const auto unread = unread_rules_.find(place.source);
    if (unread == unread_rules_.end()) return Skip(place.source, SkipReason::kHidden);
    Skip(place.source, SkipReason::kUnreadable, unread->second);
  }

  // From here on the link's target stands for it: it can be opened without following links.
  static void FollowLink(Place& place, std::error_code& error) {
    place.path = fs::canonical(place.path, error);
    place.linked = true;
  }

  void Take(Place place, fs::file_type type) {
    if (type == fs::file_type::regular) {
      files_.push_back(std::move(place));
    } else if (type != fs::file_type::directory) {
      Skip(std::move(place.source), SkipReason::kSpecial);
    } else if (place.linked && IsAbove(place.path)) {
      Skip(std::move(place.source), SkipReason::kSymlink, "a folder above the corpus");
    } else {
      folders_.push_back(std::move(place));
    }
  }

  [[nodiscard]] bool IsAbove(const fs::path& path) const {
    const std::optional<Identity> identity = IdentityOf(path);
    return identity.has_value() && above_.contains(*identity);
  }

  void KeepShortestPaths() {
    if (!options_.follow_symlinks) return;
    std::sort(files_.begin(), files_.end(), IsShorter);
    std::map<Identity, std::string> sources;
    std::erase_if(files_, [&](const Place& file) {
      const std::optional<Identity> identity = IdentityOf(file.path);
      if (!identity.has_value()) return false;  // vanished: reading it will say so
      const auto [first, is_new] = sources.try_emplace(*identity, file.source);
      if (is_new) return false;
      Skip(file.source, SkipReason::kDuplicate,
           absl::StrCat("same file as ", formats::PrintableName(first->second)));
      return true;
    });
  }

  void Skip(std::string source, SkipReason reason, std::string detail = "") {
    result_.skipped.push_back({std::move(source), reason, std::move(detail)});
  }

  const WalkOptions& options_;
  const IgnoreRules include_;
  const IgnoreRules exclude_;
  std::optional<Identity> leave_out_;
  std::set<Identity> above_;
  std::vector<std::unique_ptr<IgnoreScope>> scopes_;
  std::map<std::string, std::string> unread_rules_;  // source of the file -> why
  std::map<Identity, std::string> entered_;          // when links are followed
  std::vector<Place> folders_;                       // of the next level
  std::vector<Place> files_;
  WalkResult result_;
};

}  // namespace

std::string_view ToString(SkipReason reason) {
  switch (reason) {
    case SkipReason::kHidden:
      return "hidden";
    case SkipReason::kIgnored:
      return "ignored";
    case SkipReason::kExcluded:
      return "excluded";
    case SkipReason::kSymlink:
      return "symlink";
    case SkipReason::kDuplicate:
      return "duplicate";
    case SkipReason::kIndex:
      return "index";
    case SkipReason::kSpecial:
      return "special";
    case SkipReason::kUnreadable:
      return "unreadable";
    case SkipReason::kChanged:
      return "changed";
    case SkipReason::kBinary:
      return "binary";
    case SkipReason::kInvalidUtf8:
      return "invalid-utf8";
    case SkipReason::kBlank:
      return "blank";
  }
  return "unknown";
}

bool IsByRule(SkipReason reason) {
  return reason == SkipReason::kHidden || reason == SkipReason::kIgnored ||
         reason == SkipReason::kExcluded || reason == SkipReason::kDuplicate ||
         reason == SkipReason::kIndex;
}

bool IsWarning(SkipReason reason) {
  return reason == SkipReason::kSpecial || reason == SkipReason::kUnreadable ||
         reason == SkipReason::kChanged;
}

absl::StatusOr<WalkResult> WalkCorpus(const fs::path& root, const WalkOptions& options) {
  std::error_code error;
  const fs::file_status status = fs::status(root, error);
  if (status.type() == fs::file_type::not_found) {
    return absl::NotFoundError(
        absl::StrCat(root.native(), ": no such folder; name the folder of documents"));
  }
  if (error) return storage::SystemError(root, "list", error.value());
  if (status.type() != fs::file_type::directory) {
    return absl::InvalidArgumentError(
        absl::StrCat(root.native(), ": not a folder; name the folder of documents"));
  }
  return Walker(options).Walk(root);
}

}  // namespace rag::indexer
