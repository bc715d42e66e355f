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
  // The last two are not spilled: they are consumed in the first pass.
  std::vector<TermFrequency> frequencies;  // ascending by hash
  formats::CorpusTotals totals;            // of this document alone
};

// REQUIRES: `text` is valid UTF-8 and not blank.
AnalyzedDocument AnalyzeDocument(std::string source, std::string doc_id, std::string text,
                                 formats::MediaType type, const Splitter& splitter,
                                 const models::TokenCounter& counter,
                                 models::TermAnalyzer& analyzer);

// The spill format between the two passes of a build; private to one build of one program.
std::string EncodeSpill(const AnalyzedDocument& document);
absl::StatusOr<AnalyzedDocument> DecodeSpill(std::string_view bytes);

}  // namespace rag::indexer

#endif  // INDEXER_ANALYZED_DOCUMENT_H_
