#include "formats/forward_index.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "formats/coding.h"
#include "formats/status_macros.h"

namespace rag::formats {

static_assert(std::endian::native == std::endian::little,
              "terms are copied out of the bytes as they are");

namespace {

constexpr std::uint8_t kSegmentVersion = 1;
constexpr std::string_view kWhat = "forward segment";
constexpr std::uint32_t kMaxU32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMinChunkBytes = 2 + kNumHeaderStyles;
constexpr std::size_t kTermBytes = 5;
constexpr std::size_t kMinTermBytes = kTermBytes + 2;  // size, one byte of postings

// Low bits of the size of a term's postings.
constexpr std::uint64_t kHasTitle = 1;
constexpr std::uint64_t kHasHeadings = 2;
constexpr int kSizeShift = 2;

std::uint64_t ZigZag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t UnZigZag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

void WritePostings(ByteWriter& out, const std::vector<Posting>& postings) {
  std::uint64_t next = 0;
  for (const Posting& posting : postings) {
    assert(posting.where >= next && posting.count > 0);
    const bool repeated = posting.count != 1;
    out.Varint(((posting.where - next) << 1) | (repeated ? 1U : 0U));
    if (repeated) out.Varint(posting.count - 2);
    next = std::uint64_t{posting.where} + 1;
  }
}

std::string EncodePostings(const TermPostings& postings) {
  ByteWriter out;
  if (postings.title > 0) out.Varint(postings.title);
  if (!postings.headings.empty()) {
    out.Varint(postings.headings.size());
    WritePostings(out, postings.headings);
  }
  WritePostings(out, postings.body);
  return out.Take();
}

std::map<std::uint64_t, TermPostings> Invert(const ForwardSegment& segment) {
  std::map<std::uint64_t, TermPostings> dictionary;
  for (const TermCount& term : segment.title.terms) dictionary[term.term].title = term.count;
  for (std::uint32_t i = 0; i < segment.sections.size(); ++i) {
    for (const TermCount& term : segment.sections[i].terms) {
      dictionary[term.term].headings.push_back({.where = i, .count = term.count});
    }
  }
  for (std::uint32_t i = 0; i < segment.chunks.size(); ++i) {
    for (const TermCount& term : segment.chunks[i].terms) {
      dictionary[term.term].body.push_back({.where = i, .count = term.count});
    }
  }
  return dictionary;
}

void WriteDictionary(ByteWriter& out, const ForwardSegment& segment) {
  const std::map<std::uint64_t, TermPostings> dictionary = Invert(segment);
  out.Varint(dictionary.size());
  ByteWriter sizes;
  ByteWriter lists;
  for (const auto& [term, postings] : dictionary) {
    assert(term <= kTermMask);
    out.Fixed32(static_cast<std::uint32_t>(term));
    out.Fixed8(static_cast<std::uint8_t>(term >> 32));
    const std::string list = EncodePostings(postings);
    sizes.Varint((std::uint64_t{list.size()} << kSizeShift) |
                 (postings.headings.empty() ? 0 : kHasHeadings) |
                 (postings.title > 0 ? kHasTitle : 0));
    lists.Bytes(list);
  }
  out.Bytes(sizes.view());
  out.Bytes(lists.view());
}

void WriteChunkTable(ByteWriter& out, const std::vector<ChunkTerms>& chunks) {
  std::uint32_t section = 0;
  for (const ChunkTerms& chunk : chunks) {
    assert(chunk.section >= section);
    out.Varint(chunk.section - section);
    out.Varint(chunk.length);
    out.Varint(chunk.cost[0]);
    for (int style = 1; style < kNumHeaderStyles; ++style) {
      out.Varint(ZigZag(std::int64_t{chunk.cost[style]} - std::int64_t{chunk.cost[0]}));
    }
    section = chunk.section;
  }
}

std::uint32_t ReadU32(ByteReader& in) {
  return static_cast<std::uint32_t>(in.VarintAtMost(kMaxU32));
}

std::uint32_t ReadCost(ByteReader& in, std::uint32_t base) {
  // Any encoding of a difference of two u32 is below 2^33.
  const std::int64_t difference = UnZigZag(in.VarintAtMost((std::uint64_t{1} << 33) - 1));
  const std::int64_t cost = std::int64_t{base} + difference;
  if (cost < 0 || cost > std::int64_t{kMaxU32}) in.Fail("cost is not an unsigned 32-bit number");
  return static_cast<std::uint32_t>(cost);
}

struct SegmentHead {
  std::uint32_t first_chunk = 0;
  std::size_t num_chunks = 0;
  std::size_t num_sections = 0;
  std::uint32_t title_length = 0;
};

SegmentHead ReadHead(ByteReader& in) {
  SegmentHead head;
  const std::uint8_t version = in.Fixed8();
  if (in.ok() && version != kSegmentVersion) {
    in.Fail("segment version: expected 1, found " + std::to_string(version));
  }
  head.first_chunk = ReadU32(in);
  head.num_chunks = in.Count(kMinChunkBytes);
  if (head.num_chunks > kSegmentChunks || head.num_chunks > kMaxU32 - head.first_chunk) {
    in.Fail("too many chunks: " + std::to_string(head.num_chunks));
  }
  head.num_sections = in.Count(1);
  head.title_length = ReadU32(in);
  return head;
}

struct ChunkRow {
  std::uint32_t section = 0;
  std::uint32_t length = 0;
  std::uint32_t cost[kNumHeaderStyles] = {};
};

ChunkRow ReadChunkRow(ByteReader& in, std::uint32_t previous_section, std::size_t num_sections) {
  ChunkRow row;
  const std::uint64_t section = std::uint64_t{previous_section} + in.VarintAtMost(kMaxU32);
  if (section >= num_sections) {
    in.Fail("section: expected below " + std::to_string(num_sections) + ", found " +
            std::to_string(section));
  }
  row.section = static_cast<std::uint32_t>(section);
  row.length = ReadU32(in);
  row.cost[0] = ReadU32(in);
  for (int style = 1; style < kNumHeaderStyles; ++style)
    row.cost[style] = ReadCost(in, row.cost[0]);
  return row;
}

void ReadPosting(ByteReader& in, std::size_t limit, std::uint64_t& next,
                 std::vector<Posting>& postings) {
  const std::uint64_t head = in.VarintAtMost(std::uint64_t{kMaxU32} * 2 + 1);
  const std::uint64_t where = next + (head >> 1);
  if (where >= limit) {
    in.Fail("posting: expected below " + std::to_string(limit) + ", found " +
            std::to_string(where));
    return;
  }
  const std::uint64_t count = (head & 1) == 0 ? 1 : in.VarintAtMost(kMaxU32 - 2) + 2;
  postings.push_back(
      {.where = static_cast<std::uint32_t>(where), .count = static_cast<std::uint32_t>(count)});
  next = where + 1;
}

// The dictionary of a segment: columns of terms and of sizes, then the lists of postings. A
// question finds its few terms by binary search and runs once through the sizes, most of which are
// one byte.
class Dictionary {
 public:
  // Postings of one term: bytes of lists(), and what is in them.
  struct List {
    std::uint64_t start = 0;
    std::uint64_t size = 0;
    std::uint64_t flags = 0;
  };

