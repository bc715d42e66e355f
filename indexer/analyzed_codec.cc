// The coding of analyzed documents between the passes of a build. No format: only the build that
// wrote one, or its successor after a crash, reads it.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "formats/coding.h"
#include "formats/status_macros.h"
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

void WritePart(const AnalyzedPart& part, formats::ByteWriter& out) {
  out.Varint(part.offset);
  out.LengthPrefixed(part.text);
  out.Varint(part.first_chunk);
  out.Varint(part.first_parent);
  out.Varint(part.chunks.size());
  for (std::size_t i = 0; i < part.chunks.size(); ++i) {
    const SplitChunk& chunk = part.chunks[i];
    out.RelativeSpan(chunk.range, 0);
    out.Fixed8(static_cast<std::uint8_t>(chunk.kind));
    out.Varint(chunk.parent);
    out.Varint(part.chunk_lines[2 * i]);
    out.Varint(part.chunk_lines[2 * i + 1]);
  }
  out.Varint(part.parents.size());
  for (const formats::ParentRecord& parent : part.parents) {
    out.LengthPrefixed(formats::Encode(parent));
  }
  out.Varint(part.segments.size());
  for (const std::string& segment : part.segments) out.LengthPrefixed(segment);
}

absl::Status ReadPart(formats::ByteReader& in, AnalyzedPart& part) {
  part.offset = in.Varint();
  part.text = in.LengthPrefixed();
  part.first_chunk = ReadU32(in);
  part.first_parent = ReadU32(in);
  part.chunks.resize(in.Count(6));
  for (SplitChunk& chunk : part.chunks) {
    chunk.range = in.RelativeSpan(0);
    chunk.kind = static_cast<formats::ChunkKind>(in.Fixed8());
    chunk.parent = ReadU32(in);
    part.chunk_lines.push_back(ReadU32(in));
    part.chunk_lines.push_back(ReadU32(in));
  }
  part.parents.resize(in.Count(1));
  for (formats::ParentRecord& parent : part.parents) {
    const std::string_view encoded = in.LengthPrefixed();
    if (!in.ok()) break;
    RAG_ASSIGN_OR_RETURN(parent, formats::DecodeParent(encoded));
  }
  part.segments.resize(in.Count(1));
  for (std::string& segment : part.segments) segment = in.LengthPrefixed();
  return absl::OkStatus();
}

void WriteStats(const DocumentStats& stats, formats::ByteWriter& out) {
  out.Varint(stats.frequencies.size());
  for (const TermFrequency& term : stats.frequencies) {
    out.Fixed64(term.hash);
    out.Varint(term.chunks);
  }
  WriteTotals(stats.totals, out);
}

DocumentStats ReadStats(formats::ByteReader& in) {
  DocumentStats stats;
  stats.frequencies.resize(in.Count(9));
  for (TermFrequency& term : stats.frequencies) {
    term.hash = in.Fixed64();
    term.chunks = ReadU32(in);
  }
  stats.totals = ReadTotals(in);
  return stats;
}

}  // namespace

std::string Encode(const AnalyzedPart& part) {
  formats::ByteWriter out;
  WritePart(part, out);
  return out.Take();
}

absl::StatusOr<AnalyzedPart> DecodeAnalyzedPart(std::string_view bytes) {
  formats::ByteReader in(bytes, "part of an analyzed document");
  AnalyzedPart part;
  RAG_RETURN_IF_ERROR(ReadPart(in, part));
  RAG_RETURN_IF_ERROR(in.Finish());
  return part;
}

std::string Encode(const AnalyzedDocument& document) {
  formats::ByteWriter out;
  out.LengthPrefixed(document.source);
  out.LengthPrefixed(document.doc_id);
  out.LengthPrefixed(document.title);
  out.Fixed8(static_cast<std::uint8_t>(document.media_type));
  out.Bytes({reinterpret_cast<const char*>(document.content.data()), document.content.size()});
  out.Varint(document.size_bytes);
  out.Varint(document.num_chunks);
  out.Varint(document.num_parents);
  out.Varint(document.num_segments);
  out.Varint(document.earlier_parts.size());
  for (const std::uint64_t entry : document.earlier_parts) out.Varint(entry);
  WritePart(document, out);
  WriteStats(document.stats, out);
  return out.Take();
}

absl::StatusOr<AnalyzedDocument> DecodeAnalyzedDocument(std::string_view bytes) {
  formats::ByteReader in(bytes, "analyzed document");
  AnalyzedDocument document;
  document.source = in.LengthPrefixed();
  document.doc_id = in.LengthPrefixed();
  document.title = in.LengthPrefixed();
  document.media_type = static_cast<formats::MediaType>(in.Fixed8());
  const std::string_view content = in.Bytes(document.content.size());
  std::copy(content.begin(), content.end(), document.content.begin());
  document.size_bytes = in.Varint();
  document.num_chunks = ReadU32(in);
  document.num_parents = ReadU32(in);
  document.num_segments = ReadU32(in);
  document.earlier_parts.resize(in.Count(1));
  for (std::uint64_t& entry : document.earlier_parts) entry = in.Varint();
  RAG_RETURN_IF_ERROR(ReadPart(in, document));
  document.stats = ReadStats(in);
  RAG_RETURN_IF_ERROR(in.Finish());
  return document;
}

}  // namespace rag::indexer
