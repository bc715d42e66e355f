#include "indexer/file_examiner.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "formats/checksum.h"
#include "formats/status_macros.h"
#include "indexer/part_reader.h"
#include "indexer/text_file.h"

namespace rag::indexer {

ExaminedFile FileExaminer::Examine(std::uint32_t file_number, const CorpusFile& file,
                                   models::TermAnalyzer& analyzer) const {
  ExaminedFile result;
  PlannedDocument& document = result.document;
  document.file = file_number;
  document.source = absl::StrCat(parts_.source_prefix, file.source);
  document.doc_id = DocumentId(parts_.profile.doc_ids, file_number, document.source);
  for (int reading = 0; reading < kMaxReadings; ++reading) {
    if (ExamineOnce(file, analyzer, result)) return result;
  }
  result.ok = false;
  result.skipped = ChangedEachTime(file);
  return result;
}

bool FileExaminer::ExamineOnce(const CorpusFile& file, models::TermAnalyzer& analyzer,
                               ExaminedFile& result) const {
  PlannedDocument& document = result.document;
  const PreviousIndex::Document* known = Known(document.source);
  LoadOptions options;
  options.max_bytes = kPartBytes;
  if (parts_.previous != nullptr) {
    options.is_known = [this](const formats::Sha256& content) {
      return !parts_.previous->FindContent(content).empty();
    };
  }
  LoadedFile loaded = LoadTextFile(file, options);
  result.ok = loaded.ok;
  if (!loaded.ok) {
    result.skipped = std::move(loaded.skipped);
    return true;
  }
  document.content = loaded.content;
  if (known != nullptr && known->content == document.content && known->doc_id == document.doc_id) {
    document.previous = parts_.previous->Find(document.source);
    document.num_chunks = known->num_chunks;
    if (parts_.carry_over) return true;
  }
  if (parts_.carry_over && FindTwin(document)) return true;
  bool same = true;
  result.status = Analyze(file, std::move(loaded), analyzer, result, same);
  if (same && result.status.ok() && result.ok && document.num_chunks == 0) {
    result.ok = false;
    result.skipped = {file.source, SkipReason::kBlank, "no text to index"};
  }
  return same;
}

const PreviousIndex::Document* FileExaminer::Known(std::string_view source) const {
  if (parts_.previous == nullptr) return nullptr;
  const std::uint32_t ordinal = parts_.previous->Find(source);
  const std::vector<PreviousIndex::Document>& documents = parts_.previous->documents();
  return ordinal == documents.size() ? nullptr : &documents[ordinal];
}

bool FileExaminer::FindTwin(PlannedDocument& document) const {
  const std::vector<std::uint32_t> twins =
      parts_.previous->FindTwins(document.content, document.source);
  if (twins.empty()) return false;
  document.previous_twin = twins.front();
  document.num_chunks = parts_.previous->documents()[twins.front()].num_chunks;
  return true;
}

absl::Status FileExaminer::Analyze(const CorpusFile& file, LoadedFile loaded,
                                   models::TermAnalyzer& analyzer, ExaminedFile& result,
                                   bool& same) const {
  PlannedDocument& document = result.document;
  std::optional<AnalyzedDocument> analyzed;
  if (parts_.journal != nullptr) analyzed = parts_.journal->FindAnalyzed(document);
  result.resumed = analyzed.has_value();
  if (!analyzed.has_value()) {
    DocumentAnalyzer document_analyzer(document.source, document.doc_id, MediaTypeOf(file.source),
                                       parts_.splitter, parts_.counter, analyzer);
    std::vector<std::uint64_t> earlier_parts;
    AnalyzedPart part;
    if (loaded.large) {
      RAG_ASSIGN_OR_RETURN(std::optional<SkippedFile> skipped,
                           AnalyzeParts(file, document_analyzer, earlier_parts, part));
      result.ok = !skipped.has_value();
      if (skipped.has_value()) result.skipped = *std::move(skipped);
    } else {
      document_analyzer.AddPart(loaded.bytes, /*all=*/true, part);
    }
    analyzed = document_analyzer.Finish(std::move(part));
    same = !result.ok || analyzed->content == document.content;
    if (!result.ok || !same) return absl::OkStatus();
    analyzed->earlier_parts = std::move(earlier_parts);
    if (parts_.journal != nullptr) {
      RAG_RETURN_IF_ERROR(parts_.journal->AddAnalyzed(*analyzed, document));
    }
  }
  document.num_chunks = analyzed->num_chunks;
  if (analyzed->earlier_parts.empty()) {
    document.likeness =
        formats::Xxh3(absl::StrCat(static_cast<int>(analyzed->media_type), " ", analyzed->title));
  }
  result.stats = std::move(analyzed->stats);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<SkippedFile>> FileExaminer::AnalyzeParts(
    const CorpusFile& file, DocumentAnalyzer& document, std::vector<std::uint64_t>& earlier_parts,
    AnalyzedPart& last_part) const {
  bool first = true;
  const PartSizes sizes{kPartBytes, kMaxPartBytes};
  return ReadTextParts(
      file, sizes, [&](std::string_view text, bool all) -> absl::StatusOr<std::size_t> {
        AnalyzedPart part;
        const std::size_t taken = document.AddPart(text, all, part);
        if (taken == 0) return taken;
        if (!first && parts_.journal != nullptr) {
          RAG_ASSIGN_OR_RETURN(earlier_parts.emplace_back(), parts_.journal->AddPart(last_part));
        }
        first = false;
        last_part = std::move(part);
        return taken;
      });
}

}  // namespace rag::indexer
