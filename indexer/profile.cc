#include "indexer/profile.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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
  profile.article_splitter = true;
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

}  // namespace

absl::StatusOr<Profile> FindProfile(std::string_view name) {
  if (name == "default") return DefaultProfile();
  if (name == "article") return ArticleProfile();
  return absl::InvalidArgumentError(
      absl::StrCat("profile '", std::string(name), "': must be default or article"));
}

absl::StatusOr<std::unique_ptr<Splitter>> MakeSplitter(const Profile& profile) {
  if (profile.article_splitter) return MakeArticleSplitter(profile.article_size);
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
