#include "storage/output_file.h"

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "formats/status_macros.h"
#include "storage/file_io.h"

namespace rag::storage {
namespace {

constexpr std::size_t kBufferBytes = 1 << 18;

}  // namespace

absl::StatusOr<OutputFile> OutputFile::Create(const std::filesystem::path& path) {
  Handle file(std::fopen(path.c_str(), "wbe"));
  if (file == nullptr) return SystemError(path, "create", errno);
  std::setvbuf(file.get(), nullptr, _IOFBF, kBufferBytes);
  return OutputFile(path, std::move(file));
}

absl::Status OutputFile::Append(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return absl::OkStatus();
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    return SystemError(path_, "write", errno);
  }
  return absl::OkStatus();
}

absl::Status OutputFile::AppendFile(const std::filesystem::path& source) {
  const Handle input(std::fopen(source.c_str(), "rbe"));
  if (input == nullptr) return SystemError(source, "open", errno);
  std::vector<std::uint8_t> block(kBufferBytes);
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), input.get())) {
    RAG_RETURN_IF_ERROR(Append(std::span(block).first(n)));
  }
  if (std::ferror(input.get()) != 0) return SystemError(source, "read", errno);
  return absl::OkStatus();
}

absl::Status OutputFile::Close() {
  if (std::fclose(file_.release()) != 0) return SystemError(path_, "write", errno);
  return absl::OkStatus();
}

}  // namespace rag::storage
