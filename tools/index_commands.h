// The subcommands of rag-index that look after an index, one a file. docs/cli.md.
#ifndef TOOLS_INDEX_COMMANDS_H_
#define TOOLS_INDEX_COMMANDS_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace rag::tools {

inline constexpr std::string_view kIndexProgram = "rag-index";
// Generations to keep, the current one included.
inline constexpr std::size_t kDefaultKeep = 2;
inline constexpr std::size_t kMaxKeep = 1000;

// Adds --wait SECONDS: how long to wait for another writer of the index.
void AddWait(CLI::App& command, double& seconds);
std::chrono::milliseconds ToMilliseconds(double seconds);

struct VerifyArguments {
  std::string index;
  bool quick = false;
  bool json = false;
  bool quiet = false;
  std::size_t limit = 100;
};
// Adds the subcommand "verify"; `args` must outlive the parsing.
void AddVerify(CLI::App& app, VerifyArguments& args);
// The exit code.
int RunVerify(const VerifyArguments& args);

struct GcArguments {
  std::string index;
  std::size_t keep = kDefaultKeep;
  double wait_seconds = 0;
  bool json = false;
};
// Adds the subcommand "gc"; `args` must outlive the parsing.
void AddGc(CLI::App& app, GcArguments& args);
// The exit code.
int RunGc(const GcArguments& args);

}  // namespace rag::tools

#endif  // TOOLS_INDEX_COMMANDS_H_
