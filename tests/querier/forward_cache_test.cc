#include "querier/forward_cache.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/chunk_header.h"
#include "models/token_counter.h"
#include "querier/question.h"
#include "tests/testing/test_index.h"

namespace rag::querier {
namespace {

using formats::ForwardSegmentView;
using formats::HeaderStyle;
using formats::kSegmentChunks;
using storage::IndexReader;
using testing::MadeUpWord;

constexpr std::uint32_t kLarge = 0;  // "a-large.md", three segments
constexpr std::uint32_t kSmall = 1;  // "b-small.md"
constexpr std::uint32_t kLargeChunks = 2 * kSegmentChunks + 10;

class ForwardCacheTest : public ::testing::Test {
 protected:
  ForwardCacheTest()
      : index_({{"a-large.md", testing::RandomDocument(1, kLargeChunks, 30, 50)},
                {"b-small.md", testing::RandomDocument(2, 5, 2, 50)}}),
        question_(AnalyzeQuestion(MadeUpWord(0) + " " + MadeUpWord(7) + " " + MadeUpWord(49),
                                  index_.reader().manifest().build, index_.reader().terms())
                      .value()),
        cache_(index_.reader(), question_) {}

  const ForwardSegmentView* SegmentOf(std::uint32_t document, std::uint32_t chunk) {
    return cache_.SegmentOf(document, chunk).value();
  }

  testing::TestIndex index_;
  Question question_;
  ForwardCache cache_;
};

TEST_F(ForwardCacheTest, ADocumentOfManyChunksHasASegmentForEach1024) {
  ASSERT_EQ(index_.Document(kLarge).num_chunks, kLargeChunks);

  for (std::uint32_t segment = 0; segment < 3; ++segment) {
    const ForwardSegmentView* view = SegmentOf(kLarge, segment * kSegmentChunks);
    EXPECT_EQ(view->first_chunk(), segment * kSegmentChunks);
    EXPECT_EQ(view->num_chunks(), segment < 2 ? kSegmentChunks : 10U);
  }
}

TEST_F(ForwardCacheTest, ChunksOnBothSidesOfABoundaryAreInTheirOwnSegments) {
  EXPECT_EQ(SegmentOf(kLarge, kSegmentChunks - 1)->first_chunk(), 0U);
  EXPECT_EQ(SegmentOf(kLarge, kSegmentChunks)->first_chunk(), kSegmentChunks);
}

// A segment that was read again would be another object.
TEST_F(ForwardCacheTest, ASegmentIsReadOnce) {
  const ForwardSegmentView* first = SegmentOf(kLarge, 3);
  const ForwardSegmentView* second = SegmentOf(kLarge, kSegmentChunks);

  std::vector<IndexReader::ChunkRef> all;
  for (std::uint32_t chunk = 0; chunk < kLargeChunks; ++chunk) all.push_back({kLarge, chunk});
  ASSERT_TRUE(cache_.Load(all).ok());

  EXPECT_EQ(SegmentOf(kLarge, kSegmentChunks - 1), first);
  EXPECT_EQ(SegmentOf(kLarge, 2 * kSegmentChunks - 1), second);
  EXPECT_NE(first, second);
}

TEST_F(ForwardCacheTest, LoadTakesChunksInAnyOrderAndTwice) {
  const std::vector<IndexReader::ChunkRef> refs = {{kSmall, 4}, {kLarge, 2000}, {kSmall, 0},
                                                   {kLarge, 0}, {kLarge, 1023}, {kLarge, 2000}};

  ASSERT_TRUE(cache_.Load(refs).ok());

  EXPECT_EQ(SegmentOf(kSmall, 2)->num_chunks(), 5U);
  EXPECT_EQ(SegmentOf(kLarge, 1500)->first_chunk(), kSegmentChunks);
}

TEST_F(ForwardCacheTest, LoadingNothingIsFine) { EXPECT_TRUE(cache_.Load({}).ok()); }

TEST_F(ForwardCacheTest, PostingsAreThoseOfTheQuestionsTerms) {
  for (const std::uint32_t segment : {0U, 2U}) {
    const IndexReader::ChunkRef ref{kLarge, segment};
    const std::string bytes = index_.reader().Segments({&ref, 1}).value().front();
    const formats::ForwardSegment whole = formats::DecodeForwardSegment(bytes).value();
    const ForwardSegmentView* view = SegmentOf(kLarge, segment * kSegmentChunks);
    for (std::size_t t = 0; t < question_.terms.size(); ++t) {
      std::vector<std::uint32_t> counts(whole.chunks.size(), 0);
      for (const formats::Posting& posting : view->postings(t).body) {
        counts[posting.where] = posting.count;
      }
      for (std::size_t chunk = 0; chunk < whole.chunks.size(); ++chunk) {
        std::uint32_t expected = 0;
        for (const formats::TermCount& term : whole.chunks[chunk].terms) {
          if (term.term == question_.wanted[t]) expected = term.count;
        }
        ASSERT_EQ(counts[chunk], expected) << "segment " << segment << " chunk " << chunk;
      }
    }
  }
}

TEST_F(ForwardCacheTest, CostIsThatOfHeaderAndText) {
  const auto counter = models::MakeTokenCounter(models::kDefaultTokenCounter).value();
  for (const std::uint32_t chunk : {0U, kSegmentChunks - 1, kSegmentChunks, kLargeChunks - 1}) {
    const formats::DocumentRecord document = index_.Document(kLarge);
    const formats::ChunkRecord record = index_.Chunk(kLarge, chunk);
    for (const HeaderStyle style : {HeaderStyle::kNone, HeaderStyle::kShort, HeaderStyle::kFull}) {
      const std::string header = formats::ChunkHeader(style, {.source = document.source,
                                                              .doc_id = document.doc_id,
                                                              .chunk = chunk,
                                                              .line_start = record.line_start,
                                                              .line_end = record.line_end});
      EXPECT_EQ(cache_.Cost(kLarge, chunk, style).value(), counter->Cost(header + record.text));
    }
  }
}

TEST_F(ForwardCacheTest, AChunkThatDoesNotExistIsDataLoss) {
  EXPECT_TRUE(absl::IsDataLoss(cache_.SegmentOf(kSmall, 5).status()));
  EXPECT_TRUE(absl::IsDataLoss(cache_.SegmentOf(kLarge, kLargeChunks).status()));
  EXPECT_TRUE(absl::IsDataLoss(cache_.SegmentOf(kLarge, 3 * kSegmentChunks).status()));
  EXPECT_TRUE(absl::IsDataLoss(cache_.Cost(7, 0, HeaderStyle::kNone).status()));
}

}  // namespace
}  // namespace rag::querier
