#include "indexer/profile.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "formats/status_macros.h"
#include "indexer/text_file.h"
#include "models/token_counter.h"

namespace rag::indexer {
namespace {

Profile DefaultProfile() {
  Profile profile;
  profile.name = "default";
  profile.token_counter = models::kDefaultTokenCounter;
  profile.chunk_dim = 128;
  profile.document_dim = 512;
  profile.query.scorer = "bm25";
  profile.query.budget_tokens = 1200;
  profile.query.top_documents = 0;        // follows the budget
  profile.query.chunks_per_document = 0;  // follows the budget
  profile.query.neighbors = false;
  profile.query.header = "short";
  profile.query.count_frame = true;
  return profile;
}

// The constants of the source article (docs/design.md, "The article profile").
Profile ArticleProfile() {
  Profile profile;
  profile.name = "article";
  profile.doc_ids = DocIdStyle::kArticle;
  profile.splitter = SplitterKind::kArticle;
  profile.article_summarizer = true;
  profile.reduction.budget_tokens = 90;
  profile.reduction.cut_forced_pairs = false;
  profile.token_counter = models::kArticleTokenCounter;
  profile.chunk_dim = 128;
  profile.document_dim = 128;
  profile.query.scorer = "article";
  profile.query.budget_tokens = 250;
  profile.query.top_documents = 2;
  profile.query.chunks_per_document = 2;
  profile.query.neighbors = true;
  profile.query.header = "full";
  profile.query.count_frame = false;
  return profile;
}

// Lines of chunks are counted in one walk, which cannot go back. Bad sizes are left to the
// splitter.
absl::Status RefuseOverlap(std::uint32_t size, std::uint32_t overlap) {
  if (overlap == 0 || overlap >= size) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "chunk overlap ", overlap, ": chunks that overlap cannot be indexed yet; use 0"));
}

}  // namespace

absl::StatusOr<Profile> FindProfile(std::string_view name) {
  if (name == "default") return DefaultProfile();
  if (name == "article") return ArticleProfile();
  return absl::InvalidArgumentError(
      absl::StrCat("profile '", std::string(name), "': must be default or article"));
}

std::string_view ToString(SplitterKind kind) {
  switch (kind) {
    case SplitterKind::kStructure:
      return "structure";
    case SplitterKind::kArticle:
      return "article";
    case SplitterKind::kRecursive:
      return "recursive";
    case SplitterKind::kSentence:
      return "sentence";
    case SplitterKind::kTokens:
      return "tokens";
  }
  return "unknown";
}

absl::StatusOr<SplitterKind> ParseSplitterKind(std::string_view name) {
  for (const SplitterKind kind :
       {SplitterKind::kStructure, SplitterKind::kArticle, SplitterKind::kRecursive,
        SplitterKind::kSentence, SplitterKind::kTokens}) {
    if (name == ToString(kind)) return kind;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("splitter '", std::string(name),
                   "': must be structure, article, recursive, sentence or tokens"));
}

absl::StatusOr<std::unique_ptr<Splitter>> MakeSplitter(const Profile& profile) {
  RAG_ASSIGN_OR_RETURN(const std::shared_ptr<const models::TokenCounter> counter,
                       models::MakeTokenCounter(profile.token_counter));
  const TextRuler ruler =
      profile.chunk_unit == ChunkUnit::kTokens ? TextRuler(counter) : TextRuler();
  switch (profile.splitter) {
    case SplitterKind::kStructure:
      break;
    case SplitterKind::kArticle:
      return MakeArticleSplitter(profile.article_size);
    case SplitterKind::kRecursive:
      RAG_RETURN_IF_ERROR(RefuseOverlap(profile.recursive.size, profile.recursive.overlap));
      return MakeRecursiveSplitter(profile.recursive, ruler);
    case SplitterKind::kSentence:
      return MakeSentenceSplitter(profile.sentence, ruler);
    case SplitterKind::kTokens:
      RAG_RETURN_IF_ERROR(RefuseOverlap(profile.tokens.size, profile.tokens.overlap));
      return MakeTokenSplitter(profile.tokens, counter);
  }
  return MakeStructureSplitter(profile.structure);
}

std::unique_ptr<Summarizer> MakeSummarizer(const Profile& profile,
                                           std::function<double(std::uint64_t)> idf) {
  if (profile.article_summarizer) return MakeArticleSummarizer();
  return MakeCoverSummarizer(profile.cover, std::move(idf));
}

std::string DocumentId(DocIdStyle style, std::uint32_t ordinal, std::string_view source) {
  if (style == DocIdStyle::kSource) return std::string(source);
  return absl::StrFormat("doc-%03d-%s", ordinal + 1, FileStem(source));
}

}  // namespace rag::indexer
