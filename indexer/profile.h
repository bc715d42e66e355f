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
#include "indexer/recursive_splitter.h"
#include "indexer/reduction.h"
#include "indexer/sentence_splitter.h"
#include "indexer/splitter.h"
#include "indexer/summarizer.h"
#include "indexer/token_splitter.h"

namespace rag::indexer {

// How documents are named.
enum class DocIdStyle {
  kSource,   // the source path itself: stays the same when other files come and go
  kArticle,  // "doc-003-large_rag_notes", numbered in the order of the sources
};

// docs/splitters.md.
enum class SplitterKind { kStructure, kArticle, kRecursive, kSentence, kTokens };

// "structure", "article", "recursive", "sentence", "tokens".
std::string_view ToString(SplitterKind kind);
// INVALID_ARGUMENT for another name; the message lists them.
absl::StatusOr<SplitterKind> ParseSplitterKind(std::string_view name);

// What the sizes of a splitter count; those of the others count characters, or tokens.
enum class ChunkUnit { kCharacters, kTokens };

// Everything that decides the result of a build. The components are named by kind; MakeSplitter and
// MakeSummarizer give the real ones.
struct Profile {
  std::string name;
  DocIdStyle doc_ids = DocIdStyle::kSource;
  SplitterKind splitter = SplitterKind::kStructure;
  // The sizes of each splitter; those of the others are not read.
  StructureSizes structure;
  std::uint32_t article_size = 420;
  RecursiveSizes recursive;
  SentenceSizes sentence;
  TokenSizes tokens;
  ChunkUnit chunk_unit = ChunkUnit::kCharacters;  // of kRecursive and kSentence
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

// INVALID_ARGUMENT for sizes that the splitter refuses and, for now, for an overlap: what comes
// after splitting counts on chunks that do not overlap.
absl::StatusOr<std::unique_ptr<Splitter>> MakeSplitter(const Profile& profile);
// `idf` as in MakeCoverSummarizer.
std::unique_ptr<Summarizer> MakeSummarizer(const Profile& profile,
                                           std::function<double(std::uint64_t)> idf);

// "doc-003-large_rag_notes" or the source; `ordinal` from 0, `source` with its prefix.
std::string DocumentId(DocIdStyle style, std::uint32_t ordinal, std::string_view source);

}  // namespace rag::indexer

#endif  // INDEXER_PROFILE_H_
