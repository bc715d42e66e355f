#include "indexer/open_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace rag::indexer {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 18;

}  // namespace

OpenFile::OpenFile(const std::filesystem::path& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)) {}

OpenFile::~OpenFile() {
  if (fd_ >= 0) ::close(fd_);
}

ssize_t OpenFile::ReadBlock(std::string& bytes) const {
  const std::size_t size = bytes.size();
  bytes.resize(size + kReadBytes);
  ssize_t count = 0;
  do {
    count = ::read(fd_, bytes.data() + size, kReadBytes);
  } while (count < 0 && errno == EINTR);
  const int code = errno;
  bytes.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  errno = code;
  return count;
}

std::string ErrnoMessage(int code) { return std::generic_category().message(code); }

}  // namespace rag::indexer
