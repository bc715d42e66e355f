#include "indexer/document_builder.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <unordered_set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
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

// The `n` terms with the largest (1 + ln tf) * idf that are not in `except`; ties by hash.
Hashes Keywords(const std::vector<WeightedTerm>& terms, std::size_t n, const Hashes& except,
                const std::function<double(std::uint64_t)>& idf) {
  const std::unordered_set<std::uint64_t> known(except.begin(), except.end());
  std::vector<std::pair<double, std::uint64_t>> scored;
  for (const WeightedTerm& term : terms) {
    if (known.contains(term.hash)) continue;
    scored.emplace_back(-(1 + std::log(static_cast<double>(term.count))) * idf(term.hash),
                        term.hash);
  }
  n = std::min(n, scored.size());
  std::partial_sort(scored.begin(), scored.begin() + static_cast<std::ptrdiff_t>(n), scored.end());
  Hashes out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(scored[i].second);
  return out;
}

Hashes SummaryTerms(const DocumentText& text, const DraftSummary& summary,
                    models::TermAnalyzer& analyzer) {
  Hashes out;
  for (const std::uint32_t i : summary.sentences) Append(out, text.sentences[i].terms);
  if (!summary.text.empty()) analyzer.AppendTermHashes(summary.text, out);
  return out;
}

// A part with the terms in it.
class PartTerms {
 public:
  PartTerms(const AnalyzedPart& part, const Hashes& title_terms, models::TermAnalyzer& analyzer)
      : part_(part), title_terms_(title_terms), analyzer_(analyzer) {
    ReadSentences();
    for (const formats::ParentRecord& parent : part.parents) {
      heading_terms_.emplace_back();
      analyzer.AppendTermHashes(parent.heading_path, heading_terms_.back());
    }
  }

  [[nodiscard]] const DocumentText& text() const { return text_; }
  [[nodiscard]] std::uint32_t num_chunks() const {
    return static_cast<std::uint32_t>(part_.chunks.size());
  }

  // Terms of the text that stands for a chunk, by its index, in its document's list.
  [[nodiscard]] Hashes ChunkTerms(std::uint32_t chunk, const DraftSummary& summary,
                                  const std::function<double(std::uint64_t)>& idf) const {
    Hashes all;
    AppendBodyTerms(chunk, all);
    const Hashes summary_terms = SummaryTerms(text_, summary, analyzer_);
    Hashes out = title_terms_;
    Append(out, HeadingTerms(chunk));
    Append(out, summary_terms);
    Append(out, Keywords(models::CountTerms(std::move(all)), kChunkKeywords, summary_terms, idf));
    return out;
  }

  [[nodiscard]] Hashes WindowTerms(std::uint32_t first_chunk, std::uint32_t num_chunks) const {
    Hashes out = title_terms_;
    std::uint32_t last_parent = ~std::uint32_t{0};
    for (std::uint32_t chunk = first_chunk; chunk < first_chunk + num_chunks; ++chunk) {
      const std::uint32_t parent = part_.chunks[chunk].parent;
      if (parent != last_parent) Append(out, HeadingTerms(chunk));
      last_parent = parent;
      AppendBodyTerms(chunk, out);
    }
    return out;
  }

  [[nodiscard]] std::vector<WeightedTerm> BodyTerms() const {
    Hashes all;
    for (std::uint32_t chunk = 0; chunk < num_chunks(); ++chunk) AppendBodyTerms(chunk, all);
    return models::CountTerms(std::move(all));
  }

 private:
  // Sentences of every chunk with their terms.
  void ReadSentences() {
    text_.text = part_.text;
    text_.first_chunk = part_.first_chunk;
    for (const SplitChunk& chunk : part_.chunks) {
      const formats::Span place = {chunk.range.start - part_.offset,
                                   chunk.range.end - part_.offset};
      text_.chunks.push_back(place);
      text_.chunk_first_sentence.push_back(static_cast<std::uint32_t>(text_.sentences.size()));
      for (const formats::Span& range : SplitSentences(part_.Slice(chunk.range))) {
        Sentence& sentence = text_.sentences.emplace_back();
        sentence.range = {place.start + range.start, place.start + range.end};
        sentence.shift = part_.offset;
        analyzer_.AppendTermHashes(text_.text.substr(sentence.range.start, range.size()),
                                   sentence.terms);
      }
    }
    text_.chunk_first_sentence.push_back(static_cast<std::uint32_t>(text_.sentences.size()));
  }

