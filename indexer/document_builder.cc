#include "indexer/document_builder.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/checksum.h"
#include "formats/chunk_group.h"
#include "formats/status_macros.h"
#include "indexer/reduction.h"
#include "indexer/sentences.h"

namespace rag::indexer {
namespace {

using models::WeightedTerm;
using Hashes = std::vector<std::uint64_t>;

constexpr std::size_t kChunkKeywords = 8;
constexpr std::size_t kDocumentKeywords = 64;

void Append(Hashes& to, const Hashes& from) { to.insert(to.end(), from.begin(), from.end()); }

// Sentences of every chunk with their terms.
DocumentText ReadSentences(const AnalyzedDocument& document, models::TermAnalyzer& analyzer) {
  DocumentText out;
  out.text = document.text;
  for (const SplitChunk& chunk : document.chunks) {
    out.chunks.push_back(chunk.range);
    out.chunk_first_sentence.push_back(static_cast<std::uint32_t>(out.sentences.size()));
    const std::string_view body = out.text.substr(chunk.range.start, chunk.range.size());
    for (const formats::Span& range : SplitSentences(body)) {
      Sentence sentence;
      sentence.range = {chunk.range.start + range.start, chunk.range.start + range.end};
      analyzer.AppendTermHashes(out.text.substr(sentence.range.start, range.size()),
                                sentence.terms);
      out.sentences.push_back(std::move(sentence));
    }
  }
  out.chunk_first_sentence.push_back(static_cast<std::uint32_t>(out.sentences.size()));
  return out;
}

// Makes the records and vectors of one document.
class Assembly {
 public:
  Assembly(const AnalyzedDocument& document, const CorpusStats& stats,
           models::TermAnalyzer& analyzer)
      : document_(document), stats_(stats), analyzer_(analyzer) {
    text_ = ReadSentences(document, analyzer);
    analyzer.AppendTermHashes(document.title, title_terms_);
    for (const formats::ParentRecord& parent : document.parents) {
      heading_terms_.emplace_back();
      analyzer.AppendTermHashes(parent.heading_path, heading_terms_.back());
    }
  }

  [[nodiscard]] const DocumentText& text() const { return text_; }

  // Terms of the text that stands for a chunk in its document's list.
  [[nodiscard]] Hashes ChunkTerms(std::uint32_t chunk, const DraftSummary& summary) const {
    Hashes all;
    AppendBodyTerms(chunk, all);
    const Hashes summary_terms = SummaryTerms(summary);
    Hashes out = title_terms_;
    Append(out, heading_terms_[document_.chunks[chunk].parent]);
    Append(out, summary_terms);
    const auto idf = [this](std::uint64_t hash) { return stats_.ChunkIdf(hash); };
    Append(out, Keywords(std::move(all), kChunkKeywords, summary_terms, idf));
    return out;
  }

  [[nodiscard]] Hashes DocumentTerms(const DraftSummary& summary) const {
    Hashes all;
    for (std::uint32_t chunk = 0; chunk < document_.chunks.size(); ++chunk) {
      AppendBodyTerms(chunk, all);
    }
    Hashes out = title_terms_;
    Append(out, SummaryTerms(summary));
    const auto idf = [this](std::uint64_t hash) { return stats_.DocumentIdf(hash); };
    Append(out, Keywords(std::move(all), kDocumentKeywords, {}, idf));
    return out;
  }

  [[nodiscard]] Hashes WindowTerms(std::uint32_t first_chunk, std::uint32_t num_chunks) const {
    Hashes out = title_terms_;
    std::uint32_t last_parent = ~std::uint32_t{0};
    for (std::uint32_t chunk = first_chunk; chunk < first_chunk + num_chunks; ++chunk) {
      const std::uint32_t parent = document_.chunks[chunk].parent;
      if (parent != last_parent) Append(out, heading_terms_[parent]);
      last_parent = parent;
      AppendBodyTerms(chunk, out);
    }
    return out;
  }

 private:
  void AppendBodyTerms(std::uint32_t chunk, Hashes& out) const {
    for (std::uint32_t i = text_.chunk_first_sentence[chunk];
         i < text_.chunk_first_sentence[chunk + 1]; ++i) {
      Append(out, text_.sentences[i].terms);
    }
  }