  // `bytes` is what follows the number of terms. REQUIRES: at least num_terms * kMinTermBytes.
  Dictionary(std::string_view bytes, std::size_t num_terms)
      : num_terms_(num_terms),
        terms_(bytes.substr(0, num_terms * kTermBytes)),
        rest_(bytes.substr(num_terms * kTermBytes)) {}

  [[nodiscard]] std::uint64_t term(std::size_t i) const {
    std::uint64_t term = 0;
    std::memcpy(&term, terms_.data() + i * kTermBytes, kTermBytes);
    return term;
  }

  // Where `wanted` is, looked for from `first` on; where it would be when it is absent.
  [[nodiscard]] std::size_t LowerBound(std::uint64_t wanted, std::size_t first) const {
    std::size_t last = num_terms_;
    while (first < last) {
      const std::size_t middle = first + (last - first) / 2;
      if (term(middle) < wanted) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first;
  }

  // Reads all sizes and keeps the lists of the terms at `places`, which ascend. Call before
  // lists().
  absl::Status ReadSizes(std::span<const std::size_t> places, std::vector<List>& found) {
    std::size_t at = 0;
    std::uint64_t start = 0;
    for (std::size_t i = 0; i < num_terms_; ++i) {
      if (at == rest_.size()) return Damaged(i);
      auto head = std::uint64_t{static_cast<std::uint8_t>(rest_[at])};
      at = head < 0x80 ? at + 1 : ReadLongSize(at, head);
      const std::uint64_t size = head >> kSizeShift;
      // No size is over the whole, so the sum of what a segment may hold cannot wrap.
      if (size == 0 || size > rest_.size()) return Damaged(i);
      if (found.size() < places.size() && places[found.size()] == i) {
        found.push_back({.start = start, .size = size, .flags = head & (kHasTitle | kHasHeadings)});
      }
      start += size;
    }
    rest_.remove_prefix(at);
    return start == rest_.size() ? absl::OkStatus() : Damaged(num_terms_);
  }

  [[nodiscard]] std::string_view lists() const { return rest_; }

 private:
  // The end of a size of several bytes at `at`, and its value; 0 when it is damaged.
  [[nodiscard]] std::size_t ReadLongSize(std::size_t at, std::uint64_t& value) const {
    ByteReader in(rest_.substr(at), kWhat);
    value = in.Varint();
    return at + in.offset();
  }

  [[nodiscard]] absl::Status Damaged(std::size_t i) const {
    return absl::DataLossError(std::string(kWhat) +
                               ": sizes of postings do not fit the rest, found at " +
                               std::to_string(i) + " of " + std::to_string(num_terms_));
  }

  std::size_t num_terms_;
  std::string_view terms_;
  std::string_view rest_;
};

absl::Status ReadTermPostings(std::string_view lists, const Dictionary::List& list,
                              const SegmentHead& head, TermPostings& postings) {
  ByteReader in(lists.substr(list.start, list.size), "postings of a forward segment");
  if ((list.flags & kHasTitle) != 0) {
    postings.title = ReadU32(in);
    if (postings.title == 0) in.Fail("count in the title: expected at least 1, found 0");
  }
  if ((list.flags & kHasHeadings) != 0) {
    const std::size_t count = in.Count(1);
    if (count == 0) in.Fail("headings: expected at least 1, found 0");
    postings.headings.reserve(count);
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < count && in.ok(); ++i) {
      ReadPosting(in, head.num_sections, next, postings.headings);
    }
  }
  std::uint64_t next = 0;
  while (in.ok() && in.remaining() > 0) ReadPosting(in, head.num_chunks, next, postings.body);
  return in.Finish();
}

// Fills postings[i] for wanted[i].
absl::Status ReadWanted(Dictionary& dictionary, std::size_t num_terms, const SegmentHead& head,
                        std::span<const std::uint64_t> wanted,
                        std::vector<TermPostings>& postings) {
  std::vector<std::size_t> places;
  std::vector<std::size_t> wanted_at;  // the index into `wanted` of each place
  std::size_t place = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    place = dictionary.LowerBound(wanted[i], place);
    if (place == num_terms) break;
    if (dictionary.term(place) != wanted[i]) continue;
    places.push_back(place++);
    wanted_at.push_back(i);
  }
  std::vector<Dictionary::List> found;
  RAG_RETURN_IF_ERROR(dictionary.ReadSizes(places, found));
  for (std::size_t i = 0; i < found.size(); ++i) {
    RAG_RETURN_IF_ERROR(
        ReadTermPostings(dictionary.lists(), found[i], head, postings[wanted_at[i]]));
  }
  return absl::OkStatus();
}

// Appends a term's postings to the sections and chunks that it occurs in.
void Scatter(std::uint64_t term, const TermPostings& postings, ForwardSegment& segment) {
  if (postings.title > 0) {
    segment.title.terms.push_back({.term = term, .count = postings.title});
  }
  for (const Posting& posting : postings.headings) {
    segment.sections[posting.where].terms.push_back({.term = term, .count = posting.count});
  }
  for (const Posting& posting : postings.body) {
    segment.chunks[posting.where].terms.push_back({.term = term, .count = posting.count});
  }
}

absl::Status ReadAll(Dictionary& dictionary, std::size_t num_terms, const SegmentHead& head,
                     ForwardSegment& segment) {
  std::vector<std::size_t> places(num_terms);
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::vector<Dictionary::List> found;
  RAG_RETURN_IF_ERROR(dictionary.ReadSizes(places, found));
  for (std::size_t i = 0; i < num_terms; ++i) {
    if (i > 0 && dictionary.term(i) <= dictionary.term(i - 1)) {
      return absl::DataLossError(std::string(kWhat) + ": term " + std::to_string(i) +
                                 " is not above the one before it");
    }
    TermPostings postings;
    RAG_RETURN_IF_ERROR(ReadTermPostings(dictionary.lists(), found[i], head, postings));
    Scatter(dictionary.term(i), postings, segment);
  }
  return absl::OkStatus();
}

}  // namespace

