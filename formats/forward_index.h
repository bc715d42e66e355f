// The forward index of a document: which terms occur in which of its chunks, and what each chunk
// costs. It is all that exact scoring and packing read, so a query decodes no chunk that it does
// not print.
//
// A document's chunks are cut into segments of kSegmentChunks; a segment stands alone. Terms are
// the low 40 bits of the term's 64-bit hash (models/words.h); two terms of one segment that share
// them would be counted as one (chance ~1e-12 a pair). FORMAT.md, "Forward segments".
#ifndef FORMATS_FORWARD_INDEX_H_
#define FORMATS_FORWARD_INDEX_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace rag::formats {

inline constexpr std::uint32_t kSegmentChunks = 1024;
inline constexpr std::uint64_t kTermMask = (std::uint64_t{1} << 40) - 1;

// How a chunk is introduced in the context. The value is on disk: never renumber.
enum class HeaderStyle : std::uint8_t { kNone = 0, kShort = 1, kFull = 2 };
inline constexpr int kNumHeaderStyles = 3;

// A term and how often it occurs.
struct TermCount {
  std::uint64_t term = 0;  // 40 bits
  std::uint32_t count = 0;
  friend bool operator==(const TermCount&, const TermCount&) = default;
};

// A chunk as the index of terms sees it.
struct ChunkTerms {
  std::uint32_t section = 0;  // index into ForwardSegment::sections
  std::uint32_t length = 0;   // number of terms in the body, repeats included
  std::uint32_t cost[kNumHeaderStyles] = {0, 0, 0};  // units of the token counter, by HeaderStyle
  std::vector<TermCount> terms;                      // of the body, ascending by term
  friend bool operator==(const ChunkTerms&, const ChunkTerms&) = default;
};

// The heading path over consecutive chunks.
struct SectionTerms {
  std::uint32_t length = 0;
  std::vector<TermCount> terms;  // ascending by term
  friend bool operator==(const SectionTerms&, const SectionTerms&) = default;
};

// One segment, whole. Sections ascend with the chunks: chunk sections never decrease.
struct ForwardSegment {
  std::uint32_t first_chunk = 0;
  SectionTerms title;  // of the document; repeated in each of its segments
  std::vector<SectionTerms> sections;
  std::vector<ChunkTerms> chunks;
  friend bool operator==(const ForwardSegment&, const ForwardSegment&) = default;
};

std::string Encode(const ForwardSegment& segment);
// Decodes everything; for tools and tests.
absl::StatusOr<ForwardSegment> DecodeForwardSegment(std::string_view bytes);

// Where a wanted term occurs: `where` is the chunk within the segment, or the section.
struct Posting {
  std::uint32_t where = 0;
  std::uint32_t count = 0;
};
struct TermPostings {
  std::vector<Posting> body;      // by chunk, ascending
  std::vector<Posting> headings;  // by section, ascending
  std::uint32_t title = 0;
};

// Decodes the chunk table and only the postings of the wanted terms. Copies what it needs: the
// bytes may go after Parse. Threads: const methods may run concurrently.
class ForwardSegmentView {
 public:
  // `wanted`: 40-bit terms, strictly ascending. DATA_LOSS when the bytes are damaged; damage in the
  // terms and postings that are not wanted goes unnoticed here.
  static absl::StatusOr<ForwardSegmentView> Parse(std::string_view bytes,
                                                  std::span<const std::uint64_t> wanted);

  [[nodiscard]] std::uint32_t first_chunk() const { return first_chunk_; }
  [[nodiscard]] std::uint32_t num_chunks() const {
    return static_cast<std::uint32_t>(chunk_length_.size());
  }
  [[nodiscard]] std::uint32_t num_sections() const {
    return static_cast<std::uint32_t>(section_length_.size());
  }
  [[nodiscard]] std::uint32_t title_length() const { return title_length_; }
  // `chunk` and `section` count from 0 within the segment.
  [[nodiscard]] std::uint32_t section_of(std::uint32_t chunk) const {
    return chunk_section_[chunk];
  }
  [[nodiscard]] std::uint32_t body_length(std::uint32_t chunk) const {
    return chunk_length_[chunk];
  }
  [[nodiscard]] std::uint32_t heading_length(std::uint32_t section) const {
    return section_length_[section];
  }
  [[nodiscard]] std::uint32_t cost(std::uint32_t chunk, HeaderStyle style) const {
    return chunk_cost_[chunk * kNumHeaderStyles + static_cast<std::uint32_t>(style)];
  }
  // Postings of wanted[i]; empty when the term does not occur.
  [[nodiscard]] const TermPostings& postings(std::size_t i) const { return postings_[i]; }

 private:
  std::uint32_t first_chunk_ = 0;
  std::uint32_t title_length_ = 0;
  std::vector<std::uint32_t> chunk_section_;
  std::vector<std::uint32_t> chunk_length_;
  std::vector<std::uint32_t> chunk_cost_;
  std::vector<std::uint32_t> section_length_;
  std::vector<TermPostings> postings_;
};

}  // namespace rag::formats

#endif  // FORMATS_FORWARD_INDEX_H_
