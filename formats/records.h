// The values of the record store: documents, parents, chunks and nodes of the summary tree, as
// structs with Encode and Decode. FORMAT.md, "Records", gives every byte.
//
// Decoders take bytes that may be damaged: any input gives a value or DATA_LOSS, never a crash, and
// no allocation is larger than the input justifies. Encode(Decode(x)) == x for every valid x.
#ifndef FORMATS_RECORDS_H_
#define FORMATS_RECORDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/checksum.h"
#include "formats/span.h"

namespace rag::formats {

// The value is on disk: never renumber.
enum class MediaType : std::uint8_t { kPlainText = 0, kMarkdown = 1 };
enum class ChunkKind : std::uint8_t {
  kProse = 0,
  kCode = 1,
  kTable = 2,
  kList = 3,
  kHtml = 4,
  kQuote = 5
};
enum class ParentKind : std::uint8_t { kDocument = 0, kSection = 1 };

std::string_view ToString(MediaType type);
std::string_view ToString(ChunkKind kind);
std::string_view ToString(ParentKind kind);

// A summary: byte ranges of whole sentences when it was extracted (`text` is empty), literal text
// otherwise (`spans` is empty). Ranges ascend and do not overlap; they are offsets in the original
// file.
struct Summary {
  std::vector<Span> spans;
  std::string text;
  friend bool operator==(const Summary&, const Summary&) = default;
};

// Key: document ordinal, dense from 0, in byte order of `source`.
struct DocumentRecord {
  std::string doc_id;
  std::string
      source;  // path relative to the corpus root, "/" between parts, after any source prefix
  std::string title;  // first heading, or the file's stem; UTF-8
  Sha256 content_sha256{};
  std::uint64_t size_bytes = 0;
  MediaType media_type = MediaType::kPlainText;
  std::uint32_t num_chunks = 0;
  std::uint32_t num_parents = 0;
  std::uint32_t num_segments = 0;          // forward segments, formats/forward_index.h
  std::uint32_t chunks_per_group = 0;      // above 0 where there are chunks, formats/chunk_group.h
  std::vector<std::uint32_t> level_sizes;  // nodes in each level of the summary tree, level 0 first
  Summary summary;                         // the root of the tree
  std::map<std::string, std::string> metadata;
  friend bool operator==(const DocumentRecord&, const DocumentRecord&) = default;
};

// Key: document, ordinal of the parent in the document. Parents ascend and tile the document's
// chunks.
struct ParentRecord {
  ParentKind kind = ParentKind::kDocument;
  Span range;
  std::uint32_t first_chunk = 0;
  std::uint32_t num_chunks = 0;
  std::uint8_t level = 0;    // heading level 1–6, 0 for text before the first heading
  std::string heading_path;  // "Install > From source"; empty before the first heading
  friend bool operator==(const ParentRecord&, const ParentRecord&) = default;
};

// An item of a chunk group, formats/chunk_group.h. `text` is the file's own bytes at `range`,
// and the spans of `summary` lie in `range`; decoding checks both. Token costs and term counts live
// in the forward segment alone.
struct ChunkRecord {
  Span range;
  std::uint32_t line_start = 1;  // 1-based, inclusive
  std::uint32_t line_end = 1;
  std::uint32_t parent = 0;
  ChunkKind kind = ChunkKind::kProse;
  Summary summary;
  std::string text;
  friend bool operator==(const ChunkRecord&, const ChunkRecord&) = default;
};

// Key: document, level, node. A node of level 0 covers consecutive chunks, one of level n
// consecutive nodes of level n - 1.
struct SummaryNode {
  std::uint32_t first_child = 0;
  std::uint32_t num_children = 0;
  std::uint32_t input_tokens = 0;  // what was sent to be summarised
  Summary summary;
  friend bool operator==(const SummaryNode&, const SummaryNode&) = default;
};

std::string Encode(const DocumentRecord& record);
std::string Encode(const ParentRecord& record);
std::string Encode(const ChunkRecord& record);
std::string Encode(const SummaryNode& record);

absl::StatusOr<DocumentRecord> DecodeDocument(std::string_view bytes);
absl::StatusOr<ParentRecord> DecodeParent(std::string_view bytes);
absl::StatusOr<ChunkRecord> DecodeChunk(std::string_view bytes);
absl::StatusOr<SummaryNode> DecodeSummaryNode(std::string_view bytes);

}  // namespace rag::formats

#endif  // FORMATS_RECORDS_H_
