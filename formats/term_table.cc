#include "formats/term_table.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "formats/checksum.h"
#include "formats/coding.h"
#include "formats/status_macros.h"

namespace rag::formats {

static_assert(std::endian::native == std::endian::little, "the arrays are read in place");

namespace {

constexpr std::string_view kMagic = "RAGTERMS";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kHeaderBytes = 128;
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kHeaderSizeAt = 12;
constexpr std::size_t kChecksumBytes = 8;  // the last bytes of the header, in every version
constexpr std::size_t kAlignment = 64;
constexpr std::uint64_t kRowBytes = 8 + 4 + 4 + 4;
// Uniform hashes need about log2(log2(rows)) steps; anything else is left to the binary search.
constexpr int kMaxInterpolations = 12;

constexpr std::uint64_t Aligned(std::uint64_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

void PadTo(ByteWriter& out, std::uint64_t size) {
  assert(out.size() <= size);
  out.Bytes(std::string(size - out.size(), '\0'));
}

template <typename T>
T Load(std::string_view array, std::uint64_t i) {
  T value;
  std::memcpy(&value, array.data() + i * sizeof(T), sizeof(T));
  return value;
}

absl::Status Damaged(std::string_view name, const std::string& message) {
  return absl::DataLossError(std::string(name) + ": " + message +
                             "; the index is damaged, rebuild it with rag-index build");
}

// What all versions share: magic, version, header size, and a checksum at the header's end.
absl::Status CheckHeader(std::string_view bytes, std::string_view name) {
  if (bytes.size() < kHeaderSizeAt + 4) {
    return Damaged(name, "size: expected at least " + std::to_string(kHeaderBytes) +
                             " bytes, found " + std::to_string(bytes.size()));
  }
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return Damaged(name, "magic at 0: expected \"RAGTERMS\", found something else");
  }
  const auto header_size = Load<std::uint32_t>(bytes.substr(kHeaderSizeAt), 0);
  if (header_size < kHeaderSizeAt + 4 + kChecksumBytes || header_size > bytes.size()) {
    return Damaged(name, "header size at 12: found " + std::to_string(header_size) +
                             ", file holds " + std::to_string(bytes.size()));
  }
  const std::size_t checksum_at = header_size - kChecksumBytes;
  const auto expected = Load<std::uint64_t>(bytes.substr(checksum_at), 0);
  const std::uint64_t found = Xxh3(bytes.substr(0, checksum_at));
  if (expected != found) {
    return Damaged(name, "header checksum at " + std::to_string(checksum_at) + ": expected " +
                             ToHex(expected) + ", found " + ToHex(found));
  }
  const auto version = Load<std::uint32_t>(bytes.substr(kVersionAt), 0);
  if (version != kVersion) {
    return absl::FailedPreconditionError(std::string(name) + ": term table version " +
                                         std::to_string(version) + ", this program reads version " +
                                         std::to_string(kVersion) +
                                         "; rebuild with rag-index build");
  }
  if (header_size != kHeaderBytes) {
    return Damaged(name, "header size at 12: expected " + std::to_string(kHeaderBytes) +
                             ", found " + std::to_string(header_size));
  }
  return absl::OkStatus();
}

void WriteTotals(ByteWriter& out, const CorpusTotals& totals) {
  for (const std::uint64_t value :
       {totals.num_documents, totals.num_chunks, totals.num_sections, totals.chunk_length,
        totals.section_length, totals.document_length}) {
    out.Fixed64(value);
  }
  out.Fixed64(std::bit_cast<std::uint64_t>(totals.near_length));
}

CorpusTotals ReadTotals(ByteReader& in) {
  CorpusTotals totals;
  for (std::uint64_t* value :
       {&totals.num_documents, &totals.num_chunks, &totals.num_sections, &totals.chunk_length,
        &totals.section_length, &totals.document_length}) {
    *value = in.Fixed64();
  }
  totals.near_length = std::bit_cast<double>(in.Fixed64());
  return totals;
}

// The lists of rare documents, one after another, and where each row's ends.
struct RareLists {
  std::string bytes;
  std::vector<std::uint32_t> ends;
};

RareLists EncodeRare(std::span<const TermRow> rows, std::span<const RareTerm> rare) {
  ByteWriter out;
  RareLists lists;
  lists.ends.reserve(rows.size());
  std::size_t at = 0;
  for (const TermRow& row : rows) {
    std::uint32_t previous = 0;
    for (; at < rare.size() && rare[at].hash == row.hash; ++at) {
      out.Varint(rare[at].document - previous);
      previous = rare[at].document;
    }
    lists.ends.push_back(static_cast<std::uint32_t>(out.size()));
  }
  assert(at == rare.size() && out.size() <= std::numeric_limits<std::uint32_t>::max());
  lists.bytes = out.Take();
  return lists;
}

}  // namespace

std::string EncodeTermTable(const CorpusTotals& totals, std::span<const TermRow> rows,
                            std::span<const RareTerm> rare) {
  assert(std::adjacent_find(rows.begin(), rows.end(), [](const TermRow& a, const TermRow& b) {
           return a.hash >= b.hash;
         }) == rows.end());
  const RareLists lists = EncodeRare(rows, rare);
  ByteWriter out;
  out.Bytes(kMagic);
  out.Fixed32(kVersion);
  out.Fixed32(kHeaderBytes);
  out.Fixed64(rows.size());
  WriteTotals(out, totals);
  out.Fixed64(lists.bytes.size());
  PadTo(out, kHeaderBytes - kChecksumBytes);
  out.Fixed64(Xxh3(out.view()));
  for (const TermRow& row : rows) out.Fixed64(row.hash);
  PadTo(out, Aligned(out.size()));
  for (const TermRow& row : rows) out.Fixed32(row.chunk_frequency);
  PadTo(out, Aligned(out.size()));
  for (const TermRow& row : rows) out.Fixed32(row.document_frequency);
  PadTo(out, Aligned(out.size()));
  for (const std::uint32_t end : lists.ends) out.Fixed32(end);
  PadTo(out, Aligned(out.size()));
  out.Bytes(lists.bytes);
  PadTo(out, Aligned(out.size()));
  return out.Take();
}

absl::StatusOr<TermTableView> TermTableView::Open(std::string_view bytes, std::string_view name) {
  RAG_RETURN_IF_ERROR(CheckHeader(bytes, name));
  ByteReader in(bytes.substr(0, kHeaderBytes), name);
  in.Skip(kHeaderSizeAt + 4);
  TermTableView table;
  table.num_rows_ = in.Fixed64();
  table.totals_ = ReadTotals(in);
  const std::uint64_t rare_size = in.Fixed64();
  if (!std::isfinite(table.totals_.near_length) || table.totals_.near_length < 0) {
    return Damaged(name, "near length is not a finite number that is 0 or more");
  }

  const std::uint64_t rows = table.num_rows_;
  const std::uint64_t payload = bytes.size() - kHeaderBytes;
  const bool fits = rows <= payload / kRowBytes && rare_size <= payload;
  const std::uint64_t hashes_size = fits ? Aligned(rows * 8) : 0;
  const std::uint64_t column_size = fits ? Aligned(rows * 4) : 0;
  if (!fits || payload != hashes_size + 3 * column_size + Aligned(rare_size)) {
    return Damaged(name, "row count at 16: header says " + std::to_string(rows) + " and " +
                             std::to_string(rare_size) +
                             " bytes of rare documents, the payload of " + std::to_string(payload) +
                             " bytes does not hold just that");
  }
  const std::uint64_t columns_at = kHeaderBytes + hashes_size;
  table.hashes_ = bytes.substr(kHeaderBytes, rows * 8);
  table.chunk_frequencies_ = bytes.substr(columns_at, rows * 4);
  table.document_frequencies_ = bytes.substr(columns_at + column_size, rows * 4);
  table.rare_ends_ = bytes.substr(columns_at + 2 * column_size, rows * 4);
  table.rare_ = bytes.substr(columns_at + 3 * column_size, rare_size);
  return table;
}

absl::StatusOr<std::vector<std::uint32_t>> TermTableView::RareDocuments(std::uint64_t hash) const {
  std::vector<std::uint32_t> documents;
  const std::optional<std::uint64_t> row = FindRow(hash);
  if (!row.has_value()) return documents;
  const std::uint32_t start = *row == 0 ? 0 : Load<std::uint32_t>(rare_ends_, *row - 1);
  const auto end = Load<std::uint32_t>(rare_ends_, *row);
  if (start > end || end > rare_.size()) {
    return absl::DataLossError("term table: rare documents: list from " + std::to_string(start) +
                               " to " + std::to_string(end) + " of " +
                               std::to_string(rare_.size()) + " bytes");
  }
  ByteReader in(rare_.substr(start, end - start), "term table: rare documents");
  std::uint64_t document = 0;
  while (in.ok() && in.remaining() > 0) {
    document += in.VarintAtMost(std::numeric_limits<std::uint32_t>::max());
    if (document >= totals_.num_documents) in.Fail("no document " + std::to_string(document));
    documents.push_back(static_cast<std::uint32_t>(document));
  }
  RAG_RETURN_IF_ERROR(in.status());
  return documents;
}

TermRow TermTableView::row(std::uint64_t i) const {
  assert(i < num_rows_);
  return {.hash = Load<std::uint64_t>(hashes_, i),
          .chunk_frequency = Load<std::uint32_t>(chunk_frequencies_, i),
          .document_frequency = Load<std::uint32_t>(document_frequencies_, i)};
}

std::optional<TermRow> TermTableView::Find(std::uint64_t hash) const {
  const std::optional<std::uint64_t> found = FindRow(hash);
  if (!found.has_value()) return std::nullopt;
  return row(*found);
}

std::optional<std::uint64_t> TermTableView::FindRow(std::uint64_t hash) const {
  // The row, if any, is in [first, last), between rows whose hashes are below and above. Both
  // bounds come from comparisons, so a damaged table can mislead the search but not lead it out.
  std::uint64_t first = 0;
  std::uint64_t last = num_rows_;
  std::uint64_t below = 0;
  std::uint64_t above = std::numeric_limits<std::uint64_t>::max();
  for (int step = 0; first < last; ++step) {
    std::uint64_t middle = first + (last - first) / 2;
    if (step < kMaxInterpolations) {
      const double share = static_cast<double>(hash - below) / static_cast<double>(above - below);
      const auto ahead = static_cast<std::uint64_t>(share * static_cast<double>(last - first));
      middle = first + std::min(ahead, last - first - 1);
    }
    const auto found = Load<std::uint64_t>(hashes_, middle);
    if (found == hash) return middle;
    if (found < hash) {
      first = middle + 1;
      below = found;
    } else {
      last = middle;
      above = found;
    }
  }
  return std::nullopt;
}

}  // namespace rag::formats
