#include "indexer/analyzed_document.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "formats/chunk_header.h"
#include "formats/coding.h"
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

// Sum over the chunks of the weighted lengths around each.
double SumNearLengths(const std::vector<std::uint32_t>& lengths, std::uint32_t title_length) {
  using formats::kNearRadius;
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
  return total;
}

// Builds the forward segments and the statistics of one document.
class ForwardBuilder {
 public:
  ForwardBuilder(AnalyzedDocument& document, const models::TokenCounter& counter,
                 models::TermAnalyzer& analyzer)
      : document_(document), counter_(counter), analyzer_(analyzer) {}

  void Build() {
    const auto title_terms = TermsOf(document_.title, analyzer_);
    title_ = ToSection(title_terms);
    frequencies_.AddOther(title_terms);
    for (const formats::ParentRecord& parent : document_.parents) {
      const auto terms = TermsOf(parent.heading_path, analyzer_);
      frequencies_.AddOther(terms);
      sections_.push_back(ToSection(terms));
    }
    const auto num_chunks = static_cast<std::uint32_t>(document_.chunks.size());
    for (std::uint32_t first = 0; first < num_chunks; first += formats::kSegmentChunks) {
      AddSegment(first, std::min(num_chunks, first + formats::kSegmentChunks));
    }
    AddTotals();
    document_.frequencies = frequencies_.Take();
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
    frequencies_.AddChunk(terms);
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
    lengths_.push_back(out.length + sections_[document_.chunks[chunk].parent].length);
    body_length_ += out.length;
    return out;
  }

  void AddTotals() {
    formats::CorpusTotals& totals = document_.totals;
    totals.num_documents = 1;
    totals.num_chunks = lengths_.size();
    totals.num_sections = sections_.size();
    std::uint64_t headings = 0;
    for (const formats::SectionTerms& section : sections_) headings += section.length;
    for (const std::uint32_t length : lengths_) totals.chunk_length += length + title_.length;
    totals.section_length = body_length_ + headings + sections_.size() * title_.length;
    totals.document_length = body_length_ + headings + title_.length;
    totals.near_length = SumNearLengths(lengths_, title_.length);
  }

  AnalyzedDocument& document_;
  const models::TokenCounter& counter_;
  models::TermAnalyzer& analyzer_;
  formats::SectionTerms title_;
  std::vector<formats::SectionTerms> sections_;  // one a parent
  std::vector<std::uint32_t> lengths_;           // body + heading path of each chunk
  std::uint64_t body_length_ = 0;
  FrequencyCounter frequencies_;
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

std::string EncodeSpill(const AnalyzedDocument& document) {
  formats::ByteWriter out;
  out.LengthPrefixed(document.source);
  out.LengthPrefixed(document.doc_id);
  out.LengthPrefixed(document.title);
  out.Fixed8(static_cast<std::uint8_t>(document.media_type));
  out.LengthPrefixed(document.text);
  out.Varint(document.chunks.size());
  for (std::size_t i = 0; i < document.chunks.size(); ++i) {
    const SplitChunk& chunk = document.chunks[i];
    out.RelativeSpan(chunk.range, 0);
    out.Fixed8(static_cast<std::uint8_t>(chunk.kind));
    out.Varint(chunk.parent);
    out.Varint(document.chunk_lines[2 * i]);
    out.Varint(document.chunk_lines[2 * i + 1]);
  }
  out.Varint(document.parents.size());
  for (const formats::ParentRecord& parent : document.parents) {
    out.LengthPrefixed(formats::Encode(parent));
  }
  out.Varint(document.segments.size());
  for (const std::string& segment : document.segments) out.LengthPrefixed(segment);
  return out.Take();
}

absl::StatusOr<AnalyzedDocument> DecodeSpill(std::string_view bytes) {
  formats::ByteReader in(bytes, "spilled document");
  AnalyzedDocument document;
  document.source = in.LengthPrefixed();
  document.doc_id = in.LengthPrefixed();
  document.title = in.LengthPrefixed();
  document.media_type = static_cast<formats::MediaType>(in.Fixed8());
  document.text = in.LengthPrefixed();
  document.chunks.resize(in.Count(6));
  for (SplitChunk& chunk : document.chunks) {
    chunk.range = in.RelativeSpan(0);
    chunk.kind = static_cast<formats::ChunkKind>(in.Fixed8());
    chunk.parent = static_cast<std::uint32_t>(in.Varint());
    document.chunk_lines.push_back(static_cast<std::uint32_t>(in.Varint()));
    document.chunk_lines.push_back(static_cast<std::uint32_t>(in.Varint()));
  }
  document.parents.resize(in.Count(1));
  for (formats::ParentRecord& parent : document.parents) {
    const std::string_view encoded = in.LengthPrefixed();
    if (!in.ok()) break;
    absl::StatusOr<formats::ParentRecord> record = formats::DecodeParent(encoded);
    if (!record.ok()) return record.status();
    parent = *std::move(record);
  }
  document.segments.resize(in.Count(1));
  for (std::string& segment : document.segments) segment = in.LengthPrefixed();
  const absl::Status status = in.Finish();
  if (!status.ok()) return status;
  return document;
}

}  // namespace rag::indexer
