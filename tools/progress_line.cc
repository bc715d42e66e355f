#include "tools/progress_line.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace rag::tools {

bool TerminalWantsProgress() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && (term == nullptr || std::string_view(term) != "dumb");
}

void ProgressLine::Show(const char* phase, std::uint64_t done, std::uint64_t total,
                        const char* unit) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (done != total && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  shown_ = true;
  std::fprintf(stderr, "\r%s %llu/%llu %s\x1b[K", phase, static_cast<unsigned long long>(done),
               static_cast<unsigned long long>(total), unit);
  std::fflush(stderr);
}

void ProgressLine::Clear() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

}  // namespace rag::tools
