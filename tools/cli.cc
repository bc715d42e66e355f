#include "tools/cli.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <system_error>

namespace rag::tools {
namespace {

// " N [250] (or $VARIABLE)" where CLI11 has " UINT:UINT in [1 - 4294967295]=250 (Env:VARIABLE)".
class HelpFormatter final : public CLI::Formatter {
 public:
  // Without the "{false}" of a flag that turns off.
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, is_positional);
    return name.substr(0, name.find('{'));
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() != 0) {
      text += " " + option->get_type_name();
      if (!option->get_default_str().empty()) text += " [" + option->get_default_str() + "]";
      if (option->get_expected_max() > 1) text += " ...";
    }
    if (!option->get_envname().empty()) text += " (or $" + option->get_envname() + ")";
    if (option->get_required()) text += " (required)";
    return text;
  }
};

void OpenClosedStandardStreams() {
  // Each call takes the lowest free number. A closed stdout becomes one that cannot be written.
  while (true) {
    const int fd = open("/dev/null", O_RDONLY);
    if (fd < 0) return;
    if (fd == STDERR_FILENO) {
      const int writable = open("/dev/null", O_WRONLY);
      if (writable >= 0) {
        dup2(writable, STDERR_FILENO);
        close(writable);
      }
    }
    if (fd > STDERR_FILENO) {
      close(fd);
      return;
    }
  }
}

// For handlers, which cannot be given anything.
std::string_view g_program;

// Prints one line, in which nothing takes memory, and ends the program. The first thread that comes
// here speaks for all.
[[noreturn]] void ExitWith(std::string_view message, std::string_view remedy) {
  static std::atomic<bool> speaking{false};
  if (speaking.exchange(true)) {
    while (true) pause();
  }
  for (const std::string_view part :
       {g_program, std::string_view(": "), message, remedy, std::string_view("\n")}) {
    if (write(STDERR_FILENO, part.data(), part.size()) < 0) break;
  }
  _exit(kFailed);
}

// An exception that nobody took: the standard library throws where there is no memory or thread.
[[noreturn]] void OnTerminate() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    ExitOutOfMemory();
  } catch (const std::system_error& failure) {
    ExitWith(failure.what(), "; raise the limits of memory and processes (ulimit)");
  } catch (...) {
    std::abort();
  }
  std::abort();
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// The app whose arguments were being parsed: a subcommand, or the program's own.
const CLI::App& Parsed(const CLI::App& app) {
  const std::vector<CLI::App*> subcommands = app.get_subcommands();
  return subcommands.empty() ? app : *subcommands.front();
}

// The first argument of the command line that no option or subcommand took; empty for none.
std::string FirstUnexpected(const CLI::App& app, int argc, char** argv) {
  const std::vector<std::string> unexpected = app.remaining(/*recurse=*/true);
  for (int i = 1; i < argc; ++i) {
    if (std::find(unexpected.begin(), unexpected.end(), argv[i]) != unexpected.end()) {
      return argv[i];
    }
  }
  return "";
}

std::string ExplainMissingSubcommand(const CLI::App& app, const std::string& unexpected) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : app.get_subcommands({})) {
    names.push_back(subcommand->get_name());
  }
  const std::string one_of = "; one of " + Join(names);
  if (unexpected.empty()) return "a subcommand is required" + one_of;
  if (unexpected.starts_with("-")) return "unknown option '" + unexpected + "'";
  return "unknown subcommand '" + unexpected + "'" + one_of;
}

std::string ExplainUnexpected(const CLI::App& app, const std::string& unexpected) {
  if (unexpected.size() > 1 && unexpected.starts_with("-")) {
    return "unknown option '" + unexpected + "'";
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : Parsed(app).get_options()) {
    if (option->get_positional()) names.push_back(option->get_name());
  }
  return "unexpected argument '" + unexpected + "'; " + Parsed(app).get_name() + " takes " +
         (names.empty() ? "none" : "only one " + Join(names));
}

