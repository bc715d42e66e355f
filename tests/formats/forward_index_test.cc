#include "formats/forward_index.h"

#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "formats/checksum.h"
#include "tests/formats/damage.h"

namespace rag::formats {
namespace {

constexpr std::uint32_t kMaxU32 = std::numeric_limits<std::uint32_t>::max();

std::vector<TermCount> ToTerms(const std::map<std::uint64_t, std::uint32_t>& counts) {
  std::vector<TermCount> terms;
  for (const auto& [term, count] : counts) terms.push_back({.term = term, .count = count});
  return terms;
}

// Some of a vocabulary of `num_terms`, the first ones more often.
std::vector<TermCount> RandomTerms(std::mt19937_64& random, std::size_t n,
                                   const std::vector<std::uint64_t>& vocabulary) {
  std::map<std::uint64_t, std::uint32_t> counts;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t a = random() % vocabulary.size();
    const std::size_t b = random() % vocabulary.size();
    ++counts[vocabulary[a * b / vocabulary.size()]];
  }
  return ToTerms(counts);
}

ForwardSegment RandomSegment(std::uint64_t seed, std::size_t num_chunks, std::size_t num_terms) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> vocabulary = {0, 1, kTermMask};
  while (vocabulary.size() < num_terms) vocabulary.push_back(random() & kTermMask);
  ForwardSegment segment;
  segment.first_chunk = static_cast<std::uint32_t>(seed) * kSegmentChunks;
  segment.title = {.length = 5, .terms = RandomTerms(random, 4, vocabulary)};
  for (std::size_t i = 0; i < num_chunks; ++i) {
    if (i == 0 || random() % 3 == 0) {
      segment.sections.push_back({.length = static_cast<std::uint32_t>(random() % 20),
                                  .terms = RandomTerms(random, random() % 8, vocabulary)});
    }
    ChunkTerms chunk;
    chunk.section = static_cast<std::uint32_t>(segment.sections.size() - 1);
    chunk.length = static_cast<std::uint32_t>(random() % 300);
    chunk.cost[0] = static_cast<std::uint32_t>(random() % 300);
    chunk.cost[1] = chunk.cost[0] + static_cast<std::uint32_t>(random() % 20);
    chunk.cost[2] = chunk.cost[0] + static_cast<std::uint32_t>(random() % 60);
    chunk.terms = RandomTerms(random, random() % 40, vocabulary);
    segment.chunks.push_back(chunk);
  }
  return segment;
}

std::set<std::uint64_t> TermsOf(const ForwardSegment& segment) {
  std::set<std::uint64_t> terms;
  for (const TermCount& term : segment.title.terms) terms.insert(term.term);
  for (const SectionTerms& section : segment.sections) {
    for (const TermCount& term : section.terms) terms.insert(term.term);
  }
  for (const ChunkTerms& chunk : segment.chunks) {
    for (const TermCount& term : chunk.terms) terms.insert(term.term);
  }
  return terms;
}

std::vector<std::uint64_t> AllTerms(const ForwardSegment& segment) {
  const std::set<std::uint64_t> terms = TermsOf(segment);
  return {terms.begin(), terms.end()};
}

std::uint32_t CountOf(const std::vector<TermCount>& terms, std::uint64_t wanted) {
  for (const TermCount& term : terms) {
    if (term.term == wanted) return term.count;
  }
  return 0;
}

// Postings as (where, count), by looking at every list of the segment.
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

template <typename Item>
Pairs Occurrences(const std::vector<Item>& items, std::uint64_t term) {
  Pairs pairs;
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    const std::uint32_t count = CountOf(items[i].terms, term);
    if (count > 0) pairs.emplace_back(i, count);
  }
  return pairs;
}

Pairs ToPairs(const std::vector<Posting>& postings) {
  Pairs pairs;
  for (const Posting& posting : postings) pairs.emplace_back(posting.where, posting.count);
  return pairs;
}

void ExpectViewEquals(const ForwardSegmentView& view, const ForwardSegment& segment,
                      const std::vector<std::uint64_t>& wanted) {
  EXPECT_EQ(view.first_chunk(), segment.first_chunk);
  EXPECT_EQ(view.title_length(), segment.title.length);
  ASSERT_EQ(view.num_chunks(), segment.chunks.size());
  ASSERT_EQ(view.num_sections(), segment.sections.size());
  for (std::uint32_t i = 0; i < view.num_sections(); ++i) {
    EXPECT_EQ(view.heading_length(i), segment.sections[i].length);
  }
  for (std::uint32_t i = 0; i < view.num_chunks(); ++i) {
    EXPECT_EQ(view.section_of(i), segment.chunks[i].section);
    EXPECT_EQ(view.body_length(i), segment.chunks[i].length);
    EXPECT_EQ(view.cost(i, HeaderStyle::kNone), segment.chunks[i].cost[0]);
    EXPECT_EQ(view.cost(i, HeaderStyle::kShort), segment.chunks[i].cost[1]);
    EXPECT_EQ(view.cost(i, HeaderStyle::kFull), segment.chunks[i].cost[2]);
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(ToPairs(view.postings(i).body), Occurrences(segment.chunks, wanted[i]));
    EXPECT_EQ(ToPairs(view.postings(i).headings), Occurrences(segment.sections, wanted[i]));
    EXPECT_EQ(view.postings(i).title, CountOf(segment.title.terms, wanted[i]));
  }
}

