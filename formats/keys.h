// Keys of the record store: big-endian ordinals, so that byte order is numeric order and neighbours
// are adjacent. FORMAT.md, "Keys".
#ifndef FORMATS_KEYS_H_
#define FORMATS_KEYS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace rag::formats {

// Column families of the record store, in the order in which they are written. The names are on
// disk: never rename one.
inline constexpr std::string_view kDocumentsFamily = "documents";  // doc -> DocumentRecord
inline constexpr std::string_view kSourcesFamily = "sources";      // source path -> doc (varint)
inline constexpr std::string_view kParentsFamily = "parents";      // doc, parent -> ParentRecord
inline constexpr std::string_view kChunksFamily = "chunks";        // doc, group -> chunk group
inline constexpr std::string_view kSummariesFamily =
    "summaries";                                           // doc, level, node -> SummaryNode
inline constexpr std::string_view kTermsFamily = "terms";  // doc, segment -> ForwardSegment

// 4 bytes: the document's ordinal.
std::string DocumentKey(std::uint32_t document);
// 8 bytes: the document's ordinal, then the ordinal of a parent, chunk group or segment in the
// document.
std::string ItemKey(std::uint32_t document, std::uint32_t item);
// 12 bytes: document, level of the reduction, node in the level.
std::string NodeKey(std::uint32_t document, std::uint32_t level, std::uint32_t node);

// The ordinals of a key of `parts` big-endian words. DATA_LOSS when its length is another.
struct KeyParts {
  std::uint32_t part[3] = {0, 0, 0};
};
absl::StatusOr<KeyParts> ParseKey(std::string_view key, int parts);

}  // namespace rag::formats

#endif  // FORMATS_KEYS_H_
