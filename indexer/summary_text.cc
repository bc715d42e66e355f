#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/sentences.h"
#include "indexer/summarizer.h"

namespace rag::indexer {
namespace {

using formats::Span;

std::string_view Slice(std::string_view text, Span span) {
  return text.substr(span.start, span.size());
}

// Whether nothing but ASCII white space lies between two ranges of `text`.
bool Adjoin(std::string_view text, Span left, Span right) {
  return Slice(text, {left.end, right.start}).find_first_not_of(" \t\n\v\f\r") ==
         std::string_view::npos;
}

// A sentence, or what is left of it.
struct Piece {
  Span place;               // in the document
  std::uint64_t shift = 0;  // of places in the document against those in the text at hand

  [[nodiscard]] Span range() const { return {place.start - shift, place.end - shift}; }
};

// Its sentences in the order of the document, each byte once: chunks may overlap, and then a
// sentence, or a part of it, is in two of them.
std::vector<Piece> Pieces(const DocumentText& document, const DraftSummary& summary) {
  std::vector<Piece> pieces;
  pieces.reserve(summary.sentences.size());
  for (const std::uint32_t index : summary.sentences) {
    const Sentence& sentence = document.sentences[index];
    pieces.push_back({{sentence.range.start + sentence.shift, sentence.range.end + sentence.shift},
                      sentence.shift});
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.place < b.place; });
  std::uint64_t end = 0;
  for (Piece& piece : pieces) {
    piece.place.start = std::min(std::max(piece.place.start, end), piece.place.end);
    end = std::max(end, piece.place.end);
  }
  std::erase_if(pieces, [](const Piece& piece) { return piece.place.empty(); });
  return pieces;
}

}  // namespace

std::string RenderSummary(const DocumentText& document, const DraftSummary& summary) {
  if (!summary.text.empty()) return summary.text;
  std::string out;
  for (const Piece& piece : Pieces(document, summary)) {
    if (!out.empty()) out += ' ';
    out += CollapseWhiteSpace(Slice(document.text, piece.range()));
  }
  return out;
}

formats::Summary ToSummary(const DocumentText& document, const DraftSummary& summary) {
  formats::Summary out;
  out.text = summary.text;
  if (!out.text.empty()) return out;
  Span before;
  for (const Piece& piece : Pieces(document, summary)) {
    if (!out.spans.empty() && Adjoin(document.text, before, piece.range())) {
      out.spans.back().end = piece.place.end;
    } else {
      out.spans.push_back(piece.place);
    }
    before = piece.range();
  }
  return out;
}

}  // namespace rag::indexer
