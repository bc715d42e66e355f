// The subcommands of rag-inspect, one a file. Each prints to stdout; docs/cli.md and docs/json.md.
#ifndef TOOLS_INSPECT_COMMANDS_H_
#define TOOLS_INSPECT_COMMANDS_H_

#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "storage/index_reader.h"

namespace rag::tools {

// JSON lines.
absl::Status InspectChunks(const storage::IndexReader& reader);
absl::Status InspectSummaries(const storage::IndexReader& reader);
absl::Status InspectHeadings(const storage::IndexReader& reader);
absl::Status InspectExport(const storage::IndexReader& reader, bool vectors);

// Text, or JSON when asked. INVALID_ARGUMENT when `name` is no document (or chunk).
absl::Status InspectStats(const std::filesystem::path& index, const storage::IndexReader& reader,
                          bool json);
absl::Status InspectShow(const storage::IndexReader& reader, const std::string& name, bool json);
absl::Status InspectTree(const storage::IndexReader& reader, const std::string& name, bool json);

// `from` and `to`: "7" or "gen-000007"; INVALID_ARGUMENT when there is no such generation.
absl::Status InspectDiff(const std::filesystem::path& index, const std::string& from,
                         const std::string& to, bool json);

}  // namespace rag::tools

#endif  // TOOLS_INSPECT_COMMANDS_H_
