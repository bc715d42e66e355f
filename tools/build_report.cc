#include "tools/build_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "formats/names.h"
#include "tools/cli.h"
#include "tools/index_commands.h"
#include "tools/json_names.h"
#include "tools/json_text.h"

namespace rag::tools {
namespace {

void PrintSkipped(const indexer::SkippedFile& file) {
  PrintError(kIndexProgram, absl::StrCat("skipped ", formats::PrintableName(file.source), ": ",
                                         std::string(indexer::ToString(file.reason)),
                                         file.detail.empty() ? "" : ": ", file.detail));
}

// All that was skipped with --verbose; else the first of what nobody asked to leave out.
void PrintAllSkipped(const indexer::BuildReport& report, const BuildReportStyle& style) {
  constexpr std::size_t kMaxWarnings = 10;
  std::size_t warnings = 0;
  for (const indexer::SkippedFile& file : report.skipped) {
    const bool warn = indexer::IsWarning(file.reason) && ++warnings <= kMaxWarnings;
    if (style.verbose || (warn && !style.quiet)) PrintSkipped(file);
  }
  if (style.verbose || style.quiet || warnings <= kMaxWarnings) return;
  PrintError(kIndexProgram,
             absl::StrCat("skipped ", warnings - kMaxWarnings, " more; --verbose names them all"));
}

std::map<std::string, std::uint64_t> CountByReason(const indexer::BuildReport& report) {
  std::map<std::string, std::uint64_t> counts;
  for (const indexer::SkippedFile& file : report.skipped) {
    ++counts[std::string(indexer::ToString(file.reason))];
  }
  return counts;
}

// "3 new, 1 changed, 2 removed, 306 unchanged"; empty when all is new.
std::string Changes(const indexer::BuildReport& report) {
  if (report.changed.empty() && report.moved.empty() && report.removed.empty() &&
      report.stale.empty() && report.unchanged == 0) {
    return "";
  }
  std::string text =
      absl::StrCat(report.added.size(), " new, ", report.changed.size(), " changed, ",
                   report.removed.size(), " removed, ", report.unchanged, " unchanged");
  if (!report.moved.empty()) absl::StrAppend(&text, ", ", report.moved.size(), " moved");
  if (!report.stale.empty()) absl::StrAppend(&text, ", ", report.stale.size(), " kept unread");
  return text;
}

std::string Skips(const indexer::BuildReport& report) {
  if (report.skipped.empty()) return "";
  std::string text = absl::StrCat("; skipped ", report.skipped.size(), " (");
  const char* comma = "";
  for (const auto& [reason, count] : CountByReason(report)) {
    absl::StrAppend(&text, comma, reason, ": ", count);
    comma = ", ";
  }
  return text + ")";
}

void PrintSummary(const indexer::BuildReport& report, double seconds,
                  const BuildReportStyle& style) {
  const formats::Counts& counts = report.manifest.counts;
  std::string line;
  if (style.dry_run) {
    const std::string changes = Changes(report);
    line =
        absl::StrCat("would index ",
                     changes.empty() ? absl::StrCat(report.added.size(), " documents") : changes);
  } else if (!report.published) {
    line = absl::StrFormat("nothing changed: %d documents in %s, generation %d, %.2f s",
                           counts.documents, style.index, report.manifest.generation, seconds);
  } else {
    const std::string changes = Changes(report);
    line = absl::StrFormat(
        "indexed %d documents%s, %d chunks, %d bytes in %.2f s (%.0f documents/s) into %s, "
        "generation %d",
        counts.documents, changes.empty() ? "" : absl::StrCat(" (", changes, ")"), counts.chunks,
        counts.corpus_bytes, seconds,
        static_cast<double>(counts.documents) / std::max(seconds, 1e-9), style.index,
        report.manifest.generation);
  }
  line += Skips(report);
  if (report.cut_summaries > 0) {
    absl::StrAppend(&line, "; cut ", report.cut_summaries,
                    " summaries to fit the reduction budget");
  }
  if (report.resumed > 0) {
    absl::StrAppend(&line, "; ", report.resumed, " were finished by a build that did not end");
  }
  PrintError(kIndexProgram, line);
}

// What a person who expects a quick update, a current text, or a tidy folder, should hear of.
void PrintNotes(const indexer::BuildReport& report) {
  if (!report.why_full.empty()) {
    PrintError(kIndexProgram, absl::StrCat("every document is made anew: ", report.why_full));
  }
  for (const std::string& source : report.stale) {
    PrintError(kIndexProgram, absl::StrCat(formats::PrintableName(source),
                                           ": cannot be read now; what was indexed of it is kept"));
  }
  for (const std::string& note : report.notes) PrintError(kIndexProgram, note);
}

// The lists of a dry run, a document a line.
void PrintPlan(const indexer::BuildReport& report) {
  const auto print = [](const char* what, const std::vector<std::string>& sources) {
    for (const std::string& source : sources) {
      Write(absl::StrCat(what, " ", formats::PrintableName(source), "\n"));
    }
  };
  print("new", report.added);
  print("changed", report.changed);
  for (const indexer::MovedDocument& document : report.moved) {
    Write(absl::StrCat("moved ", formats::PrintableName(document.from), " -> ",
                       formats::PrintableName(document.source), "\n"));
  }
  print("removed", report.removed);
  print("unread", report.stale);
}

nlohmann::ordered_json Sources(const std::vector<std::string>& sources) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& source : sources) {
    list.push_back({{"source", source}});
    EscapeNames(list.back());
  }
  return list;
}

