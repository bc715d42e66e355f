// Files that lost their end, and files in which a disk lost a sector.
#include <algorithm>
#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "tests/damage/damage_testing.h"

namespace rag::testing {
namespace {

constexpr std::size_t kSmallFile = 8192;
constexpr std::size_t kStep = kSanitized ? 5 : 1;
constexpr std::size_t kLargeStep = 61;

using CutFiles = DamageTest;

TEST_F(CutFiles, AreRefusedAtEveryLength) {
  for (const auto& [name, bytes] : index().files()) {
    const std::size_t step = TestsAll() ? 1 : bytes.size() < kSmallFile ? kStep : kLargeStep;
    for (std::size_t size = 0; size < bytes.size(); size += step) {
      index().Write(name, std::string_view(bytes).substr(0, size));
      ExpectNoticed(name + " cut to " + std::to_string(size));
    }
    index().Restore();
  }
  EXPECT_EQ(count(Reaction::kSame) + count(Reaction::kChanged), 0U);
}

class LostSectors : public DamageTest {
 protected:
  static constexpr std::size_t kSectorBytes = 512;

  // Replaces each sector of each file by bytes of that value.
  void Fill(char value) {
    for (const auto& [name, bytes] : index().files()) {
      for (std::size_t at = 0; at < bytes.size(); at += kSectorBytes) {
        std::string damaged = bytes;
        const std::size_t size = std::min(kSectorBytes, bytes.size() - at);
        damaged.replace(at, size, size, value);
        index().Write(name, damaged);
        ExpectNoticed(name + ": sector at " + std::to_string(at));
      }
      index().Restore();
    }
  }
};

TEST_F(LostSectors, OfZerosAreNoticed) {
  Fill('\0');
  EXPECT_GT(count(Reaction::kRefused), 0U);
}

TEST_F(LostSectors, OfOnesAreNoticed) {
  Fill('\xFF');
  EXPECT_GT(count(Reaction::kRefused), 0U);
}

// Two files that changed places, as after a repair of a file system.
TEST_F(CutFiles, ThatHaveTheBytesOfAnotherAreRefused) {
  for (const auto& [name, bytes] : index().files()) {
    for (const auto& [other, other_bytes] : index().files()) {
      if (bytes == other_bytes) continue;
      index().Write(name, other_bytes);
      ExpectNoticed(name + " with the bytes of " + other);
    }
    index().Restore();
  }
  EXPECT_GT(count(Reaction::kRefused), 0U);
}

}  // namespace
}  // namespace rag::testing
