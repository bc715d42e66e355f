#include "indexer/spill.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rag::indexer {

absl::StatusOr<Spill> Spill::Create(const std::filesystem::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "w+be");
  if (file == nullptr) {
    return absl::InternalError(absl::StrCat(path.string(), ": ", std::strerror(errno)));
  }
  return Spill(path, file);
}

absl::Status Spill::Error(std::string_view what) const {
  const int code = errno;
  const std::string message =
      absl::StrCat(path_.string(), ": ", std::string(what), ": ", std::strerror(code));
  if (code == ENOSPC || code == EDQUOT) {
    return absl::ResourceExhaustedError(
        absl::StrCat(message, "; make room on the disk and build again"));
  }
  return absl::InternalError(message);
}

absl::Status Spill::Append(std::string_view blob) {
  const std::uint64_t size = blob.size();
  if (std::fwrite(&size, sizeof size, 1, file_.get()) != 1 ||
      std::fwrite(blob.data(), 1, blob.size(), file_.get()) != blob.size()) {
    return Error("cannot write");
  }
  ++blobs_left_;
  return absl::OkStatus();
}

absl::Status Spill::Rewind() {
  if (std::fflush(file_.get()) != 0) return Error("cannot write");
  if (std::fseek(file_.get(), 0, SEEK_SET) != 0) return Error("cannot seek");
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> Spill::Next() {
  if (blobs_left_ == 0) return std::nullopt;
  std::uint64_t size = 0;
  if (std::fread(&size, sizeof size, 1, file_.get()) != 1) return Error("cannot read");
  std::string blob(size, '\0');
  if (std::fread(blob.data(), 1, size, file_.get()) != size) return Error("cannot read");
  --blobs_left_;
  return blob;
}

}  // namespace rag::indexer
