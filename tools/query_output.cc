#include "tools/query_output.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "formats/names.h"
#include "tools/json_names.h"

namespace rag::tools {
namespace {

using nlohmann::ordered_json;

ordered_json TimingsJson(const querier::Timings& timings) {
  return {{"analyze", timings.analyze}, {"route", timings.route}, {"chunks", timings.chunks},
          {"pack", timings.pack},       {"print", timings.print}, {"total", timings.total}};
}

ordered_json IncludedJson(const querier::IncludedChunk& chunk) {
  ordered_json json = {
      {"chunk_id", chunk.chunk_id},     {"doc_id", chunk.doc_id},     {"source", chunk.source},
      {"index", chunk.index},           {"start", chunk.start},       {"end", chunk.end},
      {"line_start", chunk.line_start}, {"line_end", chunk.line_end}, {"tokens", chunk.tokens}};
  json["score"] = chunk.score.has_value() ? ordered_json(*chunk.score) : ordered_json();
  EscapeNames(json);
  return json;
}

ordered_json DamageJson(const querier::Damage& damage) {
  ordered_json json = {{"files", damage.files}, {"documents", ordered_json::array()}};
  for (const querier::DamagedDocument& document : damage.documents) {
    ordered_json entry;
    if (document.source.has_value()) entry["source"] = *document.source;
    entry["problem"] = document.problem;
    EscapeNames(entry);
    json["documents"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace

ordered_json ToJson(const querier::QueryResult& result) {
  ordered_json json;
  json["question"] = result.question;
  json["generation"] = result.generation;
  json["budget_tokens"] = result.budget_tokens;
  json["used_tokens"] = result.used_tokens;
  json["known_terms"] = result.known_terms;
  json["documents"] = ordered_json::array();
  for (const querier::DocumentHit& hit : result.documents) {
    json["documents"].push_back(
        {{"doc_id", hit.doc_id}, {"source", hit.source}, {"score", hit.score}});
    EscapeNames(json["documents"].back());
  }
  json["chunks"] = ordered_json::array();
  for (const querier::ChunkHit& hit : result.chunks) {
    json["chunks"].push_back({{"chunk_id", hit.chunk_id},
                              {"doc_id", hit.doc_id},
                              {"source", hit.source},
                              {"index", hit.index},
                              {"score", hit.score}});
    EscapeNames(json["chunks"].back());
  }
  json["included"] = ordered_json::array();
  for (const querier::IncludedChunk& chunk : result.included) {
    json["included"].push_back(IncludedJson(chunk));
  }
  json["skipped"] = ordered_json::array();
  for (const querier::SkippedChunk& chunk : result.skipped) {
    json["skipped"].push_back({{"chunk_id", chunk.chunk_id},
                               {"source", chunk.source},
                               {"index", chunk.index},
                               {"tokens", chunk.tokens},
                               {"reason", chunk.reason}});
    EscapeNames(json["skipped"].back());
  }
  json["context"] = result.context;
  json["timings_us"] = TimingsJson(result.timings_us);
  if (result.damage.has_value()) json["damage"] = DamageJson(*result.damage);
  return json;
}

std::string FormatTrace(const querier::QueryResult& result) {
  std::string out = absl::StrFormat("generation %d, budget %d tokens, used %d\n", result.generation,
                                    result.budget_tokens, result.used_tokens);
  absl::StrAppend(&out, "documents: ", result.documents.size(), "\n");
  for (const querier::DocumentHit& hit : result.documents) {
    absl::StrAppendFormat(&out, "  %9.4f  %s\n", hit.score, formats::PrintableName(hit.source));
  }
  absl::StrAppend(&out, "chunks: ", result.chunks.size(), "\n");
  for (const querier::ChunkHit& hit : result.chunks) {
    absl::StrAppendFormat(&out, "  %9.4f  %s\n", hit.score, formats::PrintableName(hit.chunk_id));
  }
  absl::StrAppend(&out, "included: ", result.included.size(), "\n");
  for (const querier::IncludedChunk& chunk : result.included) {
    absl::StrAppendFormat(&out, "  %6d tokens  %s  (%s:%d-%d)\n", chunk.tokens,
                          formats::PrintableName(chunk.chunk_id),
                          formats::PrintableName(chunk.source), chunk.line_start, chunk.line_end);
  }
  absl::StrAppend(&out, "skipped: ", result.skipped.size(), "\n");
  for (const querier::SkippedChunk& chunk : result.skipped) {
    absl::StrAppendFormat(&out, "  %6d tokens  %s  (%s)\n", chunk.tokens,
                          formats::PrintableName(chunk.chunk_id), chunk.reason);
  }
  const querier::Timings& t = result.timings_us;
  absl::StrAppendFormat(
      &out, "time: analyze %d, route %d, chunks %d, pack %d, print %d, total %d microseconds\n",
      t.analyze, t.route, t.chunks, t.pack, t.print, t.total);
  return out;
}

}  // namespace rag::tools
