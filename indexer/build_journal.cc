#include "indexer/build_journal.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/coding.h"
#include "formats/status_macros.h"
#include "storage/document_bundle.h"
#include "storage/file_io.h"
#include "storage/generation.h"

namespace rag::indexer {
namespace {

namespace fs = std::filesystem;

std::string PurposeOf(const formats::BuildParams& build, std::string_view program) {
  formats::ByteWriter out;
  for (const std::string_view text :
       {program, std::string_view(build.profile), std::string_view(build.splitter),
        std::string_view(build.summarizer), std::string_view(build.embedder),
        std::string_view(build.token_counter), std::string_view(build.source_prefix)}) {
    out.LengthPrefixed(text);
  }
  for (const std::uint32_t number : {build.chunk_dim, build.document_dim,
                                     build.reduction_budget_tokens, build.shard_documents}) {
    out.Fixed32(number);
  }
  return out.Take();
}

std::string KeyOf(const PlannedDocument& planned) {
  formats::ByteWriter out;
  out.Bytes({reinterpret_cast<const char*>(planned.content.data()), planned.content.size()});
  out.LengthPrefixed(planned.source);
  out.LengthPrefixed(planned.doc_id);
  return out.Take();
}

bool AreWhole(const Journal& journal, const std::vector<std::uint64_t>& entries) {
  return std::all_of(entries.begin(), entries.end(),
                     [&journal](std::uint64_t entry) { return journal.Read(entry).ok(); });
}

absl::StatusOr<BuiltDocument> DecodeBuilt(std::string_view bytes) {
  formats::ByteReader in(bytes, "built document");
  BuiltDocument built;
  built.cut_summaries = static_cast<std::uint32_t>(in.Varint());
  built.earlier_parts.resize(in.Count(1));
  for (std::uint64_t& entry : built.earlier_parts) entry = in.Varint();
  const std::string_view bundle = in.LengthPrefixed();
  RAG_RETURN_IF_ERROR(in.Finish());
  RAG_ASSIGN_OR_RETURN(built.bundle, storage::DecodeBundle(bundle));
  return built;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BuildJournal>> BuildJournal::Open(const fs::path& index,
                                                                 const formats::BuildParams& build,
                                                                 std::string_view program) {
  const fs::path folder = index / storage::kJournalFolder;
  std::error_code error;
  fs::create_directory(folder, error);
  if (error) return storage::SystemError(folder, "make the folder", error.value());
  std::unique_ptr<BuildJournal> journal(new BuildJournal(folder, PurposeOf(build, program)));
  absl::StatusOr<std::unique_ptr<Journal>> analyzed =
      Journal::Open(folder / "analyzed", journal->purpose_);
  if (absl::IsResourceExhausted(analyzed.status())) journal->Discard().IgnoreError();
  RAG_RETURN_IF_ERROR(analyzed.status());
  journal->analyzed_ = *std::move(analyzed);
  return journal;
}

std::optional<AnalyzedDocument> BuildJournal::FindAnalyzed(PlannedDocument& planned) const {
  planned.analyzed = analyzed_->Find(KeyOf(planned));
  if (!planned.analyzed.has_value()) return std::nullopt;
  absl::StatusOr<AnalyzedDocument> document = ReadAnalyzed(planned);
  if (document.ok() && AreWhole(*analyzed_, document->earlier_parts)) return *std::move(document);
  planned.analyzed.reset();
  return std::nullopt;
}

absl::StatusOr<std::uint64_t> BuildJournal::AddPart(const AnalyzedPart& part) {
  return analyzed_->Append("", Encode(part));
}

absl::Status BuildJournal::AddAnalyzed(const AnalyzedDocument& document, PlannedDocument& planned) {
  RAG_ASSIGN_OR_RETURN(planned.analyzed, analyzed_->Append(KeyOf(planned), Encode(document)));
  return absl::OkStatus();
}

absl::StatusOr<AnalyzedDocument> BuildJournal::ReadAnalyzed(const PlannedDocument& planned) const {
  RAG_ASSIGN_OR_RETURN(const std::string bytes, analyzed_->Read(planned.analyzed.value()));
  return DecodeAnalyzedDocument(bytes);
}

absl::StatusOr<AnalyzedPart> BuildJournal::ReadAnalyzedPart(std::uint64_t entry) const {
  RAG_ASSIGN_OR_RETURN(const std::string bytes, analyzed_->Read(entry));
  return DecodeAnalyzedPart(bytes);
}

absl::Status BuildJournal::BeginBuilding(std::uint64_t fingerprint_of_statistics) {
  RAG_ASSIGN_OR_RETURN(
      built_, Journal::Open(folder_ / "built",
                            absl::StrCat(purpose_, "statistics ", fingerprint_of_statistics)));
  return absl::OkStatus();
}

std::optional<BuiltDocument> BuildJournal::FindBuilt(const PlannedDocument& planned) const {
  const std::optional<std::uint64_t> entry = built_->Find(KeyOf(planned));
  if (!entry.has_value()) return std::nullopt;
  const absl::StatusOr<std::string> bytes = built_->Read(*entry);
  if (!bytes.ok()) return std::nullopt;
  absl::StatusOr<BuiltDocument> built = DecodeBuilt(*bytes);
  if (!built.ok() || !AreWhole(*built_, built->earlier_parts)) return std::nullopt;
  return *std::move(built);
}

absl::StatusOr<std::uint64_t> BuildJournal::AddPart(const storage::BundlePart& part) {
  return built_->Append("", storage::Encode(part));
}

absl::StatusOr<storage::BundlePart> BuildJournal::ReadBuiltPart(std::uint64_t entry) const {
  RAG_ASSIGN_OR_RETURN(const std::string bytes, built_->Read(entry));
  return storage::DecodeBundlePart(bytes);
}

absl::Status BuildJournal::AddBuilt(const BuiltDocument& built, const PlannedDocument& planned) {
  formats::ByteWriter out;
  out.Varint(built.cut_summaries);
  out.Varint(built.earlier_parts.size());
  for (const std::uint64_t entry : built.earlier_parts) out.Varint(entry);
  out.LengthPrefixed(storage::Encode(built.bundle));
  return built_->Append(KeyOf(planned), out.view()).status();
}

absl::Status BuildJournal::Discard() {
  analyzed_.reset();
  built_.reset();
  std::error_code error;
  fs::remove_all(folder_, error);
  return error ? storage::SystemError(folder_, "remove", error.value()) : absl::OkStatus();
}

}  // namespace rag::indexer
