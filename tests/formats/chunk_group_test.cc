#include "formats/chunk_group.h"

#include <zstd.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "formats/coding.h"
#include "tests/formats/damage.h"

namespace rag::formats {
namespace {

constexpr std::uint32_t kMaxU32 = 0xFFFFFFFF;

// Chunks of prose-like text that follow one another.
std::vector<ChunkRecord> SampleChunks(std::uint32_t n, std::size_t words = 20) {
  std::mt19937 random(n);
  std::vector<ChunkRecord> chunks;
  std::uint64_t at = 70000;
  for (std::uint32_t i = 0; i < n; ++i) {
    ChunkRecord chunk;
    for (std::size_t word = 0; word < words; ++word) {
      chunk.text += "word" + std::to_string(random() % 50) + ' ';
    }
    chunk.range = {at, at + chunk.text.size()};
    chunk.line_start = chunk.line_end = i + 1;
    chunk.parent = i / 3;
    chunk.summary.spans = {{at, at + 5}};
    at = chunk.range.end;
    chunks.push_back(chunk);
  }
  return chunks;
}

std::string Group(std::uint32_t n) { return EncodeChunkGroup(SampleChunks(n)).value(); }

// A group whose frame holds `content`.
std::string Packed(std::string_view content) {
  std::string out(1 + ZSTD_compressBound(content.size()), '\1');
  out.resize(1 + ZSTD_compress(out.data() + 1, out.size() - 1, content.data(), content.size(),
                               /*level=*/1));
  return out;
}

void ExpectDamage(std::string_view bytes, std::string_view what) {
  const absl::Status status = DecodeChunkGroup(bytes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_NE(status.message().find(absl::string_view(what.data(), what.size())),
            absl::string_view::npos)
      << status;
}

TEST(ChunkGroup, ChunksComeBack) {
  for (const std::uint32_t n : {1U, 2U, 7U, 1024U}) {
    const std::vector<ChunkRecord> chunks = SampleChunks(n);
    EXPECT_EQ(DecodeChunkGroup(EncodeChunkGroup(chunks).value()).value(), chunks) << n;
  }
}

TEST(ChunkGroup, ChunksOfNoTextComeBack) {
  const std::vector<ChunkRecord> chunks(3);
  EXPECT_EQ(DecodeChunkGroup(EncodeChunkGroup(chunks).value()).value(), chunks);
}

TEST(ChunkGroup, EachChunkComesBackAlone) {
  const std::vector<ChunkRecord> chunks = SampleChunks(9);
  const ChunkGroupView view = ChunkGroupView::Parse(EncodeChunkGroup(chunks).value()).value();
  ASSERT_EQ(view.num_chunks(), 9U);
  for (std::uint32_t i = 9; i-- > 0;) EXPECT_EQ(view.chunk(i).value(), chunks[i]);
}

TEST(ChunkGroup, AViewCanBeMoved) {
  ChunkGroupView first = ChunkGroupView::Parse(Group(4)).value();
  const ChunkGroupView second = std::move(first);
  EXPECT_EQ(second.chunk(3).value(), SampleChunks(4)[3]);
}

TEST(ChunkGroup, AChunkThatDoesNotDecodeLeavesTheOthers) {
  std::vector<ChunkRecord> chunks = SampleChunks(3);
  chunks[1].text += "more than the range";
  const ChunkGroupView view = ChunkGroupView::Parse(EncodeChunkGroup(chunks).value()).value();
  EXPECT_EQ(view.chunk(1).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(view.chunk(2).value(), chunks[2]);
  EXPECT_FALSE(DecodeChunkGroup(EncodeChunkGroup(chunks).value()).ok());
}

TEST(ChunkGroup, TheSameChunksGiveTheSameBytes) {
  const std::string first = Group(20);
  EXPECT_NE(Group(21), first);  // what the context has seen must not matter
  EXPECT_EQ(Group(20), first);
}

// FORMAT.md, "Chunk groups".
TEST(ChunkGroup, BytesAreAVersionAndAZstdFrameOfRecords) {
  const std::vector<ChunkRecord> chunks = SampleChunks(2);
  const std::string bytes = EncodeChunkGroup(chunks).value();
  ByteWriter expected;
  expected.Varint(2);
  for (const ChunkRecord& chunk : chunks) expected.LengthPrefixed(Encode(chunk));

  EXPECT_EQ(bytes[0], 1);
  std::string content(expected.size(), '\0');
  ASSERT_EQ(ZSTD_decompress(content.data(), content.size(), bytes.data() + 1, bytes.size() - 1),
            content.size());
  EXPECT_EQ(content, expected.view());
  EXPECT_EQ(ChunkGroupContentBytes(bytes).value(), content.size());
}

TEST(ChunkGroup, TextIsCompressed) {
  const std::string bytes = Group(100);
  EXPECT_LT(bytes.size() * 2, ChunkGroupContentBytes(bytes).value());
}

TEST(ChunkGroup, TextThatRepeatsItselfComesBack) {
  std::vector<ChunkRecord> chunks(1);
  chunks[0].text.assign(std::size_t{8} << 20, 'a');
  chunks[0].range = {0, chunks[0].text.size()};
  EXPECT_EQ(DecodeChunkGroup(EncodeChunkGroup(chunks).value()).value(), chunks);
}

TEST(ChunkGroup, SurvivesEveryCut) {
  ForEachCut(Group(5), [](std::string_view cut) {
    EXPECT_EQ(DecodeChunkGroup(cut).status().code(), absl::StatusCode::kDataLoss);
  });
}

TEST(ChunkGroup, SurvivesEveryFlip) {
  ForEachFlip(Group(5), [](std::string_view flipped) {
    const auto chunks = DecodeChunkGroup(flipped);
    if (!chunks.ok()) {
      EXPECT_EQ(chunks.status().code(), absl::StatusCode::kDataLoss);
    }
  });
}

TEST(ChunkGroup, SurvivesEveryCutAndFlipOfItsContent) {
  ByteWriter content;
  content.Varint(3);
  for (const ChunkRecord& chunk : SampleChunks(3, 2)) content.LengthPrefixed(Encode(chunk));
  ForEachCut(content.view(), [](std::string_view cut) {
    EXPECT_EQ(DecodeChunkGroup(Packed(cut)).status().code(), absl::StatusCode::kDataLoss);
  });
  ForEachFlip(content.view(), [](std::string_view flipped) {
    const auto chunks = DecodeChunkGroup(Packed(flipped));
    if (!chunks.ok()) {
      EXPECT_EQ(chunks.status().code(), absl::StatusCode::kDataLoss);
    }
  });
}

TEST(ChunkGroup, AnotherVersionIsDamage) {
  std::string bytes = Group(2);
  bytes[0] = 2;
  ExpectDamage(bytes, "expected 1, found 2");
}

TEST(ChunkGroup, WhatIsNoFrameIsDamage) {
  ExpectDamage("", "offset 0");
  ExpectDamage("\1", "not a zstd frame");
  ExpectDamage("\1not a zstd frame", "not a zstd frame");
}

TEST(ChunkGroup, WhatFollowsTheFrameIsDamage) {
  ExpectDamage(Group(2) + '\0', "not exactly one zstd frame");
  ExpectDamage(Group(2) + Group(2).substr(1), "not exactly one zstd frame");
}

TEST(ChunkGroup, WhatFollowsTheLastChunkIsDamage) {
  ByteWriter content;
  content.Varint(1);
  content.LengthPrefixed(Encode(SampleChunks(1)[0]));
  content.Fixed8(0);
  ExpectDamage(Packed(content.view()), "1 more byte");
}

TEST(ChunkGroup, AGroupWithoutChunksIsDamage) {
  ExpectDamage(Packed(std::string(1, '\0')), "there is no chunk");
  ExpectDamage(Packed(""), "chunk group");
}

TEST(ChunkGroup, MoreChunksThanBytesIsDamageWithoutAllocation) {
  ByteWriter content;
  content.Varint(kMaxU32);
  ExpectDamage(Packed(content.view()), "the rest has room for");
}

TEST(ChunkGroup, AFrameOfUnknownSizeIsDamage) {
  // Magic; descriptor 0: no size; window of 1 KiB; last raw block of one byte.
  ExpectDamage(std::string_view("\1\x28\xb5\x2f\xfd\x00\x00\x09\x00\x00x", 11),
               "does not tell its size");
}

// The header of a frame that has one segment and a size of 8 bytes; an empty last block.
std::string FrameThatClaims(std::uint64_t size, std::size_t padding) {
  ByteWriter out;
  out.Fixed8(1);
  out.Fixed32(ZSTD_MAGICNUMBER);
  out.Fixed8(0xE0);
  out.Fixed64(size);
  out.Bytes(std::string("\1\0\0", 3));
  out.Bytes(std::string(padding, '\0'));
  return out.Take();
}

TEST(ChunkGroup, AFrameThatClaimsMoreThanItsBlocksCanHoldIsDamage) {
  ExpectDamage(FrameThatClaims(4 << 17, 0), "corruption");
  ExpectDamage(FrameThatClaims((4 << 17) + 1, 0), "possible are 524288");
}

TEST(ChunkGroup, AFrameThatClaimsMoreThanAGibibyteIsDamage) {
  ExpectDamage(FrameThatClaims(kMaxChunkGroupBytes + 1, 40000), "possible are 1073741824");
  ExpectDamage(FrameThatClaims(~std::uint64_t{2}, 0), "possible are 524288");
}

TEST(ChunkGroup, SurvivesRandomBytes) {
  std::mt19937 random(7);
  const std::string sample = Group(3);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = sample.substr(0, random() % sample.size());
    for (std::size_t n = random() % 40; n > 0; --n) bytes += static_cast<char>(random() % 256);
    const auto chunks = DecodeChunkGroup(bytes);
    if (!chunks.ok()) {
      ASSERT_EQ(chunks.status().code(), absl::StatusCode::kDataLoss);
    }
  }
}

TEST(ChunkGroup, AGroupIsAboutSixteenKibibytesOfText) {
  EXPECT_EQ(ChunksPerGroup(64 * 1024, 64), 16U);
  EXPECT_EQ(ChunksPerGroup(1'000'000, 1000), 16U);
  EXPECT_EQ(ChunksPerGroup(100'000, 10), 2U);  // 1.6
  EXPECT_EQ(ChunksPerGroup(125'000, 10), 1U);  // 1.3
}

TEST(ChunkGroup, AGroupHasAtLeastOneChunkAndAtMost1024) {
  EXPECT_EQ(ChunksPerGroup(std::uint64_t{1} << 40, 3), 1U);
  EXPECT_EQ(ChunksPerGroup(~std::uint64_t{0}, kMaxU32), 1U);
  EXPECT_EQ(ChunksPerGroup(10, 5000), 1024U);
  EXPECT_GE(ChunksPerGroup(0, 0), 1U);
  EXPECT_GE(ChunksPerGroup(100, 0), 1U);
}

TEST(ChunkGroup, GroupsHoldAllChunks) {
  EXPECT_EQ(NumChunkGroups(0, 0), 0U);
  EXPECT_EQ(NumChunkGroups(0, 16), 0U);
  EXPECT_EQ(NumChunkGroups(1, 16), 1U);
  EXPECT_EQ(NumChunkGroups(16, 16), 1U);
  EXPECT_EQ(NumChunkGroups(17, 16), 2U);
  EXPECT_EQ(NumChunkGroups(kMaxU32, kMaxU32), 1U);
  EXPECT_EQ(NumChunkGroups(kMaxU32, 1), kMaxU32);
}

}  // namespace
}  // namespace rag::formats