TEST(ForwardIndex, EmptySegmentComesBack) {
  const auto decoded = DecodeForwardSegment(Encode(ForwardSegment{}));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, ForwardSegment{});
}

// The example of FORMAT.md.
TEST(ForwardIndex, BytesAreThoseOfTheDocument) {
  ForwardSegment segment;
  segment.title = {.length = 1, .terms = {{.term = 5, .count = 1}}};
  segment.sections = {{.length = 2, .terms = {{.term = 5, .count = 1}}}};
  segment.chunks = {
      {.section = 0,
       .length = 3,
       .cost = {10, 12, 9},
       .terms = {{.term = 5, .count = 1}, {.term = 0x0102030405, .count = 3}}},
      {.section = 0, .length = 1, .cost = {4, 6, 3}, .terms = {{.term = 0x0102030405, .count = 1}}},
  };
  const std::string bytes = Encode(segment);
  EXPECT_EQ(ToHex(std::string_view(bytes)),
            "010002010102"
            "00030a0401"
            "0001040401"
            "02"
            "0500000000"
            "0504030201"
            "130c"
            "01010000"
            "010100");
}

TEST(ForwardIndex, SegmentsOfEverySizeComeBack) {
  for (const std::size_t num_chunks : {1U, 2U, 20U, 200U, kSegmentChunks}) {
    const ForwardSegment segment = RandomSegment(num_chunks, num_chunks, 30 + 3 * num_chunks);
    const std::string bytes = Encode(segment);
    const auto decoded = DecodeForwardSegment(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, segment);
    EXPECT_EQ(Encode(*decoded), bytes);
  }
}

TEST(ForwardIndex, ExtremeNumbersComeBack) {
  ForwardSegment segment;
  segment.first_chunk = kMaxU32 - 2;
  segment.title = {.length = kMaxU32, .terms = {{.term = kTermMask, .count = kMaxU32}}};
  segment.sections.push_back(
      {.length = kMaxU32, .terms = {{.term = 0, .count = 1}, {.term = 1, .count = kMaxU32}}});
  segment.chunks.resize(2);
  segment.chunks[0].length = kMaxU32;
  segment.chunks[0].cost[0] = kMaxU32;  // headers that "cost" less than nothing must survive too
  segment.chunks[0].terms = {{.term = 1, .count = kMaxU32}, {.term = kTermMask, .count = 2}};
  segment.chunks[1].cost[1] = segment.chunks[1].cost[2] = kMaxU32;
  const auto decoded = DecodeForwardSegment(Encode(segment));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, segment);
}

TEST(ForwardIndex, ViewHasWhatAFullLookAtTheSegmentFinds) {
  const ForwardSegment segment = RandomSegment(3, 150, 500);
  const std::vector<std::uint64_t> wanted = AllTerms(segment);
  const auto view = ForwardSegmentView::Parse(Encode(segment), wanted);
  ASSERT_TRUE(view.ok()) << view.status();
  ExpectViewEquals(*view, segment, wanted);
}

TEST(ForwardIndex, ViewOfSomeTermsHasThemAndNoAbsentOnes) {
  const ForwardSegment segment = RandomSegment(4, 150, 500);
  const std::string bytes = Encode(segment);
  const std::vector<std::uint64_t> present = AllTerms(segment);
  std::mt19937_64 random(5);
  for (int round = 0; round < 50; ++round) {
    std::set<std::uint64_t> chosen;
    for (int i = 0; i < 6; ++i) {
      const std::uint64_t term = present[random() % present.size()];
      chosen.insert(i % 2 == 0 ? term : (term + 1) & kTermMask);
    }
    const std::vector<std::uint64_t> wanted(chosen.begin(), chosen.end());
    const auto view = ForwardSegmentView::Parse(bytes, wanted);
    ASSERT_TRUE(view.ok()) << view.status();
    ExpectViewEquals(*view, segment, wanted);
  }
}

