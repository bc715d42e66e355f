// A check of a whole index: every byte against the manifest, and every part against the others.
// FORMAT.md, "What is checked when".
#ifndef STORAGE_VERIFY_H_
#define STORAGE_VERIFY_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace rag::storage {

struct VerifyProgress {
  const char* phase = "";
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  const char* unit = "";  // of both numbers: "bytes", "documents"
};

struct VerifyOptions {
  bool quick = false;              // only what opening checks
  std::size_t max_problems = 100;  // the rest is counted
  // Called on the calling thread; may be empty.
  std::function<void(const VerifyProgress&)> progress;
};

struct VerifyReport {
  std::uint64_t generation = 0;  // 0 when CURRENT is damaged
  // False when the files were not sound, so that what is in them was not looked at. Also with
  // `quick`.
  bool contents_checked = false;
  std::uint64_t files = 0;  // that were checked, MANIFEST.json included
  std::uint64_t bytes = 0;
  std::uint64_t documents = 0;
  std::uint64_t records = 0;
  std::uint64_t vectors = 0;
  // Each starts with the file, relative to the index, and goes on with family and key where there
  // are some.
  std::vector<std::string> problems;
  std::uint64_t num_problems = 0;  // at least problems.size()
};

// Checks the generation that CURRENT names. Memory: 8 bytes a document, and the parents of the
// largest one. Damage is not an error but in the report. NOT_FOUND: no index;
// FAILED_PRECONDITION: another format version; PERMISSION_DENIED: a file that may not be read.
absl::StatusOr<VerifyReport> VerifyIndex(const std::filesystem::path& index,
                                         const VerifyOptions& options);

}  // namespace rag::storage

#endif  // STORAGE_VERIFY_H_
