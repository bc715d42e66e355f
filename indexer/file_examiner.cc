#include "indexer/file_examiner.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/checksum.h"
#include "formats/status_macros.h"
#include "indexer/text_file.h"

namespace rag::indexer {

ExaminedFile FileExaminer::Examine(std::uint32_t file_number, const CorpusFile& file,
                                   models::TermAnalyzer& analyzer) const {
  ExaminedFile result;
  LoadedFile loaded = LoadTextFile(file);
  if (!loaded.ok) {
    result.skipped = std::move(loaded.skipped);
    return result;
  }
  result.ok = true;
  PlannedDocument& document = result.document;
  document.file = file_number;
  document.source = absl::StrCat(parts_.source_prefix, file.source);
  document.doc_id = DocumentId(parts_.profile.doc_ids, file_number, document.source);
  document.content = formats::ComputeSha256(loaded.bytes);
  if (IsUnchanged(document) && parts_.carry_over) return result;
  if (parts_.journal == nullptr) return result;
  result.status = Analyze(std::move(loaded.bytes), MediaTypeOf(file.source), analyzer, result);
  if (result.status.ok() && document.num_chunks == 0) {
    result.ok = false;
    result.skipped = {file.source, SkipReason::kBlank, "no text to index"};
  }
  return result;
}

bool FileExaminer::IsUnchanged(PlannedDocument& document) const {
  if (parts_.previous == nullptr) return false;
  const std::uint32_t ordinal = parts_.previous->Find(document.source);
  if (ordinal == parts_.previous->documents().size()) return false;
  const PreviousIndex::Document& known = parts_.previous->documents()[ordinal];
  if (known.content != document.content || known.doc_id != document.doc_id) return false;
  document.previous = ordinal;
  document.num_chunks = known.num_chunks;
  return true;
}

absl::Status FileExaminer::Analyze(std::string text, formats::MediaType type,
                                   models::TermAnalyzer& analyzer, ExaminedFile& result) const {
  PlannedDocument& document = result.document;
  std::optional<AnalyzedDocument> analyzed = parts_.journal->FindAnalyzed(document);
  result.resumed = analyzed.has_value();
  if (!analyzed.has_value()) {
    analyzed = AnalyzeDocument(document.source, document.doc_id, std::move(text), type,
                               parts_.splitter, parts_.counter, analyzer);
    RAG_RETURN_IF_ERROR(parts_.journal->AddAnalyzed(*analyzed, document));
  }
  document.num_chunks = static_cast<std::uint32_t>(analyzed->chunks.size());
  result.stats = std::move(analyzed->stats);
  return absl::OkStatus();
}

}  // namespace rag::indexer
