// The coding of analyzed documents between the passes of a build. No format: only the build that
// wrote one, or its successor after a crash, reads it.
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "formats/coding.h"
#include "indexer/analyzed_document.h"

namespace rag::indexer {
namespace {

void WriteTotals(const formats::CorpusTotals& totals, formats::ByteWriter& out) {
  for (const std::uint64_t value :
       {totals.num_documents, totals.num_chunks, totals.num_sections, totals.chunk_length,
        totals.section_length, totals.document_length,
        std::bit_cast<std::uint64_t>(totals.near_length)}) {
    out.Fixed64(value);
  }
}

std::uint32_t ReadU32(formats::ByteReader& in) {
  return static_cast<std::uint32_t>(in.VarintAtMost(std::numeric_limits<std::uint32_t>::max()));
}

formats::CorpusTotals ReadTotals(formats::ByteReader& in) {
  formats::CorpusTotals totals;
  for (std::uint64_t* value :
       {&totals.num_documents, &totals.num_chunks, &totals.num_sections, &totals.chunk_length,
        &totals.section_length, &totals.document_length}) {
    *value = in.Fixed64();
  }
  totals.near_length = std::bit_cast<double>(in.Fixed64());
  return totals;
}

}  // namespace

std::string EncodeAnalyzed(const AnalyzedDocument& document) {
  formats::ByteWriter out;
  out.LengthPrefixed(document.source);
  out.LengthPrefixed(document.doc_id);
  out.LengthPrefixed(document.title);
  out.Fixed8(static_cast<std::uint8_t>(document.media_type));
  out.LengthPrefixed(document.text);
  out.Varint(document.chunks.size());
  for (std::size_t i = 0; i < document.chunks.size(); ++i) {
    const SplitChunk& chunk = document.chunks[i];
    out.RelativeSpan(chunk.range, 0);
    out.Fixed8(static_cast<std::uint8_t>(chunk.kind));
    out.Varint(chunk.parent);
    out.Varint(document.chunk_lines[2 * i]);
    out.Varint(document.chunk_lines[2 * i + 1]);
  }
  out.Varint(document.parents.size());
  for (const formats::ParentRecord& parent : document.parents) {
    out.LengthPrefixed(formats::Encode(parent));
  }
  out.Varint(document.segments.size());
  for (const std::string& segment : document.segments) out.LengthPrefixed(segment);
  out.Varint(document.stats.frequencies.size());
  for (const TermFrequency& term : document.stats.frequencies) {
    out.Fixed64(term.hash);
    out.Varint(term.chunks);
  }
  WriteTotals(document.stats.totals, out);
  return out.Take();
}

absl::StatusOr<AnalyzedDocument> DecodeAnalyzed(std::string_view bytes) {
  formats::ByteReader in(bytes, "analyzed document");
  AnalyzedDocument document;
  document.source = in.LengthPrefixed();
  document.doc_id = in.LengthPrefixed();
  document.title = in.LengthPrefixed();
  document.media_type = static_cast<formats::MediaType>(in.Fixed8());
  document.text = in.LengthPrefixed();
  document.chunks.resize(in.Count(6));
  for (SplitChunk& chunk : document.chunks) {
    chunk.range = in.RelativeSpan(0);
    chunk.kind = static_cast<formats::ChunkKind>(in.Fixed8());
    chunk.parent = ReadU32(in);
    document.chunk_lines.push_back(ReadU32(in));
    document.chunk_lines.push_back(ReadU32(in));
  }
  document.parents.resize(in.Count(1));
  for (formats::ParentRecord& parent : document.parents) {
    const std::string_view encoded = in.LengthPrefixed();
    if (!in.ok()) break;
    absl::StatusOr<formats::ParentRecord> record = formats::DecodeParent(encoded);
    if (!record.ok()) return record.status();
    parent = *std::move(record);
  }
  document.segments.resize(in.Count(1));
  for (std::string& segment : document.segments) segment = in.LengthPrefixed();
  document.stats.frequencies.resize(in.Count(9));
  for (TermFrequency& term : document.stats.frequencies) {
    term.hash = in.Fixed64();
    term.chunks = ReadU32(in);
  }
  document.stats.totals = ReadTotals(in);
  const absl::Status status = in.Finish();
  if (!status.ok()) return status;
  return document;
}

}  // namespace rag::indexer
