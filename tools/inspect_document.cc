#include "tools/inspect_document.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/checksum.h"
#include "formats/chunk_group.h"
#include "formats/coding.h"
#include "formats/keys.h"
#include "formats/status_macros.h"

namespace rag::tools {
namespace {

using formats::DocumentRecord;

constexpr std::string_view kChunkMark = "-chunk-";
constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

absl::Status Damaged(const StoredDocument& document, std::string_view what) {
  return absl::DataLossError(absl::StrCat(document.record.source, ": ", std::string(what),
                                          "; the index is damaged, rebuild it with rag-index "
                                          "build"));
}

// Appends `text` with white space collapsed; a space stands between it and what is there.
void AppendCollapsed(std::string_view text, std::string& out) {
  while (true) {
    const std::size_t start = text.find_first_not_of(kWhiteSpace);
    if (start == std::string_view::npos) return;
    text.remove_prefix(start);
    const std::size_t end = std::min(text.find_first_of(kWhiteSpace), text.size());
    if (!out.empty()) out += ' ';
    out += text.substr(0, end);
    text.remove_prefix(end);
  }
}

// The decoded values of a document's entries in a family, in order.
template <typename Record>
absl::StatusOr<std::vector<Record>> LoadItems(const storage::IndexReader& reader,
                                              std::string_view family, std::uint32_t document,
                                              absl::StatusOr<Record> (*decode)(std::string_view)) {
  std::vector<Record> items;
  RAG_RETURN_IF_ERROR(
      reader.records().Scan(family, formats::DocumentKey(document),
                            [&](std::string_view, std::string_view value) -> absl::Status {
                              RAG_ASSIGN_OR_RETURN(Record item, decode(value));
                              items.push_back(std::move(item));
                              return absl::OkStatus();
                            }));
  return items;
}

absl::StatusOr<std::vector<formats::ChunkRecord>> LoadChunks(const storage::IndexReader& reader,
                                                             std::uint32_t document) {
  RAG_ASSIGN_OR_RETURN(
      std::vector<std::vector<formats::ChunkRecord>> groups,
      LoadItems(reader, formats::kChunksFamily, document, &formats::DecodeChunkGroup));
  std::vector<formats::ChunkRecord> chunks;
  for (std::vector<formats::ChunkRecord>& group : groups) {
    std::move(group.begin(), group.end(), std::back_inserter(chunks));
  }
  return chunks;
}

// The ordinal of the document of that source, if there is one.
absl::StatusOr<std::optional<std::uint32_t>> FindSource(const storage::IndexReader& reader,
                                                        const std::string& source) {
  const absl::StatusOr<std::string> value = reader.records().Get(formats::kSourcesFamily, source);
  if (absl::IsNotFound(value.status())) return std::optional<std::uint32_t>();
  RAG_RETURN_IF_ERROR(value.status());
  formats::ByteReader in(*value, source);
  const auto ordinal = static_cast<std::uint32_t>(in.VarintAtMost(0xFFFFFFFF));
  RAG_RETURN_IF_ERROR(in.Finish());
  return std::optional<std::uint32_t>(ordinal);
}

// By source, which is one lookup, or by doc_id, which is a scan.
absl::StatusOr<std::optional<StoredDocument>> FindDocument(const storage::IndexReader& reader,
                                                           const std::string& name) {
  RAG_ASSIGN_OR_RETURN(std::optional<std::uint32_t> ordinal, FindSource(reader, name));
  if (!ordinal.has_value()) {
    RAG_RETURN_IF_ERROR(ForEachDocument(
        reader, [&](std::uint32_t candidate, const DocumentRecord& record) -> absl::Status {
          if (record.doc_id == name) ordinal = candidate;
          return absl::OkStatus();
        }));
  }
  if (!ordinal.has_value()) return std::optional<StoredDocument>();
  RAG_ASSIGN_OR_RETURN(DocumentRecord record, reader.Document(*ordinal));
  RAG_ASSIGN_OR_RETURN(StoredDocument document, LoadDocument(reader, *ordinal, std::move(record)));
  return std::optional<StoredDocument>(std::move(document));
}

}  // namespace

absl::Status ForEachDocument(
    const storage::IndexReader& reader,
    const std::function<absl::Status(std::uint32_t, const DocumentRecord&)>& visit) {
  return reader.records().Scan(
      formats::kDocumentsFamily, "",
      [&](std::string_view key, std::string_view value) -> absl::Status {
        RAG_ASSIGN_OR_RETURN(const formats::KeyParts ordinal, formats::ParseKey(key, 1));
        RAG_ASSIGN_OR_RETURN(const DocumentRecord record, formats::DecodeDocument(value));
        return visit(ordinal.part[0], record);
      });
}

absl::Status ForEachStoredDocument(
    const storage::IndexReader& reader,
    const std::function<absl::Status(const StoredDocument&)>& visit) {
  return ForEachDocument(
      reader, [&](std::uint32_t ordinal, const DocumentRecord& record) -> absl::Status {
        RAG_ASSIGN_OR_RETURN(const StoredDocument document, LoadDocument(reader, ordinal, record));
        return visit(document);
      });
}

absl::StatusOr<StoredDocument> LoadDocument(const storage::IndexReader& reader,
                                            std::uint32_t ordinal, DocumentRecord record) {
  StoredDocument document;
  document.ordinal = ordinal;
  document.record = std::move(record);
  RAG_ASSIGN_OR_RETURN(document.parents,
                       LoadItems(reader, formats::kParentsFamily, ordinal, &formats::DecodeParent));
  RAG_ASSIGN_OR_RETURN(document.chunks, LoadChunks(reader, ordinal));
  return document;
}

absl::StatusOr<const formats::ParentRecord*> ParentOf(const StoredDocument& document,
                                                      const formats::ChunkRecord& chunk) {
  if (chunk.parent < document.parents.size()) return &document.parents[chunk.parent];
  return Damaged(document, absl::StrCat("no parent ", chunk.parent));
}

absl::StatusOr<std::vector<std::vector<formats::SummaryNode>>> LoadTree(
    const storage::IndexReader& reader, const StoredDocument& document) {
  std::vector<std::vector<formats::SummaryNode>> levels(document.record.level_sizes.size());
  RAG_RETURN_IF_ERROR(reader.records().Scan(
      formats::kSummariesFamily, formats::DocumentKey(document.ordinal),
      [&](std::string_view key, std::string_view value) -> absl::Status {
        RAG_ASSIGN_OR_RETURN(const formats::KeyParts parts, formats::ParseKey(key, 3));
        RAG_ASSIGN_OR_RETURN(formats::SummaryNode node, formats::DecodeSummaryNode(value));
        if (parts.part[1] >= levels.size()) return Damaged(document, "too many levels");
        levels[parts.part[1]].push_back(std::move(node));
        return absl::OkStatus();
      }));
  std::size_t below = document.chunks.size();
  for (const std::vector<formats::SummaryNode>& level : levels) {
    for (const formats::SummaryNode& node : level) {
      if (std::uint64_t{node.first_child} + node.num_children > below) {
        return Damaged(document, "a summary covers what does not exist");
      }
    }
    below = level.size();
  }
  return levels;
}

absl::StatusOr<std::vector<ChunkCost>> LoadCosts(const storage::IndexReader& reader,
                                                 const StoredDocument& document) {
  std::vector<ChunkCost> costs;
  RAG_RETURN_IF_ERROR(reader.records().Scan(
      formats::kTermsFamily, formats::DocumentKey(document.ordinal),
      [&](std::string_view, std::string_view value) -> absl::Status {
        RAG_ASSIGN_OR_RETURN(const formats::ForwardSegmentView segment,
                             formats::ForwardSegmentView::Parse(value, {}));
        for (std::uint32_t chunk = 0; chunk < segment.num_chunks(); ++chunk) {
          ChunkCost& cost = costs.emplace_back();
          for (int style = 0; style < formats::kNumHeaderStyles; ++style) {
            cost.units[style] = segment.cost(chunk, static_cast<formats::HeaderStyle>(style));
          }
        }
        return absl::OkStatus();
      }));
  if (costs.size() == document.chunks.size()) return costs;
  return Damaged(document, absl::StrCat("costs of ", costs.size(), " chunks, there are ",
                                        document.chunks.size()));
}

absl::StatusOr<Found> Find(const storage::IndexReader& reader, const std::string& name) {
  RAG_ASSIGN_OR_RETURN(std::optional<StoredDocument> document, FindDocument(reader, name));
  if (document.has_value()) return Found{*std::move(document), std::nullopt};
  if (const std::size_t mark = name.rfind(kChunkMark); mark != std::string::npos) {
    const char* digits = name.data() + mark + kChunkMark.size();
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(digits, name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size() && number > 0) {
      RAG_ASSIGN_OR_RETURN(document, FindDocument(reader, name.substr(0, mark)));
      if (document.has_value() && number <= document->chunks.size()) {
        return Found{*std::move(document), number - 1};
      }
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": no document or chunk of that name; rag-inspect summaries lists all"));
}

std::string SummaryText(const StoredDocument& document, const formats::Summary& summary) {
  std::string out;
  AppendCollapsed(summary.text, out);
  for (const formats::Span& span : summary.spans) {
    auto chunk = std::partition_point(
        document.chunks.begin(), document.chunks.end(),
        [&span](const formats::ChunkRecord& record) { return record.range.end <= span.start; });
    for (; chunk != document.chunks.end() && chunk->range.start < span.end; ++chunk) {
      const std::uint64_t start = std::max(span.start, chunk->range.start);
      const std::uint64_t end = std::min(span.end, chunk->range.end);
      AppendCollapsed(std::string_view(chunk->text).substr(start - chunk->range.start, end - start),
                      out);
    }
  }
  return out;
}

void AddRange(nlohmann::ordered_json& json, formats::Span range) {
  json["start"] = range.start;
  json["end"] = range.end;
}

nlohmann::ordered_json DocumentFields(const formats::DocumentRecord& record) {
  return {{"doc_id", record.doc_id},
          {"source", record.source},
          {"title", record.title},
          {"media_type", ToString(record.media_type)},
          {"size_bytes", record.size_bytes},
          {"content_sha256", formats::ToHex(record.content_sha256)},
          {"metadata", nlohmann::ordered_json(record.metadata)}};
}

}  // namespace rag::tools