  [[nodiscard]] const Hashes& HeadingTerms(std::uint32_t chunk) const {
    return heading_terms_[part_.chunks[chunk].parent - part_.first_parent];
  }

  void AppendBodyTerms(std::uint32_t chunk, Hashes& out) const {
    for (std::uint32_t i = text_.chunk_first_sentence[chunk];
         i < text_.chunk_first_sentence[chunk + 1]; ++i) {
      Append(out, text_.sentences[i].terms);
    }
  }

  const AnalyzedPart& part_;
  const Hashes& title_terms_;
  models::TermAnalyzer& analyzer_;
  DocumentText text_;
  std::vector<Hashes> heading_terms_;  // of the part's parents
};

// Embeds texts of one level and appends their codes.
class Embedding {
 public:
  Embedding(std::uint32_t dim, const CorpusStats& stats, const storage::VectorCodec& codec)
      : embedder_(dim), stats_(stats), codec_(codec), row_(dim) {}

  // `mean_length` 0: the text's own length, so that its length does not count.
  absl::Status Add(Hashes terms, double mean_length, std::vector<std::uint8_t>& codes) {
    const std::size_t length = terms.size();
    std::fill(row_.begin(), row_.end(), 0.0F);
    const auto idf = [this](std::uint64_t hash) { return stats_.ChunkIdf(hash); };
    embedder_.AddText(models::CountTerms(std::move(terms)), length,
                      mean_length > 0 ? mean_length : std::max(1.0, static_cast<double>(length)),
                      idf, row_);
    return codec_.Encode(row_, codes);
  }

 private:
  models::HashedBm25 embedder_;
  const CorpusStats& stats_;
  const storage::VectorCodec& codec_;
  std::vector<float> row_;
};

// Chunks on their way into groups, which may reach over the end of a part. They are compressed
// here, where all cores do it, and not by the one thread that writes.
class GroupPacker {
 public:
  GroupPacker(std::uint64_t size_bytes, std::uint32_t num_chunks)
      : num_chunks_(num_chunks), per_group_(formats::ChunksPerGroup(size_bytes, num_chunks)) {}

  [[nodiscard]] std::uint32_t per_group() const { return per_group_; }

  absl::Status Add(formats::ChunkRecord chunk, std::vector<std::string>& groups) {
    group_.push_back(std::move(chunk));
    ++added_;
    if (group_.size() < per_group_ && added_ < num_chunks_) return absl::OkStatus();
    RAG_ASSIGN_OR_RETURN(std::string encoded, formats::EncodeChunkGroup(group_));
    groups.push_back(std::move(encoded));
    group_.clear();
    return absl::OkStatus();
  }

 private:
  std::uint32_t num_chunks_;
  std::uint32_t per_group_;
  std::uint32_t added_ = 0;
  std::vector<formats::ChunkRecord> group_;
};

formats::ChunkRecord MakeChunk(const AnalyzedPart& part, std::size_t i, formats::Summary summary) {
  const SplitChunk& chunk = part.chunks[i];
  formats::ChunkRecord record;
  record.range = chunk.range;
  record.line_start = part.chunk_lines[2 * i];
  record.line_end = part.chunk_lines[2 * i + 1];
  record.parent = chunk.parent;
  record.kind = chunk.kind;
  record.summary = std::move(summary);
  record.text = part.Slice(chunk.range);
  return record;
}

