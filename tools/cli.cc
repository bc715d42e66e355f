#include "tools/cli.h"

#include <fcntl.h>
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
