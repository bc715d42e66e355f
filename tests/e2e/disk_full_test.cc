// Builds on a real file system that is too small. Needs root, or that users may mount in a
// namespace of their own; skipped where neither is so.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include "tests/e2e/crash_testing.h"
#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;

bool WriteProc(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

// Gives this process mounts of its own, so that nothing of them is left behind it. Why not, or "".
std::string EnterMountNamespace() {
  const uid_t user = geteuid();
  if (unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) {
    return std::string("no mount namespace to be had: ") + std::strerror(errno);
  }
  if (user != 0 && !WriteProc("/proc/self/uid_map", "0 " + std::to_string(user) + " 1")) {
    return "cannot become root in a user namespace";
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return std::string("cannot make mounts private: ") + std::strerror(errno);
  }
  return "";
}

// A tmpfs with these options while it lives.
class SmallDisk {
 public:
  SmallDisk(fs::path folder, const std::string& options) : folder_(std::move(folder)) {
    fs::create_directories(folder_);
    error_ = mount("tmpfs", folder_.c_str(), "tmpfs", 0, options.c_str()) == 0 ? 0 : errno;
  }
  ~SmallDisk() {
    if (error_ == 0) umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  [[nodiscard]] int error() const { return error_; }
  bool Resize(const std::string& options) const {
    return mount("tmpfs", folder_.c_str(), "tmpfs", MS_REMOUNT, options.c_str()) == 0;
  }

 private:
  fs::path folder_;
  int error_ = 0;
};

struct Use {
  std::uint64_t kib = 0;
  std::uint64_t inodes = 0;
};
Use UseOf(const fs::path& folder) {
  struct statvfs info = {};
  EXPECT_EQ(statvfs(folder.c_str(), &info), 0);
  return {.kib = (info.f_blocks - info.f_bfree) * info.f_frsize / 1024,
          .inodes = info.f_files - info.f_ffree};
}

class DiskFullTest : public CrashTest {
 protected:
  void SetUp() override {
    Prepare(150);
    if (HasFatalFailure()) return;
    const std::string why_not = EnterMountNamespace();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    const SmallDisk disk(index_, "size=64m");
    if (disk.error() != 0) GTEST_SKIP() << "cannot mount a tmpfs: " << std::strerror(disk.error());
  }

  // The index folder is a disk that has `options` from when it holds a copy of `from`.
  void BuildOnDisk(const fs::path& from, const std::string& options) {
    fs::remove_all(index_);
    const SmallDisk disk(index_, "size=64m");
    ASSERT_EQ(disk.error(), 0);
    const bool first = !fs::exists(from);
    if (!first) CopyTo(from);
    ASSERT_TRUE(disk.Resize(options)) << options << ": " << std::strerror(errno);
    const Outcome outcome = RagIndex(BuildArguments());
    built_ = outcome.exit_code == 0;
    if (!built_) {
      ExpectError(outcome, 1, "rag-index", ": disk full: ");
      EXPECT_NE(outcome.err.find("make room"), std::string::npos) << outcome;
      EXPECT_FALSE(NamesIn(index_).contains("journal")) << outcome;
      EXPECT_FALSE(NamesIn(index_).contains("building")) << outcome;
      ++failures_[PartOf(outcome.err)];
    }
    EXPECT_EQ(first ? ExpectNoneOrFirst() : ExpectOldOrNew(), built_);
    ASSERT_TRUE(disk.Resize("size=64m,nr_inodes=1000"));
    ExpectRerunMakes(first ? first_content_ : new_content_);
  }

  void TearDown() override {
    for (const auto& [part, times] : failures_) std::cout << part << ": " << times << " times\n";
  }

  Use UseOfCopy(const fs::path& from) {
    const SmallDisk disk(index_, "size=64m");
    if (fs::exists(from)) CopyTo(from);
    return UseOf(index_);
  }

  void CopyTo(const fs::path& from) const {
    for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
      fs::copy(entry.path(), index_ / entry.path().filename(), fs::copy_options::recursive);
    }
  }

  bool built_ = false;
  std::map<std::string, int> failures_;

 private:
  // Of the index, that the line is about.
  [[nodiscard]] std::string PartOf(const std::string& line) const {
    const std::size_t begin = line.find(index_);
    EXPECT_NE(begin, std::string::npos) << line;
    return line.substr(begin + index_.size(), line.find(": ", begin) - begin - index_.size());
  }
};

// Steps that double up to a 16th of what is needed, so that the early files are met, too.
TEST_F(DiskFullTest, TooFewBytesLeaveTheOldIndex) {
  const std::uint64_t used = UseOfCopy(prepared_).kib;
  std::uint64_t room = 0;
  for (built_ = false; !built_ && !HasFailure() && room < used * 4;) {
    SCOPED_TRACE("room for " + std::to_string(room) + " KiB");
    BuildOnDisk(prepared_, "size=" + std::to_string(used + room) + "k");
    room += std::clamp<std::uint64_t>(room, 4, std::max<std::uint64_t>(4, used / 16));
  }
  EXPECT_TRUE(built_);
  EXPECT_GE(failures_.size(), 3U);  // the journal, records, vectors
}

TEST_F(DiskFullTest, TooFewBytesLeaveNoFirstIndex) {
  const std::uint64_t used = UseOfCopy(prepared_).kib;
  std::uint64_t room = 8;
  for (built_ = false; !built_ && !HasFailure() && room < used * 4;) {
    SCOPED_TRACE("room for " + std::to_string(room) + " KiB");
    BuildOnDisk(folder_ / "none", "size=" + std::to_string(room) + "k");
    room += std::clamp<std::uint64_t>(room, 4, std::max<std::uint64_t>(4, used / 12));
  }
  EXPECT_TRUE(built_);
  EXPECT_GE(failures_.size(), 3U);
}

TEST_F(DiskFullTest, GarbageCollectionNeedsNoRoom) {
  fs::remove_all(index_);
  const SmallDisk disk(index_, "size=64m");
  CopyTo(prepared_);
  ExpectRerunMakes(new_content_);
  ASSERT_TRUE(disk.Resize("size=" + std::to_string(UseOf(index_).kib) + "k"));

  const Outcome outcome = RagIndex({"gc", index_, "--keep", "1"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(NamesIn(index_), (std::set<std::string>{"CURRENT", "LOCK", "gen-000002"}));
}

// One file more each time, so each file and folder that a rebuild makes is the one too many.
TEST_F(DiskFullTest, TooFewFilesLeaveTheOldIndex) {
  const std::uint64_t used = UseOfCopy(prepared_).inodes;
  std::uint64_t room = 0;
  for (built_ = false; !built_ && !HasFailure() && room < 100; ++room) {
    SCOPED_TRACE("room for " + std::to_string(room) + " files");
    BuildOnDisk(prepared_, "size=64m,nr_inodes=" + std::to_string(used + room));
  }
  EXPECT_TRUE(built_);
  EXPECT_GE(failures_.size(), 5U);
}

}  // namespace
}  // namespace rag::e2e
