#include "querier/query.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/chunk_header.h"
#include "formats/status_macros.h"
#include "models/token_counter.h"
#include "querier/context.h"
#include "querier/damage.h"
#include "querier/forward_cache.h"
#include "querier/packer.h"
#include "querier/question.h"
#include "querier/route.h"

namespace rag::querier {
namespace {

using formats::HeaderStyle;
using storage::IndexReader;

class Stopwatch {
 public:
  // Microseconds since the last call, or the start.
  std::uint64_t Lap() {
    const auto now = std::chrono::steady_clock::now();
    const auto lap = std::chrono::duration_cast<std::chrono::microseconds>(now - last_).count();
    last_ = now;
    return static_cast<std::uint64_t>(lap);
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

// What the options and the index's defaults amount to.
struct Settings {
  std::uint64_t budget_tokens = 0;
  RouteLimits limits;
  bool neighbors = false;
  HeaderStyle header = HeaderStyle::kShort;
};

// Measured on technical documentation at 1200 tokens: 20, 30, 40 documents (docs/design.md,
// "Routing"). Larger budgets gain from more.
std::size_t DocumentsForBudget(std::uint64_t budget_tokens) {
  const std::uint64_t more = budget_tokens > 1200 ? (budget_tokens - 1200) / 56 : 0;
  return static_cast<std::size_t>(30 + std::min<std::uint64_t>(more, 70));
}

// The vectors only propose; exact scores decide among a few times more chunks than could be
// printed.
std::size_t ChunksForBudget(std::uint64_t budget_tokens) {
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(budget_tokens / 8, 64, 4096));
}

absl::StatusOr<Settings> Resolve(const QueryOptions& options,
                                 const formats::QueryDefaults& defaults) {
  if (defaults.scorer != "bm25" && defaults.scorer != "article") {
    return absl::FailedPreconditionError(
        absl::StrCat("the index asks for scorer '", defaults.scorer,
                     "', this program has bm25 and article; use a newer rag-query"));
  }
  Settings settings;
  settings.budget_tokens = options.budget_tokens.value_or(defaults.budget_tokens);
  if (settings.budget_tokens == 0) {
    return absl::InvalidArgumentError("budget: must be at least 1 token");
  }
  settings.limits.top_documents = options.top_documents.value_or(defaults.top_documents);
  if (settings.limits.top_documents == 0) {
    settings.limits.top_documents = DocumentsForBudget(settings.budget_tokens);
  }
  settings.limits.chunks_per_document =
      options.chunks_per_document.value_or(defaults.chunks_per_document);
  if (settings.limits.chunks_per_document == 0) {
    settings.limits.chunks_per_document = ChunksForBudget(settings.budget_tokens);
  }
  settings.limits.chunks =
      std::max(ChunksForBudget(settings.budget_tokens), settings.limits.chunks_per_document);
  settings.neighbors = options.neighbors.value_or(defaults.neighbors);
  RAG_ASSIGN_OR_RETURN(settings.header, formats::ParseHeaderStyle(defaults.header));
  settings.header = options.header.value_or(settings.header);
  return settings;
}

// Scores from this share of the best on bring their section, of up to so many tokens.
constexpr double kHotShare = 0.7;
constexpr std::uint64_t kWholeSectionTokens = 250;

// A chunk that may be printed.
struct Candidate {
  std::uint32_t document = 0;
  std::uint32_t chunk = 0;
  std::optional<double> score;
};

// Runs one query; a step a method.
class Run {
 public:
  // All borrowed. `left_out`: as Router takes it.
  Run(const IndexReader& reader, const Settings& settings, OutputFormat format,
      const Question& question, const models::TokenCounter& counter,
      const std::set<std::uint32_t>* left_out)
      : reader_(reader),
        settings_(settings),
        format_(format),
        question_(question),
        counter_(counter),
        left_out_(left_out),
        cache_(reader, question_) {}

