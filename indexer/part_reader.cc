#include "indexer/part_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "formats/status_macros.h"
#include "indexer/characters.h"
#include "indexer/open_file.h"

namespace rag::indexer {
namespace {

constexpr std::size_t kMaxSequenceBytes = 4;  // of one code point in UTF-8

bool MayCutAt(std::string_view text, std::size_t pos) {
  return MayCut(DecodeBefore(text, pos).value, DecodeAt(text, pos).value);
}

// The last place in the second half of the text after a code point that `ends` accepts; 0 when
// there is none.
template <typename Ends>
std::size_t LastPlace(std::string_view text, Ends ends) {
  for (std::size_t pos = text.size(); pos > text.size() / 2;) {
    const CodePoint before = DecodeBefore(text, pos);
    if (pos < text.size() && ends(before.value) && MayCutAt(text, pos)) return pos;
    pos -= before.size_bytes;
  }
  return 0;
}

// Where text that goes on is cut when nothing but its length asks for it.
std::size_t PlaceToCut(std::string_view text) {
  std::size_t place = LastPlace(text, [](char32_t c) { return c == '\n'; });
  if (place == 0) place = LastPlace(text, [](char32_t c) { return IsWhiteSpace(c) && c != '\r'; });
  if (place == 0) place = LastPlace(text, [](char32_t) { return true; });
  return place == 0 ? text.size() : place;
}

// The text of a file from where the sink has got to.
class Window {
 public:
  explicit Window(const CorpusFile& file) : file_(file), open_(file.path) {}

  // Reads on until there are so many bytes to see, or all that are left. How many more a call of
  // the system happens to give never shows. False: see skipped().
  bool Fill(std::size_t size) {
    if (!open_.is_open()) return Skip(SkipReason::kUnreadable, ErrnoMessage(errno));
    while (!at_end_ && bytes_.size() <= size) {
      const ssize_t count = open_.ReadBlock(bytes_);
      if (count < 0) return Skip(SkipReason::kUnreadable, ErrnoMessage(errno));
      at_end_ = count == 0;
    }
    holds_all_ = at_end_ && bytes_.size() <= size;
    const std::string_view seen = std::string_view(bytes_).substr(0, size);
    valid_ = ValidUtf8Prefix(seen);
    const std::size_t rest = seen.size() - valid_;
    if (rest >= kMaxSequenceBytes || (holds_all_ && rest > 0)) {
      return Skip(SkipReason::kInvalidUtf8, absl::StrCat("not UTF-8 at offset ", offset_ + valid_));
    }
    return true;
  }

  [[nodiscard]] std::string_view text() const { return std::string_view(bytes_).substr(0, valid_); }
  // The text goes to the end of the file.
  [[nodiscard]] bool holds_all() const { return holds_all_; }
  [[nodiscard]] const SkippedFile& skipped() const { return skipped_; }

  void Drop(std::size_t size) {
    bytes_.erase(0, size);
    offset_ += size;
  }

 private:
  bool Skip(SkipReason reason, std::string detail) {
    skipped_ = {file_.source, reason, std::move(detail)};
    return false;
  }

  const CorpusFile& file_;
  OpenFile open_;
  std::string bytes_;
  std::size_t valid_ = 0;  // bytes of the text: those to see that are whole code points
  bool at_end_ = false;    // of the file
  bool holds_all_ = false;
  std::uint64_t offset_ = 0;
  SkippedFile skipped_;
};

}  // namespace

absl::StatusOr<std::optional<SkippedFile>> ReadTextParts(const CorpusFile& file,
                                                         const PartSizes& sizes,
                                                         const TextSink& sink) {
  Window window(file);
  std::size_t wanted = sizes.usual;
  for (;;) {
    if (!window.Fill(wanted)) return window.skipped();
    const std::string_view text = window.text();
    if (text.empty() && window.holds_all()) return std::nullopt;
    RAG_ASSIGN_OR_RETURN(std::size_t taken, sink(text, window.holds_all()));
    if (taken == 0 && wanted < sizes.max) {
      wanted = std::min(2 * wanted, sizes.max);
      continue;
    }
    if (taken == 0) {
      RAG_ASSIGN_OR_RETURN(taken, sink(text.substr(0, PlaceToCut(text)), /*all=*/true));
    }
    window.Drop(taken);
    wanted = sizes.usual;
  }
}

}  // namespace rag::indexer
