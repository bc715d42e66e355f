// The first half of indexing a document, which needs nothing but the document: its chunks, its
// forward index, and what it adds to the statistics of the corpus.
#ifndef INDEXER_ANALYZED_DOCUMENT_H_
#define INDEXER_ANALYZED_DOCUMENT_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "formats/checksum.h"
#include "formats/forward_index.h"
#include "formats/records.h"
#include "formats/term_table.h"
#include "indexer/splitter.h"
#include "models/hashed_bm25.h"
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

// A long document is worked on part by part, so that memory does not grow with it: parts are about
// so large, longer only where the splitter finds no place to part the text, and never longer than
// the maximum. Documents up to this size are one part. In bytes.
inline constexpr std::size_t kPartBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxPartBytes = std::size_t{32} << 20;

// Consecutive chunks of a document and what belongs to them. Offsets and ordinals are those in the
// document.
struct AnalyzedPart {
  std::uint64_t offset = 0;  // of `text` in the file
  std::string text;          // the file's bytes
  std::uint32_t first_chunk = 0;
  std::uint32_t first_parent = 0;
  std::vector<SplitChunk> chunks;
  std::vector<formats::ParentRecord> parents;
  std::vector<std::uint32_t> chunk_lines;  // 2 per chunk: first and last line, from 1
  std::vector<std::string> segments;       // encoded formats::ForwardSegment; those that end here

  [[nodiscard]] std::string_view Slice(formats::Span range) const {
    return std::string_view(text).substr(range.start - offset, range.size());
  }
};

// With its last part, which is all of it unless there are earlier ones.
struct AnalyzedDocument : AnalyzedPart {
  std::vector<std::uint64_t> earlier_parts;  // entries of the journal, in order
  std::string source;                        // with its prefix
  std::string doc_id;
  std::string title;
  formats::MediaType media_type = formats::MediaType::kPlainText;
  formats::Sha256 content{};  // of all bytes
  std::uint64_t size_bytes = 0;
  std::uint32_t num_chunks = 0;
  std::uint32_t num_parents = 0;
  std::uint32_t num_segments = 0;
  DocumentStats stats;
};

// Gathers the statistics of one document: the title, then sections before their chunks.
class StatsCounter {
 public:
  using Terms = std::vector<models::WeightedTerm>;

  void SetTitle(const Terms& terms);
  void AddSection(const Terms& terms);
  // `section`: ordinal of its section.
  void AddChunk(const Terms& terms, std::uint32_t section);
  [[nodiscard]] DocumentStats Take() const;

 private:
  std::uint32_t title_length_ = 0;
  std::vector<std::uint32_t> section_lengths_;
  std::vector<std::uint32_t> lengths_;  // body + heading path of each chunk
  std::uint64_t body_length_ = 0;
  // Chunks whose body holds a term, by its hash; 0 for terms that occur in no body.
  absl::flat_hash_map<std::uint64_t, std::uint32_t> frequencies_;
};

// Analyzes one document from its start to its end. Borrows its parts. Threads: one thread.
class DocumentAnalyzer {
 public:
  DocumentAnalyzer(std::string source, std::string doc_id, formats::MediaType type,
                   const Splitter& splitter, const models::TokenCounter& counter,
                   models::TermAnalyzer& analyzer);

  // `text`: the valid UTF-8 that follows the parts before. Takes a part off its start, or `all` of
  // it, and returns its size in bytes; 0 when that takes more text.
  std::size_t AddPart(std::string_view text, bool all, AnalyzedPart& part);
  // After the last part.
  AnalyzedDocument Finish(AnalyzedPart last_part);

 private:
  void SetTitle(std::string title);
  void SplitOff(SplitDocument split, AnalyzedPart& part);
  void CountLines(AnalyzedPart& part);
  void AddSections(const AnalyzedPart& part);
  void AddChunk(const AnalyzedPart& part, std::size_t i);
  void FinishSegment();

  const Splitter& splitter_;
  const models::TokenCounter& counter_;
  models::TermAnalyzer& analyzer_;
  AnalyzedDocument document_;  // what is known of it, without a part
  SplitState split_state_;
  formats::Sha256Stream content_;
  std::uint32_t line_ = 1;
  formats::SectionTerms title_;
  std::deque<formats::SectionTerms> sections_;  // of the parents from first_section_ on
  std::uint32_t first_section_ = 0;
  formats::ForwardSegment segment_;    // being filled
  std::vector<std::string> segments_;  // finished in this part
  StatsCounter stats_;
};

// A document of one part. REQUIRES: `text` is valid UTF-8 and not blank.
AnalyzedDocument AnalyzeDocument(std::string source, std::string doc_id, std::string text,
                                 formats::MediaType type, const Splitter& splitter,
                                 const models::TokenCounter& counter,
                                 models::TermAnalyzer& analyzer);

// The terms of a text with their counts.
std::vector<models::WeightedTerm> TermsOf(std::string_view text, models::TermAnalyzer& analyzer);

// For the journal of a build. DATA_LOSS when damaged.
std::string Encode(const AnalyzedPart& part);
std::string Encode(const AnalyzedDocument& document);
absl::StatusOr<AnalyzedPart> DecodeAnalyzedPart(std::string_view bytes);
absl::StatusOr<AnalyzedDocument> DecodeAnalyzedDocument(std::string_view bytes);

}  // namespace rag::indexer

#endif  // INDEXER_ANALYZED_DOCUMENT_H_
