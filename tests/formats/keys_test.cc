#include "formats/keys.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "formats/checksum.h"

namespace rag::formats {
namespace {

TEST(Keys, DocumentKeyIsBigEndian) {
  EXPECT_EQ(DocumentKey(0x01020304), std::string_view("\x01\x02\x03\x04"));
}

TEST(Keys, ItemAndNodeKeysAppendTheirOrdinals) {
  EXPECT_EQ(ItemKey(1, 2), std::string_view("\0\0\0\1\0\0\0\2", 8));
  EXPECT_EQ(NodeKey(1, 2, 3), std::string_view("\0\0\0\1\0\0\0\2\0\0\0\3", 12));
}

TEST(Keys, ByteOrderIsNumericOrder) {
  const std::vector<std::uint32_t> ordinals = {0,   1,     127,   128,     255,        256,
                                               257, 65535, 65536, 1 << 24, 0xfffffffe, 0xffffffff};
  std::string previous;
  for (const std::uint32_t document : ordinals) {
    for (const std::uint32_t item : ordinals) {
      const std::string key = ItemKey(document, item);
      EXPECT_LT(previous, key);
      previous = key;
    }
  }
}

TEST(Keys, ParseKeyGivesTheOrdinalsBack) {
  constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();
  const auto key = ParseKey(NodeKey(kMax, 0, 0x01020304), 3);
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(key->part[0], kMax);
  EXPECT_EQ(key->part[1], 0U);
  EXPECT_EQ(key->part[2], 0x01020304U);
}

TEST(Keys, KeyOfAnotherLengthIsDamage) {
  for (int parts = 1; parts <= 3; ++parts) {
    for (std::size_t size = 0; size <= 16; ++size) {
      const auto key = ParseKey(std::string(size, '\1'), parts);
      const bool fits = size == static_cast<std::size_t>(parts) * 4;
      EXPECT_EQ(key.status().code(), fits ? absl::StatusCode::kOk : absl::StatusCode::kDataLoss);
    }
  }
}

// Values published with xxHash 0.8.
TEST(Checksum, Xxh3HasItsPublishedValues) {
  EXPECT_EQ(Xxh3(""), 0x2d06800538d394c2U);
  EXPECT_EQ(Xxh128Hex(""), "99aa06d3014798d86001c324468d497f");
}

TEST(Checksum, StreamEqualsTheWhole) {
  std::string bytes;
  Xxh128Stream stream;
  for (std::size_t piece = 0; piece < 200; ++piece) {
    const std::string text(piece * 7 % 61, static_cast<char>(piece));
    bytes += text;
    stream.Update(text);
    ASSERT_EQ(stream.Hex(), Xxh128Hex(bytes));
  }
}

TEST(Checksum, StreamMoves) {
  Xxh128Stream first;
  first.Update("ab");
  Xxh128Stream second = std::move(first);
  second.Update("c");
  EXPECT_EQ(second.Hex(), Xxh128Hex("abc"));
}

TEST(Checksum, Sha256HasItsPublishedValue) {
  EXPECT_EQ(ToHex(ComputeSha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Checksum, HexIsLowerCaseMostSignificantFirst) {
  EXPECT_EQ(ToHex(std::uint64_t{0x0123456789abcdef}), "0123456789abcdef");
  EXPECT_EQ(ToHex(std::uint64_t{10}), "000000000000000a");
  EXPECT_EQ(ToHex(std::string_view("\x00\xff\x1a", 3)), "00ff1a");
}

}  // namespace
}  // namespace rag::formats
