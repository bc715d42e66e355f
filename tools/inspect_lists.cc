// rag-inspect chunks, summaries and headings: a JSON line for each.
#include <cstdint>
#include <string_view>

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

constexpr std::string_view kPathSeparator = " > ";

ordered_json NeighborIndex(bool exists, std::uint32_t index) {
  return exists ? ordered_json(index) : ordered_json();
}

// The last heading of a path. A heading that holds the separator itself is cut there.
std::string_view LastHeading(std::string_view path) {
  const std::size_t at = path.rfind(kPathSeparator);
  return at == std::string_view::npos ? path : path.substr(at + kPathSeparator.size());
}

}  // namespace

absl::Status InspectChunks(const storage::IndexReader& reader) {
  return ForEachStoredDocument(reader, [](const StoredDocument& document) {
    std::uint32_t index = 0;
    for (const formats::ChunkRecord& chunk : document.chunks) {
      ++index;
      ordered_json json;
      json["source"] = document.record.source;
      json["index"] = index;
      AddRange(json, chunk.range);
      json["prev"] = NeighborIndex(index > 1, index - 1);
      json["next"] = NeighborIndex(index < document.chunks.size(), index + 1);
      json["text_sha256"] = formats::ToHex(formats::ComputeSha256(chunk.text));
      WriteJsonLine(json);
    }
    return absl::OkStatus();
  });
}

absl::Status InspectSummaries(const storage::IndexReader& reader) {
  return ForEachStoredDocument(reader, [](const StoredDocument& document) {
    ordered_json json;
    json["kind"] = "document";
    json["source"] = document.record.source;
    json["doc_id"] = document.record.doc_id;
    json["summary"] = SummaryText(document, document.record.summary);
    WriteJsonLine(json);
    for (std::uint32_t i = 0; i < document.chunks.size(); ++i) {
      ordered_json line;
      line["kind"] = "chunk";
      line["source"] = document.record.source;
      line["chunk_id"] = formats::ChunkId(document.record.doc_id, i);
      line["index"] = i + 1;
      line["summary"] = SummaryText(document, document.chunks[i].summary);
      WriteJsonLine(line);
    }
    return absl::OkStatus();
  });
}

absl::Status InspectHeadings(const storage::IndexReader& reader) {
  return ForEachStoredDocument(reader, [](const StoredDocument& document) {
    for (const formats::ParentRecord& parent : document.parents) {
      if (parent.level == 0) continue;
      ordered_json json;
      json["source"] = document.record.source;
      json["offset"] = parent.range.start;
      json["level"] = parent.level;
      json["title"] = LastHeading(parent.heading_path);
      WriteJsonLine(json);
    }
    return absl::OkStatus();
  });
}

}  // namespace rag::tools
