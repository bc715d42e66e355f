// A temporary folder of the process, for targets whose code reads files.
#ifndef TESTS_FUZZ_SCRATCH_FOLDER_H_
#define TESTS_FUZZ_SCRATCH_FOLDER_H_

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "tests/fuzz/fuzz.h"

namespace rag::fuzz {

// Removed at exit; a finding leaves it behind.
class ScratchFolder {
 public:
  ScratchFolder()
      : path_(std::filesystem::temp_directory_path() / ("rag-fuzz-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // The path of the file that holds `bytes` now.
  [[nodiscard]] std::filesystem::path Write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    Require(out.good(), "the temporary folder can be written");
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace rag::fuzz

#endif  // TESTS_FUZZ_SCRATCH_FOLDER_H_
