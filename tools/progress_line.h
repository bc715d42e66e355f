// Progress for people: one line on stderr that is rewritten in place.
#ifndef TOOLS_PROGRESS_LINE_H_
#define TOOLS_PROGRESS_LINE_H_

#include <chrono>
#include <cstdint>

namespace rag::tools {

// Whether stderr is a terminal that can rewrite a line.
bool TerminalWantsProgress();

// Rewritten at most ten times a second. Threads: one thread.
class ProgressLine {
 public:
  explicit ProgressLine(bool enabled) : enabled_(enabled) {}
  // "PHASE DONE/TOTAL UNIT".
  void Show(const char* phase, std::uint64_t done, std::uint64_t total, const char* unit);
  // To be called before anything else is printed.
  void Clear();

 private:
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace rag::tools

#endif  // TOOLS_PROGRESS_LINE_H_
