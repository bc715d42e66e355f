// rag-inspect stats: what an index holds, what it takes, and what came before.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "formats/chunk_group.h"
#include "formats/chunk_header.h"
#include "formats/status_macros.h"
#include "models/token_counter.h"
#include "storage/generation.h"
#include "storage/record_writer.h"
#include "tools/cli.h"
#include "tools/inspect_commands.h"
#include "tools/inspect_document.h"
#include "tools/json_text.h"

namespace rag::tools {
namespace {

using nlohmann::ordered_json;

double Ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

const char* PartOf(const std::string& path) {
  if (path == storage::kDocumentVectorsFile) return "document vectors";
  if (path == storage::kTermsFile) return "term table";
  if (path.starts_with(storage::kRecordsFolder)) return "records";
  return path.ends_with(".faiss") ? "chunk vectors" : "other";
}

// The manifest itself is not among its files.
std::uint64_t BytesOf(const formats::Manifest& manifest, std::uint64_t manifest_bytes) {
  std::uint64_t bytes = manifest_bytes;
  for (const formats::FileEntry& file : manifest.files) bytes += file.size_bytes;
  return bytes;
}

std::uint64_t ManifestBytes(const std::filesystem::path& folder) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(folder / storage::kManifestFile, error);
  return error ? 0 : bytes;
}

ordered_json PartsJson(const storage::IndexReader& reader) {
  const formats::Manifest& manifest = reader.manifest();
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> parts;  // files, bytes
  for (const formats::FileEntry& file : manifest.files) {
    auto& [files, bytes] = parts[PartOf(file.path)];
    ++files;
    bytes += file.size_bytes;
  }
  parts["manifest"] = {1, ManifestBytes(reader.folder())};
  ordered_json json = ordered_json::array();
  for (const auto& [name, part] : parts) {
    json.push_back({{"part", name},
                    {"files", part.first},
                    {"bytes", part.second},
                    {"bytes_per_chunk", Ratio(part.second, manifest.counts.chunks)},
                    {"of_corpus", Ratio(part.second, manifest.counts.corpus_bytes)}});
  }
  return json;
}

// Chunk groups are compressed before the record store gets them, so it cannot tell.
absl::StatusOr<std::uint64_t> RawChunkBytes(const storage::IndexReader& reader) {
  std::uint64_t bytes = 0;
  RAG_RETURN_IF_ERROR(reader.records().Scan(
      formats::kChunksFamily, "",
      [&bytes](std::string_view key, std::string_view value) -> absl::Status {
        RAG_ASSIGN_OR_RETURN(const std::uint64_t content, formats::ChunkGroupContentBytes(value));
        bytes += key.size() + content;
        return absl::OkStatus();
      }));
  return bytes;
}

absl::StatusOr<ordered_json> FamiliesJson(const storage::IndexReader& reader) {
  ordered_json json = ordered_json::array();
  for (const std::string_view family : storage::kRecordFamilies) {
    RAG_ASSIGN_OR_RETURN(storage::FamilySize size, reader.records().SizeOf(family));
    if (family == formats::kChunksFamily) {
      RAG_ASSIGN_OR_RETURN(size.raw_bytes, RawChunkBytes(reader));
    }
    const auto keys = reader.manifest().family_keys.find(std::string(family));
    const bool known = keys != reader.manifest().family_keys.end();
    json.push_back({{"family", family},
                    {"keys", known ? keys->second : 0},
                    {"raw_bytes", size.raw_bytes},
                    {"bytes", size.file_bytes},
                    {"compression", Ratio(size.raw_bytes, size.file_bytes)}});
  }
  return json;
}

// Tokens of every chunk with the header that the index prefers, ascending.
absl::StatusOr<std::vector<std::uint64_t>> ChunkTokens(const storage::IndexReader& reader) {
  const formats::Manifest& manifest = reader.manifest();
  RAG_ASSIGN_OR_RETURN(const auto counter, models::MakeTokenCounter(manifest.build.token_counter));
  RAG_ASSIGN_OR_RETURN(const formats::HeaderStyle style,
                       formats::ParseHeaderStyle(manifest.query.header));
  std::vector<std::uint64_t> tokens;
  RAG_RETURN_IF_ERROR(reader.records().Scan(
      formats::kTermsFamily, "", [&](std::string_view, std::string_view value) -> absl::Status {
        RAG_ASSIGN_OR_RETURN(const formats::ForwardSegmentView segment,
                             formats::ForwardSegmentView::Parse(value, {}));
        for (std::uint32_t chunk = 0; chunk < segment.num_chunks(); ++chunk) {
          tokens.push_back(counter->Tokens(segment.cost(chunk, style)));
        }
        return absl::OkStatus();
      }));
  std::ranges::sort(tokens);
  return tokens;
}

absl::StatusOr<ordered_json> TokensJson(const storage::IndexReader& reader) {
  RAG_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> tokens, ChunkTokens(reader));
  ordered_json json = {{"header", reader.manifest().query.header}};
  const auto percentile = [&tokens](std::size_t percent) {
    return tokens.empty() ? 0 : tokens[(tokens.size() - 1) * percent / 100];
  };
  std::uint64_t sum = 0;
  std::map<std::uint64_t, std::uint64_t> histogram;  // first number of a bucket, chunks
  for (const std::uint64_t count : tokens) {
    sum += count;
    ++histogram[std::bit_floor(count)];
  }
  json["mean"] = Ratio(sum, tokens.size());
  json["min"] = percentile(0);
  json["p50"] = percentile(50);
  json["p90"] = percentile(90);
  json["p99"] = percentile(99);
  json["max"] = percentile(100);
  json["histogram"] = ordered_json::array();
  for (const auto& [from, chunks] : histogram) {
    json["histogram"].push_back(
        {{"from", from}, {"to", from == 0 ? 0 : 2 * from - 1}, {"chunks", chunks}});
  }
  return json;
}

