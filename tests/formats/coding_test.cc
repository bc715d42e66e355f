#include "formats/coding.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/formats/damage.h"

namespace rag::formats {
namespace {

constexpr std::uint64_t kMaxU64 = std::numeric_limits<std::uint64_t>::max();

std::string EncodeVarint(std::uint64_t value) {
  ByteWriter out;
  out.Varint(value);
  return out.Take();
}

TEST(Coding, VarintsOfEverySizeComeBack) {
  for (int bits = 0; bits <= 64; ++bits) {
    const std::uint64_t power = bits == 64 ? 0 : std::uint64_t{1} << bits;
    for (const std::uint64_t value : {power - 1, power, power + 1}) {
      const std::string bytes = EncodeVarint(value);
      ByteReader in(bytes, "varint");
      EXPECT_EQ(in.Varint(), value);
      EXPECT_TRUE(in.Finish().ok()) << value;
    }
  }
}

TEST(Coding, VarintHasSevenBitsAByteLowBitsFirst) {
  EXPECT_EQ(EncodeVarint(0), std::string(1, '\0'));
  EXPECT_EQ(EncodeVarint(127), "\x7f");
  EXPECT_EQ(EncodeVarint(300), "\xac\x02");
  EXPECT_EQ(EncodeVarint(kMaxU64), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(Coding, VarintCutAnywhereIsDamage) {
  ForEachCut(EncodeVarint(kMaxU64), [](std::string_view bytes) {
    ByteReader in(bytes, "varint");
    EXPECT_EQ(in.Varint(), 0U);
    EXPECT_EQ(in.status().code(), absl::StatusCode::kDataLoss);
  });
}

TEST(Coding, VarintLongerThanItsValueIsDamage) {
  const std::string zero_in_two("\x80\x00", 2);
  ByteReader in(zero_in_two, "varint");
  in.Varint();
  EXPECT_FALSE(in.ok());
}

TEST(Coding, VarintOverSixtyFourBitsIsDamage) {
  for (const std::string_view last : {"\x02", "\x7f", "\x80\x01"}) {
    const std::string bytes = std::string(9, '\xff').append(last);
    ByteReader in(bytes, "varint");
    in.Varint();
    EXPECT_FALSE(in.ok());
  }
}

TEST(Coding, FixedFieldsAreLittleEndian) {
  ByteWriter out;
  out.Fixed8(0x01);
  out.Fixed32(0x05040302);
  out.Fixed64(0x0d0c0b0a09080706);
  EXPECT_EQ(out.view(), "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d");
  ByteReader in(out.view(), "fields");
  EXPECT_EQ(in.Fixed8(), 0x01U);
  EXPECT_EQ(in.Fixed32(), 0x05040302U);
  EXPECT_EQ(in.Fixed64(), 0x0d0c0b0a09080706U);
  EXPECT_TRUE(in.Finish().ok());
}

TEST(Coding, BigEndianWordsSortAsNumbers) {
  ByteWriter out;
  out.BigEndian32(0x01020304);
  EXPECT_EQ(out.view(), "\x01\x02\x03\x04");
}

TEST(Coding, LengthPrefixedBytesComeBack) {
  for (const std::size_t size : {0U, 1U, 127U, 128U, 70000U}) {
    ByteWriter out;
    out.LengthPrefixed(std::string(size, 'x'));
    ByteReader in(out.view(), "text");
    EXPECT_EQ(in.LengthPrefixed(), std::string(size, 'x'));
    EXPECT_TRUE(in.Finish().ok());
  }
}

TEST(Coding, LengthOverTheRestIsDamage) {
  const std::string bytes =
      "\x04"
      "abc";
  ByteReader in(bytes, "text");
  EXPECT_EQ(in.LengthPrefixed(), "");
  EXPECT_EQ(in.status().code(), absl::StatusCode::kDataLoss);
}

TEST(Coding, RelativeSpanComesBack) {
  ByteWriter out;
  out.RelativeSpan({.start = 1000, .end = 1010}, 990);
  EXPECT_EQ(out.view(), "\x0a\x0a");
  ByteReader in(out.view(), "span");
  EXPECT_EQ(in.RelativeSpan(990), (Span{.start = 1000, .end = 1010}));
  EXPECT_TRUE(in.Finish().ok());
}

TEST(Coding, SpanThatEndsOverSixtyFourBitsIsDamage) {
  ByteWriter out;
  out.Varint(kMaxU64 - 5);
  out.Varint(6);
  ByteReader in(out.view(), "span");
  EXPECT_EQ(in.RelativeSpan(0), Span{});
  EXPECT_FALSE(in.ok());
}

TEST(Coding, SpanThatStartsOverSixtyFourBitsIsDamage) {
  ByteWriter out;
  out.Varint(kMaxU64);
  out.Varint(0);
  ByteReader in(out.view(), "span");
  in.RelativeSpan(1);
  EXPECT_FALSE(in.ok());
}

TEST(Coding, VarintOverItsLimitIsDamage) {
  const std::string bytes = EncodeVarint(6);
  ByteReader good(bytes, "kind");
  EXPECT_EQ(good.VarintAtMost(6), 6U);
  ByteReader bad(bytes, "kind");
  EXPECT_EQ(bad.VarintAtMost(5), 0U);
  EXPECT_EQ(bad.status().message(), "kind: offset 0: expected at most 5, found 6");
}

TEST(Coding, CountIsLimitedByTheRest) {
  const std::string bytes = EncodeVarint(3) + "123456";
  ByteReader good(bytes, "list");
  EXPECT_EQ(good.Count(2), 3U);
  ByteReader bad(bytes, "list");
  EXPECT_EQ(bad.Count(3), 0U);
  EXPECT_EQ(bad.status().message(), "list: offset 0: count is 3, the rest has room for 2");
}

TEST(Coding, FirstFailureStaysAndLaterReadsGiveNothing) {
  const std::string bytes = "abcdefgh";
  ByteReader in(bytes, "record");
  in.Skip(2);
  in.Fail("start after end");
  in.Fail("something else");
  EXPECT_EQ(in.Fixed8(), 0U);
  EXPECT_EQ(in.Varint(), 0U);
  EXPECT_EQ(in.Bytes(1), "");
  EXPECT_EQ(in.Finish().message(), "record: offset 2: start after end");
  EXPECT_EQ(in.offset(), 2U);
}

TEST(Coding, FinishRefusesBytesLeftOver) {
  const std::string bytes = "abc";
  ByteReader in(bytes, "record");
  in.Fixed8();
  EXPECT_TRUE(in.status().ok());
  EXPECT_EQ(in.Finish().message(), "record: offset 1: expected the end, found 2 more bytes");
}

}  // namespace
}  // namespace rag::formats
