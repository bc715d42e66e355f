// A library for LD_PRELOAD: in a program that it is loaded into, calls that change files fail from
// the one on that the environment names.
//
//   RAG_FAIL_AT     the number of that call in the process, from 1; 0: none fails
//   RAG_FAIL_ERRNO  the error, e.g. 28 for a full disk
//   RAG_FAIL_ONCE   1: only that call fails; and removing counts among the calls, too
//   RAG_FAIL_COUNT  a file: at the end the number of calls is written to it
//
// stdout and stderr are left alone, and so is all that is no regular file. Of stdio fopen, fwrite
// and fclose are stood in for: its own writes are made inside of libc.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

namespace {

long NumberOf(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}

std::atomic<long> g_calls{0};

bool Once() {
  static const bool once = NumberOf("RAG_FAIL_ONCE") != 0;
  return once;
}

// Counts a call; true with errno set when it has to fail.
bool Fails() {
  static const long at = NumberOf("RAG_FAIL_AT");
  static const int error = static_cast<int>(NumberOf("RAG_FAIL_ERRNO"));
  const long call = ++g_calls;
  if (at == 0 || (Once() ? call != at : call < at)) return false;
  errno = error;
  return true;
}

// A full disk does not keep anybody from removing.
bool RemovingFails() { return Once() && Fails(); }

bool FailsOn(int fd) {
  struct stat info = {};
  if (fd <= STDERR_FILENO || fstat(fd, &info) != 0) return false;
  return (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) && Fails();
}

bool Creates(int flags) { return (flags & O_CREAT) != 0; }

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

__attribute__((destructor)) void WriteCount() {
  const char* const path = std::getenv("RAG_FAIL_COUNT");
  if (path == nullptr) return;
  char text[24];
  const int size = std::snprintf(text, sizeof text, "%ld\n", g_calls.load());
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (syscall(SYS_write, fd, text, size) != size) _exit(99);
}

}  // namespace

// A function of libc that fails when `fails`, with `failed`.
#define RAG_STAND_IN(result, name, parameters, arguments, fails, failed) \
  extern "C" result name parameters {                                    \
    static auto* const next = Next<result parameters>(#name);            \
    return (fails) ? (failed) : next arguments;                          \
  }

RAG_STAND_IN(ssize_t, write, (int fd, const void* data, size_t n), (fd, data, n), FailsOn(fd), -1)
RAG_STAND_IN(ssize_t, writev, (int fd, const iovec* parts, int n), (fd, parts, n), FailsOn(fd), -1)
RAG_STAND_IN(ssize_t, pwrite, (int fd, const void* data, size_t n, off_t at), (fd, data, n, at),
             FailsOn(fd), -1)
RAG_STAND_IN(ssize_t, pwrite64, (int fd, const void* data, size_t n, off64_t at), (fd, data, n, at),
             FailsOn(fd), -1)
RAG_STAND_IN(int, fsync, (int fd), (fd), FailsOn(fd), -1)
RAG_STAND_IN(int, fdatasync, (int fd), (fd), FailsOn(fd), -1)
RAG_STAND_IN(int, ftruncate, (int fd, off_t size), (fd, size), FailsOn(fd), -1)
RAG_STAND_IN(int, ftruncate64, (int fd, off64_t size), (fd, size), FailsOn(fd), -1)
RAG_STAND_IN(int, fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n), FailsOn(fd),
             -1)
RAG_STAND_IN(int, fallocate64, (int fd, int mode, off64_t at, off64_t n), (fd, mode, at, n),
             FailsOn(fd), -1)
RAG_STAND_IN(int, rename, (const char* from, const char* to), (from, to), Fails(), -1)
RAG_STAND_IN(int, link, (const char* from, const char* to), (from, to), Fails(), -1)
RAG_STAND_IN(int, mkdir, (const char* path, mode_t mode), (path, mode), Fails(), -1)
RAG_STAND_IN(int, unlink, (const char* path), (path), RemovingFails(), -1)
RAG_STAND_IN(int, unlinkat, (int fd, const char* path, int flags), (fd, path, flags),
             RemovingFails(), -1)
RAG_STAND_IN(int, rmdir, (const char* path), (path), RemovingFails(), -1)
RAG_STAND_IN(int, remove, (const char* path), (path), RemovingFails(), -1)
RAG_STAND_IN(FILE*, fopen, (const char* path, const char* mode), (path, mode),
             std::strchr(mode, 'w') != nullptr && Fails(), nullptr)
RAG_STAND_IN(FILE*, fopen64, (const char* path, const char* mode), (path, mode),
             std::strchr(mode, 'w') != nullptr && Fails(), nullptr)
RAG_STAND_IN(size_t, fwrite, (const void* data, size_t size, size_t n, FILE* file),
             (data, size, n, file), FailsOn(fileno(file)), 0)

// Closes also when it fails.
extern "C" int fclose(FILE* file) {
  static auto* const next = Next<int(FILE*)>("fclose");
  const bool writes = (fcntl(fileno(file), F_GETFL) & O_ACCMODE) != O_RDONLY;
  const bool fails = writes && FailsOn(fileno(file));
  const int error = errno;
  const int result = next(file);
  if (!fails) return result;
  errno = error;
  return EOF;
}

#define RAG_STAND_IN_FOR_OPEN(name)                                        \
  extern "C" int name(const char* path, int flags, ...) {                  \
    static auto* const next = Next<int(const char*, int, ...)>(#name);     \
    va_list rest;                                                          \
    va_start(rest, flags);                                                 \
    const mode_t mode = Creates(flags) ? va_arg(rest, mode_t) : mode_t{0}; \
    va_end(rest);                                                          \
    return Creates(flags) && Fails() ? -1 : next(path, flags, mode);       \
  }

RAG_STAND_IN_FOR_OPEN(open)
RAG_STAND_IN_FOR_OPEN(open64)
