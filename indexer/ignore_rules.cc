#include "indexer/ignore_rules.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include <sys/stat.h>

#include "absl/status/status.h"
#include "indexer/open_file.h"

namespace rag::indexer {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;

// Without the blanks at the end that no backslash protects.
std::string_view TrimBlanks(std::string_view line) {
  std::size_t end = 0;
  for (std::size_t pos = 0; pos < line.size(); ++pos) {
    if (line[pos] == ' ') continue;
    if (line[pos] == '\\') ++pos;
    end = pos + 1;
  }
  return line.substr(0, end);
}

}  // namespace

IgnoreRules IgnoreRules::Parse(std::string_view file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (file.starts_with(kByteOrderMark)) file.remove_prefix(kByteOrderMark.size());
  IgnoreRules rules;
  while (!file.empty()) {
    const std::size_t end = std::min(file.find('\n'), file.size());
    std::string_view line = file.substr(0, end);
    if (end < file.size() && line.ends_with('\r')) line.remove_suffix(1);
    line = line.substr(0, line.find('\0'));  // git reads C strings
    if (!line.starts_with('#')) rules.Add(TrimBlanks(line));
    file.remove_prefix(std::min(end + 1, file.size()));
  }
  return rules;
}

absl::StatusOr<IgnoreRules> IgnoreRules::Load(const std::filesystem::path& path) {
  const OpenFile file(path);
  if (!file.is_open()) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ENXIO) return IgnoreRules();
    return absl::PermissionDeniedError(ErrnoMessage(errno));
  }
  struct stat status {};
  if (::fstat(file.fd(), &status) != 0) return absl::PermissionDeniedError(ErrnoMessage(errno));
  if (!S_ISREG(status.st_mode)) return IgnoreRules();
  std::string bytes;
  ssize_t count = 0;
  while (bytes.size() <= kMaxFileBytes && (count = file.ReadBlock(bytes)) > 0) {
  }
  if (count < 0) return absl::PermissionDeniedError(ErrnoMessage(errno));
  if (bytes.size() > kMaxFileBytes) return absl::ResourceExhaustedError("larger than 4 MiB");
  return Parse(bytes);
}

void IgnoreRules::Add(std::string_view pattern) {
  const bool negated = pattern.starts_with('!');
  if (negated) pattern.remove_prefix(1);
  const bool folders_only = pattern.ends_with('/');
  if (folders_only) pattern.remove_suffix(1);
  const bool name_only = pattern.find('/') == std::string_view::npos;
  if (pattern.starts_with('/')) pattern.remove_prefix(1);
  if (pattern.empty()) return;  // matches no path
  patterns_.push_back({.glob = Glob(pattern),
                       .negated = negated,
                       .folders_only = folders_only,
                       .name_only = name_only});
}

Verdict IgnoreRules::Match(std::string_view path, bool is_folder) const {
  const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 == 0: no folder
  const auto matches = [&](const Pattern& pattern) {
    return (is_folder || !pattern.folders_only) &&
           pattern.glob.Matches(pattern.name_only ? name : path);
  };
  const auto last = std::find_if(patterns_.rbegin(), patterns_.rend(), matches);
  if (last == patterns_.rend()) return Verdict::kNone;
  return last->negated ? Verdict::kNegated : Verdict::kMatched;
}

bool IsIgnored(const IgnoreScope* scope, std::string_view source, bool is_folder) {
  for (const auto rules : {&IgnoreScope::ragignore, &IgnoreScope::gitignore}) {
    for (const IgnoreScope* at = scope; at != nullptr; at = at->parent) {
      const Verdict verdict = (at->*rules).Match(source.substr(at->base), is_folder);
      if (verdict != Verdict::kNone) return verdict == Verdict::kMatched;
    }
  }
  return false;
}

}  // namespace rag::indexer
