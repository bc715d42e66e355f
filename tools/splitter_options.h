// The options of rag-index build that choose a splitter and its sizes.
#ifndef TOOLS_SPLITTER_OPTIONS_H_
#define TOOLS_SPLITTER_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "indexer/profile.h"

namespace rag::tools {

// What was given.
struct SplitterArguments {
  std::optional<std::string> splitter = {};
  std::optional<std::int64_t> size = {};
  std::optional<std::int64_t> overlap = {};
  std::optional<std::int64_t> max = {};
  std::optional<std::string> unit = {};
};

void AddSplitterOptions(CLI::App& build, SplitterArguments& args);

// Puts what was given into the profile. INVALID_ARGUMENT when an option does not apply to the
// splitter, or its value is impossible; the message names them.
absl::Status ApplySplitterOptions(const SplitterArguments& args, indexer::Profile& profile);

}  // namespace rag::tools

#endif  // TOOLS_SPLITTER_OPTIONS_H_
