// The whole decoder of forward segments and the view that decodes only what a question wants, which
// must agree. Byte 0: number of wanted terms, 5 bytes each; the rest: the segment.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/forward_index.h"
#include "tests/fuzz/fuzz.h"

namespace rag::fuzz {
namespace {

using formats::ForwardSegment;
using formats::ForwardSegmentView;
using formats::HeaderStyle;
using formats::TermCount;

std::uint32_t CountIn(const std::vector<TermCount>& terms, std::uint64_t term) {
  for (const TermCount& entry : terms) {
    if (entry.term == term) return entry.count;
  }
  return 0;
}

void RequireAscending(const std::vector<TermCount>& terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    Require(terms[i].count > 0, "no term occurs 0 times");
    Require(i == 0 || terms[i - 1].term < terms[i].term, "terms ascend");
  }
}

std::set<std::uint64_t> TermsOf(const ForwardSegment& segment) {
  std::set<std::uint64_t> terms;
  const auto add = [&](const std::vector<TermCount>& entries) {
    RequireAscending(entries);
    for (const TermCount& entry : entries) terms.insert(entry.term);
  };
  add(segment.title.terms);
  for (const auto& section : segment.sections) add(section.terms);
  for (const auto& chunk : segment.chunks) add(chunk.terms);
  return terms;
}

// Every place where the segment has the term is among the postings, with its count, and nothing
// else.
template <typename Places>
void ComparePostings(const Places& places, std::uint64_t term,
                     const std::vector<formats::Posting>& postings) {
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < places.size(); ++i) {
    const std::uint32_t count = CountIn(places[i].terms, term);
    if (count == 0) continue;
    Require(next < postings.size() && postings[next].where == i && postings[next].count == count,
            "the view has the postings of the segment");
    ++next;
  }
  Require(next == postings.size(), "the view has no other postings");
}

void CompareTables(const ForwardSegment& segment, const ForwardSegmentView& view) {
  Require(view.first_chunk() == segment.first_chunk, "first chunk");
  Require(view.title_length() == segment.title.length, "length of the title");
  Require(view.num_chunks() == segment.chunks.size(), "number of chunks");
  Require(view.num_sections() == segment.sections.size(), "number of sections");
  for (std::uint32_t i = 0; i < view.num_sections(); ++i) {
    Require(view.heading_length(i) == segment.sections[i].length, "length of a heading path");
  }
  for (std::uint32_t i = 0; i < view.num_chunks(); ++i) {
    Require(view.section_of(i) == segment.chunks[i].section, "section of a chunk");
    Require(view.section_of(i) < view.num_sections(), "the section is there");
    Require(view.body_length(i) == segment.chunks[i].length, "length of a body");
    for (const HeaderStyle style : {HeaderStyle::kNone, HeaderStyle::kShort, HeaderStyle::kFull}) {
      Require(view.cost(i, style) == segment.chunks[i].cost[static_cast<int>(style)], "cost");
    }
  }
}

void CheckView(std::string_view bytes, const absl::StatusOr<ForwardSegment>& segment,
               const std::vector<std::uint64_t>& wanted) {
  const auto view = ForwardSegmentView::Parse(bytes, wanted);
  if (!view.ok()) {
    RequireDamage(view.status());
    Require(!segment.ok(), "what the view refuses the whole decoder refuses, too");
    return;
  }
  if (!segment.ok()) return;
  CompareTables(*segment, *view);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Require(view->postings(i).title == CountIn(segment->title.terms, wanted[i]), "title");
    ComparePostings(segment->sections, wanted[i], view->postings(i).headings);
    ComparePostings(segment->chunks, wanted[i], view->postings(i).body);
  }
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  fuzz::Input input(data, size);
  std::set<std::uint64_t> wanted;
  for (int n = input.Byte() % 8; n > 0; --n) wanted.insert(input.Number(5));
  const std::string_view bytes = input.Rest();

  const auto segment = formats::DecodeForwardSegment(bytes);
  if (segment.ok()) {
    fuzz::Require(formats::Encode(*segment) == bytes, "encoding a segment gives its bytes");
    wanted.merge(fuzz::TermsOf(*segment));
  } else {
    fuzz::RequireDamage(segment.status());
  }
  fuzz::CheckView(bytes, segment, {wanted.begin(), wanted.end()});
  fuzz::CheckView(bytes, segment, {});
  return 0;
}
