// Splitters: from the bytes of a document to ranges of chunks and their parents. They return ranges
// and a tree, never strings, and change nothing: nothing that is not blank is lost.
#ifndef INDEXER_SPLITTER_H_
#define INDEXER_SPLITTER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/records.h"
#include "formats/span.h"

namespace rag::indexer {

struct SplitChunk {
  formats::Span range;
  formats::ChunkKind kind = formats::ChunkKind::kProse;
  std::uint32_t parent = 0;  // index into SplitDocument::parents
};

// Invariants for every splitter and every valid UTF-8 input: chunks ascend and do not overlap,
// begin and end on UTF-8 boundaries and outside grapheme clusters (only a cluster that is longer
// than a chunk may be is cut), are never blank, and together cover every byte that is not ASCII
// white space, NUL or a leading BOM, which is in no chunk. Parents tile the chunks in order. A
// blank input gives no chunks.
struct SplitDocument {
  std::string title;  // first heading; empty when there is none
  std::vector<SplitChunk> chunks;
  std::vector<formats::ParentRecord> parents;
};

// Where the split of a document stands that is split part by part; at first, before all of it.
struct SplitState {
  bool started = false;
  bool has_headings = false;
  std::array<std::string, 7> titles;  // of the headings above this place, by level
};

// Threads: const methods may run concurrently.
class Splitter {
 public:
  virtual ~Splitter() = default;
  // Names the rule and its sizes, for the manifest: "structure-v2/target=280/cap=360/max=1680".
  [[nodiscard]] virtual std::string Id() const = 0;
  // `text` is valid UTF-8.
  [[nodiscard]] virtual SplitDocument Split(std::string_view text,
                                            formats::MediaType type) const = 0;

  // For documents that are too long to be held: `text` is what follows the parts before. Splits a
  // part off its start, up to a place that suits or `all` of it, and returns its size in bytes; 0
  // when a part needs more text. Offsets in `part` count from the start of `text`, parents from the
  // part's first. Parts begin parents of their own.
  [[nodiscard]] virtual std::uint64_t SplitPart(std::string_view text, formats::MediaType type,
                                                bool all, SplitState& state,
                                                SplitDocument& part) const;
};

// Sizes in code points.
struct StructureSizes {
  std::uint32_t target = 280;     // consecutive blocks of a section are packed up to this
  std::uint32_t cap = 360;        // prose longer than this is cut at sentence ends
  std::uint32_t hard_max = 1680;  // fences, table rows and list items are cut only above this
};

// The source article's rule, to the letter: split at blank lines (\n\s*\n), trim, drop empty ones;
// a new chunk starts when the current one is not empty and its paragraphs + the next exceed `size`
// code points (separators not counted); long paragraphs stay whole. One parent: the document. As in
// Python, \r\n and \r count as \n, and white space is Unicode's: U+3000 around a paragraph is in no
// chunk.
std::unique_ptr<Splitter> MakeArticleSplitter(std::uint32_t size = 420);

// For real files: CommonMark blocks; headings make sections, which are the parents; a heading stays
// with its first text; fences, tables' rows and list items are atoms. A heading directly above a
// deeper one is part of that one's section. Where a heading and an atom do not fit one chunk it is
// the atom that stays whole. Plain text is paragraphs between blank lines, under one parent.
// INVALID_ARGUMENT unless 0 < target <= cap <= hard_max.
absl::StatusOr<std::unique_ptr<Splitter>> MakeStructureSplitter(const StructureSizes& sizes);

}  // namespace rag::indexer

#endif  // INDEXER_SPLITTER_H_
