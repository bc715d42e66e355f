// The subcommands of rag-index that look after an index, one a file. docs/cli.md.
#ifndef TOOLS_INDEX_COMMANDS_H_
#define TOOLS_INDEX_COMMANDS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace rag::tools {

inline constexpr std::string_view kIndexProgram = "rag-index";

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

}  // namespace rag::tools

#endif  // TOOLS_INDEX_COMMANDS_H_