  absl::StatusOr<QueryResult> Execute() {
    Stopwatch lap;
    result_.question = question_.text;
    result_.generation = reader_.generation();
    result_.budget_tokens = settings_.budget_tokens;
    result_.known_terms = question_.terms.size();
    const Router router(reader_, question_, cache_, left_out_);
    RAG_ASSIGN_OR_RETURN(std::vector<ScoredDocument> proposed, router.Propose(settings_.limits));
    LooksInto(proposed);
    RAG_ASSIGN_OR_RETURN(const std::vector<ScoredDocument> documents,
                         router.Documents(std::move(proposed), settings_.limits));
    LooksInto(documents);
    RAG_RETURN_IF_ERROR(LoadDocuments(documents));
    result_.timings_us.route = lap.Lap();
    RAG_ASSIGN_OR_RETURN(const std::vector<ScoredChunk> hits,
                         router.Chunks(documents, settings_.limits));
    RecordHits(hits);
    result_.timings_us.chunks = lap.Lap();
    RAG_RETURN_IF_ERROR(PackCandidates(Expand(hits)));
    result_.timings_us.pack = lap.Lap();
    RAG_RETURN_IF_ERROR(Print());
    result_.timings_us.print = lap.Lap();
    return std::move(result_);
  }

  // The documents whose records were read last, or were going to be when Execute() failed.
  [[nodiscard]] const std::vector<std::uint32_t>& looked_into() const { return looked_into_; }

 private:
  void LooksInto(const std::vector<ScoredDocument>& hits) {
    looked_into_.clear();
    for (const ScoredDocument& hit : hits) looked_into_.push_back(hit.document);
  }

  absl::Status LoadDocuments(const std::vector<ScoredDocument>& hits) {
    RAG_ASSIGN_OR_RETURN(std::vector<formats::DocumentRecord> records,
                         reader_.Documents(looked_into_));
    for (std::size_t i = 0; i < hits.size(); ++i) {
      result_.documents.push_back(
          {hits[i].document, records[i].doc_id, records[i].source, hits[i].score});
      documents_.emplace(hits[i].document, std::move(records[i]));
    }
    return absl::OkStatus();
  }

  void RecordHits(const std::vector<ScoredChunk>& hits) {
    for (const ScoredChunk& hit : hits) {
      const formats::DocumentRecord& document = documents_.at(hit.document);
      result_.chunks.push_back({formats::ChunkId(document.doc_id, hit.chunk), document.doc_id,
                                document.source, hit.chunk + 1, hit.score});
    }
  }

  // Hits in score order, each followed by its next and previous chunk where neighbours are asked
  // for; a chunk keeps the first place it gets.
  [[nodiscard]] std::vector<Candidate> Expand(const std::vector<ScoredChunk>& hits) const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> scores;
    for (const ScoredChunk& hit : hits)
      scores.emplace(std::pair(hit.document, hit.chunk), hit.score);
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    std::vector<Candidate> candidates;
    const auto add = [&](std::uint32_t document, std::uint32_t chunk) {
      const std::pair key(document, chunk);
      if (!seen.insert(key).second) return;
      const auto score = scores.find(key);
      candidates.push_back(
          {document, chunk,
           score == scores.end() ? std::nullopt : std::optional<double>(score->second)});
    };
    for (const ScoredChunk& hit : hits) {
      add(hit.document, hit.chunk);
      if (!settings_.neighbors) continue;
      if (hit.chunk + 1 < documents_.at(hit.document).num_chunks) add(hit.document, hit.chunk + 1);
      if (hit.chunk > 0) add(hit.document, hit.chunk - 1);
    }
    return candidates;
  }

  // Chunks of files with equal bytes are alike. The article's profile knows nothing of that.
  absl::StatusOr<std::vector<PackItem>> MakeItems(const std::vector<Candidate>& candidates) {
    const bool tells_contents = reader_.manifest().query.scorer != "article";
    std::map<std::pair<formats::Sha256, std::uint32_t>, std::size_t> contents;
    std::vector<PackItem> items;
    for (const Candidate& candidate : candidates) {
      PackItem item;
      RAG_ASSIGN_OR_RETURN(item.cost,
                           cache_.Cost(candidate.document, candidate.chunk, settings_.header));
      if (tells_contents) {
        const std::pair key(documents_.at(candidate.document).content_sha256, candidate.chunk);
        item.content = contents.emplace(key, contents.size() + 1).first->second;
      }
      items.push_back(item);
    }
    return items;
  }

