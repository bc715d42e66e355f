// rag-inspect: shows what an index holds. docs/cli.md.
#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "formats/status_macros.h"
#include "storage/index_reader.h"
#include "tools/cli.h"
#include "tools/inspect_commands.h"

namespace rag::tools {
namespace {

constexpr std::string_view kProgram = "rag-inspect";

class CommandLine {
 public:
  CommandLine() {
    SetUpParser(app_, kProgram);
    app_.require_subcommand(1);
    app_.footer("Exit codes: 0 done, 1 failure, 2 wrong use or unknown name, 3 bad index.");
    Add("stats", "counts, sizes, token costs and generations");
    CLI::App* show = Add("show", "a document or a chunk in full");
    show->add_option("name", name_, "source, doc_id or chunk_id")->type_name("NAME")->required();
    CLI::App* tree = Add("tree", "the summaries of a document, top down");
    tree->add_option("name", name_, "source or doc_id")->type_name("NAME")->required();
    CLI::App* diff = Add("diff", "documents added, removed and changed between two generations");
    diff->add_option("from", from_, "generation, e.g. 7")->type_name("N")->required();
    diff->add_option("to", to_, "generation")->type_name("N")->required();
    for (CLI::App* command : app_.get_subcommands({})) {
      command->add_flag("--json", json_, "print JSON");
    }
    Add("chunks", "a JSON line a chunk: source, index, start, end, prev, next, text_sha256");
    Add("summaries", "a JSON line a document and a chunk");
    Add("headings", "a JSON line a section with a heading: source, offset, level, title");
    CLI::App* dump = Add("export", "everything as JSON lines, vectors included");
    dump->add_flag("!--no-vectors", vectors_, "leave out the vectors");
  }

  CLI::App& app() { return app_; }

  [[nodiscard]] absl::Status Run() const {
    if (app_.got_subcommand("diff")) return InspectDiff(index_, from_, to_, json_);
    RAG_ASSIGN_OR_RETURN(const std::unique_ptr<storage::IndexReader> reader,
                         storage::IndexReader::Open(index_));
    if (app_.got_subcommand("stats")) return InspectStats(index_, *reader, json_);
    if (app_.got_subcommand("show")) return InspectShow(*reader, name_, json_);
    if (app_.got_subcommand("tree")) return InspectTree(*reader, name_, json_);
    if (app_.got_subcommand("summaries")) return InspectSummaries(*reader);
    if (app_.got_subcommand("headings")) return InspectHeadings(*reader);
    if (app_.got_subcommand("export")) return InspectExport(*reader, vectors_);
    return InspectChunks(*reader);
  }

 private:
  CLI::App* Add(const char* name, const char* description) {
    CLI::App* command = app_.add_subcommand(name, description);
    command->add_option("index", index_, "index folder")
        ->type_name("FOLDER")
        ->check(NotEmpty())
        ->required();
    return command;
  }

  CLI::App app_{"Shows what an index holds."};
  std::string index_;
  std::string name_;
  std::string from_;
  std::string to_;
  bool json_ = false;
  bool vectors_ = true;
};

int Main(int argc, char** argv) {
  SetUpProcess(kProgram);
  CommandLine command_line;
  int code = kDone;
  if (!ParseOrExit(command_line.app(), argc, argv, kProgram, &code)) return code;
  const absl::Status status = command_line.Run();
  if (!status.ok()) {
    PrintError(kProgram, status);
    return ExitCodeOf(status);
  }
  return FinishStdout(kProgram) ? kDone : kFailed;
}

}  // namespace
}  // namespace rag::tools

int main(int argc, char** argv) { return rag::tools::Main(argc, argv); }
