// A folder of one benchmark, removed with everything in it.
#ifndef BENCHMARKS_TEMP_FOLDER_H_
#define BENCHMARKS_TEMP_FOLDER_H_

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/status/status.h"

namespace rag::benchmarks {

class TempFolder {
 public:
  explicit TempFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("rag-bench-" + name + "-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TempFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Ends the program when data for a benchmark cannot be made.
inline void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "rag_bench: %s\n", std::string(status.message()).c_str());
  std::exit(1);
}

}  // namespace rag::benchmarks

#endif  // BENCHMARKS_TEMP_FOLDER_H_
