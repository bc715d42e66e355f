// Flipped bytes in every file of an index: each is refused, or changes nothing, and verify notices
// all of them. With RAG_DAMAGE_ALL=1 every bit of every byte; otherwise, of the data between the
// first and the last 256 bytes of a file, a sample.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/damage/damage_testing.h"

namespace rag::testing {
namespace {

constexpr std::size_t kEndBytes = 256;
constexpr std::size_t kStep = kSanitized ? 61 : 17;

class FlippedBytes : public DamageTest {
 protected:
  // Each byte at both ends, some between them.
  void FlipFile(const std::string& name) {
    const std::size_t size = index().files().at(name).size();
    const std::size_t front = std::min(size, kEndBytes);
    const std::size_t back = std::max(front, size - front);
    FlipEach(name, 0, front, 1);
    FlipEach(name, front, back, TestsAll() ? 1 : kStep);
    FlipEach(name, back, size, 1);
  }

  // Flips bits of each byte in [begin, end), every `step`-th.
  void FlipEach(const std::string& name, std::size_t begin, std::size_t end, std::size_t step) {
    for (std::size_t at = begin; at < end; at += step) {
      for (const int mask : Masks(at)) Flip(name, at, mask);
    }
    index().Restore();
  }

 private:
  // One bit of a byte, another in each: all of them take eight times as long.
  static std::vector<int> Masks(std::size_t at) {
    if (TestsAll()) return {1, 2, 4, 8, 16, 32, 64, 128, 255};
    return {1 << (at * 5 % 8)};
  }

  void Flip(const std::string& name, std::size_t at, int mask) {
    std::string bytes = index().files().at(name);
    bytes[at] = static_cast<char>(bytes[at] ^ mask);
    index().Write(name, bytes);
    ExpectNoticed(name + ": byte " + std::to_string(at) + " xor " + std::to_string(mask));
  }
};

TEST_F(FlippedBytes, OfCurrentAndTheManifestAreRefused) {
  for (const std::string& name : Names("/MANIFEST.json")) {
    FlipEach(name, 0, index().files().at(name).size(), 1);
  }
  FlipEach("CURRENT", 0, index().files().at("CURRENT").size(), 1);
  EXPECT_EQ(count(Reaction::kSame) + count(Reaction::kChanged), 0U);
}

TEST_F(FlippedBytes, OfVectorsAreNoticed) {
  for (const std::string& name : Names(".faiss")) FlipFile(name);
  EXPECT_GT(count(Reaction::kRefused), 0U);
  EXPECT_GT(count(Reaction::kSame), 0U);
}

TEST_F(FlippedBytes, OfTheTermTableAreNoticed) {
  for (const std::string& name : Names("terms.bin")) FlipFile(name);
  EXPECT_GT(count(Reaction::kRefused), 0U);
  EXPECT_GT(count(Reaction::kChanged), 0U);
}

TEST_F(FlippedBytes, OfRecordsNeverChangeTheAnswer) {
  for (const std::string& name : Names(".sst")) FlipFile(name);
  EXPECT_GT(count(Reaction::kRefused), 0U);
  EXPECT_EQ(count(Reaction::kChanged), 0U);
}

TEST_F(FlippedBytes, OfTheRecordStoresOwnFilesAreRefused) {
  for (const std::string part : {"records/CURRENT", "records/MANIFEST-"}) {
    for (const std::string& name : Names(part)) {
      FlipEach(name, 0, index().files().at(name).size(), 1);
    }
  }
  EXPECT_EQ(count(Reaction::kSame) + count(Reaction::kChanged), 0U);
}

}  // namespace
}  // namespace rag::testing
