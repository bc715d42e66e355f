// Code points, white space and grapheme clusters of UTF-8 text, as the splitters count and cut it.
#ifndef INDEXER_CHARACTERS_H_
#define INDEXER_CHARACTERS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rag::indexer {

struct CodePoint {
  char32_t value = 0;
  std::uint32_t size_bytes = 1;
};

// The code point that starts at `pos` < text.size(). A byte that starts no valid sequence reads as
// U+FFFD of one byte, so that any bytes can be walked.
CodePoint DecodeAt(std::string_view text, std::size_t pos);
// The code point that ends at `pos` > 0 of valid UTF-8.
CodePoint DecodeBefore(std::string_view text, std::size_t pos);

// Of valid UTF-8.
std::uint64_t CountCodePoints(std::string_view text);

// Length of the longest valid prefix: text.size() when all of it is valid UTF-8. Strict:
// surrogates, overlong forms and values above U+10FFFF are not valid.
std::size_t ValidUtf8Prefix(std::string_view text);

// At most `max_bytes` from the front, ending at a code point.
std::string_view TruncateUtf8(std::string_view text, std::size_t max_bytes);

// Bytes of a leading byte-order mark: 3 or 0.
std::size_t ByteOrderMarkSize(std::string_view text);

// Unicode white space as Python's str.isspace() and \s define it.
bool IsWhiteSpace(char32_t c);
// The same without no-break spaces, which are no place to cut.
bool IsBreakingSpace(char32_t c);

// ASCII white space or NUL: what chunks need not cover.
constexpr bool IsBlankByte(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

// Whether text may be cut between two code points, decided by these two alone: enough wherever one
// of them is no emoji or regional indicator. Stricter than the grapheme clusters of UAX #29: every
// combining mark stays with its base, and nothing is cut after a zero width joiner.
bool MayCut(char32_t before, char32_t after);

// The same with the memory that sequences of emoji and regional indicators need. Feed it every pair
// in order, from a place where text may be cut. Threads: one.
class ClusterScanner {
 public:
  bool MayCut(char32_t before, char32_t after);

 private:
  std::int32_t state_ = 0;
};

}  // namespace rag::indexer

#endif  // INDEXER_CHARACTERS_H_