  [[nodiscard]] Hashes SummaryTerms(const DraftSummary& summary) const {
    Hashes out;
    for (const std::uint32_t i : summary.sentences) Append(out, text_.sentences[i].terms);
    if (!summary.text.empty()) analyzer_.AppendTermHashes(summary.text, out);
    return out;
  }

  // The `n` terms with the largest (1 + ln tf) * idf that are not in `except`; ties by hash.
  [[nodiscard]] static Hashes Keywords(Hashes all, std::size_t n, const Hashes& except,
                                       const std::function<double(std::uint64_t)>& idf) {
    const std::unordered_set<std::uint64_t> known(except.begin(), except.end());
    std::vector<std::pair<double, std::uint64_t>> scored;
    for (const WeightedTerm& term : models::CountTerms(std::move(all))) {
      if (known.contains(term.hash)) continue;
      scored.emplace_back(-(1 + std::log(static_cast<double>(term.count))) * idf(term.hash),
                          term.hash);
    }
    n = std::min(n, scored.size());
    std::partial_sort(scored.begin(), scored.begin() + static_cast<std::ptrdiff_t>(n),
                      scored.end());
    Hashes out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(scored[i].second);
    return out;
  }

  const AnalyzedDocument& document_;
  const CorpusStats& stats_;
  models::TermAnalyzer& analyzer_;
  DocumentText text_;
  Hashes title_terms_;
  std::vector<Hashes> heading_terms_;
};

// Embeds texts of one level and appends their codes.
class Embedding {
 public:
  Embedding(std::uint32_t dim, const CorpusStats& stats, const storage::VectorCodec& codec,
            std::vector<std::uint8_t>& codes)
      : embedder_(dim), stats_(stats), codec_(codec), codes_(codes), row_(dim) {}

  // `mean_length` 0: the text's own length, so that its length does not count.
  absl::Status Add(Hashes terms, double mean_length) {
    const std::size_t length = terms.size();
    std::fill(row_.begin(), row_.end(), 0.0F);
    const auto idf = [this](std::uint64_t hash) { return stats_.ChunkIdf(hash); };
    embedder_.AddText(models::CountTerms(std::move(terms)), length,
                      mean_length > 0 ? mean_length : std::max(1.0, static_cast<double>(length)),
                      idf, row_);
    return codec_.Encode(row_, codes_);
  }

 private:
  models::HashedBm25 embedder_;
  const CorpusStats& stats_;
  const storage::VectorCodec& codec_;
  std::vector<std::uint8_t>& codes_;
  std::vector<float> row_;
};

formats::ChunkRecord MakeChunk(const AnalyzedDocument& document, std::size_t i,
                               formats::Summary summary) {
  const SplitChunk& chunk = document.chunks[i];
  formats::ChunkRecord record;
  record.range = chunk.range;
  record.line_start = document.chunk_lines[2 * i];
  record.line_end = document.chunk_lines[2 * i + 1];
  record.parent = chunk.parent;
  record.kind = chunk.kind;
  record.summary = std::move(summary);
  record.text = document.text.substr(chunk.range.start, chunk.range.size());
  return record;
}

// Compressed here, where all cores do it, and not by the one thread that writes.
absl::Status FillChunkGroups(const AnalyzedDocument& document, const DocumentText& text,
                             const std::vector<DraftSummary>& summaries,
                             storage::DocumentBundle& bundle) {
  const std::size_t num_chunks = document.chunks.size();
  const std::uint32_t per_group =
      formats::ChunksPerGroup(document.text.size(), static_cast<std::uint32_t>(num_chunks));
  bundle.document.chunks_per_group = per_group;
  std::vector<formats::ChunkRecord> group;
  for (std::size_t i = 0; i < num_chunks; ++i) {
    group.push_back(MakeChunk(document, i, ToSummary(text, summaries[i])));
    if (group.size() < per_group && i + 1 < num_chunks) continue;
    absl::StatusOr<std::string> encoded = formats::EncodeChunkGroup(group);
    if (!encoded.ok()) {
      return {encoded.status().code(),
              absl::StrCat(document.source, ": ", encoded.status().message())};
    }
    bundle.chunk_groups.push_back(*std::move(encoded));
    group.clear();
  }
  return absl::OkStatus();
}

void FillRecords(const AnalyzedDocument& document, const DocumentText& text,
                 const Reduction& reduction, storage::DocumentBundle& bundle) {
  for (const std::vector<ReductionNode>& level : reduction.levels) {
    bundle.levels.emplace_back();
    for (const ReductionNode& node : level) {
      bundle.levels.back().push_back(
          formats::Encode(formats::SummaryNode{.first_child = node.first_child,
                                               .num_children = node.num_children,
                                               .input_tokens = node.input_tokens,
                                               .summary = ToSummary(text, node.summary)}));
    }
  }
  formats::DocumentRecord& record = bundle.document;
  record.doc_id = document.doc_id;
  record.source = document.source;
  record.title = document.title;
  record.content_sha256 = formats::ComputeSha256(document.text);
  record.size_bytes = document.text.size();
  record.media_type = document.media_type;
  record.num_chunks = static_cast<std::uint32_t>(document.chunks.size());
  record.num_parents = static_cast<std::uint32_t>(document.parents.size());
  record.num_segments = static_cast<std::uint32_t>(document.segments.size());
  for (const auto& level : bundle.levels) {
    record.level_sizes.push_back(static_cast<std::uint32_t>(level.size()));
  }
  record.summary = ToSummary(text, reduction.document);
}

// (first chunk, number of chunks) of every window: the nodes of level 0, or the only chunk there
// is.
std::vector<std::pair<std::uint32_t, std::uint32_t>> Windows(const Reduction& reduction,
                                                             std::size_t num_chunks) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> windows;
  if (!reduction.levels.empty()) {
    for (const ReductionNode& node : reduction.levels.front()) {
      windows.emplace_back(node.first_child, node.num_children);
    }
  } else if (num_chunks > 0) {
    windows.emplace_back(0, static_cast<std::uint32_t>(num_chunks));
  }
  return windows;
}

}  // namespace

