#include "formats/records.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "formats/coding.h"
#include "tests/formats/damage.h"

namespace rag::formats {
namespace {

constexpr std::uint32_t kMaxU32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxU64 = std::numeric_limits<std::uint64_t>::max();

DocumentRecord SampleDocument() {
  DocumentRecord record;
  record.doc_id = "doc-003-large_rag_notes";
  record.source = "data/large_rag_notes.md";
  record.title = "Große Notizen";
  record.content_sha256 = ComputeSha256("content");
  record.size_bytes = 123456;
  record.media_type = MediaType::kMarkdown;
  record.num_chunks = 1025;
  record.num_parents = 17;
  record.num_segments = 2;
  record.chunks_per_group = 200;
  record.level_sizes = {300, 20, 1};
  record.summary.spans = {
      {.start = 10, .end = 60}, {.start = 60, .end = 61}, {.start = 900, .end = 1000}};
  record.metadata = {{"author", "A. Nonymous"}, {"language", "de"}, {"", "empty key"}};
  return record;
}

ParentRecord SampleParent() {
  return {.kind = ParentKind::kSection,
          .range = {.start = 1000, .end = 5000},
          .first_chunk = 4,
          .num_chunks = 12,
          .level = 2,
          .heading_path = "Install > From source"};
}

ChunkRecord SampleChunk() {
  ChunkRecord record;
  record.text = std::string("One sentence. Another one.\n\0 and a NUL", 38);
  record.range = {.start = 70000, .end = 70000 + record.text.size()};
  record.line_start = 100;
  record.line_end = 101;
  record.parent = 3;
  record.kind = ChunkKind::kQuote;
  record.summary.spans = {{.start = 70000, .end = 70013}, {.start = 70014, .end = 70026}};
  return record;
}

SummaryNode SampleNode() {
  return {.first_child = 8,
          .num_children = 4,
          .input_tokens = 290,
          .summary = {.spans = {}, .text = "A summary that a model wrote."}};
}

absl::StatusOr<DocumentRecord> Decode(std::string_view bytes, const DocumentRecord&) {
  return DecodeDocument(bytes);
}
absl::StatusOr<ParentRecord> Decode(std::string_view bytes, const ParentRecord&) {
  return DecodeParent(bytes);
}
absl::StatusOr<ChunkRecord> Decode(std::string_view bytes, const ChunkRecord&) {
  return DecodeChunk(bytes);
}
absl::StatusOr<SummaryNode> Decode(std::string_view bytes, const SummaryNode&) {
  return DecodeSummaryNode(bytes);
}

template <typename Record>
void ExpectRoundTrip(const Record& record) {
  const auto decoded = Decode(Encode(record), record);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, record);
}

// Damage is noticed, or it makes another value whose only encoding these bytes are.
template <typename Record>
void ExpectStatusOrValue(std::string_view bytes, const Record& like) {
  const auto decoded = Decode(bytes, like);
  if (decoded.ok()) {
    EXPECT_EQ(Encode(*decoded), bytes);
  } else {
    EXPECT_EQ(decoded.status().code(), absl::StatusCode::kDataLoss);
  }
}

template <typename Record>
void ExpectSurvivesDamage(const Record& record) {
  const std::string bytes = Encode(record);
  ForEachCut(bytes, [&](std::string_view cut) {
    EXPECT_EQ(Decode(cut, record).status().code(), absl::StatusCode::kDataLoss);
  });
  ForEachFlip(bytes, [&](std::string_view flipped) { ExpectStatusOrValue(flipped, record); });
  EXPECT_FALSE(Decode(bytes + '\0', record).ok());
}

template <typename Record>
class RecordsTest : public ::testing::Test {};
using RecordTypes = ::testing::Types<DocumentRecord, ParentRecord, ChunkRecord, SummaryNode>;
TYPED_TEST_SUITE(RecordsTest, RecordTypes);

DocumentRecord Sample(const DocumentRecord&) { return SampleDocument(); }
ParentRecord Sample(const ParentRecord&) { return SampleParent(); }
ChunkRecord Sample(const ChunkRecord&) { return SampleChunk(); }
SummaryNode Sample(const SummaryNode&) { return SampleNode(); }

TYPED_TEST(RecordsTest, DefaultComesBack) { ExpectRoundTrip(TypeParam{}); }

TYPED_TEST(RecordsTest, SampleComesBack) { ExpectRoundTrip(Sample(TypeParam{})); }

TYPED_TEST(RecordsTest, SurvivesEveryCutAndFlip) { ExpectSurvivesDamage(Sample(TypeParam{})); }

TYPED_TEST(RecordsTest, AnotherRecordVersionIsDamage) {
  std::string bytes = Encode(Sample(TypeParam{}));
  bytes[0] = 2;
  const auto decoded = Decode(bytes, TypeParam{});
  EXPECT_EQ(decoded.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(decoded.status().message().find("expected 1, found 2"), absl::string_view::npos);
}

TYPED_TEST(RecordsTest, SurvivesRandomBytes) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(1, '\1');
    for (std::size_t n = random() % 60; n > 0; --n) {
      bytes.push_back(static_cast<char>(random() % 3 == 0 ? random() % 256 : random() % 6));
    }
    ExpectStatusOrValue(bytes, TypeParam{});
  }
}

