// rag-query: asks an index. docs/cli.md.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "formats/chunk_header.h"
#include "formats/names.h"
#include "querier/query.h"
#include "storage/index_reader.h"
#include "tools/cli.h"
#include "tools/json_text.h"
#include "tools/query_output.h"

namespace rag::tools {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kProgram = "rag-query";
// Of a line of a batch: echoing an id recurses once a level.
constexpr int kMaxDepth = 64;

struct Arguments {
  std::string index;
  std::string question;
  bool has_question = false;
  std::uint32_t budget = 0;
  std::uint32_t top_documents = 0;
  std::uint32_t chunks_per_document = 0;
  bool neighbors = false;
  std::string header;
  std::string format = "context";
  bool trace = false;
  bool json = false;
  bool batch = false;
  bool skip_damaged = false;
};

// Builds the parser; `query` gets what was said on the command line, the environment or the config
// file.
class CommandLine {
 public:
  CommandLine() {
    SetUpParser(app_, kProgram);
    app_.set_config("--config", "", "read options from a file of KEY=VALUE lines")
        ->type_name("FILE");
    app_.allow_config_extras(CLI::config_extras_mode::error);
    app_.add_option("-i,--index", args_.index, "index folder made by rag-index")
        ->envname("RAG_INDEX")
        ->type_name("INDEX")
        ->check(NotEmpty())
        ->required();
    CLI::Option* positional =
        app_.add_option("question", args_.question, "the question; - reads it from stdin")
            ->type_name("TEXT");
    CLI::Option* named = app_.add_option("--question", args_.question, "the question, as an option")
                             ->type_name("TEXT");
    positional->excludes(named);
    questions_ = {positional, named};
    AddLimits();
    neighbors_ = app_.add_flag("--neighbors,!--no-neighbors", args_.neighbors,
                               "offer the next and previous chunk of each hit, too, or not");
    header_ = app_.add_option("--header", args_.header,
                              "what introduces a chunk: full, short or none; profile article: full")
                  ->type_name("STYLE")
                  ->check(OneOf({"full", "short", "none"}))
                  ->default_str("short");
    app_.add_option("--format", args_.format, "print the context, or a whole prompt")
        ->type_name("FORMAT")
        ->check(OneOf({"context", "prompt"}))
        ->capture_default_str();
    app_.add_flag("--trace", args_.trace, "say on stderr what was hit, included and skipped");
    app_.add_flag("--json", args_.json, "print one JSON object, trace included");
    app_.add_flag("--batch", args_.batch,
                  "answer {\"id\",\"question\"[,\"budget\"]} lines from stdin, a JSON line each")
        ->excludes(positional)
        ->excludes(named);
    app_.add_flag("--skip-damaged", args_.skip_damaged,
                  "answer from what is whole of a damaged index, and say what is not");
    app_.footer(
        "With neither question nor --batch, every line of stdin is a question; on a terminal\n"
        "q, quit or exit leaves. Exit codes: 0 done, 1 failure, 2 wrong use, 3 bad index.");
  }

  CLI::App& app() { return app_; }
  Arguments& args() {
    args_.has_question = std::any_of(questions_.begin(), questions_.end(),
                                     [](const CLI::Option* option) { return option->count() > 0; });
    return args_;
  }

  [[nodiscard]] querier::QueryOptions QueryOptions() const {
    querier::QueryOptions options;
    if (budget_->count() > 0) options.budget_tokens = args_.budget;
    if (top_->count() > 0) options.top_documents = args_.top_documents;
    if (per_document_->count() > 0) options.chunks_per_document = args_.chunks_per_document;
    if (neighbors_->count() > 0) options.neighbors = args_.neighbors;
    if (header_->count() > 0) options.header = formats::ParseHeaderStyle(args_.header).value();
    if (args_.format == "prompt") options.format = querier::OutputFormat::kPrompt;
    options.skip_damaged = args_.skip_damaged;
    return options;
  }

