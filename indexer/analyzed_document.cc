#include "indexer/analyzed_document.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "formats/chunk_header.h"
#include "formats/forward_index.h"
#include "indexer/text_file.h"
#include "models/hashed_bm25.h"

namespace rag::indexer {
namespace {

using formats::Span;

std::string_view Slice(std::string_view text, Span span) {
  return text.substr(span.start, span.size());
}

// First and last line of each chunk, counted in one walk over the text.
std::vector<std::uint32_t> CountLines(std::string_view text,
                                      const std::vector<SplitChunk>& chunks) {
  std::vector<std::uint32_t> lines;
  lines.reserve(2 * chunks.size());
  std::uint32_t line = 1;
  std::size_t at = 0;
  const auto advance = [&](std::size_t to) {
    line += static_cast<std::uint32_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                  text.begin() + static_cast<std::ptrdiff_t>(to),
                                                  '\n'));
    at = to;
    return line;
  };
  for (const SplitChunk& chunk : chunks) {
    lines.push_back(advance(chunk.range.start));
    lines.push_back(advance(chunk.range.end - 1));
  }
  return lines;
}

std::vector<models::WeightedTerm> TermsOf(std::string_view text, models::TermAnalyzer& analyzer) {
  std::vector<std::uint64_t> hashes;
  analyzer.AppendTermHashes(text, hashes);
  return models::CountTerms(std::move(hashes));
}

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

// Counts, for each term of the document, the chunks whose body holds it.
class FrequencyCounter {
 public:
  void AddChunk(const std::vector<models::WeightedTerm>& terms) {
    for (const models::WeightedTerm& term : terms) ++chunks_[term.hash];
  }
  // Makes terms known that may occur in no body.
  void AddOther(const std::vector<models::WeightedTerm>& terms) {
    for (const models::WeightedTerm& term : terms) chunks_.try_emplace(term.hash, 0);
  }
  [[nodiscard]] std::vector<TermFrequency> Take() const {
    std::vector<TermFrequency> out;
    out.reserve(chunks_.size());
    for (const auto& [hash, chunks] : chunks_) out.push_back({hash, chunks});
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.hash < b.hash; });
    return out;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> chunks_;
};

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

// Gathers the statistics of one document: the title, then all sections, then the chunks.
class StatsCounter {
 public:
  using Terms = std::vector<models::WeightedTerm>;

  void SetTitle(const Terms& terms) {
    title_length_ = TotalCount(terms);
    frequencies_.AddOther(terms);
  }
  void AddSection(const Terms& terms) {
    section_lengths_.push_back(TotalCount(terms));
    frequencies_.AddOther(terms);
  }
  void AddChunk(const Terms& terms, std::uint32_t section) {
    const std::uint32_t length = TotalCount(terms);
    lengths_.push_back(length + section_lengths_[section]);
    body_length_ += length;
    frequencies_.AddChunk(terms);
  }

  [[nodiscard]] DocumentStats Take() const {
    DocumentStats stats;
    stats.frequencies = frequencies_.Take();
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

 private:
  std::uint32_t title_length_ = 0;
  std::vector<std::uint32_t> section_lengths_;
  std::vector<std::uint32_t> lengths_;  // body + heading path of each chunk
  std::uint64_t body_length_ = 0;
  FrequencyCounter frequencies_;
};

// Builds the forward segments and the statistics of one document.
class ForwardBuilder {
 public:
  ForwardBuilder(AnalyzedDocument& document, const models::TokenCounter& counter,
                 models::TermAnalyzer& analyzer)
      : document_(document), counter_(counter), analyzer_(analyzer) {}

