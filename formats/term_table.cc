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
constexpr std::uint64_t kRowBytes = 8 + 4 + 4;
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
  return absl::DataLossError(std::string(name) + ": " + message);
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
  if (!std::isfinite(totals.near_length) || totals.near_length < 0) {
    in.Fail("near length is not a finite number that is 0 or more");
  }
  return totals;
}

}  // namespace

std::string EncodeTermTable(const CorpusTotals& totals, std::span<const TermRow> rows) {
  assert(std::adjacent_find(rows.begin(), rows.end(), [](const TermRow& a, const TermRow& b) {
           return a.hash >= b.hash;
         }) == rows.end());
  ByteWriter out;
  out.Bytes(kMagic);
  out.Fixed32(kVersion);
  out.Fixed32(kHeaderBytes);
  out.Fixed64(rows.size());
  WriteTotals(out, totals);
  PadTo(out, kHeaderBytes - kChecksumBytes);
  out.Fixed64(Xxh3(out.view()));
  for (const TermRow& row : rows) out.Fixed64(row.hash);
  PadTo(out, Aligned(out.size()));
  for (const TermRow& row : rows) out.Fixed32(row.chunk_frequency);
  PadTo(out, Aligned(out.size()));
  for (const TermRow& row : rows) out.Fixed32(row.document_frequency);
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
  RAG_RETURN_IF_ERROR(in.status());

  const std::uint64_t rows = table.num_rows_;
  const std::uint64_t payload = bytes.size() - kHeaderBytes;
  const bool fits = rows <= payload / kRowBytes;
  const std::uint64_t hashes_size = fits ? Aligned(rows * 8) : 0;
  const std::uint64_t frequencies_size = fits ? Aligned(rows * 4) : 0;
  if (!fits || payload != hashes_size + 2 * frequencies_size) {
    return Damaged(name, "row count at 16: header says " + std::to_string(rows) +
                             ", the payload of " + std::to_string(payload) +
                             " bytes does not hold just that many");
  }
  table.hashes_ = bytes.substr(kHeaderBytes, rows * 8);
  table.chunk_frequencies_ = bytes.substr(kHeaderBytes + hashes_size, rows * 4);
  table.document_frequencies_ =
      bytes.substr(kHeaderBytes + hashes_size + frequencies_size, rows * 4);
  return table;
}

TermRow TermTableView::row(std::uint64_t i) const {
  assert(i < num_rows_);
  return {.hash = Load<std::uint64_t>(hashes_, i),
          .chunk_frequency = Load<std::uint32_t>(chunk_frequencies_, i),
          .document_frequency = Load<std::uint32_t>(document_frequencies_, i)};
}

std::optional<TermRow> TermTableView::Find(std::uint64_t hash) const {
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
    if (found == hash) return row(middle);
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
