#include "indexer/file_examiner.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "formats/checksum.h"
#include "formats/status_macros.h"
#include "indexer/text_file.h"

namespace rag::indexer {

ExaminedFile FileExaminer::Examine(std::uint32_t file_number, const CorpusFile& file,
                                   models::TermAnalyzer& analyzer) const {
  ExaminedFile result;
  PlannedDocument& document = result.document;
  document.file = file_number;
  document.source = absl::StrCat(parts_.source_prefix, file.source);
  document.doc_id = DocumentId(parts_.profile.doc_ids, file_number, document.source);
  const PreviousIndex::Document* known = Known(document.source);
  LoadOptions options;
  if (known != nullptr) {
    options.is_known = [&](std::string_view bytes) {
      document.content = formats::ComputeSha256(bytes);
      return document.content == known->content;
    };
  }
  LoadedFile loaded = LoadTextFile(file, options);
  if (!loaded.ok) {
    result.skipped = std::move(loaded.skipped);
    return result;
  }
  result.ok = true;
  if (known == nullptr) document.content = formats::ComputeSha256(loaded.bytes);
  if (known != nullptr && known->content == document.content && known->doc_id == document.doc_id) {
    document.previous = parts_.previous->Find(document.source);
    document.num_chunks = known->num_chunks;
    if (parts_.carry_over) return result;
  }
  if (parts_.journal == nullptr) return result;
  result.status = Analyze(std::move(loaded.bytes), MediaTypeOf(file.source), analyzer, result);
  if (result.status.ok() && document.num_chunks == 0) {
    result.ok = false;
    result.skipped = {file.source, SkipReason::kBlank, "no text to index"};
  }
  return result;
}

const PreviousIndex::Document* FileExaminer::Known(std::string_view source) const {
  if (parts_.previous == nullptr) return nullptr;
  const std::uint32_t ordinal = parts_.previous->Find(source);
  const std::vector<PreviousIndex::Document>& documents = parts_.previous->documents();
  return ordinal == documents.size() ? nullptr : &documents[ordinal];
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
