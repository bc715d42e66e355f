// Profiles: named sets of every build parameter and of the defaults that a query starts from.
#ifndef INDEXER_PROFILE_H_
#define INDEXER_PROFILE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "formats/manifest.h"
#include "indexer/reduction.h"
#include "indexer/splitter.h"
#include "indexer/summarizer.h"

namespace rag::indexer {

// How documents are named.
enum class DocIdStyle {
  kSource,   // the source path itself: stays the same when other files come and go
  kArticle,  // "doc-003-large_rag_notes", numbered in the order of the sources
};

// Everything that decides the result of a build. The components are named by kind; MakeSplitter and
// MakeSummarizer give the real ones.
struct Profile {
  std::string name;
  DocIdStyle doc_ids = DocIdStyle::kSource;
  bool article_splitter = false;
  StructureSizes structure;          // when not article_splitter
  std::uint32_t article_size = 420;  // when article_splitter
  bool article_summarizer = false;
  CoverSizes cover;  // when not article_summarizer
  ReductionOptions reduction;
  std::string token_counter;
  std::uint32_t chunk_dim = 0;  // of the built-in embedder's vectors
  std::uint32_t document_dim = 0;
  formats::QueryDefaults query;
};

// "default" and "article". INVALID_ARGUMENT for another name; the message lists them.
absl::StatusOr<Profile> FindProfile(std::string_view name);

absl::StatusOr<std::unique_ptr<Splitter>> MakeSplitter(const Profile& profile);
// `idf` as in MakeCoverSummarizer.
std::unique_ptr<Summarizer> MakeSummarizer(const Profile& profile,
                                           std::function<double(std::uint64_t)> idf);

// "doc-003-large_rag_notes" or the source; `ordinal` from 0, `source` with its prefix.
std::string DocumentId(DocIdStyle style, std::uint32_t ordinal, std::string_view source);

}  // namespace rag::indexer

#endif  // INDEXER_PROFILE_H_
