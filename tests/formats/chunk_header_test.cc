#include "formats/chunk_header.h"

#include <string>

#include <gtest/gtest.h>

namespace rag::formats {
namespace {

constexpr ChunkHeaderFields kFields{.source = "a/notes.md",
                                    .doc_id = "doc-003-notes",
                                    .chunk = 3,
                                    .line_start = 12,
                                    .line_end = 19};

TEST(ChunkId, CountsFromOneWithThreeDigitsAtLeast) {
  EXPECT_EQ(ChunkId("d", 0), "d-chunk-001");
  EXPECT_EQ(ChunkId("d", 3), "d-chunk-004");
  EXPECT_EQ(ChunkId("d", 998), "d-chunk-999");
  EXPECT_EQ(ChunkId("d", 999), "d-chunk-1000");
}

TEST(ChunkId, OfTheLastOrdinalIsAPositiveNumber) {
  EXPECT_EQ(ChunkId("d", 4294967294U), "d-chunk-4294967295");
}

TEST(ChunkHeader, NoneIsNothing) { EXPECT_EQ(ChunkHeader(HeaderStyle::kNone, kFields), ""); }

TEST(ChunkHeader, ShortIsALineWithSourceAndLines) {
  EXPECT_EQ(ChunkHeader(HeaderStyle::kShort, kFields), "[a/notes.md:12-19]\n");
}

TEST(ChunkHeader, FullIsTheArticles) {
  EXPECT_EQ(ChunkHeader(HeaderStyle::kFull, kFields),
            "Source: a/notes.md\nChunk ID: doc-003-notes-chunk-004\nChunk position: 4\n\n");
}

TEST(ChunkHeader, SourcesArePrintedAsTheyAre) {
  ChunkHeaderFields fields = kFields;
  fields.source = "100%s [x].md";
  EXPECT_EQ(ChunkHeader(HeaderStyle::kShort, fields), "[100%s [x].md:12-19]\n");
}

TEST(ChunkHeader, OddNamesStayOnTheirLine) {
  ChunkHeaderFields fields = kFields;
  fields.source = "new\nline\xff.md";
  fields.doc_id = fields.source;
  EXPECT_EQ(ChunkHeader(HeaderStyle::kShort, fields), "[new%0Aline%FF.md:12-19]\n");
  EXPECT_EQ(ChunkHeader(HeaderStyle::kFull, fields),
            "Source: new%0Aline%FF.md\nChunk ID: new%0Aline%FF.md-chunk-004\n"
            "Chunk position: 4\n\n");
}

TEST(ChunkSeparator, IsARuleBetweenBlankLines) { EXPECT_EQ(kChunkSeparator, "\n\n---\n\n"); }

TEST(HeaderStyle, NamesRoundTrip) {
  for (const HeaderStyle style : {HeaderStyle::kNone, HeaderStyle::kShort, HeaderStyle::kFull}) {
    const absl::StatusOr<HeaderStyle> parsed = ParseHeaderStyle(ToString(style));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, style);
  }
}

TEST(HeaderStyle, ValuesOnDiskAreFixed) {
  EXPECT_EQ(static_cast<int>(HeaderStyle::kNone), 0);
  EXPECT_EQ(static_cast<int>(HeaderStyle::kShort), 1);
  EXPECT_EQ(static_cast<int>(HeaderStyle::kFull), 2);
}

TEST(HeaderStyle, OtherNamesAreRefused) {
  for (const char* name : {"", "Full", "shorter", "none "}) {
    const absl::Status status = ParseHeaderStyle(name).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_NE(status.message().find("full, short or none"), std::string::npos) << status;
  }
}

}  // namespace
}  // namespace rag::formats