// A generation whose manifest cannot be read has an "error" instead of its numbers.
absl::StatusOr<ordered_json> GenerationsJson(const std::filesystem::path& index,
                                             std::uint64_t current) {
  RAG_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> numbers, storage::ListGenerations(index));
  ordered_json json = ordered_json::array();
  for (const std::uint64_t number : numbers) {
    ordered_json& one = json.emplace_back();
    one["generation"] = number;
    one["current"] = number == current;
    const absl::StatusOr<formats::Manifest> manifest = storage::ReadManifest(index, number);
    if (!manifest.ok()) {
      one["error"] = std::string(manifest.status().message());
      continue;
    }
    one["created"] = manifest->created;
    one["program"] = manifest->program;
    one["documents"] = manifest->counts.documents;
    one["chunks"] = manifest->counts.chunks;
    one["corpus_bytes"] = manifest->counts.corpus_bytes;
    one["bytes"] = BytesOf(*manifest, ManifestBytes(index / storage::GenerationName(number)));
  }
  return json;
}

std::uint64_t Number(const ordered_json& json, const char* name) {
  return json[name].get<std::uint64_t>();
}

std::string SizesText(const ordered_json& stats) {
  std::string out =
      absl::StrFormat("\n%-18s %14s %12s %10s\n", "part", "bytes", "a chunk", "of corpus");
  for (const ordered_json& part : stats["parts"]) {
    absl::StrAppendFormat(&out, "%-18s %14d %12.1f %10.3f\n", part["part"].get<std::string>(),
                          Number(part, "bytes"), part["bytes_per_chunk"].get<double>(),
                          part["of_corpus"].get<double>());
  }
  absl::StrAppendFormat(&out, "%-18s %14d %12.1f %10.3f\n", "all", Number(stats, "bytes"),
                        stats["bytes_per_chunk"].get<double>(), stats["of_corpus"].get<double>());
  absl::StrAppendFormat(&out, "\n%-18s %14s %12s %12s %10s\n", "records", "keys", "raw bytes",
                        "bytes", "ratio");
  for (const ordered_json& family : stats["families"]) {
    absl::StrAppendFormat(&out, "%-18s %14d %12d %12d %10.2f\n",
                          family["family"].get<std::string>(), Number(family, "keys"),
                          Number(family, "raw_bytes"), Number(family, "bytes"),
                          family["compression"].get<double>());
  }
  return out;
}

