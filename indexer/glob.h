// One gitignore pattern's glob, compiled once: "*.log", "docs/**/x?", "[a-c]*".
//
// Follows what git does, its wildmatch included: "?" and classes never match "/", "*" stays within
// a part of the path, "**" between slashes (or at an end) crosses them, "\" takes the next byte as
// it is, and a class that never closes matches nothing. Bytes are compared, not characters, and
// case counts.
#ifndef INDEXER_GLOB_H_
#define INDEXER_GLOB_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rag::indexer {

// Threads: immutable, so any number.
class Glob {
 public:
  explicit Glob(std::string_view pattern);

  // Whether all of `text` matches. O(pattern · text) at worst, whatever the pattern, because all
  // ways of matching are followed at once instead of one after the other.
  [[nodiscard]] bool Matches(std::string_view text) const;

 private:
  using ByteSet = std::bitset<256>;
  enum class Kind : std::uint8_t { kByte, kSet, kStar, kStarStar };
  struct Token {
    Kind kind = Kind::kByte;
    std::uint8_t byte = 0;     // kByte
    std::uint32_t set = 0;     // kSet: place in sets_
    bool skips_slash = false;  // kStarStar before "/": both may match nothing
  };

  void Compile(std::string_view pattern);
  void AddByte(std::uint8_t byte) { tokens_.push_back({.byte = byte}); }
  void AddSet(const ByteSet& set);
  void AddStars(std::string_view pattern, std::size_t begin, std::size_t end);
  void FindSuffix();
  void Close(std::vector<std::uint8_t>& states) const;
  bool Step(const std::vector<std::uint8_t>& from, std::uint8_t byte,
            std::vector<std::uint8_t>& to) const;

  std::string prefix_;  // bytes before the first wildcard
  std::string suffix_;  // bytes after the last one
  std::vector<Token> tokens_;
  std::vector<ByteSet> sets_;
  std::size_t min_size_ = 0;  // no shorter text matches
  bool never_ = false;
};

}  // namespace rag::indexer

#endif  // INDEXER_GLOB_H_
