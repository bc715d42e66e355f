// Names of chunks and the lines that introduce a chunk in a context: the one place that both the
// build (which counts their cost) and the query (which prints them) take them from.
#ifndef FORMATS_CHUNK_HEADER_H_
#define FORMATS_CHUNK_HEADER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "formats/forward_index.h"

namespace rag::formats {

// Between two chunks of a context: a blank line, "---", a blank line.
inline constexpr std::string_view kChunkSeparator = "\n\n---\n\n";

// "<doc_id>-chunk-004"; `chunk` is the ordinal in the document, from 0, the number shown is from 1.
std::string ChunkId(std::string_view doc_id, std::uint32_t chunk);

struct ChunkHeaderFields {
  std::string_view source;
  std::string_view doc_id;
  std::uint32_t chunk = 0;  // ordinal from 0
  std::uint32_t line_start = 1;
  std::uint32_t line_end = 1;
};

// What precedes the chunk's text, with its line breaks. kNone: nothing. kShort: "[source:12-19]\n".
// kFull: the article's "Source: …\nChunk ID: …\nChunk position: 4\n\n". Names are PrintableName's,
// so the header is valid UTF-8 and has as many lines as it seems to have.
std::string ChunkHeader(HeaderStyle style, const ChunkHeaderFields& fields);

std::string_view ToString(HeaderStyle style);  // "none", "short", "full"
absl::StatusOr<HeaderStyle> ParseHeaderStyle(std::string_view name);

}  // namespace rag::formats

#endif  // FORMATS_CHUNK_HEADER_H_
