// rag-inspect diff: what documents two generations do not share.
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "formats/checksum.h"
#include "formats/keys.h"
#include "formats/status_macros.h"
#include "storage/generation.h"
#include "tools/cli.h"
#include "tools/inspect_commands.h"
#include "tools/json_text.h"

namespace rag::tools {
namespace {

using formats::DocumentRecord;
using nlohmann::ordered_json;

constexpr std::string_view kPrefix = "gen-";

absl::StatusOr<std::uint64_t> FindGeneration(const std::filesystem::path& index,
                                             const std::string& name) {
  RAG_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> known, storage::ListGenerations(index));
  std::string_view digits = name;
  if (digits.starts_with(kPrefix)) digits.remove_prefix(kPrefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool parsed = error == std::errc() && end == digits.data() + digits.size();
  if (parsed && std::ranges::find(known, number) != known.end()) return number;
  std::string list;
  for (const std::uint64_t one : known) absl::StrAppend(&list, list.empty() ? "" : ", ", one);
  return absl::InvalidArgumentError(absl::StrCat(index.string(), ": no generation ", name,
                                                 "; there is ", list.empty() ? "none" : list));
}

// The documents of a generation in order of source.
class Documents {
 public:
  static absl::StatusOr<Documents> Open(const std::filesystem::path& index,
                                        const std::string& name) {
    Documents documents;
    RAG_ASSIGN_OR_RETURN(const std::uint64_t number, FindGeneration(index, name));
    RAG_ASSIGN_OR_RETURN(documents.reader_, storage::IndexReader::OpenGeneration(index, number));
    RAG_ASSIGN_OR_RETURN(documents.cursor_,
                         documents.reader_->records().NewCursor(formats::kDocumentsFamily));
    RAG_RETURN_IF_ERROR(documents.Load());
    return documents;
  }

  // Absent behind the last one.
  [[nodiscard]] const std::optional<DocumentRecord>& current() const { return current_; }
  absl::Status Next() {
    cursor_->Next();
    return Load();
  }

 private:
  absl::Status Load() {
    current_.reset();
    if (!cursor_->Valid()) return cursor_->status();
    RAG_ASSIGN_OR_RETURN(current_, formats::DecodeDocument(cursor_->value()));
    return absl::OkStatus();
  }

  std::unique_ptr<storage::IndexReader> reader_;  // outlives the cursor
  std::unique_ptr<storage::RecordCursor> cursor_;
  std::optional<DocumentRecord> current_;
};

void Print(const char* change, const DocumentRecord* from, const DocumentRecord* to, bool json) {
  const std::string& source = (from != nullptr ? from : to)->source;
  if (!json) {
    WriteDocumentText(absl::StrCat(change, " ", OneLine(source), "\n"));
    return;
  }
  ordered_json line = {{"change", change}, {"source", source}};
  const auto add = [&](const std::string& which, const DocumentRecord* record) {
    line[which + "_sha256"] =
        record == nullptr ? ordered_json() : ordered_json(formats::ToHex(record->content_sha256));
    line[which + "_bytes"] = record == nullptr ? ordered_json() : ordered_json(record->size_bytes);
  };
  add("old", from);
  add("new", to);
  WriteJsonLine(line);
}

}  // namespace

absl::Status InspectDiff(const std::filesystem::path& index, const std::string& from,
                         const std::string& to, bool json) {
  RAG_RETURN_IF_ERROR(storage::ReadCurrent(index).status());
  RAG_ASSIGN_OR_RETURN(Documents old_documents, Documents::Open(index, from));
  RAG_ASSIGN_OR_RETURN(Documents new_documents, Documents::Open(index, to));
  while (true) {
    const std::optional<DocumentRecord>& a = old_documents.current();
    const std::optional<DocumentRecord>& b = new_documents.current();
    if (!a.has_value() && !b.has_value()) return absl::OkStatus();
    const bool removed = !b.has_value() || (a.has_value() && a->source < b->source);
    const bool added = !a.has_value() || (b.has_value() && b->source < a->source);
    if (removed) {
      Print("removed", &*a, nullptr, json);
    } else if (added) {
      Print("added", nullptr, &*b, json);
    } else if (a->content_sha256 != b->content_sha256) {
      Print("changed", &*a, &*b, json);
    }
    if (!added) RAG_RETURN_IF_ERROR(old_documents.Next());
    if (!removed) RAG_RETURN_IF_ERROR(new_documents.Next());
  }
}

}  // namespace rag::tools
