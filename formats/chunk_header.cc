#include "formats/chunk_header.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "formats/names.h"

namespace rag::formats {
namespace {

absl::string_view Absl(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

std::string ChunkId(std::string_view doc_id, std::uint32_t chunk) {
  return absl::StrFormat("%s-chunk-%03d", Absl(doc_id), chunk + 1);
}

std::string ChunkHeader(HeaderStyle style, const ChunkHeaderFields& fields) {
  switch (style) {
    case HeaderStyle::kNone:
      return "";
    case HeaderStyle::kShort:
      return absl::StrCat("[", PrintableName(fields.source), ":", fields.line_start, "-",
                          fields.line_end, "]\n");
    case HeaderStyle::kFull:
      return absl::StrCat("Source: ", PrintableName(fields.source),
                          "\nChunk ID: ", PrintableName(ChunkId(fields.doc_id, fields.chunk)),
                          "\nChunk position: ", fields.chunk + 1, "\n\n");
  }
  return "";
}

std::string_view ToString(HeaderStyle style) {
  switch (style) {
    case HeaderStyle::kNone:
      return "none";
    case HeaderStyle::kShort:
      return "short";
    case HeaderStyle::kFull:
      return "full";
  }
  return "none";
}

absl::StatusOr<HeaderStyle> ParseHeaderStyle(std::string_view name) {
  for (HeaderStyle style : {HeaderStyle::kNone, HeaderStyle::kShort, HeaderStyle::kFull}) {
    if (name == ToString(style)) return style;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("header style '", Absl(name), "': must be full, short or none"));
}

}  // namespace rag::formats
