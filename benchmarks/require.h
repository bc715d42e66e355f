// Ends the program when data for a benchmark cannot be made.
#ifndef BENCHMARKS_REQUIRE_H_
#define BENCHMARKS_REQUIRE_H_

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/status/status.h"

namespace rag::benchmarks {

inline void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "rag_bench: %s\n", std::string(status.message()).c_str());
  std::exit(1);
}

}  // namespace rag::benchmarks

#endif  // BENCHMARKS_REQUIRE_H_
