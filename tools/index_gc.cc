// rag-index gc: removes what no reader will open again.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "formats/status_macros.h"
#include "storage/generation.h"
#include "tools/cli.h"
#include "tools/index_commands.h"
#include "tools/json_text.h"

namespace rag::tools {
namespace {

constexpr double kMaxWaitSeconds = 1e6;

absl::StatusOr<std::vector<storage::RemovedFolder>> Collect(const GcArguments& args) {
  // Taking the lock would make the folder of an index that is not there.
  RAG_RETURN_IF_ERROR(storage::ReadCurrent(args.index).status());
  RAG_ASSIGN_OR_RETURN(const storage::WriterLock lock,
                       storage::WriterLock::Acquire(args.index, ToMilliseconds(args.wait_seconds)));
  return storage::CollectGarbage(args.index, args.keep);
}

}  // namespace

void AddWait(CLI::App& command, double& seconds) {
  command
      .add_option("--wait", seconds, "seconds to wait for another writer of the index, then exit 4")
      ->type_name("SECONDS")
      ->check(Between(0.0, kMaxWaitSeconds))
      ->check([](const std::string& text) -> std::string {
        // No comparison of a range refuses it.
        return std::isnan(std::strtod(text.c_str(), nullptr)) ? "Value " + text + " is no number"
                                                              : "";
      })
      ->capture_default_str();
}

std::chrono::milliseconds ToMilliseconds(double seconds) {
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

void AddGc(CLI::App& app, GcArguments& args) {
  CLI::App* gc = app.add_subcommand("gc", "remove old generations and leftovers of dead builds");
  gc->add_option("index", args.index, "index folder")
      ->type_name("FOLDER")
      ->check(NotEmpty())
      ->required();
  gc->add_option("--keep", args.keep, "generations to keep, the current one included")
      ->type_name("N")
      ->check(Between(std::size_t{1}, kMaxKeep))
      ->capture_default_str();
  AddWait(*gc, args.wait_seconds);
  gc->add_flag("--json", args.json, "print one JSON object");
}

int RunGc(const GcArguments& args) {
  const absl::StatusOr<std::vector<storage::RemovedFolder>> removed = Collect(args);
  if (!removed.ok()) {
    PrintError(kIndexProgram, removed.status());
    return ExitCodeOf(removed.status());
  }
  nlohmann::ordered_json json;
  json["removed"] = nlohmann::ordered_json::array();
  std::uint64_t bytes = 0;
  for (const storage::RemovedFolder& folder : *removed) {
    bytes += folder.bytes;
    json["removed"].push_back({{"name", folder.name}, {"bytes", folder.bytes}});
    if (!args.json) Write(absl::StrCat("removed ", folder.name, ", ", folder.bytes, " bytes\n"));
  }
  json["bytes"] = bytes;
  if (args.json) Write(Dump(json) + "\n");
  if (!args.json && removed->empty()) {
    PrintError(kIndexProgram, absl::StrCat(args.index, ": nothing to remove"));
  }
  return FinishStdout(kIndexProgram) ? kDone : kFailed;
}

}  // namespace rag::tools