// What is wrong with a value, with the name of the variable where it came from the environment.
std::string ExplainValue(const CLI::App& app, const std::string& message) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string prefix = option->get_name() + ": ";
    const std::string& variable = option->get_envname();
    const char* const value = variable.empty() ? nullptr : std::getenv(variable.c_str());
    if (value == nullptr || !message.starts_with(prefix)) continue;
    if (option->results() != std::vector<std::string>{value}) continue;
    return "$" + variable + ": " + message.substr(prefix.size());
  }
  return message;
}

// One sentence without a full stop.
std::string Explain(const CLI::App& app, int argc, char** argv, const CLI::ParseError& error) {
  const std::string unexpected = FirstUnexpected(app, argc, argv);
  if (!app.get_subcommands({}).empty() && app.get_subcommands().empty()) {
    return ExplainMissingSubcommand(app, unexpected);
  }
  const bool is_extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (is_extra && !unexpected.empty()) return ExplainUnexpected(app, unexpected);
  return ExplainValue(app, error.what());
}

}  // namespace

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kDone;
    case absl::StatusCode::kInvalidArgument:
      return kUsage;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kFailedPrecondition:
      return kBadIndex;
    case absl::StatusCode::kUnavailable:
      return kLocked;
    case absl::StatusCode::kCancelled:
      return kInterrupted;
    default:
      return kFailed;
  }
}

void SetUpProcess(std::string_view program) {
  g_program = program;
  OpenClosedStandardStreams();
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_terminate(OnTerminate);
}

void ExitOutOfMemory() {
  ExitWith("out of memory", "; raise the limit (ulimit -v) or end other programs, and try again");
}

std::string WithoutControlCharacters(std::string_view text) {
  std::string clean(text);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const auto byte = static_cast<unsigned char>(clean[i]);
    const auto next = static_cast<unsigned char>(i + 1 < clean.size() ? clean[i + 1] : 0);
    const bool line_end = byte == '\n' || (byte == '\r' && next == '\n');
    const bool c1 = byte == 0xC2 && next >= 0x80 && next < 0xA0;  // U+0080 to U+009F
    if (c1) clean[i] = clean[i + 1] = '?';
    if ((byte < 0x20 && !line_end && byte != '\t') || byte == 0x7F) clean[i] = '?';
  }
  return clean;
}

void PrintError(std::string_view program, std::string_view message) {
  std::string line = WithoutControlCharacters(message);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(program.size()), program.data(),
               line.c_str());
}

void PrintError(std::string_view program, const absl::Status& status) {
  PrintError(program, std::string(status.message()));
}

void SetUpParser(CLI::App& app, std::string_view program) {
  app.name(std::string(program));
  app.formatter(std::make_shared<HelpFormatter>());
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.set_version_flag("--version", std::string(program) + " " + std::string(kVersion));
}

CLI::Validator NotEmpty() {
  return {[](const std::string& value) { return value.empty() ? "must not be empty" : ""; }, ""};
}

CLI::Validator OneOf(const std::vector<std::string>& choices) {
  return CLI::IsMember(choices).description("");
}

bool ParseOrExit(CLI::App& app, int argc, char** argv, std::string_view program, int* exit_code) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);
      *exit_code = FinishStdout(program) ? kDone : kFailed;
    } else {
      PrintError(program,
                 Explain(app, argc, argv, error) + "; see " + std::string(program) + " --help");
      *exit_code = kUsage;
    }
    return false;
  }
}

void Write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void WriteDocumentText(std::string_view text) {
  Write(isatty(STDOUT_FILENO) != 0 ? WithoutControlCharacters(text) : std::string(text));
}

void WriteToStderr(std::string_view text) {
  const std::string out =
      isatty(STDERR_FILENO) != 0 ? WithoutControlCharacters(text) : std::string(text);
  std::fwrite(out.data(), 1, out.size(), stderr);
}

bool FinishStdout(std::string_view program) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  PrintError(program, std::string("standard output: ") + std::strerror(errno));
  return false;
}

}  // namespace rag::tools