// The example of FORMAT.md.
TEST(Records, BytesAreThoseOfTheDocument) {
  const std::string bytes = Encode(SampleParent());
  EXPECT_EQ(ToHex(std::string_view(bytes).substr(0, 10)), "0101e807a01f040c0215");
  EXPECT_EQ(bytes.substr(10), "Install > From source");
}

TEST(Records, LargestNumbersComeBack) {
  DocumentRecord document = SampleDocument();
  document.size_bytes = kMaxU64;
  document.num_chunks = document.num_parents = document.num_segments = kMaxU32;
  document.chunks_per_group = kMaxU32;
  document.level_sizes = {kMaxU32};
  document.summary.spans = {{.start = 0, .end = kMaxU64}};
  ExpectRoundTrip(document);
  ParentRecord parent = SampleParent();
  parent.range = {.start = kMaxU64, .end = kMaxU64};
  parent.first_chunk = kMaxU32 - 1;
  parent.num_chunks = 1;
  ExpectRoundTrip(parent);
  ChunkRecord chunk;
  chunk.range = {.start = kMaxU64, .end = kMaxU64};
  chunk.line_start = chunk.line_end = chunk.parent = kMaxU32;
  ExpectRoundTrip(chunk);
}

TEST(Records, SummaryTextComesBackInEveryRecord) {
  DocumentRecord document = SampleDocument();
  document.summary = {.spans = {}, .text = "No summary available."};
  ExpectRoundTrip(document);
  ChunkRecord chunk = SampleChunk();
  chunk.summary = {.spans = {}, .text = "Chunk 1 summary: One sentence."};
  ExpectRoundTrip(chunk);
}

TEST(Records, EveryKindComesBackAndTheNextOneIsDamage) {
  ChunkRecord chunk = SampleChunk();
  for (std::uint8_t kind = 0; kind <= 5; ++kind) {
    chunk.kind = static_cast<ChunkKind>(kind);
    ExpectRoundTrip(chunk);
    EXPECT_NE(ToString(chunk.kind), "unknown");
  }
  chunk.kind = static_cast<ChunkKind>(6);
  EXPECT_FALSE(DecodeChunk(Encode(chunk)).ok());
  DocumentRecord document = SampleDocument();
  document.media_type = static_cast<MediaType>(2);
  EXPECT_FALSE(DecodeDocument(Encode(document)).ok());
  ParentRecord parent = SampleParent();
  parent.kind = static_cast<ParentKind>(2);
  EXPECT_FALSE(DecodeParent(Encode(parent)).ok());
}

TEST(Records, HeadingLevelAboveSixIsDamage) {
  ParentRecord parent = SampleParent();
  parent.level = 7;
  EXPECT_FALSE(DecodeParent(Encode(parent)).ok());
}

TEST(Records, RangeOfChildrenThatWrapsIsDamage) {
  ParentRecord parent = SampleParent();
  parent.first_chunk = kMaxU32;
  parent.num_chunks = 1;
  EXPECT_FALSE(DecodeParent(Encode(parent)).ok());
  SummaryNode node = SampleNode();
  node.first_child = 2;
  node.num_children = kMaxU32;
  EXPECT_FALSE(DecodeSummaryNode(Encode(node)).ok());
}

TEST(Records, FirstLineAfterLastLineIsDamage) {
  ChunkRecord chunk = SampleChunk();
  chunk.line_start = 102;
  EXPECT_FALSE(DecodeChunk(Encode(chunk)).ok());
}

TEST(Records, LineZeroIsDamage) {
  ChunkRecord chunk = SampleChunk();
  chunk.line_start = chunk.line_end = 0;
  EXPECT_FALSE(DecodeChunk(Encode(chunk)).ok());
}

TEST(Records, TextOfAnotherSizeThanTheRangeIsDamage) {
  ChunkRecord chunk = SampleChunk();
  chunk.text += "x";
  const auto decoded = DecodeChunk(Encode(chunk));
  EXPECT_NE(decoded.status().message().find("the range has 38 bytes, found 39"),
            absl::string_view::npos);
}

TEST(Records, ChunkSummaryOutsideTheChunkIsDamage) {
  ChunkRecord chunk = SampleChunk();
  chunk.summary.spans.back().end = chunk.range.end;
  ExpectRoundTrip(chunk);
  chunk.summary.spans.back().end = chunk.range.end + 1;
  EXPECT_FALSE(DecodeChunk(Encode(chunk)).ok());
}

TEST(Records, SpanCountOverTheRestIsDamageWithoutAllocation) {
  ByteWriter out;
  out.Fixed8(1);
  for (int i = 0; i < 3; ++i) out.Varint(0);
  out.Varint(kMaxU64 - 1);  // an even head: spans
  EXPECT_FALSE(DecodeSummaryNode(out.view()).ok());
}

TEST(Records, ChunksInGroupsOfNoneAreDamage) {
  DocumentRecord record = SampleDocument();
  record.chunks_per_group = 0;
  EXPECT_FALSE(DecodeDocument(Encode(record)).ok());
  record.num_chunks = 0;
  ExpectRoundTrip(record);
}

TEST(Records, MetadataOutOfOrderIsDamage) {
  DocumentRecord record;
  record.metadata = {{"a", "1"}, {"b", "2"}};
  std::string bytes = Encode(record);
  ASSERT_TRUE(DecodeDocument(bytes).ok());
  std::swap(bytes[bytes.size() - 7], bytes[bytes.size() - 3]);
  EXPECT_FALSE(DecodeDocument(bytes).ok());
}

}  // namespace
}  // namespace rag::formats
