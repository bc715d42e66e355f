// Corpus statistics of terms: in how many chunks and documents each occurs, and the mean lengths
// that BM25 needs. One file, model/terms.bin, mapped and searched in place. FORMAT.md, "Term
// table".
#ifndef FORMATS_TERM_TABLE_H_
#define FORMATS_TERM_TABLE_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace rag::formats {

// The neighbourhood of a chunk: the chunks of its document at a distance of at most kNearRadius,
// each weighted with kNearDecay to the power of its distance. CorpusTotals::near_length depends on
// both.
inline constexpr double kNearDecay = 0.7;
inline constexpr int kNearRadius = 8;

// Sums over the corpus, made in one pass in document order. A "length" counts terms, repeats
// included.
struct CorpusTotals {
  std::uint64_t num_documents = 0;
  std::uint64_t num_chunks = 0;
  std::uint64_t num_sections = 0;
  std::uint64_t chunk_length = 0;     // body + heading path + title of each chunk
  std::uint64_t section_length = 0;   // bodies + heading path once + title once, of each section
  std::uint64_t document_length = 0;  // bodies + headings of sections + title, of each document
  double near_length = 0;  // sum over the chunks of the weighted length of the neighbourhood
  friend bool operator==(const CorpusTotals&, const CorpusTotals&) = default;
};

struct TermRow {
  std::uint64_t hash = 0;  // all 64 bits
  std::uint32_t chunk_frequency = 0;
  std::uint32_t document_frequency = 0;
};

// A term is rare when the bodies of at most so many documents hold it: the table then names them
// all, so that a name or an error code leads to its documents whatever the vectors make of it.
inline constexpr std::uint32_t kRareDocuments = 64;

struct RareTerm {
  std::uint64_t hash = 0;
  std::uint32_t document = 0;  // ordinal
  friend auto operator<=>(const RareTerm&, const RareTerm&) = default;
};

// The bytes of a term table. REQUIRES: rows strictly ascending by hash; `rare` strictly ascending,
// its hashes among those of the rows.
std::string EncodeTermTable(const CorpusTotals& totals, std::span<const TermRow> rows,
                            std::span<const RareTerm> rare = {});

// Reads a table in place. Lifetime: borrows `bytes`, which must be 8-byte aligned (a mapping is).
// Threads: const methods may run concurrently.
class TermTableView {
 public:
  TermTableView() = default;
  // Checks magic, version, sizes and the header's checksum, and nothing that grows with the table.
  // FAILED_PRECONDITION for another version, DATA_LOSS for damage; `name` is used in messages.
  static absl::StatusOr<TermTableView> Open(std::string_view bytes, std::string_view name);

  [[nodiscard]] const CorpusTotals& totals() const { return totals_; }
  [[nodiscard]] std::uint64_t size() const { return num_rows_; }
  [[nodiscard]] TermRow row(std::uint64_t i) const;
  // O(log size), a handful of page touches (the hashes are uniform, so it interpolates first).
  // Absent when the term occurs nowhere; a term of headings or titles alone has frequencies 0.
  [[nodiscard]] std::optional<TermRow> Find(std::uint64_t hash) const;
  // The documents that hold a rare term, ascending; none for other terms. DATA_LOSS when the list
  // is damaged or names a document that the corpus does not have.
  [[nodiscard]] absl::StatusOr<std::vector<std::uint32_t>> RareDocuments(std::uint64_t hash) const;

 private:
  [[nodiscard]] std::optional<std::uint64_t> FindRow(std::uint64_t hash) const;

  CorpusTotals totals_;
  std::uint64_t num_rows_ = 0;
  std::string_view hashes_;
  std::string_view chunk_frequencies_;
  std::string_view document_frequencies_;
  std::string_view rare_ends_;
  std::string_view rare_;
};

}  // namespace rag::formats

#endif  // FORMATS_TERM_TABLE_H_
