// rag-inspect export: everything that an index holds as JSON lines, so that nobody is locked in.
#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "formats/checksum.h"
#include "formats/chunk_header.h"
#include "formats/status_macros.h"
#include "tools/cli.h"
#include "tools/inspect_commands.h"
#include "tools/inspect_document.h"
#include "tools/json_text.h"

namespace rag::tools {
namespace {

using nlohmann::ordered_json;

// `json` with the member "vector": floats with as many digits as they need, which the JSON library,
// which knows doubles only, would not do.
std::string DumpWithVector(const ordered_json& json, std::span<const float> vector) {
  std::string line = Dump(json);
  line.back() = ',';  // was '}'
  line += "\"vector\":[";
  std::array<char, 32> digits;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if (i > 0) line += ',';
    const auto [end, error] = std::to_chars(digits.begin(), digits.end(), vector[i]);
    line.append(digits.begin(), end);
  }
  return line + "]}";
}

ordered_json SummaryJson(const StoredDocument& document, const formats::Summary& summary) {
  ordered_json json;
  json["text"] = SummaryText(document, summary);
  json["spans"] = ordered_json::array();
  for (const formats::Span& span : summary.spans) json["spans"].push_back({span.start, span.end});
  return json;
}

class Exporter {
 public:
  Exporter(const storage::IndexReader& reader, bool vectors) : reader_(reader), vectors_(vectors) {}

  absl::Status Run() {
    PrintIndex();
    RAG_RETURN_IF_ERROR(ForEachStoredDocument(
        reader_, [this](const StoredDocument& document) { return PrintDocument(document); }));
    return vectors_ ? PrintDocumentVectors() : absl::OkStatus();
  }

 private:
  void PrintIndex() const {
    const formats::Manifest& manifest = reader_.manifest();
    ordered_json json;
    json["type"] = "index";
    json["generation"] = manifest.generation;
    json["created"] = manifest.created;
    json["program"] = manifest.program;
    json["profile"] = manifest.build.profile;
    json["splitter"] = manifest.build.splitter;
    json["summarizer"] = manifest.build.summarizer;
    json["embedder"] = manifest.build.embedder;
    json["token_counter"] = manifest.build.token_counter;
    json["documents"] = manifest.counts.documents;
    json["chunks"] = manifest.counts.chunks;
    json["chunk_dim"] = manifest.build.chunk_dim;
    json["document_dim"] = manifest.build.document_dim;
    WriteJsonLine(json);
  }

  absl::Status PrintDocument(const StoredDocument& document) {
    const formats::DocumentRecord& record = document.record;
    ordered_json json;
    json["type"] = "document";
    json["document"] = document.ordinal;
    json.update(DocumentFields(record));
    json["summary"] = SummaryJson(document, record.summary);
    WriteJsonLine(json);
    PrintParents(document);
    RAG_RETURN_IF_ERROR(PrintChunks(document));
    return PrintNodes(document);
  }

  static void PrintParents(const StoredDocument& document) {
    for (std::uint32_t i = 0; i < document.parents.size(); ++i) {
      const formats::ParentRecord& parent = document.parents[i];
      ordered_json json;
      json["type"] = "parent";
      json["document"] = document.ordinal;
      json["parent"] = i;
      json["kind"] = ToString(parent.kind);
      AddRange(json, parent.range);
      json["first_chunk"] = parent.first_chunk;
      json["num_chunks"] = parent.num_chunks;
      json["level"] = parent.level;
      json["heading_path"] = parent.heading_path;
      WriteJsonLine(json);
    }
  }

  absl::Status PrintChunks(const StoredDocument& document) const {
    RAG_ASSIGN_OR_RETURN(const std::vector<ChunkCost> costs, LoadCosts(reader_, document));
    const auto json_of = [&](std::uint32_t i) {
      const formats::ChunkRecord& chunk = document.chunks[i];
      ordered_json json;
      json["type"] = "chunk";
      json["document"] = document.ordinal;
      json["chunk"] = i;
      json["chunk_id"] = formats::ChunkId(document.record.doc_id, i);
      json["parent"] = chunk.parent;
      json["kind"] = ToString(chunk.kind);
      AddRange(json, chunk.range);
      json["line_start"] = chunk.line_start;
      json["line_end"] = chunk.line_end;
      for (int style = 0; style < formats::kNumHeaderStyles; ++style) {
        json["cost"][std::string(ToString(static_cast<formats::HeaderStyle>(style)))] =
            costs[i].units[style];
      }
      json["summary"] = SummaryJson(document, chunk.summary);
      json["text"] = chunk.text;
      return json;
    };
    if (vectors_) return PrintChunkVectors(document, json_of);
    for (std::uint32_t i = 0; i < document.chunks.size(); ++i) WriteJsonLine(json_of(i));
    return absl::OkStatus();
  }

  template <typename JsonOf>
  absl::Status PrintChunkVectors(const StoredDocument& document, const JsonOf& json_of) const {
    const std::uint32_t per_shard = reader_.manifest().build.shard_documents;
    RAG_ASSIGN_OR_RETURN(const storage::VectorFile* shard,
                         reader_.ChunkShard(document.ordinal / per_shard));
    const std::uint32_t list = document.ordinal % per_shard;
    if (shard->list_size(list) != document.chunks.size()) {
      return absl::DataLossError(document.record.source +
                                 ": vectors and chunks differ in number; check with rag-index "
                                 "verify");
    }
    std::uint32_t next = 0;
    return shard->ScanList(list, [&](std::uint32_t, std::span<const float> row) {
      Write(DumpWithVector(json_of(next++), row) + "\n");
      return absl::OkStatus();
    });
  }

  absl::Status PrintNodes(const StoredDocument& document) const {
    RAG_ASSIGN_OR_RETURN(const auto levels, LoadTree(reader_, document));
    for (std::uint32_t level = 0; level < levels.size(); ++level) {
      for (std::uint32_t node = 0; node < levels[level].size(); ++node) {
        const formats::SummaryNode& record = levels[level][node];
        ordered_json json;
        json["type"] = "summary";
        json["document"] = document.ordinal;
        json["level"] = level;
        json["node"] = node;
        json["first_child"] = record.first_child;
        json["num_children"] = record.num_children;
        json["input_tokens"] = record.input_tokens;
        json["summary"] = SummaryJson(document, record.summary);
        WriteJsonLine(json);
      }
    }
    return absl::OkStatus();
  }

  // In the order of the file: a document's rows may lie in several lists.
  absl::Status PrintDocumentVectors() const {
    const storage::VectorFile& vectors = reader_.document_vectors();
    for (std::uint64_t list = 0; list < vectors.num_lists(); ++list) {
      RAG_RETURN_IF_ERROR(
          vectors.ScanList(list, [](std::uint32_t document, std::span<const float> row) {
            const ordered_json json = {{"type", "document_vector"}, {"document", document}};
            Write(DumpWithVector(json, row) + "\n");
            return absl::OkStatus();
          }));
    }
    return absl::OkStatus();
  }

  const storage::IndexReader& reader_;
  bool vectors_;
};

}  // namespace

absl::Status InspectExport(const storage::IndexReader& reader, bool vectors) {
  return Exporter(reader, vectors).Run();
}

}  // namespace rag::tools
