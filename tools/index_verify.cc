// rag-index verify: whether an index is whole.
#include <cstdint>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "storage/verify.h"
#include "tools/cli.h"
#include "tools/index_commands.h"
#include "tools/json_text.h"
#include "tools/progress_line.h"

namespace rag::tools {
namespace {

using nlohmann::ordered_json;

void PrintReport(const storage::VerifyReport& report) {
  for (const std::string& problem : report.problems) Write(OneLine(problem) + "\n");
  if (report.num_problems > report.problems.size()) {
    Write(absl::StrCat("and ", report.num_problems - report.problems.size(), " more\n"));
  }
  if (report.num_problems > 0) return;
  std::string line = absl::StrCat("ok: ", report.files, " files, ", report.bytes,
                                  " bytes, generation ", report.generation);
  if (report.contents_checked) {
    absl::StrAppend(&line, ", ", report.documents, " documents, ", report.records, " records, ",
                    report.vectors, " vectors");
  } else {
    line += ", checked as opening does";
  }
  Write(line + "\n");
}

void PrintJson(const storage::VerifyReport& report) {
  ordered_json json;
  json["ok"] = report.num_problems == 0;
  json["generation"] = report.generation;
  json["contents_checked"] = report.contents_checked;
  json["files"] = report.files;
  json["bytes"] = report.bytes;
  json["documents"] = report.documents;
  json["records"] = report.records;
  json["vectors"] = report.vectors;
  json["num_problems"] = report.num_problems;
  json["problems"] = report.problems;
  Write(Dump(json) + "\n");
}

void PrintVerdict(const VerifyArguments& args, const storage::VerifyReport& report) {
  std::string line = absl::StrCat(args.index, ": ", report.num_problems,
                                  report.num_problems == 1 ? " problem" : " problems");
  if (!report.contents_checked && !args.quick) {
    line += ", and what the files hold was not checked";
  }
  PrintError(kIndexProgram, line + "; the index is damaged, rebuild it with rag-index build");
}

}  // namespace

void AddVerify(CLI::App& app, VerifyArguments& args) {
  CLI::App* verify = app.add_subcommand("verify", "check that an index is whole");
  verify->add_option("index", args.index, "index folder")
      ->type_name("FOLDER")
      ->check(NotEmpty())
      ->required();
  verify->add_flag("--quick", args.quick, "only what opening the index checks");
  verify->add_option("--limit", args.limit, "problems to list; the rest is counted")
      ->type_name("N")
      ->check(Between(std::size_t{1}, std::numeric_limits<std::size_t>::max() / 2))
      ->capture_default_str();
  verify->add_flag("--json", args.json, "print one JSON object");
  verify->add_flag("-q,--quiet", args.quiet, "no progress");
}

int RunVerify(const VerifyArguments& args) {
  ProgressLine line(!args.quiet && TerminalWantsProgress());
  storage::VerifyOptions options;
  options.quick = args.quick;
  options.max_problems = args.limit;
  options.progress = [&line](const storage::VerifyProgress& at) {
    line.Show(at.phase, at.done, at.total, at.unit);
  };
  const absl::StatusOr<storage::VerifyReport> report = storage::VerifyIndex(args.index, options);
  line.Clear();
  if (!report.ok()) {
    PrintError(kIndexProgram, report.status());
    return ExitCodeOf(report.status());
  }
  if (args.json) {
    PrintJson(*report);
  } else {
    PrintReport(*report);
  }
  if (report->num_problems > 0) PrintVerdict(args, *report);
  if (!FinishStdout(kIndexProgram)) return kFailed;
  return report->num_problems == 0 ? kDone : kBadIndex;
}

}  // namespace rag::tools
