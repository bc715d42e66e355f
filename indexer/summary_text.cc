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

// Its sentences in the order of the text, each byte once: chunks may overlap, and then a sentence,
// or a part of it, is in two of them.
std::vector<Span> SentenceRanges(const DocumentText& document, const DraftSummary& summary) {
  std::vector<Span> ranges;
  ranges.reserve(summary.sentences.size());
  for (const std::uint32_t index : summary.sentences) {
    ranges.push_back(document.sentences[index].range);
  }
  std::sort(ranges.begin(), ranges.end());
  std::uint64_t end = 0;
  for (Span& range : ranges) {
    range.start = std::min(std::max(range.start, end), range.end);
    end = std::max(end, range.end);
  }
  std::erase_if(ranges, [](Span range) { return range.empty(); });
  return ranges;
}

}  // namespace

std::string RenderSummary(const DocumentText& document, const DraftSummary& summary) {
  if (!summary.text.empty()) return summary.text;
  std::string out;
  for (const Span range : SentenceRanges(document, summary)) {
    if (!out.empty()) out += ' ';
    out += CollapseWhiteSpace(Slice(document.text, range));
  }
  return out;
}

formats::Summary ToSummary(const DocumentText& document, const DraftSummary& summary) {
  formats::Summary out;
  out.text = summary.text;
  if (!out.text.empty()) return out;
  for (const Span range : SentenceRanges(document, summary)) {
    if (!out.spans.empty() && Adjoin(document.text, out.spans.back(), range)) {
      out.spans.back().end = range.end;
    } else {
      out.spans.push_back(range);
    }
  }
  return out;
}

}  // namespace rag::indexer
