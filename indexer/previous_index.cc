#include "indexer/previous_index.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/keys.h"
#include "formats/names.h"
#include "formats/status_macros.h"
#include "indexer/analyzed_document.h"
#include "indexer/text_file.h"

namespace rag::indexer {
namespace {

// What differs, "splitter was a, is b"; empty when nothing does.
std::string Difference(const formats::BuildParams& was, const formats::BuildParams& is) {
  std::string text;
  const auto compare = [&text](absl::string_view name, const auto& before, const auto& now) {
    if (before == now) return;
    absl::StrAppend(&text, text.empty() ? "" : ", ", name, " was '", before, "', is '", now, "'");
  };
  compare("profile", was.profile, is.profile);
  compare("splitter", was.splitter, is.splitter);
  compare("summarizer", was.summarizer, is.summarizer);
  compare("embedder", was.embedder, is.embedder);
  compare("token counter", was.token_counter, is.token_counter);
  compare("source prefix", formats::PrintableName(was.source_prefix),
          formats::PrintableName(is.source_prefix));
  compare("chunk dimensions", was.chunk_dim, is.chunk_dim);
  compare("document dimensions", was.document_dim, is.document_dim);
  compare("reduction budget", was.reduction_budget_tokens, is.reduction_budget_tokens);
  compare("documents a shard", was.shard_documents, is.shard_documents);
  return text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PreviousIndex>> PreviousIndex::Open(
    const std::filesystem::path& index, const formats::BuildParams& build) {
  std::unique_ptr<PreviousIndex> previous(new PreviousIndex());
  RAG_ASSIGN_OR_RETURN(previous->reader_, storage::IndexReader::Open(index));
  const std::string difference = Difference(previous->manifest().build, build);
  if (!difference.empty()) return absl::FailedPreconditionError(difference);
  RAG_RETURN_IF_ERROR(previous->ReadDocuments());
  return previous;
}

absl::Status PreviousIndex::ReadDocuments() {
  documents_.reserve(manifest().counts.documents);
  RAG_RETURN_IF_ERROR(reader_->records().Scan(
      formats::kDocumentsFamily, "",
      [this](std::string_view /*key*/, std::string_view value) -> absl::Status {
        RAG_ASSIGN_OR_RETURN(formats::DocumentRecord record, formats::DecodeDocument(value));
        documents_.push_back({.source = std::move(record.source),
                              .doc_id = std::move(record.doc_id),
                              .title = std::move(record.title),
                              .media_type = record.media_type,
                              .content = record.content_sha256,
                              .size_bytes = record.size_bytes,
                              .num_chunks = record.num_chunks,
                              .stale = record.metadata.contains(std::string(kStaleKey))});
        return absl::OkStatus();
      }));
  const auto ascending = [](const Document& a, const Document& b) { return a.source < b.source; };
  if (documents_.size() != manifest().counts.documents ||
      !std::is_sorted(documents_.begin(), documents_.end(), ascending)) {
    return absl::DataLossError(
        absl::StrCat(reader_->folder().string(), ": documents are missing or out of order"));
  }
  by_content_.resize(documents_.size());
  std::iota(by_content_.begin(), by_content_.end(), 0U);
  std::stable_sort(by_content_.begin(), by_content_.end(),
                   [this](std::uint32_t a, std::uint32_t b) {
                     return documents_[a].content < documents_[b].content;
                   });
  return absl::OkStatus();
}

std::uint32_t PreviousIndex::Find(std::string_view source) const {
  const auto it = std::lower_bound(
      documents_.begin(), documents_.end(), source,
      [](const Document& document, std::string_view wanted) { return document.source < wanted; });
  if (it == documents_.end() || it->source != source) {
    return static_cast<std::uint32_t>(documents_.size());
  }
  return static_cast<std::uint32_t>(it - documents_.begin());
}

std::span<const std::uint32_t> PreviousIndex::FindContent(const formats::Sha256& content) const {
  const auto less = [this](std::uint32_t ordinal, const formats::Sha256& wanted) {
    return documents_[ordinal].content < wanted;
  };
  const auto first = std::lower_bound(by_content_.begin(), by_content_.end(), content, less);
  const auto last = std::find_if(first, by_content_.end(), [&](std::uint32_t ordinal) {
    return documents_[ordinal].content != content;
  });
  return {first, last};
}

std::vector<std::uint32_t> PreviousIndex::FindTwins(const formats::Sha256& content,
                                                    std::string_view source) const {
  std::vector<std::uint32_t> twins;
  for (const std::uint32_t ordinal : FindContent(content)) {
    const Document& document = documents_[ordinal];
    // A title that comes from the name is another one under another name.
    const bool named = document.title == TitleFromName(document.source);
    if (document.size_bytes <= kPartBytes && document.media_type == MediaTypeOf(source) &&
        (!named || document.title == TitleFromName(source))) {
      twins.push_back(ordinal);
    }
  }
  return twins;
}

}  // namespace rag::indexer