nlohmann::ordered_json Moves(const std::vector<indexer::MovedDocument>& moves) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const indexer::MovedDocument& document : moves) {
    list.push_back({{"source", document.source}, {"moved_from", document.from}});
    EscapeNames(list.back());
  }
  return list;
}

void PrintJson(const indexer::BuildReport& report, double seconds) {
  const formats::Manifest& manifest = report.manifest;
  nlohmann::ordered_json json;
  json["generation"] = manifest.generation;
  json["published"] = report.published;
  json["why_full"] = report.why_full;
  json["new"] = Sources(report.added);
  json["changed"] = Sources(report.changed);
  json["moved"] = Moves(report.moved);
  json["removed"] = Sources(report.removed);
  json["kept_unread"] = Sources(report.stale);
  json["unchanged"] = report.unchanged;
  json["resumed"] = report.resumed;
  json["documents"] = manifest.counts.documents;
  json["chunks"] = manifest.counts.chunks;
  json["corpus_bytes"] = manifest.counts.corpus_bytes;
  json["seconds"] = seconds;
  json["cut_summaries"] = report.cut_summaries;
  json["notes"] = report.notes;
  json["skipped"] = nlohmann::ordered_json::array();
  for (const indexer::SkippedFile& file : report.skipped) {
    json["skipped"].push_back({{"source", file.source},
                               {"reason", std::string(indexer::ToString(file.reason))},
                               {"detail", file.detail}});
    EscapeNames(json["skipped"].back());
  }
  Write(Dump(json) + "\n");
}

}  // namespace

// What rules and options leave out is nothing that --strict should stop at.
bool SkippedAnythingUnexpected(const indexer::BuildReport& report) {
  return std::any_of(
      report.skipped.begin(), report.skipped.end(),
      [](const indexer::SkippedFile& file) { return !indexer::IsByRule(file.reason); });
}

void PrintBuildReport(const indexer::BuildReport& report, double seconds,
                      const BuildReportStyle& style) {
  PrintAllSkipped(report, style);
  if (!style.quiet) PrintNotes(report);
  if (style.json) {
    PrintJson(report, seconds);
  } else if (style.dry_run) {
    PrintPlan(report);
  }
  if (!style.quiet) PrintSummary(report, seconds, style);
}

}  // namespace rag::tools
