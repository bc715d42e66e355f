// Opening and reading files that somebody else may be changing.
#ifndef INDEXER_OPEN_FILE_H_
#define INDEXER_OPEN_FILE_H_

#include <filesystem>
#include <string>

#include <sys/types.h>

namespace rag::indexer {

// An open file, closed on destruction. Threads: one thread.
class OpenFile {
 public:
  // For reading. Never follows a link in the last part of the path, nor waits for a pipe's writer.
  // When it fails, is_open() is false and errno says why.
  explicit OpenFile(const std::filesystem::path& path);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }

  // Appends the next bytes, 256 KiB at most. Their number, 0 at the end, or -1 with errno set.
  ssize_t ReadBlock(std::string& bytes) const;

 private:
  int fd_;
};

// The system's message for an errno.
std::string ErrnoMessage(int code);

}  // namespace rag::indexer

#endif  // INDEXER_OPEN_FILE_H_
