#include "indexer/analyzed_document.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "formats/forward_index.h"
#include "indexer/chunk_costs.h"
#include "indexer/text_file.h"
#include "models/hashed_bm25.h"

namespace rag::indexer {
namespace {

std::uint32_t TotalCount(const std::vector<models::WeightedTerm>& terms) {
  std::uint64_t total = 0;
  for (const models::WeightedTerm& term : terms) total += term.count;
  return static_cast<std::uint32_t>(total);
}

// 40-bit terms, ascending; terms that share their 40 bits are added up.
std::vector<formats::TermCount> Shorten(const std::vector<models::WeightedTerm>& terms) {
  std::vector<formats::TermCount> out;
  out.reserve(terms.size());
  for (const models::WeightedTerm& term : terms) {
    out.push_back({term.hash & formats::kTermMask, term.count});
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.term < b.term; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (kept > 0 && out[kept - 1].term == out[i].term) {
      out[kept - 1].count += out[i].count;
    } else {
      out[kept++] = out[i];
    }
  }
  out.resize(kept);
  return out;
}

formats::SectionTerms ToSection(const std::vector<models::WeightedTerm>& terms) {
  return {.length = TotalCount(terms), .terms = Shorten(terms)};
}

// Sum over the chunks of the weighted lengths around each, rounded to 1/1024: sums over a corpus
// are exact then, whatever their order, and a document can be taken out again.
double SumNearLengths(const std::vector<std::uint32_t>& lengths, std::uint32_t title_length) {
  using formats::kNearRadius;
  constexpr double kUnits = 1024;
  double weight[kNearRadius + 1];
  for (int d = 0; d <= kNearRadius; ++d) weight[d] = std::pow(formats::kNearDecay, d);
  const auto n = static_cast<std::int64_t>(lengths.size());
  double total = 0;
  for (std::int64_t chunk = 0; chunk < n; ++chunk) {
    double length = title_length;
    for (std::int64_t d = -kNearRadius; d <= kNearRadius; ++d) {
      if (chunk + d < 0 || chunk + d >= n) continue;
      length += weight[d < 0 ? -d : d] * lengths[static_cast<std::size_t>(chunk + d)];
    }
    total += length;
  }
  return std::round(total * kUnits) / kUnits;
}

}  // namespace

std::vector<models::WeightedTerm> TermsOf(std::string_view text, models::TermAnalyzer& analyzer) {
  std::vector<std::uint64_t> hashes;
  analyzer.AppendTermHashes(text, hashes);
  return models::CountTerms(std::move(hashes));
}

void StatsCounter::SetTitle(const Terms& terms) {
  title_length_ = TotalCount(terms);
  for (const models::WeightedTerm& term : terms) frequencies_.try_emplace(term.hash, 0);
}

void StatsCounter::AddSection(const Terms& terms) {
  section_lengths_.push_back(TotalCount(terms));
  for (const models::WeightedTerm& term : terms) frequencies_.try_emplace(term.hash, 0);
}

void StatsCounter::AddChunk(const Terms& terms, std::uint32_t section) {
  const std::uint32_t length = TotalCount(terms);
  lengths_.push_back(length + section_lengths_[section]);
  body_length_ += length;
  for (const models::WeightedTerm& term : terms) ++frequencies_[term.hash];
}

DocumentStats StatsCounter::Take() const {
  DocumentStats stats;
  stats.frequencies.reserve(frequencies_.size());
  for (const auto& [hash, chunks] : frequencies_) stats.frequencies.push_back({hash, chunks});
  std::sort(stats.frequencies.begin(), stats.frequencies.end(),
            [](const TermFrequency& a, const TermFrequency& b) { return a.hash < b.hash; });
  formats::CorpusTotals& totals = stats.totals;
  totals.num_documents = 1;
  totals.num_chunks = lengths_.size();
  totals.num_sections = section_lengths_.size();
  std::uint64_t headings = 0;
  for (const std::uint32_t length : section_lengths_) headings += length;
  for (const std::uint32_t length : lengths_) totals.chunk_length += length + title_length_;
  totals.section_length = body_length_ + headings + section_lengths_.size() * title_length_;
  totals.document_length = body_length_ + headings + title_length_;
  totals.near_length = SumNearLengths(lengths_, title_length_);
  return stats;
}

DocumentAnalyzer::DocumentAnalyzer(std::string source, std::string doc_id, formats::MediaType type,
                                   const Splitter& splitter, const models::TokenCounter& counter,
                                   models::TermAnalyzer& analyzer)
    : splitter_(splitter), counter_(counter), analyzer_(analyzer) {
  document_.source = std::move(source);
  document_.doc_id = std::move(doc_id);
  document_.media_type = type;
}

std::size_t DocumentAnalyzer::AddPart(std::string_view text, bool all, AnalyzedPart& part) {
  const bool first = !split_state_.started;
  SplitDocument split;
  const std::uint64_t size =
      splitter_.SplitPart(text, document_.media_type, all, split_state_, split);
  if (size == 0 && !all) return 0;
  part = AnalyzedPart();
  part.offset = document_.size_bytes;
  part.text = text.substr(0, size);
  if (first) SetTitle(std::move(split.title));
  SplitOff(std::move(split), part);
  content_.Update(part.text);
  document_.size_bytes += size;
  CountLines(part);
  AddSections(part);
  for (std::size_t i = 0; i < part.chunks.size(); ++i) AddChunk(part, i);
  part.segments = std::exchange(segments_, {});
  return size;
}

AnalyzedDocument DocumentAnalyzer::Finish(AnalyzedPart last_part) {
  document_.content = content_.Finish();
  document_.stats = stats_.Take();
  static_cast<AnalyzedPart&>(document_) = std::move(last_part);
  if (!segment_.chunks.empty()) {
    FinishSegment();
    document_.segments.push_back(std::move(segments_.back()));
  }
  return std::move(document_);
}

// A heading that comes after the first part is too late: the title is among the terms of every
// segment.
void DocumentAnalyzer::SetTitle(std::string title) {
  document_.title = title.empty() ? TitleFromName(document_.source) : std::move(title);
  const auto terms = TermsOf(document_.title, analyzer_);
  title_ = ToSection(terms);
  stats_.SetTitle(terms);
}

// Numbers chunks and parents as those of the document.
void DocumentAnalyzer::SplitOff(SplitDocument split, AnalyzedPart& part) {
  const auto shift = [&part](formats::Span& range) {
    range.start += part.offset;
    range.end += part.offset;
  };
  part.first_chunk = document_.num_chunks;
  part.first_parent = document_.num_parents;
  part.chunks = std::move(split.chunks);
  part.parents = std::move(split.parents);
  for (SplitChunk& chunk : part.chunks) {
    shift(chunk.range);
    chunk.parent += part.first_parent;
  }
  for (formats::ParentRecord& parent : part.parents) {
    shift(parent.range);
    parent.first_chunk += part.first_chunk;
  }
  document_.num_chunks += static_cast<std::uint32_t>(part.chunks.size());
  document_.num_parents += static_cast<std::uint32_t>(part.parents.size());
}

// First and last line of each chunk, counted in one walk over the text.
void DocumentAnalyzer::CountLines(AnalyzedPart& part) {
  part.chunk_lines.reserve(2 * part.chunks.size());
  std::size_t at = 0;
  const auto advance = [&](std::size_t to) {
    const auto begin = part.text.begin();
    line_ += static_cast<std::uint32_t>(std::count(begin + static_cast<std::ptrdiff_t>(at),
                                                   begin + static_cast<std::ptrdiff_t>(to), '\n'));
    at = to;
    return line_;
  };
  for (const SplitChunk& chunk : part.chunks) {
    part.chunk_lines.push_back(advance(chunk.range.start - part.offset));
    part.chunk_lines.push_back(advance(chunk.range.end - part.offset - 1));
  }
  advance(part.text.size());
}

void DocumentAnalyzer::AddSections(const AnalyzedPart& part) {
  for (const formats::ParentRecord& parent : part.parents) {
    const auto terms = TermsOf(parent.heading_path, analyzer_);
    stats_.AddSection(terms);
    sections_.push_back(ToSection(terms));
  }
}

void DocumentAnalyzer::AddChunk(const AnalyzedPart& part, std::size_t i) {
  const std::uint32_t number = part.first_chunk + static_cast<std::uint32_t>(i);
  const std::uint32_t parent = part.chunks[i].parent;
  if (segment_.chunks.empty()) {
    segment_.first_chunk = number;
    segment_.title = title_;
    sections_.erase(sections_.begin(), sections_.begin() + (parent - first_section_));
    first_section_ = parent;
  }
  const std::uint32_t section = parent - first_section_;
  while (segment_.sections.size() <= section) {
    segment_.sections.push_back(sections_[segment_.sections.size()]);
  }
  const std::string_view text = part.Slice(part.chunks[i].range);
  const auto terms = TermsOf(text, analyzer_);
  stats_.AddChunk(terms, parent);
  formats::ChunkTerms& out = segment_.chunks.emplace_back();
  out.section = section;
  out.length = TotalCount(terms);
  out.terms = Shorten(terms);
  SetChunkCosts({.source = document_.source,
                 .doc_id = document_.doc_id,
                 .chunk = number,
                 .line_start = part.chunk_lines[2 * i],
                 .line_end = part.chunk_lines[2 * i + 1]},
                text, counter_, out);
  if (segment_.chunks.size() == formats::kSegmentChunks) FinishSegment();
}

void DocumentAnalyzer::FinishSegment() {
  segments_.push_back(formats::Encode(segment_));
  segment_ = {};
  ++document_.num_segments;
}

AnalyzedDocument AnalyzeDocument(std::string source, std::string doc_id, std::string text,
                                 formats::MediaType type, const Splitter& splitter,
                                 const models::TokenCounter& counter,
                                 models::TermAnalyzer& analyzer) {
  DocumentAnalyzer document(std::move(source), std::move(doc_id), type, splitter, counter,
                            analyzer);
  AnalyzedPart part;
  document.AddPart(text, /*all=*/true, part);
  return document.Finish(std::move(part));
}

}  // namespace rag::indexer
