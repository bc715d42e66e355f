// rag-index: builds an index from a folder of documents. docs/cli.md.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <cmark-gfm.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "formats/names.h"
#include "indexer/build.h"
#include "tools/build_report.h"
#include "tools/cli.h"
#include "tools/index_commands.h"
#include "tools/progress_line.h"
#include "tools/splitter_options.h"

namespace rag::tools {
namespace {

constexpr std::string_view kProgram = kIndexProgram;

std::atomic<bool> g_interrupted{false};

void OnSignal(int) { g_interrupted = true; }

void* CallocOrExit(std::size_t number, std::size_t size) {
  void* const memory = std::calloc(number, size);
  if (memory == nullptr) ExitOutOfMemory();
  return memory;
}

void* ReallocOrExit(void* memory, std::size_t size) {
  void* const moved = std::realloc(memory, size);
  if (moved == nullptr) ExitOutOfMemory();
  return moved;
}

// cmark calls abort() where there is no memory.
void KeepCmarkFromAborting() {
  cmark_mem* const memory = cmark_get_default_mem_allocator();
  memory->calloc = CallocOrExit;
  memory->realloc = ReallocOrExit;
}

struct Arguments {
  std::string corpus;
  std::string index;
  std::string profile = "default";
  std::string source_prefix;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  std::size_t keep = kDefaultKeep;
  double wait_seconds = 0;
  std::uint32_t chunk_dim = 0;
  std::uint32_t document_dim = 0;
  SplitterArguments splitter;
  indexer::WalkOptions walk;
  bool no_ignore = false;
  bool full = false;
  bool dry_run = false;
  bool strict = false;
  bool quiet = false;
  bool verbose = false;
  bool json = false;
};

// A list of one value an option: "--include A --include B CORPUS".
void AddGlobs(CLI::App& build, const char* name, std::vector<std::string>& globs,
              const char* description) {
  build.add_option(name, globs, description)
      ->type_name("GLOB")
      ->allow_extra_args(false)
      ->take_all()
      ->check(NotEmpty());
}

void AddWalk(CLI::App& build, Arguments& args) {
  AddGlobs(build, "--include", args.walk.include,
           "take only files that match, e.g. '*.md'; repeatable");
  AddGlobs(build, "--exclude", args.walk.exclude,
           "leave out files and folders that match; repeatable");
  build.add_flag("--hidden", args.walk.hidden, "take hidden files and folders, too");
  build.add_flag("--no-ignore", args.no_ignore, "do not read .gitignore and .ragignore files");
  build.add_flag("--follow-symlinks", args.walk.follow_symlinks,
                 "follow links; every real file is taken once");
}

void AddBuild(CLI::App& app, Arguments& args) {
  CLI::App* build = app.add_subcommand(
      "build", "index a folder of Markdown and text files, or bring its index up to date");
  build->add_option("corpus", args.corpus, "folder of documents")
      ->type_name("FOLDER")
      ->check(NotEmpty())
      ->required();
  build->add_option("-o,--output", args.index, "index folder; made when missing")
      ->type_name("INDEX")
      ->check(NotEmpty())
      ->required();
  build->add_option("--profile", args.profile, "set of build parameters: default or article")
      ->type_name("NAME")
      ->check(OneOf({"default", "article"}))
      ->capture_default_str();
  AddSplitterOptions(*build, args.splitter);
  build->add_option("--source-prefix", args.source_prefix, "put before every source, e.g. data/")
      ->type_name("TEXT");
  build->add_option("-j,--threads", args.threads, "threads; the result is the same for any number")
      ->type_name("N")
      ->check(Between(1U, 256U))
      ->capture_default_str();
  build->add_option("--keep", args.keep, "generations to keep, the new one included")
      ->type_name("N")
      ->check(Between(std::size_t{1}, kMaxKeep))
      ->capture_default_str();
  AddWait(*build, args.wait_seconds);
  build->add_option("--chunk-dim", args.chunk_dim, "components of a chunk's vector")
      ->type_name("N")
      ->check(Between(8U, 4096U))
      ->default_str("128");
  build
      ->add_option("--document-dim", args.document_dim,
                   "components of a document's vector; profile article: 128")
      ->type_name("N")
      ->check(Between(8U, 4096U))
      ->default_str("512");
  AddWalk(*build, args);
  build->add_flag("--full", args.full, "make every document anew, also those that did not change");
  build->add_flag("-n,--dry-run", args.dry_run,
                  "only print what is new, changed and removed; writes nothing");
  build->add_flag("--strict", args.strict,
                  "exit with 5 when a file was skipped that no rule or option leaves out");
  build->add_flag("-q,--quiet", args.quiet, "no progress, no warnings and no summary");
  build->add_flag("-v,--verbose", args.verbose, "name skipped files and log every reduction");
  build->add_flag("--json", args.json, "print the summary as one JSON object on stdout");
}

// A missing corpus is refused input here, not a bad index.
int BuildExitCode(const absl::Status& status) {
  return absl::IsNotFound(status) ? kUsage : ExitCodeOf(status);
}

int RunBuild(const Arguments& args) {
  indexer::BuildOptions options;
  options.corpus = args.corpus;
  options.index = args.index;
  options.profile = indexer::FindProfile(args.profile).value();
  const absl::Status splitter = ApplySplitterOptions(args.splitter, options.profile);
  if (!splitter.ok()) {
    PrintError(kProgram, splitter);
    return kUsage;
  }
  if (args.chunk_dim != 0) options.profile.chunk_dim = args.chunk_dim;
  if (args.document_dim != 0) options.profile.document_dim = args.document_dim;
  options.full = args.full;
  options.dry_run = args.dry_run;
  options.walk = args.walk;
  options.walk.use_ignore_files = !args.no_ignore;
  options.source_prefix = args.source_prefix;
  options.threads = args.threads;
  options.keep_generations = args.keep;
  options.wait_for_lock = ToMilliseconds(args.wait_seconds);
  options.program = absl::StrCat(std::string(kProgram), " ", std::string(kVersion));
  options.created = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone());
  options.cancel = &g_interrupted;
  ProgressLine progress(!args.quiet && TerminalWantsProgress());
  options.progress = [&progress](const indexer::BuildProgress& at) {
    progress.Show(at.phase, at.documents, at.total, "documents");
  };
  if (args.verbose) {
    options.reduction_log = [](std::string_view source, std::string_view line) {
      PrintError(kProgram, absl::StrCat(formats::PrintableName(source), ": ", std::string(line)));
    };
  }
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);

  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<indexer::BuildReport> report = indexer::BuildIndex(options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  progress.Clear();
  if (!report.ok()) {
    PrintError(kProgram, report.status());
    return BuildExitCode(report.status());
  }
  PrintBuildReport(*report, seconds.count(),
                   {.index = args.index,
                    .dry_run = args.dry_run,
                    .quiet = args.quiet,
                    .verbose = args.verbose,
                    .json = args.json});
  if (!FinishStdout(kProgram)) return kFailed;
  return args.strict && SkippedAnythingUnexpected(*report) ? kSkipped : kDone;
}

int Main(int argc, char** argv) {
  SetUpProcess(kProgram);
  KeepCmarkFromAborting();
  CLI::App app("Builds a retrieval index from a folder of documents, and looks after it.");
  SetUpParser(app, kProgram);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 failure, 2 wrong use or refused input, 3 damaged index, 4 locked by\n"
      "another writer, 5 --strict and something was skipped, 130 interrupted.");
  Arguments args;
  AddBuild(app, args);
  VerifyArguments verify;
  AddVerify(app, verify);
  GcArguments gc;
  AddGc(app, gc);
  int code = kDone;
  if (!ParseOrExit(app, argc, argv, kProgram, &code)) return code;
  if (app.got_subcommand("verify")) return RunVerify(verify);
  if (app.got_subcommand("gc")) return RunGc(gc);
  return RunBuild(args);
}

}  // namespace
}  // namespace rag::tools

int main(int argc, char** argv) { return rag::tools::Main(argc, argv); }
