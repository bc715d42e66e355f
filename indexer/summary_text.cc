#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

}  // namespace

std::string RenderSummary(const DocumentText& document, const DraftSummary& summary) {
  if (!summary.text.empty()) return summary.text;
  std::string out;
  for (const std::uint32_t index : summary.sentences) {
    if (!out.empty()) out += ' ';
    out += CollapseWhiteSpace(Slice(document.text, document.sentences[index].range));
  }
  return out;
}

formats::Summary ToSummary(const DocumentText& document, const DraftSummary& summary) {
  formats::Summary out;
  out.text = summary.text;
  if (!out.text.empty()) return out;
  Span before;
  for (const std::uint32_t index : summary.sentences) {
    const Sentence& sentence = document.sentences[index];
    const Span range = {sentence.range.start + sentence.shift, sentence.range.end + sentence.shift};
    if (!out.spans.empty() && Adjoin(document.text, before, sentence.range)) {
      out.spans.back().end = range.end;
    } else {
      out.spans.push_back(range);
    }
    before = sentence.range;
  }
  return out;
}

}  // namespace rag::indexer