std::string Encode(const ForwardSegment& segment) {
  assert(segment.chunks.size() <= kSegmentChunks);
  ByteWriter out;
  out.Fixed8(kSegmentVersion);
  out.Varint(segment.first_chunk);
  out.Varint(segment.chunks.size());
  out.Varint(segment.sections.size());
  out.Varint(segment.title.length);
  for (const SectionTerms& section : segment.sections) out.Varint(section.length);
  WriteChunkTable(out, segment.chunks);
  WriteDictionary(out, segment);
  return out.Take();
}

absl::StatusOr<ForwardSegment> DecodeForwardSegment(std::string_view bytes) {
  ByteReader in(bytes, kWhat);
  const SegmentHead head = ReadHead(in);
  RAG_RETURN_IF_ERROR(in.status());
  ForwardSegment segment;
  segment.first_chunk = head.first_chunk;
  segment.title.length = head.title_length;
  segment.sections.resize(head.num_sections);
  for (SectionTerms& section : segment.sections) section.length = ReadU32(in);
  segment.chunks.resize(head.num_chunks);
  std::uint32_t previous_section = 0;
  for (ChunkTerms& chunk : segment.chunks) {
    const ChunkRow row = ReadChunkRow(in, previous_section, head.num_sections);
    chunk.section = previous_section = row.section;
    chunk.length = row.length;
    std::copy(std::begin(row.cost), std::end(row.cost), std::begin(chunk.cost));
  }
  const std::size_t num_terms = in.Count(kMinTermBytes);
  RAG_RETURN_IF_ERROR(in.status());

  Dictionary dictionary(bytes.substr(in.offset()), num_terms);
  RAG_RETURN_IF_ERROR(ReadAll(dictionary, num_terms, head, segment));
  return segment;
}

