// Sentences and the cuts of ranges that are too long. Bytes 0 to 2: limits; the rest: the text.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "indexer/characters.h"
#include "indexer/sentences.h"
#include "indexer/text_cuts.h"
#include "tests/fuzz/fuzz.h"
#include "tests/testing/split_invariants.h"

namespace rag::fuzz {
namespace {

using formats::Span;

enum class Blank { kUnicode, kBytes };

bool IsBlank(char32_t c, Blank blank) {
  return blank == Blank::kUnicode ? indexer::IsWhiteSpace(c)
                                  : c < 0x80 && indexer::IsBlankByte(static_cast<char>(c));
}

// Ranges ascend, are not empty, and leave out nothing but blanks.
void CheckCover(std::string_view text, const std::vector<Span>& ranges, Blank blank) {
  std::size_t next = 0;
  std::uint64_t end = 0;
  for (const Span& range : ranges) {
    Require(range.start >= end && range.start < range.end && range.end <= text.size(),
            "ranges ascend inside the text");
    const std::string_view part = text.substr(range.start, range.size());
    Require(indexer::ValidUtf8Prefix(part) == part.size(), "ranges are whole code points");
    end = range.end;
  }
  for (std::size_t pos = 0; pos < text.size();) {
    const indexer::CodePoint c = indexer::DecodeAt(text, pos);
    while (next < ranges.size() && ranges[next].end <= pos) ++next;
    const bool covered = next < ranges.size() && ranges[next].start <= pos;
    Require(covered || IsBlank(c.value, blank), "nothing but blanks is left out");
    pos += c.size_bytes;
  }
}

void CheckSentences(std::string_view text) {
  const std::vector<Span> sentences = indexer::SplitSentences(text);
  CheckCover(text, sentences, Blank::kUnicode);
  const std::vector<bool> edges = testing::ClusterEdges(text);
  for (const Span& sentence : sentences) {
    // White space around the text is in no sentence, even where it is in one cluster with a mark.
    const bool starts_well = edges[sentence.start] || sentence == sentences.front();
    const bool ends_well = edges[sentence.end] || sentence == sentences.back();
    Require(starts_well && ends_well, "sentences end outside clusters");
    const indexer::CodePoint first = indexer::DecodeAt(text, sentence.start);
    Require(!indexer::IsWhiteSpace(first.value), "sentences start with no white space");
  }
  const std::string collapsed = indexer::CollapseWhiteSpace(text);
  Require(indexer::CollapseWhiteSpace(collapsed) == collapsed, "white space is collapsed once");
  Require(absl::StrJoin(indexer::ArticleSentences(text), " ") == collapsed,
          "the article's sentences are the collapsed text");
}

void CheckPieces(std::string_view text, const std::vector<Span>& pieces,
                 const indexer::CutLimits& limits) {
  CheckCover(text, pieces, Blank::kBytes);
  std::uint64_t lead = limits.lead;
  for (const Span& piece : pieces) {
    const std::uint64_t size = indexer::CountCodePoints(text.substr(piece.start, piece.size()));
    Require(size + lead <= limits.hard, "no piece is above the hard limit");
    lead = 0;
  }
}

void CheckCuts(std::string_view text, const indexer::CutLimits& limits) {
  const Span all{0, text.size()};
  const Span trimmed = indexer::TrimBlank(text, all);
  if (!trimmed.empty()) CheckCover(text, {trimmed}, Blank::kBytes);
  CheckPieces(text, indexer::CutSpan(text, all, limits, indexer::CutAt::kLineEnds), limits);
  CheckPieces(text, indexer::CutSpan(text, all, limits, indexer::CutAt::kWhiteSpace), limits);
  CheckPieces(text, indexer::CutProse(text, all, limits), limits);
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  fuzz::Input input(data, size);
  indexer::CutLimits limits;
  limits.soft = 1U + input.Byte();
  limits.hard = limits.soft + input.Byte();
  limits.lead = std::min<std::uint64_t>(input.Byte(), limits.hard - 1);
  const std::string text = fuzz::ToUtf8(input.Rest());
  fuzz::CheckSentences(text);
  fuzz::CheckCuts(text, limits);
  return 0;
}