  // A hit that is nearly as good as the best brings its whole section along, when that is short:
  // what was asked for is rarely in one chunk of it alone.
  absl::Status AddSections(std::vector<Candidate>& candidates, std::vector<PackItem>& items) {
    if (reader_.manifest().query.scorer == "article" || candidates.empty()) return absl::OkStatus();
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> place;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      place.emplace(std::pair(candidates[i].document, candidates[i].chunk), i);
    }
    const double hot = kHotShare * candidates.front().score.value_or(0);
    const std::size_t num_candidates = candidates.size();
    for (std::size_t i = 0; i < num_candidates && candidates[i].score.value_or(hot) >= hot; ++i) {
      if (!candidates[i].score.has_value()) continue;
      const std::uint32_t document = candidates[i].document;
      RAG_ASSIGN_OR_RETURN(const std::vector<ChunkCost> rest,
                           RestOfShortSection(document, candidates[i].chunk, items[i].cost));
      for (const auto& [chunk, cost] : rest) {
        const auto [at, is_new] = place.try_emplace({document, chunk}, candidates.size());
        if (is_new) {
          candidates.push_back({document, chunk, std::nullopt});
          items.push_back({.cost = cost, .only_as_companion = true});
        }
        items[i].companions.push_back(at->second);
      }
    }
    return absl::OkStatus();
  }

  using ChunkCost = std::pair<std::uint32_t, std::uint64_t>;

  // The other chunks of a chunk's section that are in its segment, ascending; none when the section
  // is long. Looks no further than that takes.
  absl::StatusOr<std::vector<ChunkCost>> RestOfShortSection(std::uint32_t document,
                                                            std::uint32_t chunk,
                                                            std::uint64_t cost) {
    RAG_ASSIGN_OR_RETURN(const formats::ForwardSegmentView* segment,
                         cache_.SegmentOf(document, chunk));
    const std::uint64_t max_cost = kWholeSectionTokens * counter_.units_per_token();
    const std::uint32_t first_chunk = chunk - chunk % formats::kSegmentChunks;
    const std::uint32_t here = chunk - first_chunk;
    std::vector<ChunkCost> rest;
    // False at the end of the section, or when it is too long.
    const auto add = [&](std::uint32_t other) {
      if (segment->section_of(other) != segment->section_of(here)) return false;
      rest.emplace_back(first_chunk + other, segment->cost(other, settings_.header));
      cost += rest.back().second;
      return cost <= max_cost;
    };
    for (std::uint32_t other = here; other > 0 && add(other - 1); --other) {
    }
    std::reverse(rest.begin(), rest.end());
    for (std::uint32_t other = here + 1; other < segment->num_chunks() && add(other); ++other) {
    }
    if (cost > max_cost) rest.clear();
    return rest;
  }