absl::StatusOr<ForwardSegmentView> ForwardSegmentView::Parse(
    std::string_view bytes, std::span<const std::uint64_t> wanted) {
  ByteReader in(bytes, kWhat);
  const SegmentHead head = ReadHead(in);
  RAG_RETURN_IF_ERROR(in.status());
  ForwardSegmentView view;
  view.first_chunk_ = head.first_chunk;
  view.title_length_ = head.title_length;
  view.section_length_.resize(head.num_sections);
  for (std::uint32_t& length : view.section_length_) length = ReadU32(in);
  view.chunk_section_.resize(head.num_chunks);
  view.chunk_length_.resize(head.num_chunks);
  view.chunk_cost_.resize(head.num_chunks * kNumHeaderStyles);
  std::uint32_t previous_section = 0;
  for (std::size_t i = 0; i < head.num_chunks; ++i) {
    const ChunkRow row = ReadChunkRow(in, previous_section, head.num_sections);
    view.chunk_section_[i] = previous_section = row.section;
    view.chunk_length_[i] = row.length;
    std::copy(std::begin(row.cost), std::end(row.cost), &view.chunk_cost_[i * kNumHeaderStyles]);
  }
  const std::size_t num_terms = in.Count(kMinTermBytes);
  RAG_RETURN_IF_ERROR(in.status());
  view.postings_.resize(wanted.size());
  Dictionary dictionary(bytes.substr(in.offset()), num_terms);
  RAG_RETURN_IF_ERROR(ReadWanted(dictionary, num_terms, head, wanted, view.postings_));
  return view;
}

}  // namespace rag::formats
