// Runs rag-index, rag-query and rag-inspect as a user does, and keeps apart what they print.
#ifndef TESTS_E2E_HARNESS_H_
#define TESTS_E2E_HARNESS_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

namespace rag::e2e {

// What a standard stream of a program is connected to. All that are terminals are the same one; it
// neither echoes nor translates line breaks.
enum class Stream { kPipe, kTerminal, kClosed };

struct Launch {
  std::string input;  // for stdin, which then ends unless keep_input_open
  bool keep_input_open = false;
  Stream in = Stream::kPipe;
  Stream out = Stream::kPipe;
  Stream err = Stream::kPipe;
  std::string out_file;                    // when set, stdout is this file, e.g. /dev/full
  std::map<std::string, std::string> env;  // added to the test's own, less the programs' variables
  std::filesystem::path folder;            // working folder; empty: the test's own
  bool unprivileged = false;               // where the test is root, the program is "nobody"
  std::map<int, std::uint64_t> limits;     // RLIMIT_NOFILE and so on
  std::chrono::seconds timeout{240};
};

struct Outcome {
  std::string command;
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;
  bool timed_out = false;
  std::string out;       // from a pipe
  std::string err;       // from a pipe
  std::string terminal;  // from the terminal, in the order of printing
};
// Everything in full, for messages of failed assertions.
std::ostream& operator<<(std::ostream& stream, const Outcome& outcome);

enum class Program { kIndex, kQuery, kInspect };

// A running program. Killed on destruction unless it was waited for. Threads: one thread.
class Process {
 public:
  Process(Program program, std::vector<std::string> args, const Launch& launch);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  // Reads until `done` or the end of the program or the time limit; true when `done` was reached.
  bool PumpUntil(const std::function<bool(const Outcome&)>& done);
  // Bytes for stdin or the terminal.
  void Send(std::string_view bytes);
  void CloseInput();
  void CloseOutput();
  void Signal(int number) const;
  [[nodiscard]] pid_t pid() const { return pid_; }
  // False as soon as it ended, also before Finish().
  [[nodiscard]] bool IsRunning() const;
  // Reads to the end and waits.
  Outcome Finish();

 private:
  void Pump(int wait_ms);
  bool Drain(int* fd, std::string* to);
  void WriteInput();
  void Reap(int options);

  std::chrono::steady_clock::time_point deadline_;
  Outcome outcome_;
  pid_t pid_ = -1;
  bool ended_ = false;
  bool close_when_sent_ = false;
  std::string unsent_;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  int terminal_ = -1;
};

Outcome RunProgram(Program program, std::vector<std::string> args, const Launch& launch = {});
Outcome RagIndex(std::vector<std::string> args, const Launch& launch = {});
Outcome RagQuery(std::vector<std::string> args, const Launch& launch = {});
Outcome RagInspect(std::vector<std::string> args, const Launch& launch = {});

// A new folder, with a space in its name, that is removed with what is in it.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // The path of a name in it, as an argument.
  [[nodiscard]] std::string operator/(std::string_view name) const;

 private:
  std::filesystem::path path_;
};

// Makes the folders above, too.
void WriteFile(const std::filesystem::path& path, std::string_view bytes);
std::string ReadFile(const std::filesystem::path& path);
// Relative paths of all regular files below, in order, with their bytes.
std::map<std::string, std::string> ReadTree(const std::filesystem::path& folder);
std::filesystem::path SourceFolder();

// Notes that hold multi-byte text, CRLF, a BOM, code, a table and long prose; 5 files.
void WriteNotes(const std::filesystem::path& corpus);
// `count` short notes about pumps and valves, all different.
void WriteManyNotes(const std::filesystem::path& corpus, int count);
// rag-index build; a failed assertion unless it exits with 0 and prints nothing on stdout.
void Build(const std::string& corpus, const std::string& index,
           const std::vector<std::string>& args = {});

// The object of `rag-query -i INDEX --json ARGS`; a failed assertion and null unless it exits with
// 0 and prints one line.
nlohmann::json Ask(const std::string& index, const std::vector<std::string>& args,
                   const Launch& launch = {});
// The same without the one member that differs from run to run.
nlohmann::json WithoutTimes(nlohmann::json answer);

// Asserts: this exit code, nothing on stdout, and exactly one line on stderr, which starts with the
// program's name and holds `text`.
void ExpectError(const Outcome& outcome, int exit_code, std::string_view program,
                 std::string_view text = "");
// Exactly one line with a line break at its end.
bool IsOneLine(std::string_view text);
std::vector<std::string> Lines(std::string_view text);

}  // namespace rag::e2e

#endif  // TESTS_E2E_HARNESS_H_