std::string TokensText(const ordered_json& tokens) {
  constexpr std::uint64_t kBarWidth = 50;
  std::string out = absl::StrFormat(
      "\ntokens of a chunk, header %s: mean %.1f, min %d, p50 %d, p90 %d, p99 %d, max %d\n",
      tokens["header"].get<std::string>(), tokens["mean"].get<double>(), Number(tokens, "min"),
      Number(tokens, "p50"), Number(tokens, "p90"), Number(tokens, "p99"), Number(tokens, "max"));
  std::uint64_t most = 1;
  for (const ordered_json& bucket : tokens["histogram"]) {
    most = std::max(most, Number(bucket, "chunks"));
  }
  for (const ordered_json& bucket : tokens["histogram"]) {
    const std::uint64_t chunks = Number(bucket, "chunks");
    const std::string bar((chunks * kBarWidth + most - 1) / most, '#');
    absl::StrAppendFormat(&out, "%7d-%-7d %10d  %s\n", Number(bucket, "from"), Number(bucket, "to"),
                          chunks, bar);
  }
  return out;
}

std::string GenerationsText(const ordered_json& generations) {
  std::string out = "\ngenerations\n";
  for (const ordered_json& one : generations) {
    absl::StrAppendFormat(&out, "%s %d", one["current"].get<bool>() ? "*" : " ",
                          Number(one, "generation"));
    if (one.contains("error")) {
      absl::StrAppend(&out, "  ", OneLine(one["error"].get<std::string>()), "\n");
      continue;
    }
    absl::StrAppendFormat(&out, "  %s  %d documents, %d chunks, %d bytes\n",
                          OneLine(one["created"].get<std::string>()), Number(one, "documents"),
                          Number(one, "chunks"), Number(one, "bytes"));
  }
  return out;
}

std::string StatsText(const ordered_json& stats) {
  std::string out = absl::StrFormat(
      "generation %d, %s by %s\ncorpus     %s\n\n", Number(stats, "generation"),
      OneLine(stats["created"].get<std::string>()), OneLine(stats["program"].get<std::string>()),
      OneLine(stats["corpus_root"].get<std::string>()));
  for (const char* group : {"build", "counts"}) {
    for (const auto& [name, value] : stats[group].items()) {
      const std::string text = value.is_string() ? value.get<std::string>() : Dump(value);
      absl::StrAppendFormat(&out, "%-24s %s\n", name, OneLine(text));
    }
  }
  return out + SizesText(stats) + TokensText(stats["chunk_tokens"]) +
         GenerationsText(stats["generations"]);
}

}  // namespace

absl::Status InspectStats(const std::filesystem::path& index, const storage::IndexReader& reader,
                          bool json) {
  const formats::Manifest& manifest = reader.manifest();
  const std::uint64_t bytes = BytesOf(manifest, ManifestBytes(reader.folder()));
  ordered_json stats;
  stats["generation"] = manifest.generation;
  stats["created"] = manifest.created;
  stats["program"] = manifest.program;
  stats["corpus_root"] = manifest.corpus_root;
  const ordered_json as_stored = ordered_json::parse(formats::EncodeManifest(manifest));
  stats["build"] = as_stored.at("build");
  stats["counts"] = as_stored.at("counts");
  stats["bytes"] = bytes;
  stats["bytes_per_chunk"] = Ratio(bytes, manifest.counts.chunks);
  stats["of_corpus"] = Ratio(bytes, manifest.counts.corpus_bytes);
  stats["parts"] = PartsJson(reader);
  RAG_ASSIGN_OR_RETURN(stats["families"], FamiliesJson(reader));
  RAG_ASSIGN_OR_RETURN(stats["chunk_tokens"], TokensJson(reader));
  RAG_ASSIGN_OR_RETURN(stats["generations"], GenerationsJson(index, reader.generation()));
  json ? Write(Dump(stats) + "\n") : WriteDocumentText(StatsText(stats));
  return absl::OkStatus();
}

}  // namespace rag::tools
