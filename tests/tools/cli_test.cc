#include "tools/cli.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace rag::tools {
namespace {

TEST(ExitCode, FollowsTheKindOfError) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("")), 1);
  EXPECT_EQ(ExitCodeOf(absl::ResourceExhaustedError("")), 1);
  EXPECT_EQ(ExitCodeOf(absl::UnknownError("")), 1);
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("")), 2);
  EXPECT_EQ(ExitCodeOf(absl::NotFoundError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::DataLossError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::FailedPreconditionError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("")), 4);
  EXPECT_EQ(ExitCodeOf(absl::CancelledError("")), 130);
}

TEST(PrintError, IsOneLineWithTheProgramsName) {
  ::testing::internal::CaptureStderr();
  PrintError("rag-test", "cannot do\nthis 100%s");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "rag-test: cannot do this 100%s\n");
}

TEST(PrintError, OfAStatusIsItsMessage) {
  ::testing::internal::CaptureStderr();
  PrintError("rag-test", absl::NotFoundError("idx: no index there"));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "rag-test: idx: no index there\n");
}

// The outcome of parsing a command line with one number option.
struct Parsed {
  bool go_on = false;
  int code = -1;
  int budget = 0;
  std::string out;
  std::string err;
};

Parsed Parse(std::vector<std::string> arguments) {
  CLI::App app{"Tests a program."};
  Parsed parsed;
  app.set_version_flag("--version", "rag-test 1");
  app.add_option("--budget", parsed.budget, "tokens");
  arguments.insert(arguments.begin(), "rag-test");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  parsed.go_on =
      ParseOrExit(app, static_cast<int>(argv.size()), argv.data(), "rag-test", &parsed.code);
  parsed.out = ::testing::internal::GetCapturedStdout();
  parsed.err = ::testing::internal::GetCapturedStderr();
  return parsed;
}

TEST(ParseOrExit, GoesOnWithGoodArguments) {
  const Parsed parsed = Parse({"--budget", "7"});

  EXPECT_TRUE(parsed.go_on);
  EXPECT_EQ(parsed.budget, 7);
  EXPECT_EQ(parsed.out + parsed.err, "");
}

TEST(ParseOrExit, HelpGoesToStdoutAndIsNoError) {
  const Parsed parsed = Parse({"--help"});

  EXPECT_FALSE(parsed.go_on);
  EXPECT_EQ(parsed.code, kDone);
  EXPECT_NE(parsed.out.find("--budget"), std::string::npos);
  EXPECT_EQ(parsed.err, "");
}

TEST(ParseOrExit, TheVersionGoesToStdout) {
  const Parsed parsed = Parse({"--version"});

  EXPECT_EQ(parsed.code, kDone);
  EXPECT_EQ(parsed.out, "rag-test 1\n");
}

TEST(ParseOrExit, WrongUseIsOneLineOnStderrAndExitCodeTwo) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--unknown"}, {"--budget", "seven"}, {"--budget"}, {"extra"}}) {
    const Parsed parsed = Parse(wrong);
    EXPECT_FALSE(parsed.go_on);
    EXPECT_EQ(parsed.code, kUsage);
    EXPECT_EQ(parsed.out, "");
    EXPECT_TRUE(parsed.err.starts_with("rag-test: ")) << parsed.err;
    EXPECT_TRUE(parsed.err.ends_with("; see rag-test --help\n")) << parsed.err;
    EXPECT_EQ(parsed.err.find('\n'), parsed.err.size() - 1) << parsed.err;
  }
}

constexpr char kUnrulyBytes[] =
    "\x1b[31mred\x07\ttab\rx\nlín\x7f"
    "e\xc2\x9b"
    "x\0y";
constexpr std::string_view kUnruly(kUnrulyBytes, sizeof kUnrulyBytes - 1);

TEST(Write, GivesEveryByteToAPipe) {
  ::testing::internal::CaptureStdout();
  Write(kUnruly);
  WriteDocumentText(kUnruly);
  EXPECT_TRUE(FinishStdout("rag-test"));
  const std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(out, std::string(kUnruly) + std::string(kUnruly));
}

// What `print` writes to a terminal. Runs in a child: the parent's stdout is left alone.
std::string OnTerminal(void (*print)()) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_EQ(grantpt(terminal), 0);
  EXPECT_EQ(unlockpt(terminal), 0);
  const int inside = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(inside, STDOUT_FILENO);
    print();
    _exit(FinishStdout("rag-test") ? 0 : 1);
  }
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_EQ(state, 0);
  close(inside);
  std::string out;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(terminal, buffer, sizeof buffer)) > 0;) {
    out.append(buffer, static_cast<std::size_t>(n));
  }
  close(terminal);
  std::erase(out, '\r');  // the terminal's own
  return out;
}

TEST(WriteDocumentText, ReplacesControlCharactersOnATerminal) {
  EXPECT_EQ(OnTerminal([] { WriteDocumentText(kUnruly); }), "?[31mred?\ttab?x\nlín?e??x?y");
}

TEST(WriteDocumentText, LineBreaksOfWindowsStayLineBreaksOnATerminal) {
  EXPECT_EQ(OnTerminal([] { WriteDocumentText("one\r\ntwo\r\n"); }), "one\ntwo\n");
}

TEST(WriteDocumentText, LeavesOrdinaryTextAloneOnATerminal) {
  EXPECT_EQ(OnTerminal([] { WriteDocumentText("naïve — ångström 日本\tx\n"); }),
            "naïve — ångström 日本\tx\n");
}

TEST(FinishStdout, SaysWhenTheOutputDidNotArrive) {
  std::fflush(stdout);
  const int kept = dup(STDOUT_FILENO);
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  dup2(full, STDOUT_FILENO);
  ::testing::internal::CaptureStderr();
  Write("lost");

  const bool arrived = FinishStdout("rag-test");

  const std::string err = ::testing::internal::GetCapturedStderr();
  dup2(kept, STDOUT_FILENO);
  close(kept);
  close(full);
  std::clearerr(stdout);
  EXPECT_FALSE(arrived);
  EXPECT_TRUE(err.starts_with("rag-test: standard output: ")) << err;
}

}  // namespace
}  // namespace rag::tools
