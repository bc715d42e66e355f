// What holds for every splitter and every valid UTF-8 text (indexer/splitter.h), for tests with
// random texts.
#ifndef TESTS_TESTING_SPLIT_INVARIANTS_H_
#define TESTS_TESTING_SPLIT_INVARIANTS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <utf8proc.h>

#include "indexer/characters.h"
#include "indexer/splitter.h"
#include "indexer/text_ruler.h"

namespace rag::testing {

struct SplitRules {
  std::uint64_t front_matter_bytes = 0;  // of the text; not kept when nothing else is there
  bool unicode_blank = false;            // white space that is not ASCII need not be covered
  std::uint64_t hard_max = ~std::uint64_t{0};
  std::uint64_t overlap = 0;      // what consecutive chunks may share
  bool whole_clusters = true;     // false where a grapheme cluster may be longer than hard_max
  indexer::TextRuler ruler = {};  // of hard_max and overlap
};

// Whether each offset is between two grapheme clusters, found in one pass over the text.
inline std::vector<bool> ClusterEdges(std::string_view text) {
  std::vector<bool> edges(text.size() + 1);
  edges[0] = edges[text.size()] = true;
  utf8proc_int32_t state = 0;
  utf8proc_int32_t before = -1;
  for (std::size_t pos = 0; pos < text.size();) {
    const indexer::CodePoint c = indexer::DecodeAt(text, pos);
    const auto value = static_cast<utf8proc_int32_t>(c.value);
    if (before >= 0) edges[pos] = utf8proc_grapheme_break_stateful(before, value, &state);
    before = value;
    pos += c.size_bytes;
  }
  return edges;
}

inline std::string UncoveredText(std::string_view text, const indexer::SplitDocument& document,
                                 const SplitRules& rules) {
  std::size_t next = 0;
  std::size_t first = indexer::ByteOrderMarkSize(text);
  if (document.chunks.empty()) first += rules.front_matter_bytes;
  for (std::size_t pos = first; pos < text.size();) {
    const indexer::CodePoint c = indexer::DecodeAt(text, pos);
    while (next < document.chunks.size() && document.chunks[next].range.end <= pos) ++next;
    const bool covered = next < document.chunks.size() && document.chunks[next].range.start <= pos;
    const bool blank = (c.value < 0x80 && indexer::IsBlankByte(static_cast<char>(c.value))) ||
                       (rules.unicode_blank && indexer::IsWhiteSpace(c.value));
    if (!covered && !blank) return "lost at " + std::to_string(pos);
    pos += c.size_bytes;
  }
  return "";
}

inline std::string BadChunk(std::string_view text, const indexer::SplitDocument& document,
                            const SplitRules& rules) {
  const std::vector<bool> edges = ClusterEdges(text);
  const formats::Span mark{0, indexer::ByteOrderMarkSize(text)};
  formats::Span before = mark;
  for (const indexer::SplitChunk& chunk : document.chunks) {
    const auto [start, stop] = chunk.range;
    const std::string where = "chunk from " + std::to_string(start) + " to " + std::to_string(stop);
    if (start >= stop || stop > text.size()) return where + " is no range of the text";
    if (start < mark.end || stop <= before.end) return where + " is out of order";
    if (start < before.end) {
      if (start <= before.start) return where + " starts no later than the one before";
      const std::string_view shared = text.substr(start, before.end - start);
      if (rules.ruler.Measure(shared) > rules.overlap) return where + " repeats too much";
    }
    if (rules.whole_clusters && !(edges[start] && edges[stop])) return where + " cuts a cluster";
    const std::string_view body = text.substr(start, stop - start);
    if (indexer::ValidUtf8Prefix(body) != body.size()) return where + " cuts a code point";
    if (std::all_of(body.begin(), body.end(), indexer::IsBlankByte)) return where + " is blank";
    if (rules.ruler.Measure(body) > rules.hard_max) return where + " is too long";
    before = chunk.range;
  }
  return "";
}

// Parents tile the chunks and, but for a byte order mark, the text.
inline std::string BadParent(std::string_view text, const indexer::SplitDocument& document) {
  std::uint32_t next_chunk = 0;
  std::uint64_t end = indexer::ByteOrderMarkSize(text);
  for (std::uint32_t i = 0; i < document.parents.size(); ++i) {
    const formats::ParentRecord& parent = document.parents[i];
    const std::string where = "parent " + std::to_string(i);
    if (parent.first_chunk != next_chunk || parent.num_chunks == 0) return where + ": chunks";
    if (parent.range.start != end || parent.range.end < end) return where + ": range";
    next_chunk += parent.num_chunks;
    if (next_chunk > document.chunks.size()) return where + ": too many chunks";
    for (std::uint32_t c = parent.first_chunk; c < next_chunk; ++c) {
      const indexer::SplitChunk& chunk = document.chunks[c];
      if (chunk.parent != i || chunk.range.start < parent.range.start ||
          chunk.range.end > parent.range.end) {
        return where + ": chunk " + std::to_string(c) + " lies elsewhere";
      }
    }
    end = parent.range.end;
  }
  if (next_chunk != document.chunks.size()) return "chunks without a parent";
  if (!document.parents.empty() && end != text.size()) return "parents end before the text";
  return "";
}

// What is wrong with the result of a splitter; empty when nothing is.
inline std::string BrokenSplitInvariant(std::string_view text,
                                        const indexer::SplitDocument& document,
                                        const SplitRules& rules) {
  if (indexer::ValidUtf8Prefix(document.title) != document.title.size()) return "title: not UTF-8";
  std::string problem = BadChunk(text, document, rules);
  if (problem.empty()) problem = UncoveredText(text, document, rules);
  if (problem.empty()) problem = BadParent(text, document);
  return problem;
}

inline bool SameSplit(const indexer::SplitDocument& a, const indexer::SplitDocument& b) {
  return a.title == b.title && a.parents == b.parents &&
         std::equal(a.chunks.begin(), a.chunks.end(), b.chunks.begin(), b.chunks.end(),
                    [](const indexer::SplitChunk& x, const indexer::SplitChunk& y) {
                      return x.range == y.range && x.kind == y.kind && x.parent == y.parent;
                    });
}

}  // namespace rag::testing

#endif  // TESTS_TESTING_SPLIT_INVARIANTS_H_