  absl::Status PackCandidates(std::vector<Candidate> candidates) {
    const formats::QueryDefaults& defaults = reader_.manifest().query;
    frame_ = MakeFrame(format_, question_.text);
    PackOptions options;
    options.budget = settings_.budget_tokens * counter_.units_per_token();
    if (defaults.count_frame) {
      options.separator = counter_.Cost(formats::kChunkSeparator);
      options.frame = counter_.Cost(frame_.before) + counter_.Cost(frame_.after);
    }
    RAG_ASSIGN_OR_RETURN(std::vector<PackItem> items, MakeItems(candidates));
    RAG_RETURN_IF_ERROR(AddSections(candidates, items));
    if (options.frame > options.budget && format_ == OutputFormat::kPrompt) {
      return absl::InvalidArgumentError(
          absl::StrCat("budget: ", settings_.budget_tokens, " tokens cannot hold the prompt's own ",
                       counter_.Tokens(options.frame), "; raise it, or print the context alone"));
    }
    const Packed packed = Pack(items, options);
    const bool prints = !packed.included.empty() || format_ == OutputFormat::kPrompt;
    result_.used_tokens = prints ? counter_.Tokens(packed.used) : 0;
    // What a skipped chunk would have needed: the frame where nothing was printed, else a
    // separator.
    const std::uint64_t around = packed.included.empty() ? options.frame : options.separator;
    for (const std::size_t i : packed.skipped) {
      const Candidate& skipped = candidates[i];
      const formats::DocumentRecord& document = documents_.at(skipped.document);
      result_.skipped.push_back({formats::ChunkId(document.doc_id, skipped.chunk), document.source,
                                 skipped.chunk + 1, counter_.Tokens(items[i].cost + around),
                                 ReasonOf(packed, i, candidates)});
    }
    for (const std::size_t i : packed.included) {
      included_.emplace_back(candidates[i], counter_.Tokens(items[i].cost + options.separator));
    }
    std::sort(included_.begin(), included_.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first.document, a.first.chunk) <
             std::pair(b.first.document, b.first.chunk);
    });
    return absl::OkStatus();
  }

  [[nodiscard]] std::string ReasonOf(const Packed& packed, std::size_t skipped,
                                     const std::vector<Candidate>& candidates) const {
    const auto same = packed.duplicates.find(skipped);
    if (same == packed.duplicates.end()) return "budget";
    const Candidate& included = candidates[same->second];
    return absl::StrCat("duplicate of ",
                        formats::ChunkId(documents_.at(included.document).doc_id, included.chunk));
  }

  absl::Status Print() {
    std::vector<IndexReader::ChunkRef> refs;
    std::vector<std::uint32_t> chunks_per_group;
    for (const auto& [candidate, tokens] : included_) {
      refs.push_back({candidate.document, candidate.chunk});
      chunks_per_group.push_back(documents_.at(candidate.document).chunks_per_group);
    }
    RAG_ASSIGN_OR_RETURN(const std::vector<formats::ChunkRecord> records,
                         reader_.Chunks(refs, chunks_per_group));
    std::vector<PrintedChunk> printed;
    for (std::size_t i = 0; i < refs.size(); ++i) {
      const formats::DocumentRecord& document = documents_.at(refs[i].document);
      const formats::ChunkRecord& record = records[i];
      result_.included.push_back({.chunk_id = formats::ChunkId(document.doc_id, refs[i].chunk),
                                  .doc_id = document.doc_id,
                                  .source = document.source,
                                  .index = refs[i].chunk + 1,
                                  .start = record.range.start,
                                  .end = record.range.end,
                                  .line_start = record.line_start,
                                  .line_end = record.line_end,
                                  .tokens = included_[i].second,
                                  .score = included_[i].first.score});
      printed.push_back({document.doc_id, document.source, refs[i].chunk, &record});
    }
    if (printed.empty() && format_ == OutputFormat::kContext) return absl::OkStatus();
    result_.context =
        absl::StrCat(frame_.before, JoinChunks(printed, settings_.header), frame_.after);
    return absl::OkStatus();
  }

  const IndexReader& reader_;
  const Settings& settings_;
  OutputFormat format_;
  const Question& question_;
  const models::TokenCounter& counter_;
  const std::set<std::uint32_t>* left_out_;
  ForwardCache cache_;
  std::vector<std::uint32_t> looked_into_;
  Frame frame_;
  QueryResult result_;
  std::map<std::uint32_t, formats::DocumentRecord> documents_;
  std::vector<std::pair<Candidate, std::uint64_t>> included_;  // with their tokens
};

}  // namespace

absl::StatusOr<QueryResult> Query(const IndexReader& reader, std::string_view question,
                                  const QueryOptions& options) {
  if (IsBlank(question)) return absl::InvalidArgumentError("question: is blank; ask something");
  Stopwatch total;
  const formats::Manifest& manifest = reader.manifest();
  RAG_ASSIGN_OR_RETURN(const Settings settings, Resolve(options, manifest.query));
  absl::StatusOr<std::unique_ptr<models::TokenCounter>> counter =
      models::MakeTokenCounter(manifest.build.token_counter);
  if (!counter.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the index needs a token counter: ", counter.status().message()));
  }
  Stopwatch lap;
  RAG_ASSIGN_OR_RETURN(const Question analyzed,
                       AnalyzeQuestion(question, manifest.build, reader.terms()));
  const std::uint64_t analyze_us = lap.Lap();
  // Damage is met where it is read. Then the question is asked again without the documents that
  // have it.
  DamagedDocuments damaged;
  absl::StatusOr<QueryResult> result;
  while (true) {
    Run run(reader, settings, options.format, analyzed, **counter,
            options.skip_damaged ? &damaged.ordinals() : nullptr);
    result = run.Execute();
    if (!options.skip_damaged || !absl::IsDataLoss(result.status())) break;
    if (!damaged.Find(reader, analyzed, run.looked_into())) break;
  }
  if (!result.ok()) return result;
  if (options.skip_damaged) result->damage = {reader.damage(), damaged.documents()};
  result->timings_us.analyze = analyze_us;
  result->timings_us.total = total.Lap();
  return result;
}

}  // namespace rag::querier
