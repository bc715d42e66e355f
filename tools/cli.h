// What the programs share: exit codes, messages, writing to stdout.
#ifndef TOOLS_CLI_H_
#define TOOLS_CLI_H_

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"

namespace rag::tools {

inline constexpr std::string_view kVersion = "0.1.0";

// Exit codes of every program; documented in docs/cli.md.
enum ExitCode : int {
  kDone = 0,      // skipped files are warnings
  kFailed = 1,    // run-time failure: I/O, disk full
  kUsage = 2,     // wrong use or refused input
  kBadIndex = 3,  // index missing, damaged or incompatible
  kLocked = 4,    // another process writes the index
  kSkipped = 5,   // --strict, and something was skipped
  kInterrupted = 130,
};

// For programs that read an index: NOT_FOUND, DATA_LOSS and FAILED_PRECONDITION are about the
// index.
ExitCode ExitCodeOf(const absl::Status& status);

// To be called first in main. Opens /dev/null in place of standard streams that the caller closed,
// so that no file of the index takes their numbers; output to a closed stdout still fails, see
// FinishStdout. Makes writing beyond the limit of file sizes an error like others, and ends the
// program in one line (kFailed) where memory or threads are not to be had.
void SetUpProcess(std::string_view program);
// Says so and ends the program, from any thread.
[[noreturn]] void ExitOutOfMemory();

// Control characters other than line breaks and tabs become '?', so that names and texts of
// documents cannot drive a terminal.
std::string WithoutControlCharacters(std::string_view text);

// "program: message\n" on stderr, always one line without control characters.
void PrintError(std::string_view program, std::string_view message);
void PrintError(std::string_view program, const absl::Status& status);

// What the parsers of all programs share: the name, --version, the look of --help, and that of an
// option that is given several times the last counts. REQUIRES: `app` has no options yet.
void SetUpParser(CLI::App& app, std::string_view program);

// Checks of options, without the words that CLI11 adds to --help.
CLI::Validator NotEmpty();
CLI::Validator OneOf(const std::vector<std::string>& choices);
template <typename Number>
CLI::Validator Between(Number min, Number max) {
  return CLI::Range(min, max).description("");
}

// Parses; when the program should end (help, version, wrong use) prints what is due and returns
// false with the exit code in *exit_code.
bool ParseOrExit(CLI::App& app, int argc, char** argv, std::string_view program, int* exit_code);

// Writes to stdout through C stdio.
void Write(std::string_view text);
// As Write, but a terminal gets the text WithoutControlCharacters.
void WriteDocumentText(std::string_view text);
// The same on stderr.
void WriteToStderr(std::string_view text);
// Flushes stdout. False (after a message) when something did not arrive, for example on a full
// disk.
bool FinishStdout(std::string_view program);

}  // namespace rag::tools

#endif  // TOOLS_CLI_H_
