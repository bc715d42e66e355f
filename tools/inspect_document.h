// A document as rag-inspect shows it: its records together, found by name.
#ifndef TOOLS_INSPECT_DOCUMENT_H_
#define TOOLS_INSPECT_DOCUMENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/forward_index.h"
#include "formats/records.h"
#include "storage/index_reader.h"

namespace rag::tools {

struct StoredDocument {
  std::uint32_t ordinal = 0;
  formats::DocumentRecord record;
  std::vector<formats::ParentRecord> parents;
  std::vector<formats::ChunkRecord> chunks;
};

// Calls `visit` for every document in order of source.
absl::Status ForEachDocument(
    const storage::IndexReader& reader,
    const std::function<absl::Status(std::uint32_t ordinal, const formats::DocumentRecord& record)>&
        visit);
// The same with parents and chunks.
absl::Status ForEachStoredDocument(
    const storage::IndexReader& reader,
    const std::function<absl::Status(const StoredDocument& document)>& visit);
absl::StatusOr<StoredDocument> LoadDocument(const storage::IndexReader& reader,
                                            std::uint32_t ordinal, formats::DocumentRecord record);
// DATA_LOSS when a parent that a chunk names does not exist.
absl::StatusOr<const formats::ParentRecord*> ParentOf(const StoredDocument& document,
                                                      const formats::ChunkRecord& chunk);
// The levels of the summary tree, level 0 first.
absl::StatusOr<std::vector<std::vector<formats::SummaryNode>>> LoadTree(
    const storage::IndexReader& reader, const StoredDocument& document);
// Units of the token counter of every chunk, by formats::HeaderStyle.
struct ChunkCost {
  std::uint32_t units[formats::kNumHeaderStyles] = {0, 0, 0};
};
absl::StatusOr<std::vector<ChunkCost>> LoadCosts(const storage::IndexReader& reader,
                                                 const StoredDocument& document);

// A document, or one of its chunks.
struct Found {
  StoredDocument document;
  std::optional<std::uint32_t> chunk;
};
// By source, doc_id or chunk_id. INVALID_ARGUMENT when there is none.
absl::StatusOr<Found> Find(const storage::IndexReader& reader, const std::string& name);

// The text of a summary: sentences joined by a space, white space collapsed.
std::string SummaryText(const StoredDocument& document, const formats::Summary& summary);

// {"start","end"} and so on, as members of `json`.
void AddRange(nlohmann::ordered_json& json, formats::Span range);

// The members that say what a document is, "doc_id" to "metadata".
nlohmann::ordered_json DocumentFields(const formats::DocumentRecord& record);

}  // namespace rag::tools

#endif  // TOOLS_INSPECT_DOCUMENT_H_