 private:
  // Their defaults are the index's; --help has those of the profile default.
  void AddLimits() {
    const CLI::Validator positive = Between(1U, std::numeric_limits<std::uint32_t>::max());
    budget_ = app_.add_option("--budget", args_.budget,
                              "token budget of everything printed; profile article: 250")
                  ->envname("RAW_CONTEXT_TOKEN_BUDGET")
                  ->type_name("N")
                  ->check(positive)
                  ->default_str("1200");
    top_ = app_.add_option("--top-docs", args_.top_documents,
                           "documents to look into, more with a larger budget; profile article: 2")
               ->type_name("N")
               ->check(positive)
               ->default_str("30");
    per_document_ = app_.add_option("--chunks-per-doc", args_.chunks_per_document,
                                    "chunks to consider inside each, an eighth of the budget; "
                                    "profile article: 2")
                        ->type_name("N")
                        ->check(positive)
                        ->default_str("150");
  }

  CLI::App app_{"Answers a question from an index: raw chunks within a token budget."};
  Arguments args_;
  std::vector<CLI::Option*> questions_;
  CLI::Option* budget_ = nullptr;
  CLI::Option* top_ = nullptr;
  CLI::Option* per_document_ = nullptr;
  CLI::Option* neighbors_ = nullptr;
  CLI::Option* header_ = nullptr;
};

// Says on stderr why a context is empty.
void ExplainEmpty(const querier::QueryResult& result, const std::string& place) {
  if (!result.included.empty()) return;
  if (result.skipped.empty()) {
    PrintError(kProgram,
               place + "no chunk matches the question" +
                   (result.known_terms == 0 ? ": the index knows none of its words" : ""));
    return;
  }
  const auto smallest =
      std::min_element(result.skipped.begin(), result.skipped.end(),
                       [](const auto& a, const auto& b) { return a.tokens < b.tokens; });
  PrintError(kProgram,
             place + "nothing fits the budget of " + std::to_string(result.budget_tokens) +
                 " tokens; the smallest chunk found needs " + std::to_string(smallest->tokens));
}

// Says on stderr which documents an answer is without.
void ExplainDamage(const querier::QueryResult& result, const std::string& place) {
  if (!result.damage.has_value() || result.damage->documents.empty()) return;
  const querier::DamagedDocument& first = result.damage->documents.front();
  std::string line =
      place + "damaged documents left out: " + std::to_string(result.damage->documents.size()) +
      "; the first is ";
  if (first.source.has_value()) line += formats::PrintableName(*first.source) + ": ";
  PrintError(kProgram, line + first.problem);
}

class Session {
 public:
  Session(const storage::IndexReader& reader, const Arguments& args,
          const querier::QueryOptions& options)
      : reader_(reader), args_(args), options_(options) {}

  // One question, as asked on the command line. `place` comes before what is said of it.
  int Ask(std::string_view question, const std::string& place = "") const {
    const absl::StatusOr<querier::QueryResult> result = querier::Query(reader_, question, options_);
    if (!result.ok()) {
      PrintError(kProgram, place + std::string(result.status().message()));
      return ExitCodeOf(result.status());
    }
    if (args_.trace) WriteToStderr(FormatTrace(*result));
    ExplainDamage(*result, place);
    ExplainEmpty(*result, place);
    if (args_.json) {
      Write(Dump(ToJson(*result)) + "\n");
    } else {
      WriteDocumentText(result->context);
    }
    return kDone;
  }

  // NDJSON in, NDJSON out, in order. A line that cannot be answered gives an object with "error".
  int Batch() const {
    int code = kDone;
    std::string line;
    for (std::uint64_t number = 1; std::getline(std::cin, line); ++number) {
      ordered_json json = AnswerLine(line, number);
      if (json.contains("error")) code = kFailed;
      Write(Dump(json) + "\n");
      if (std::ferror(stdout) != 0) break;
    }
    return code;
  }

