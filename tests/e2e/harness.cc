#include "tests/e2e/harness.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;

const char* PathOf(Program program) {
  switch (program) {
    case Program::kIndex:
      return RAG_INDEX_PROGRAM;
    case Program::kQuery:
      return RAG_QUERY_PROGRAM;
    case Program::kInspect:
      return RAG_INSPECT_PROGRAM;
  }
  return "";
}

[[noreturn]] void Die(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct Pipe {
  int read = -1;
  int write = -1;
};

Pipe MakePipe() {
  std::array<int, 2> fds{};
  if (pipe2(fds.data(), O_CLOEXEC) != 0) Die("pipe2");
  return {fds[0], fds[1]};
}

struct Terminal {
  int master = -1;
  int slave = -1;
};

Terminal MakeTerminal() {
  Terminal terminal;
  terminal.master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal.master < 0 || grantpt(terminal.master) != 0 || unlockpt(terminal.master) != 0) {
    Die("posix_openpt");
  }
  terminal.slave = open(ptsname(terminal.master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  termios settings{};
  if (terminal.slave < 0 || tcgetattr(terminal.slave, &settings) != 0) Die("open of a terminal");
  settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  if (tcsetattr(terminal.slave, TCSANOW, &settings) != 0) Die("tcsetattr");
  return terminal;
}

void SetNonBlocking(int fd) {
  if (fd >= 0 && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) Die("fcntl");
}

void CloseAndForget(int* fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

std::vector<std::string> Environment(const Launch& launch) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  variables.erase("RAG_INDEX");
  variables.erase("RAW_CONTEXT_TOKEN_BUDGET");
  variables["TERM"] = "xterm";
  for (const auto& [name, value] : launch.env) variables[name] = value;
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The three standard streams of the child; -1 is closed.
struct ChildStreams {
  std::array<int, 3> fds{-1, -1, -1};
  int terminal = -1;
};

// -1 when root cannot become it. Anybody else need not.
int BecomeNobody() {
  constexpr uid_t kNobody = 65534;
  if (geteuid() != 0) return 0;
  return setgid(kNobody) == 0 ? setuid(kNobody) : -1;
}

// Between fork and exec: only what is safe after a fork of a program with threads.
[[noreturn]] void BecomeProgram(const char* path, char** argv, char** envp, const char* folder,
                                const ChildStreams& streams, const Launch& launch) {
  setsid();
  if (launch.unprivileged && BecomeNobody() != 0) _exit(126);
  for (const auto& [resource, most] : launch.limits) {
    const rlimit limit{most, most};
    if (setrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) _exit(126);
  }
  if (streams.terminal >= 0) ioctl(streams.terminal, TIOCSCTTY, 0);
  if (*folder != '\0' && chdir(folder) != 0) _exit(126);
  // First out of the way of 0, 1 and 2, so that no stream is overwritten before it is used.
  std::array<int, 3> moved{-1, -1, -1};
  for (std::size_t i = 0; i < 3; ++i) {
    if (streams.fds[i] >= 0) moved[i] = fcntl(streams.fds[i], F_DUPFD_CLOEXEC, 10);
  }
  for (int i = 0; i < 3; ++i) {
    const int fd = moved[static_cast<std::size_t>(i)];
    if (fd < 0) {
      close(i);
    } else if (dup2(fd, i) < 0) {
      _exit(126);
    }
  }
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  execve(path, argv, envp);
  _exit(127);
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Outcome& outcome) {
  stream << "\n$ " << outcome.command << "\nexit code " << outcome.exit_code << ", signal "
         << outcome.signal << (outcome.timed_out ? ", TIMED OUT" : "") << "\n--- stdout ("
         << outcome.out.size() << " bytes)\n"
         << outcome.out << "\n--- stderr (" << outcome.err.size() << " bytes)\n"
         << outcome.err << "\n--- terminal (" << outcome.terminal.size() << " bytes)\n"
         << outcome.terminal << "\n---\n";
  return stream;
}

Process::Process(Program program, std::vector<std::string> args, const Launch& launch)
    : deadline_(std::chrono::steady_clock::now() + launch.timeout), unsent_(launch.input) {
  std::signal(SIGPIPE, SIG_IGN);  // a program may end before it has read its input
  args.insert(args.begin(), PathOf(program));
  for (const std::string& arg : args) outcome_.command += "'" + arg + "' ";
  std::vector<std::string> env = Environment(launch);
  const std::vector<char*> argv = Pointers(args);
  const std::vector<char*> envp = Pointers(env);
  const std::string folder = launch.folder.string();

  ChildStreams child;
  Terminal terminal;
  const std::array<Stream, 3> wanted{launch.in, launch.out, launch.err};
  if (std::find(wanted.begin(), wanted.end(), Stream::kTerminal) != wanted.end()) {
    terminal = MakeTerminal();
    child.terminal = terminal.slave;
  }
  std::vector<int> to_close;
  const std::array<int*, 3> ours{&in_, &out_, &err_};
  for (std::size_t i = 0; i < 3; ++i) {
    if (i == 1 && !launch.out_file.empty()) {
      child.fds[i] = open(launch.out_file.c_str(), O_WRONLY | O_CLOEXEC);
      to_close.push_back(child.fds[i]);
    } else if (wanted[i] == Stream::kPipe) {
      const Pipe pipe = MakePipe();
      *ours[i] = i == 0 ? pipe.write : pipe.read;
      child.fds[i] = i == 0 ? pipe.read : pipe.write;
      to_close.push_back(child.fds[i]);
    } else if (wanted[i] == Stream::kTerminal) {
      child.fds[i] = terminal.slave;
    }
  }
  pid_ = fork();
  if (pid_ < 0) Die("fork");
  if (pid_ == 0) {
    BecomeProgram(argv[0], const_cast<char**>(argv.data()), const_cast<char**>(envp.data()),
                  folder.c_str(), child, launch);
  }
  for (const int fd : to_close) close(fd);
  CloseAndForget(&terminal.slave);
  terminal_ = terminal.master;
  for (const int fd : {in_, out_, err_, terminal_}) SetNonBlocking(fd);
  close_when_sent_ = !launch.keep_input_open;
}

Process::~Process() {
  if (!ended_) {
    kill(-pid_, SIGKILL);
    Reap(0);
  }
  for (int* fd : {&in_, &out_, &err_, &terminal_}) CloseAndForget(fd);
}

bool Process::PumpUntil(const std::function<bool(const Outcome&)>& done) {
  while (true) {
    if (done(outcome_)) return true;
    if (ended_) return false;
    if (std::chrono::steady_clock::now() > deadline_) {
      outcome_.timed_out = true;
      kill(-pid_, SIGKILL);
      Reap(0);
      return false;
    }
    Pump(10);
  }
}

void Process::Send(std::string_view bytes) {
  unsent_ += bytes;
  WriteInput();
}

void Process::CloseInput() { close_when_sent_ = true; }

void Process::CloseOutput() { CloseAndForget(&out_); }

void Process::Signal(int number) const { kill(pid_, number); }

bool Process::IsRunning() const {
  siginfo_t info{};
  if (ended_) return false;
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

Outcome Process::Finish() {
  PumpUntil([](const Outcome&) { return false; });
  return outcome_;
}

// One round of reading and writing; notices the end of the program.
void Process::Pump(int wait_ms) {
  WriteInput();
  std::vector<pollfd> polled;
  for (const int fd : {out_, err_, terminal_}) {
    if (fd >= 0) polled.push_back({fd, POLLIN, 0});
  }
  if (in_ >= 0 && !unsent_.empty()) polled.push_back({in_, POLLOUT, 0});
  poll(polled.data(), polled.size(), wait_ms);
  // The order matters: what an ended program has printed is still to be read.
  Reap(WNOHANG);
  bool more = true;
  while (more) {
    more = Drain(&out_, &outcome_.out);
    more = Drain(&err_, &outcome_.err) || more;
    more = Drain(&terminal_, &outcome_.terminal) || more;
    more = more && ended_;
  }
}

// True when something was read. At the end of the stream closes it.
bool Process::Drain(int* fd, std::string* to) {
  if (*fd < 0) return false;
  std::array<char, 1 << 16> buffer{};
  const ssize_t got = read(*fd, buffer.data(), buffer.size());
  if (got > 0) {
    to->append(buffer.data(), static_cast<std::size_t>(got));
    return true;
  }
  const bool wait = got < 0 && (errno == EAGAIN || errno == EINTR);
  if (!wait) {
    // Without readable streams poll would return at once; the terminal may still take input.
    if (fd != &terminal_ || ended_) CloseAndForget(fd);
  }
  return false;
}

void Process::WriteInput() {
  int* const fd = in_ >= 0 ? &in_ : &terminal_;
  if (*fd >= 0 && !unsent_.empty()) {
    const ssize_t put = write(*fd, unsent_.data(), unsent_.size());
    if (put > 0) unsent_.erase(0, static_cast<std::size_t>(put));
    if (put < 0 && errno == EPIPE) unsent_.clear();
  }
  if (unsent_.empty() && close_when_sent_) CloseAndForget(&in_);
}

void Process::Reap(int options) {
  int status = 0;
  if (ended_ || waitpid(pid_, &status, options) != pid_) return;
  ended_ = true;
  if (WIFEXITED(status)) outcome_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
}

Outcome RunProgram(Program program, std::vector<std::string> args, const Launch& launch) {
  Process process(program, std::move(args), launch);
  return process.Finish();
}
Outcome RagIndex(std::vector<std::string> args, const Launch& launch) {
  return RunProgram(Program::kIndex, std::move(args), launch);
}
Outcome RagQuery(std::vector<std::string> args, const Launch& launch) {
  return RunProgram(Program::kQuery, std::move(args), launch);
}
Outcome RagInspect(std::vector<std::string> args, const Launch& launch) {
  return RunProgram(Program::kInspect, std::move(args), launch);
}

TempFolder::TempFolder() {
  std::string pattern = (fs::path(::testing::TempDir()) / "rag e2e XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) Die("mkdtemp");
  path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code ignored;  // a folder that stays behind fails no test
  fs::remove_all(path_, ignored);
}

std::string TempFolder::operator/(std::string_view name) const {
  return (path_ / fs::path(name)).string();
}

void WriteFile(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  ASSERT_TRUE(file.good()) << path;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::map<std::string, std::string> ReadTree(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().lexically_relative(folder).string()] = ReadFile(entry.path());
  }
  return files;
}

fs::path SourceFolder() { return RAG_SOURCE_DIR; }

void Build(const std::string& corpus, const std::string& index,
           const std::vector<std::string>& args) {
  std::vector<std::string> all{"build", corpus, "-o", index};
  all.insert(all.end(), args.begin(), args.end());
  const Outcome outcome = RagIndex(all);
  ASSERT_EQ(outcome.exit_code, 0) << outcome;
  ASSERT_EQ(outcome.out, "") << outcome;
}

nlohmann::json Ask(const std::string& index, const std::vector<std::string>& args,
                   const Launch& launch) {
  std::vector<std::string> all{"-i", index, "--json"};
  all.insert(all.end(), args.begin(), args.end());
  const Outcome outcome = RagQuery(all, launch);
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_TRUE(IsOneLine(outcome.out)) << outcome;
  nlohmann::json answer = nlohmann::json::parse(outcome.out, nullptr, false);
  EXPECT_TRUE(answer.is_object()) << outcome;
  return answer.is_object() ? answer : nlohmann::json();
}

nlohmann::json WithoutTimes(nlohmann::json answer) {
  answer.erase("timings_us");
  return answer;
}

void ExpectError(const Outcome& outcome, int exit_code, std::string_view program,
                 std::string_view text) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome;
  EXPECT_EQ(outcome.out, "") << outcome;
  EXPECT_TRUE(IsOneLine(outcome.err)) << outcome;
  EXPECT_EQ(outcome.err.rfind(std::string(program) + ": ", 0), 0U) << outcome;
  EXPECT_NE(outcome.err.find(text), std::string::npos) << "expected: " << text << outcome;
}

bool IsOneLine(std::string_view text) {
  return text.size() > 1 && text.find('\n') == text.size() - 1;
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace rag::e2e