  void Build() {
    const auto title_terms = TermsOf(document_.title, analyzer_);
    title_ = ToSection(title_terms);
    stats_.SetTitle(title_terms);
    for (const formats::ParentRecord& parent : document_.parents) {
      const auto terms = TermsOf(parent.heading_path, analyzer_);
      stats_.AddSection(terms);
      sections_.push_back(ToSection(terms));
    }
    const auto num_chunks = static_cast<std::uint32_t>(document_.chunks.size());
    for (std::uint32_t first = 0; first < num_chunks; first += formats::kSegmentChunks) {
      AddSegment(first, std::min(num_chunks, first + formats::kSegmentChunks));
    }
    document_.stats = stats_.Take();
  }

 private:
  void AddSegment(std::uint32_t first, std::uint32_t last) {
    formats::ForwardSegment segment;
    segment.first_chunk = first;
    segment.title = title_;
    const std::uint32_t first_parent = document_.chunks[first].parent;
    for (std::uint32_t chunk = first; chunk < last; ++chunk) {
      const std::uint32_t section = document_.chunks[chunk].parent - first_parent;
      while (segment.sections.size() <= section) {
        segment.sections.push_back(sections_[first_parent + segment.sections.size()]);
      }
      segment.chunks.push_back(MakeChunk(chunk, section));
    }
    document_.segments.push_back(formats::Encode(segment));
  }

  formats::ChunkTerms MakeChunk(std::uint32_t chunk, std::uint32_t section) {
    const std::string_view text = Slice(document_.text, document_.chunks[chunk].range);
    const auto terms = TermsOf(text, analyzer_);
    stats_.AddChunk(terms, document_.chunks[chunk].parent);
    formats::ChunkTerms out;
    out.section = section;
    out.length = TotalCount(terms);
    out.terms = Shorten(terms);
    for (int style = 0; style < formats::kNumHeaderStyles; ++style) {
      std::string formatted =
          formats::ChunkHeader(static_cast<formats::HeaderStyle>(style),
                               {.source = document_.source,
                                .doc_id = document_.doc_id,
                                .chunk = chunk,
                                .line_start = document_.chunk_lines[2 * chunk],
                                .line_end = document_.chunk_lines[2 * chunk + 1]});
      formatted += text;
      out.cost[style] = static_cast<std::uint32_t>(counter_.Cost(formatted));
    }
    return out;
  }

  AnalyzedDocument& document_;
  const models::TokenCounter& counter_;
  models::TermAnalyzer& analyzer_;
  formats::SectionTerms title_;
  std::vector<formats::SectionTerms> sections_;  // one a parent
  StatsCounter stats_;
};

}  // namespace

AnalyzedDocument AnalyzeDocument(std::string source, std::string doc_id, std::string text,
                                 formats::MediaType type, const Splitter& splitter,
                                 const models::TokenCounter& counter,
                                 models::TermAnalyzer& analyzer) {
  AnalyzedDocument document;
  document.source = std::move(source);
  document.doc_id = std::move(doc_id);
  document.text = std::move(text);
  document.media_type = type;
  SplitDocument split = splitter.Split(document.text, type);
  document.title = std::move(split.title);
  if (document.title.empty()) {
    document.title = FileStem(document.source);
    std::replace_if(
        document.title.begin(), document.title.end(), [](char c) { return c == '_' || c == '-'; },
        ' ');
  }
  document.chunks = std::move(split.chunks);
  document.parents = std::move(split.parents);
  document.chunk_lines = CountLines(document.text, document.chunks);
  ForwardBuilder(document, counter, analyzer).Build();
  return document;
}

DocumentStats CountTerms(const StoredText& text, models::TermAnalyzer& analyzer) {
  StatsCounter stats;
  stats.SetTitle(TermsOf(text.title, analyzer));
  for (const formats::ParentRecord& parent : text.parents) {
    stats.AddSection(TermsOf(parent.heading_path, analyzer));
  }
  for (const StoredText::Chunk& chunk : text.chunks) {
    stats.AddChunk(TermsOf(chunk.text, analyzer), chunk.parent);
  }
  return stats.Take();
}

}  // namespace rag::indexer
