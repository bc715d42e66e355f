#include "indexer/open_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
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
  // Most files are far smaller than a block, and room in `bytes` would have to be zeroed first.
  thread_local const std::unique_ptr<char[]> block(new char[kReadBytes]);
  ssize_t count = 0;
  do {
    count = ::read(fd_, block.get(), kReadBytes);
  } while (count < 0 && errno == EINTR);
  if (count > 0) bytes.append(block.get(), static_cast<std::size_t>(count));
  return count;
}

std::string ErrnoMessage(int code) { return std::generic_category().message(code); }

}  // namespace rag::indexer
