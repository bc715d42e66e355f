#include "querier/context.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/chunk_header.h"

namespace rag::querier {
namespace {

using formats::HeaderStyle;

formats::ChunkRecord Record(std::string text, std::uint32_t line_start, std::uint32_t line_end) {
  formats::ChunkRecord record;
  record.text = std::move(text);
  record.line_start = line_start;
  record.line_end = line_end;
  return record;
}

class Context : public ::testing::Test {
 protected:
  formats::ChunkRecord first_ = Record("Lamps burn oil.", 3, 4);
  formats::ChunkRecord second_ = Record("\tRaw  text,\r\nas it is. ", 9, 10);
  std::vector<PrintedChunk> chunks_ = {
      {.doc_id = "doc-001-lamps", .source = "a/lamps.md", .chunk = 0, .record = &first_},
      {.doc_id = "doc-001-lamps", .source = "a/lamps.md", .chunk = 11, .record = &second_}};
};

TEST_F(Context, TextsAreJoinedUnchangedByTheSeparator) {
  EXPECT_EQ(JoinChunks(chunks_, HeaderStyle::kNone),
            "Lamps burn oil.\n\n---\n\n\tRaw  text,\r\nas it is. ");
}

TEST_F(Context, ShortHeadersNameSourceAndLines) {
  EXPECT_EQ(JoinChunks(chunks_, HeaderStyle::kShort),
            "[a/lamps.md:3-4]\nLamps burn oil.\n\n---\n\n"
            "[a/lamps.md:9-10]\n\tRaw  text,\r\nas it is. ");
}

TEST_F(Context, FullHeadersNameTheChunk) {
  EXPECT_EQ(JoinChunks({chunks_.data() + 1, 1}, HeaderStyle::kFull),
            "Source: a/lamps.md\nChunk ID: doc-001-lamps-chunk-012\nChunk position: 12\n\n"
            "\tRaw  text,\r\nas it is. ");
}

TEST_F(Context, NoChunksPrintNothing) { EXPECT_EQ(JoinChunks({}, HeaderStyle::kFull), ""); }

TEST_F(Context, EveryStyleIsHeaderAndTextOfEachChunk) {
  for (const HeaderStyle style : {HeaderStyle::kNone, HeaderStyle::kShort, HeaderStyle::kFull}) {
    std::string expected;
    for (const PrintedChunk& chunk : chunks_) {
      if (&chunk != chunks_.data()) expected += formats::kChunkSeparator;
      expected += formats::ChunkHeader(style, {.source = chunk.source,
                                               .doc_id = chunk.doc_id,
                                               .chunk = chunk.chunk,
                                               .line_start = chunk.record->line_start,
                                               .line_end = chunk.record->line_end});
      expected += chunk.record->text;
    }
    EXPECT_EQ(JoinChunks(chunks_, style), expected);
  }
}

TEST(ContextFrame, OfAContextIsALineBreakAtItsEnd) {
  const Frame frame = MakeFrame(OutputFormat::kContext, "why?");

  EXPECT_EQ(frame.before, "");
  EXPECT_EQ(frame.after, "\n");
}

TEST(ContextFrame, OfAPromptHoldsTheRulesBeforeAndTheQuestionAfter) {
  const Frame frame = MakeFrame(OutputFormat::kPrompt, "why \"so\"?\n");

  EXPECT_NE(frame.before.find("Answer only from the raw chunks."), std::string::npos);
  EXPECT_TRUE(frame.before.ends_with("Raw chunks:\n\n"));
  EXPECT_EQ(frame.after, "\n\nQuestion: why \"so\"?\n\n\nAnswer:\n");
}

}  // namespace
}  // namespace rag::querier
