#include "tools/cli.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace rag::tools {

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

void PrintError(std::string_view program, std::string_view message) {
  std::string line(message);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(program.size()), program.data(),
               line.c_str());
}

void PrintError(std::string_view program, const absl::Status& status) {
  PrintError(program, std::string(status.message()));
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
      PrintError(program, std::string(error.what()) + "; see " + std::string(program) + " --help");
      *exit_code = kUsage;
    }
    return false;
  }
}

void Write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void WriteDocumentText(std::string_view text) {
  if (isatty(STDOUT_FILENO) == 0) {
    Write(text);
    return;
  }
  std::string clean(text);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const auto byte = static_cast<unsigned char>(clean[i]);
    const bool c1 = byte == 0xC2 && i + 1 < clean.size() &&
                    static_cast<unsigned char>(clean[i + 1]) < 0xA0;  // U+0080–U+009F
    if (c1) clean[i] = clean[i + 1] = '?';
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) clean[i] = '?';
  }
  Write(clean);
}

bool FinishStdout(std::string_view program) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  PrintError(program, std::string("standard output: ") + std::strerror(errno));
  return false;
}

}  // namespace rag::tools