  // A question a line, until the end of input (or q, quit, exit on a terminal).
  int Lines() const {
    const bool terminal = isatty(STDIN_FILENO) != 0;
    int code = kDone;
    std::uint64_t asked = 0;
    std::string line;
    while (true) {
      if (terminal) std::fputs("question> ", stderr);
      if (!std::getline(std::cin, line)) break;
      if (terminal && (line == "q" || line == "quit" || line == "exit")) return code;
      if (terminal && line.find_first_not_of(" \t\r") == std::string::npos) continue;
      ++asked;
      const int answered = Ask(line, terminal ? "" : "line " + std::to_string(asked) + ": ");
      if (!terminal) code = std::max(code, answered);
      std::fflush(stdout);
    }
    if (terminal) std::fputs("\n", stderr);
    if (asked == 0 && !terminal) {
      PrintError(kProgram, "no question: give one, or use --batch; see rag-query --help");
      return kUsage;
    }
    return code;
  }

 private:
  static ordered_json ErrorLine(std::uint64_t number, std::string_view message) {
    return {{"line", number}, {"error", std::string(message)}};
  }

  [[nodiscard]] ordered_json AnswerLine(const std::string& line, std::uint64_t number) const {
    bool too_deep = false;
    const auto limit_depth = [&too_deep](int depth, ordered_json::parse_event_t, ordered_json&) {
      too_deep = too_deep || depth > kMaxDepth;
      return !too_deep;
    };
    const ordered_json input = ordered_json::parse(line, limit_depth, false);
    if (too_deep) return ErrorLine(number, "line is nested too deeply");
    if (!input.is_object() || !input.contains("question") || !input["question"].is_string()) {
      return ErrorLine(number, "line is not a JSON object with a string \"question\"");
    }
    ordered_json out;
    if (input.contains("id")) out["id"] = input["id"];
    querier::QueryOptions options = options_;
    if (input.contains("budget")) {
      const ordered_json& budget = input["budget"];
      const bool good = budget.is_number_integer() && budget > 0 &&
                        budget <= std::numeric_limits<std::uint32_t>::max();
      if (!good) {
        out.update(ErrorLine(number, "\"budget\" must be a positive integer"));
        return out;
      }
      options.budget_tokens = budget.get<std::uint32_t>();
    }
    const absl::StatusOr<querier::QueryResult> result =
        querier::Query(reader_, input["question"].get_ref<const std::string&>(), options);
    out.update(result.ok() ? ToJson(*result)
                           : ErrorLine(number, std::string(result.status().message())));
    return out;
  }

  const storage::IndexReader& reader_;
  const Arguments& args_;
  const querier::QueryOptions& options_;
};

// A question needs a few MiB for a few milliseconds: memory that is handed back to the kernel and
// asked for again costs a page fault for each 4 KiB.
void KeepFreedMemory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_TOP_PAD, 1 << 20);
}

int Main(int argc, char** argv) {
  KeepFreedMemory();
  SetUpProcess(kProgram);
  CommandLine command_line;
  int code = kDone;
  if (!ParseOrExit(command_line.app(), argc, argv, kProgram, &code)) return code;
  Arguments& args = command_line.args();
  if (args.has_question && args.question == "-") {
    args.question.assign(std::istreambuf_iterator<char>(std::cin), {});
  }
  const absl::StatusOr<std::unique_ptr<storage::IndexReader>> reader =
      storage::IndexReader::Open(args.index, {.skip_damaged_shards = args.skip_damaged});
  if (!reader.ok()) {
    PrintError(kProgram, reader.status());
    return ExitCodeOf(reader.status());
  }
  for (const std::string& problem : (*reader)->damage()) {
    PrintError(kProgram, "going on without vectors: " + problem);
  }
  const querier::QueryOptions options = command_line.QueryOptions();
  const Session session(**reader, args, options);
  if (args.batch) {
    code = session.Batch();
  } else if (args.has_question) {
    code = session.Ask(args.question);
  } else {
    code = session.Lines();
  }
  if (!FinishStdout(kProgram)) return kFailed;
  return code;
}

}  // namespace
}  // namespace rag::tools

int main(int argc, char** argv) { return rag::tools::Main(argc, argv); }
