// rag-inspect show: a document or a chunk in full.
#include <cstdint>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "formats/checksum.h"
#include "formats/chunk_header.h"
#include "formats/status_macros.h"
#include "models/token_counter.h"
#include "tools/cli.h"
#include "tools/inspect_commands.h"
#include "tools/inspect_document.h"
#include "tools/json_text.h"

namespace rag::tools {
namespace {

using nlohmann::ordered_json;

// Tokens of every chunk with the header that the index prefers.
class Tokens {
 public:
  static absl::StatusOr<Tokens> Load(const storage::IndexReader& reader,
                                     const StoredDocument& document) {
    Tokens tokens;
    const formats::Manifest& manifest = reader.manifest();
    RAG_ASSIGN_OR_RETURN(tokens.counter_, models::MakeTokenCounter(manifest.build.token_counter));
    RAG_ASSIGN_OR_RETURN(tokens.style_, formats::ParseHeaderStyle(manifest.query.header));
    RAG_ASSIGN_OR_RETURN(tokens.costs_, LoadCosts(reader, document));
    return tokens;
  }
  [[nodiscard]] std::uint64_t Of(std::uint32_t chunk) const {
    return counter_->Tokens(costs_[chunk].units[static_cast<int>(style_)]);
  }

 private:
  std::unique_ptr<models::TokenCounter> counter_;
  formats::HeaderStyle style_ = formats::HeaderStyle::kNone;
  std::vector<ChunkCost> costs_;
};

ordered_json SpansJson(const formats::Summary& summary) {
  ordered_json spans = ordered_json::array();
  for (const formats::Span& span : summary.spans) spans.push_back({span.start, span.end});
  return spans;
}

ordered_json SectionJson(const formats::ParentRecord& parent) {
  ordered_json json;
  json["kind"] = ToString(parent.kind);
  AddRange(json, parent.range);
  json["first_index"] = parent.first_chunk + 1;
  json["num_chunks"] = parent.num_chunks;
  json["level"] = parent.level;
  json["heading_path"] = parent.heading_path;
  return json;
}

absl::StatusOr<ordered_json> ChunkJson(const StoredDocument& document, const Tokens& tokens,
                                       std::uint32_t index) {
  const formats::ChunkRecord& chunk = document.chunks[index];
  RAG_ASSIGN_OR_RETURN(const formats::ParentRecord* parent, ParentOf(document, chunk));
  ordered_json json;
  json["chunk_id"] = formats::ChunkId(document.record.doc_id, index);
  json["doc_id"] = document.record.doc_id;
  json["source"] = document.record.source;
  json["index"] = index + 1;
  json["kind"] = ToString(chunk.kind);
  AddRange(json, chunk.range);
  json["line_start"] = chunk.line_start;
  json["line_end"] = chunk.line_end;
  json["tokens"] = tokens.Of(index);
  json["heading_path"] = parent->heading_path;
  json["summary"] = SummaryText(document, chunk.summary);
  json["summary_spans"] = SpansJson(chunk.summary);
  json["text"] = chunk.text;
  return json;
}

absl::StatusOr<ordered_json> DocumentJson(const StoredDocument& document, const Tokens& tokens) {
  const formats::DocumentRecord& record = document.record;
  ordered_json json = DocumentFields(record);
  json["num_segments"] = record.num_segments;
  json["level_sizes"] = record.level_sizes;
  json["summary"] = SummaryText(document, record.summary);
  json["summary_spans"] = SpansJson(record.summary);
  json["sections"] = ordered_json::array();
  for (const formats::ParentRecord& parent : document.parents) {
    json["sections"].push_back(SectionJson(parent));
  }
  json["chunks"] = ordered_json::array();
  for (std::uint32_t i = 0; i < document.chunks.size(); ++i) {
    RAG_ASSIGN_OR_RETURN(ordered_json chunk, ChunkJson(document, tokens, i));
    json["chunks"].push_back(std::move(chunk));
  }
  return json;
}

// "name   value" lines; values of documents on one line each.
std::string Field(const char* name, std::string_view value) {
  return absl::StrFormat("%-12s  %s\n", name, OneLine(value));
}

std::string RangeText(formats::Span range) {
  return absl::StrCat("bytes [", range.start, ", ", range.end, ")");
}

std::string ChunkText(const ordered_json& chunk) {
  const auto text = [&](const char* name) { return chunk[name].get<std::string>(); };
  std::string out = Field("chunk", text("chunk_id"));
  out += Field("source", text("source"));
  out += Field("kind", text("kind"));
  out += Field("range", RangeText({chunk["start"], chunk["end"]}));
  out += Field("lines", absl::StrCat(chunk["line_start"].get<std::uint64_t>(), "-",
                                     chunk["line_end"].get<std::uint64_t>()));
  out += Field("tokens", absl::StrCat(chunk["tokens"].get<std::uint64_t>()));
  out += Field("heading path", text("heading_path"));
  out += Field("summary", text("summary"));
  out += "\n" + text("text");
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

std::string DocumentText(const StoredDocument& document, const Tokens& tokens) {
  const formats::DocumentRecord& record = document.record;
  std::string out = Field("document", record.doc_id);
  out += Field("source", record.source);
  out += Field("title", record.title);
  out += Field("media type", ToString(record.media_type));
  out += Field("bytes", std::to_string(record.size_bytes));
  out += Field("sha256", formats::ToHex(record.content_sha256));
  for (const auto& [key, value] : record.metadata) out += Field(("- " + key).c_str(), value);
  std::string levels;
  for (const std::uint32_t size : record.level_sizes) absl::StrAppend(&levels, size, " ");
  out += Field("levels", levels.empty() ? "none" : levels.substr(0, levels.size() - 1));
  out += Field("summary", SummaryText(document, record.summary));
  for (const formats::ParentRecord& parent : document.parents) {
    absl::StrAppend(&out, "\nsection ", RangeText(parent.range), ", level ", parent.level, ": ",
                    OneLine(parent.heading_path), "\n");
    const std::uint64_t end = std::uint64_t{parent.first_chunk} + parent.num_chunks;
    for (std::uint32_t i = parent.first_chunk; i < end && i < document.chunks.size(); ++i) {
      const formats::ChunkRecord& chunk = document.chunks[i];
      absl::StrAppend(&out, "  ", OneLine(formats::ChunkId(record.doc_id, i)), "  ",
                      RangeText(chunk.range), ", lines ", chunk.line_start, "-", chunk.line_end,
                      ", ", tokens.Of(i), " tokens, ", std::string(ToString(chunk.kind)), "\n");
    }
  }
  return out;
}

}  // namespace

absl::Status InspectShow(const storage::IndexReader& reader, const std::string& name, bool json) {
  RAG_ASSIGN_OR_RETURN(const Found found, Find(reader, name));
  RAG_ASSIGN_OR_RETURN(const Tokens tokens, Tokens::Load(reader, found.document));
  if (found.chunk.has_value()) {
    RAG_ASSIGN_OR_RETURN(const ordered_json chunk, ChunkJson(found.document, tokens, *found.chunk));
    json ? WriteJsonLine(chunk) : WriteDocumentText(ChunkText(chunk));
    return absl::OkStatus();
  }
  if (!json) {
    WriteDocumentText(DocumentText(found.document, tokens));
    return absl::OkStatus();
  }
  RAG_ASSIGN_OR_RETURN(const ordered_json document, DocumentJson(found.document, tokens));
  WriteJsonLine(document);
  return absl::OkStatus();
}

}  // namespace rag::tools