TEST(ForwardIndex, ViewWithoutWantedTermsHasTheChunkTable) {
  const ForwardSegment segment = RandomSegment(6, 30, 100);
  const auto view = ForwardSegmentView::Parse(Encode(segment), {});
  ASSERT_TRUE(view.ok()) << view.status();
  ExpectViewEquals(*view, segment, {});
}

TEST(ForwardIndex, EveryCutIsDamage) {
  const ForwardSegment segment = RandomSegment(1, 5, 40);
  const std::vector<std::uint64_t> wanted = AllTerms(segment);
  ForEachCut(Encode(segment), [&](std::string_view bytes) {
    EXPECT_EQ(DecodeForwardSegment(bytes).status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(ForwardSegmentView::Parse(bytes, wanted).status().code(),
              absl::StatusCode::kDataLoss);
    EXPECT_FALSE(ForwardSegmentView::Parse(bytes, {}).ok());
  });
}

TEST(ForwardIndex, EveryFlipIsDamageOrAnotherWholeSegment) {
  const ForwardSegment segment = RandomSegment(1, 5, 40);
  const std::vector<std::uint64_t> wanted = AllTerms(segment);
  ForEachFlip(Encode(segment), [&](std::string_view bytes) {
    const auto decoded = DecodeForwardSegment(bytes);
    const auto view = ForwardSegmentView::Parse(bytes, wanted);
    if (!decoded.ok()) {
      EXPECT_EQ(decoded.status().code(), absl::StatusCode::kDataLoss);
      return;
    }
    EXPECT_EQ(Encode(*decoded), bytes);
    ASSERT_TRUE(view.ok()) << view.status();
    ExpectViewEquals(*view, *decoded, wanted);
  });
}

TEST(ForwardIndex, FlipsNeverLeadAViewOutOfItsTables) {
  const ForwardSegment segment = RandomSegment(2, 12, 80);
  const std::vector<std::uint64_t> all = AllTerms(segment);
  const std::vector<std::uint64_t> wanted = {all[2], all[all.size() / 2], all.back()};
  ForEachFlip(Encode(segment), [&](std::string_view bytes) {
    const auto view = ForwardSegmentView::Parse(bytes, wanted);
    if (!view.ok()) return;
    for (std::uint32_t i = 0; i < view->num_chunks(); ++i) {
      EXPECT_LT(view->section_of(i), view->num_sections());
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      for (const Posting& posting : view->postings(i).body) {
        EXPECT_LT(posting.where, view->num_chunks());
      }
      for (const Posting& posting : view->postings(i).headings) {
        EXPECT_LT(posting.where, view->num_sections());
      }
    }
  });
}

TEST(ForwardIndex, RandomBytesAreDamageOrAWholeSegment) {
  std::mt19937 random(11);
  const std::vector<std::uint64_t> wanted = {0, 1, 2, 3, 5, 8};
  for (int i = 0; i < 30000; ++i) {
    std::string bytes(1, '\1');
    for (std::size_t n = random() % 40; n > 0; --n) {
      bytes.push_back(static_cast<char>(random() % 4 == 0 ? random() % 256 : random() % 5));
    }
    const auto decoded = DecodeForwardSegment(bytes);
    const auto view = ForwardSegmentView::Parse(bytes, wanted);
    if (!decoded.ok()) continue;
    EXPECT_EQ(Encode(*decoded), bytes);
    EXPECT_TRUE(view.ok());
  }
}

TEST(ForwardIndex, BytesLeftOverAreDamage) {
  const std::string bytes = Encode(RandomSegment(1, 5, 20)) + '\0';
  EXPECT_FALSE(DecodeForwardSegment(bytes).ok());
  EXPECT_FALSE(ForwardSegmentView::Parse(bytes, {}).ok());
}

TEST(ForwardIndex, MoreChunksThanASegmentHoldsIsDamage) {
  ForwardSegment segment = RandomSegment(0, kSegmentChunks, 10);
  std::string bytes = Encode(segment);
  ASSERT_EQ(bytes.substr(0, 4), std::string("\x01\x00\x80\x08", 4));  // varint 1024 at 2
  bytes[2] = '\x81';
  const auto decoded = DecodeForwardSegment(bytes);
  EXPECT_EQ(decoded.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(decoded.status().message().find("too many chunks: 1025"), absl::string_view::npos);
}

TEST(ForwardIndex, SegmentIsSmall) {
  const ForwardSegment segment = RandomSegment(9, 200, 2000);
  std::size_t num_postings = 0;
  for (const ChunkTerms& chunk : segment.chunks) num_postings += chunk.terms.size();
  EXPECT_LT(Encode(segment).size(),
            8 * segment.chunks.size() + 2 * num_postings + 6 * TermsOf(segment).size());
}

}  // namespace
}  // namespace rag::formats