void AppendLevel(const std::vector<ReductionNode>& level, const DocumentText& text,
                 std::vector<std::string>& encoded) {
  for (const ReductionNode& node : level) {
    encoded.push_back(
        formats::Encode(formats::SummaryNode{.first_child = node.first_child,
                                             .num_children = node.num_children,
                                             .input_tokens = node.input_tokens,
                                             .summary = ToSummary(text, node.summary)}));
  }
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

// One document on its way from its analyzed parts to the parts of its bundle.
class DocumentBuilder::Assembly {
 public:
  Assembly(const DocumentBuilder& builder, const AnalyzedDocument& document,
           models::TermAnalyzer& analyzer)
      : builder_(builder),
        document_(document),
        analyzer_(analyzer),
        chunk_embedding_(builder.profile_.chunk_dim, builder.stats_, builder.chunk_codec_),
        document_embedding_(builder.profile_.document_dim, builder.stats_, builder.document_codec_),
        groups_(document.size_bytes, document.num_chunks),
        partwise_(builder.summarizer_, builder.counter_, builder.profile_.reduction) {
    analyzer.AppendTermHashes(document.title, title_terms_);
  }

  // An earlier part.
  absl::StatusOr<storage::BundlePart> AddPart(AnalyzedPart part) {
    storage::BundlePart out;
    RAG_RETURN_IF_ERROR(Add(part, out, [&](const DocumentText& text, Summaries summaries) {
      return partwise_.AddPart(text, std::move(summaries));
    }));
    return out;
  }

  // The last part, or the only one.
  absl::StatusOr<BuiltDocument> Finish(AnalyzedPart part) {
    BuiltDocument built;
    const ReductionLog log = [&built](std::string_view line) { built.log.emplace_back(line); };
    Reduction reduction;
    absl::Status status;
    if (document_.earlier_parts.empty()) {
      status = Add(part, built.bundle, [&](const DocumentText& text, Summaries summaries) {
        reduction = ReduceSummaries(text, std::move(summaries), builder_.summarizer_,
                                    builder_.counter_, builder_.profile_.reduction, log);
        SetSummary(text, reduction);
        return std::move(reduction.levels);
      });
    } else {
      status = Add(part, built.bundle, [&](const DocumentText& text, Summaries summaries) {
        return partwise_.AddPart(text, std::move(summaries));
      });
      reduction = partwise_.Finish(log);
      SetSummary(partwise_.rest(), reduction);
      AppendLevels(kPartLevels, reduction.levels, partwise_.rest(), built.bundle);
    }
    RAG_RETURN_IF_ERROR(status);
    built.bundle.levels.resize(level_sizes_.size());
    if (!upper_levels_.empty())
      std::move(upper_levels_.begin(), upper_levels_.end(), built.bundle.levels.begin() + 1);
    built.cut_summaries = reduction.cut_summaries;
    RAG_RETURN_IF_ERROR(AddSummaryVector(built.bundle));
    FillRecord(built.bundle.document);
    return built;
  }

 private:
  using Summaries = std::vector<DraftSummary>;
  using Levels = std::vector<std::vector<ReductionNode>>;
  using Reduce = std::function<Levels(const DocumentText&, Summaries)>;

  absl::Status Add(AnalyzedPart& part, storage::BundlePart& out, const Reduce& reduce) {
    const PartTerms terms(part, title_terms_, analyzer_);
    const DocumentText& text = terms.text();
    const auto idf = [this](std::uint64_t hash) { return builder_.stats_.ChunkIdf(hash); };
    const double mean_chunk = builder_.stats_.MeanChunkLength();
    Summaries summaries;
    for (std::uint32_t chunk = 0; chunk < terms.num_chunks(); ++chunk) {
      summaries.push_back(builder_.summarizer_.SummarizeChunk(text, chunk));
      RAG_RETURN_IF_ERROR(chunk_embedding_.Add(terms.ChunkTerms(chunk, summaries.back(), idf),
                                               mean_chunk, out.chunk_codes));
      const absl::Status status =
          groups_.Add(MakeChunk(part, chunk, ToSummary(text, summaries.back())), out.chunk_groups);
      if (!status.ok()) {
        return {status.code(), absl::StrCat(document_.source, ": ", status.message())};
      }
    }
    for (const WeightedTerm& term : terms.BodyTerms()) body_terms_[term.hash] += term.count;
    for (const formats::ParentRecord& parent : part.parents) {
      out.parents.push_back(formats::Encode(parent));
    }
    out.segments = std::move(part.segments);
    const Levels levels = reduce(text, std::move(summaries));
    AppendLevels(0, levels, text, out);
    for (const auto& [first, count] : Windows(levels, part)) {
      RAG_RETURN_IF_ERROR(document_embedding_.Add(terms.WindowTerms(first, count), 4 * mean_chunk,
                                                  out.document_codes));
    }
    return absl::OkStatus();
  }

  // (index of the first chunk, number of chunks) of every window: the nodes of level 0, or the only
  // chunk there is.
  static std::vector<std::pair<std::uint32_t, std::uint32_t>> Windows(const Levels& levels,
                                                                      const AnalyzedPart& part) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> windows;
    if (part.chunks.empty()) return windows;
    if (levels.empty()) return {{0, static_cast<std::uint32_t>(part.chunks.size())}};
    for (const ReductionNode& node : levels.front()) {
      windows.emplace_back(node.first_child - part.first_chunk, node.num_children);
    }
    return windows;
  }

  void AppendLevels(std::size_t first, const Levels& levels, const DocumentText& text,
                    storage::BundlePart& out) {
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const std::size_t level = first + i;
      if (level_sizes_.size() <= level) level_sizes_.resize(level + 1);
      level_sizes_[level] += static_cast<std::uint32_t>(levels[i].size());
      if (level == 0) {
        AppendLevel(levels[i], text, out.levels.emplace_back());
        continue;
      }
      if (upper_levels_.size() < level) upper_levels_.resize(level);
      AppendLevel(levels[i], text, upper_levels_[level - 1]);
    }
  }

  void SetSummary(const DocumentText& text, const Reduction& reduction) {
    summary_ = ToSummary(text, reduction.document);
    summary_terms_ = SummaryTerms(text, reduction.document, analyzer_);
  }

  // In front of the windows.
  absl::Status AddSummaryVector(storage::BundlePart& out) {
    std::vector<WeightedTerm> body;
    body.reserve(body_terms_.size());
    for (const auto& [hash, count] : body_terms_) body.push_back({hash, count});
    const auto idf = [this](std::uint64_t hash) { return builder_.stats_.DocumentIdf(hash); };
    Hashes terms = title_terms_;
    Append(terms, summary_terms_);
    Append(terms, Keywords(body, kDocumentKeywords, {}, idf));
    std::vector<std::uint8_t> codes;
    RAG_RETURN_IF_ERROR(document_embedding_.Add(std::move(terms), 0, codes));
    out.document_codes.insert(out.document_codes.begin(), codes.begin(), codes.end());
    return absl::OkStatus();
  }

  void FillRecord(formats::DocumentRecord& record) const {
    record.doc_id = document_.doc_id;
    record.source = document_.source;
    record.title = document_.title;
    record.content_sha256 = document_.content;
    record.size_bytes = document_.size_bytes;
    record.media_type = document_.media_type;
    record.num_chunks = document_.num_chunks;
    record.chunks_per_group = groups_.per_group();
    record.num_parents = document_.num_parents;
    record.num_segments = document_.num_segments;
    record.level_sizes = level_sizes_;
    record.summary = summary_;
  }

  const DocumentBuilder& builder_;
  const AnalyzedDocument& document_;
  models::TermAnalyzer& analyzer_;
  Hashes title_terms_;
  Embedding chunk_embedding_;
  Embedding document_embedding_;
  GroupPacker groups_;
  PartwiseReduction partwise_;
  absl::flat_hash_map<std::uint64_t, std::uint32_t> body_terms_;  // counts
  std::vector<std::uint32_t> level_sizes_;
  // Nodes from level 1 on, encoded: records are written level by level.
  std::vector<std::vector<std::string>> upper_levels_;
  formats::Summary summary_;
  Hashes summary_terms_;
};

absl::StatusOr<BuiltDocument> DocumentBuilder::Build(AnalyzedDocument document,
                                                     models::TermAnalyzer& analyzer,
                                                     const PartFlow& flow) const {
  Assembly assembly(*this, document, analyzer);
  std::vector<std::uint64_t> written;
  for (const std::uint64_t entry : document.earlier_parts) {
    RAG_ASSIGN_OR_RETURN(AnalyzedPart part, flow.read(entry));
    RAG_ASSIGN_OR_RETURN(const storage::BundlePart built, assembly.AddPart(std::move(part)));
    RAG_ASSIGN_OR_RETURN(written.emplace_back(), flow.write(built));
  }
  AnalyzedPart last = std::move(static_cast<AnalyzedPart&>(document));
  RAG_ASSIGN_OR_RETURN(BuiltDocument built, assembly.Finish(std::move(last)));
  built.earlier_parts = std::move(written);
  return built;
}

}  // namespace rag::indexer