DocumentBuilder::DocumentBuilder(const Profile& profile, const CorpusStats& stats,
                                 const Summarizer& summarizer, const models::TokenCounter& counter,
                                 const storage::VectorCodec& chunk_codec,
                                 const storage::VectorCodec& document_codec)
    : profile_(profile),
      stats_(stats),
      summarizer_(summarizer),
      counter_(counter),
      chunk_codec_(chunk_codec),
      document_codec_(document_codec) {}

absl::StatusOr<BuiltDocument> DocumentBuilder::Build(AnalyzedDocument document,
                                                     models::TermAnalyzer& analyzer) const {
  BuiltDocument built;
  const Assembly assembly(document, stats_, analyzer);
  const DocumentText& text = assembly.text();
  const auto num_chunks = static_cast<std::uint32_t>(document.chunks.size());

  std::vector<DraftSummary> summaries;
  for (std::uint32_t chunk = 0; chunk < num_chunks; ++chunk) {
    summaries.push_back(summarizer_.SummarizeChunk(text, chunk));
  }
  const Reduction reduction =
      ReduceSummaries(text, summaries, summarizer_, counter_, profile_.reduction,
                      [&built](std::string_view line) { built.log.emplace_back(line); });
  built.cut_summaries = reduction.cut_summaries;

  const double mean_chunk = stats_.MeanChunkLength();
  Embedding chunks(profile_.chunk_dim, stats_, chunk_codec_, built.bundle.chunk_codes);
  for (std::uint32_t chunk = 0; chunk < num_chunks; ++chunk) {
    RAG_RETURN_IF_ERROR(chunks.Add(assembly.ChunkTerms(chunk, summaries[chunk]), mean_chunk));
  }
  Embedding documents(profile_.document_dim, stats_, document_codec_, built.bundle.document_codes);
  RAG_RETURN_IF_ERROR(documents.Add(assembly.DocumentTerms(reduction.document), 0));
  for (const auto& [first, count] : Windows(reduction, num_chunks)) {
    RAG_RETURN_IF_ERROR(documents.Add(assembly.WindowTerms(first, count), 4 * mean_chunk));
  }

  RAG_RETURN_IF_ERROR(FillChunkGroups(document, text, summaries, built.bundle));
  FillRecords(document, text, reduction, built.bundle);
  for (const formats::ParentRecord& parent : document.parents) {
    built.bundle.parents.push_back(formats::Encode(parent));
  }
  built.bundle.segments = std::move(document.segments);
  return built;
}

}  // namespace rag::indexer
