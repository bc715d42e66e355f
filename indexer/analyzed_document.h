// The first half of indexing a document, which needs nothing but the document: its chunks, its
// forward index, and what it adds to the statistics of the corpus.
#ifndef INDEXER_ANALYZED_DOCUMENT_H_
#define INDEXER_ANALYZED_DOCUMENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/records.h"
#include "formats/term_table.h"
#include "indexer/splitter.h"
#include "models/token_counter.h"
#include "models/words.h"

namespace rag::indexer {

// How often a term occurs in the chunks of one document (its body; 0 for terms that only its
// headings or title hold).
struct TermFrequency {
  std::uint64_t hash = 0;
  std::uint32_t chunks = 0;
};

// What a document adds to the statistics of the corpus.
struct DocumentStats {
  std::vector<TermFrequency> frequencies;  // ascending by hash
  formats::CorpusTotals totals;            // of this document alone
};

struct AnalyzedDocument {
  std::string source;  // with its prefix
  std::string doc_id;
  std::string title;
  std::string text;  // the file's bytes
  formats::MediaType media_type = formats::MediaType::kPlainText;
  std::vector<SplitChunk> chunks;
  std::vector<formats::ParentRecord> parents;
  std::vector<std::uint32_t> chunk_lines;  // 2 per chunk: first and last line, from 1
  std::vector<std::string> segments;       // encoded formats::ForwardSegment
  DocumentStats stats;
};

// REQUIRES: `text` is valid UTF-8 and not blank.
AnalyzedDocument AnalyzeDocument(std::string source, std::string doc_id, std::string text,
                                 formats::MediaType type, const Splitter& splitter,
                                 const models::TokenCounter& counter,
                                 models::TermAnalyzer& analyzer);

// The statistics that AnalyzeDocument gave, from what is stored of the document.
struct StoredText {
  std::string title;
  std::vector<formats::ParentRecord> parents;
  struct Chunk {
    std::string text;
    std::uint32_t parent = 0;
  };
  std::vector<Chunk> chunks;
};
DocumentStats CountTerms(const StoredText& text, models::TermAnalyzer& analyzer);

// For the journal of a build: all of it. DATA_LOSS when damaged.
std::string EncodeAnalyzed(const AnalyzedDocument& document);
absl::StatusOr<AnalyzedDocument> DecodeAnalyzed(std::string_view bytes);

}  // namespace rag::indexer

#endif  // INDEXER_ANALYZED_DOCUMENT_H_
