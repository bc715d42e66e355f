#include "formats/records.h"

#include <limits>
#include <utility>

#include "formats/coding.h"

namespace rag::formats {
namespace {

constexpr std::uint8_t kRecordVersion = 1;
constexpr std::uint32_t kMaxU32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint8_t kMaxHeadingLevel = 6;

void ReadVersion(ByteReader& in) {
  const std::uint8_t version = in.Fixed8();
  if (in.ok() && version != kRecordVersion) {
    in.Fail("record version: expected 1, found " + std::to_string(version));
  }
}

std::uint32_t ReadU32(ByteReader& in) {
  return static_cast<std::uint32_t>(in.VarintAtMost(kMaxU32));
}

template <typename Enum>
Enum ReadEnum(ByteReader& in, Enum last) {
  return static_cast<Enum>(in.VarintAtMost(static_cast<std::uint64_t>(last)));
}

// `first` + `count` must be an ordinal too, so that loops over the range cannot wrap.
std::uint32_t ReadRangeCount(ByteReader& in, std::uint32_t first) {
  return static_cast<std::uint32_t>(in.VarintAtMost(kMaxU32 - first));
}

// One varint says which kind it is and how much follows: 2 * spans, or 2 * bytes of text + 1.
void WriteSummary(ByteWriter& out, const Summary& summary, std::uint64_t base) {
  if (!summary.text.empty()) {
    out.Varint(std::uint64_t{summary.text.size()} * 2 + 1);
    out.Bytes(summary.text);
    return;
  }
  out.Varint(std::uint64_t{summary.spans.size()} * 2);
  for (const Span& span : summary.spans) {
    out.RelativeSpan(span, base);
    base = span.end;
  }
}

// `limit`: no span may end after it.
Summary ReadSummary(ByteReader& in, std::uint64_t base, std::uint64_t limit) {
  Summary summary;
  const std::uint64_t head = in.Varint();
  const std::uint64_t size = head / 2;
  if (head % 2 == 1) {
    if (size == 0) in.Fail("summary text is empty");
    summary.text = in.Bytes(size);
    return summary;
  }
  if (size > in.remaining() / 2) {
    in.Fail("summary has " + std::to_string(size) + " spans, the rest has room for " +
            std::to_string(in.remaining() / 2));
    return summary;
  }
  summary.spans.reserve(size);
  for (std::uint64_t i = 0; i < size && in.ok(); ++i) {
    const Span span = in.RelativeSpan(base);
    if (span.end > limit) in.Fail("summary span ends after the text it summarises");
    summary.spans.push_back(span);
    base = span.end;
  }
  return summary;
}

void WriteLevelSizes(ByteWriter& out, const std::vector<std::uint32_t>& sizes) {
  out.Varint(sizes.size());
  for (const std::uint32_t size : sizes) out.Varint(size);
}

std::vector<std::uint32_t> ReadLevelSizes(ByteReader& in) {
  std::vector<std::uint32_t> sizes(in.Count(1));
  for (std::uint32_t& size : sizes) size = ReadU32(in);
  return sizes;
}

void WriteMetadata(ByteWriter& out, const std::map<std::string, std::string>& metadata) {
  out.Varint(metadata.size());
  for (const auto& [key, value] : metadata) {
    out.LengthPrefixed(key);
    out.LengthPrefixed(value);
  }
}

std::map<std::string, std::string> ReadMetadata(ByteReader& in) {
  std::map<std::string, std::string> metadata;
  const std::size_t count = in.Count(2);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    std::string key(in.LengthPrefixed());
    if (!metadata.empty() && key <= metadata.rbegin()->first) in.Fail("metadata keys must ascend");
    metadata.emplace_hint(metadata.end(), std::move(key), std::string(in.LengthPrefixed()));
  }
  return metadata;
}

template <typename Record>
absl::StatusOr<Record> Finish(const ByteReader& in, Record record) {
  absl::Status status = in.Finish();
  if (!status.ok()) return status;
  return record;
}

}  // namespace

std::string_view ToString(MediaType type) {
  switch (type) {
    case MediaType::kPlainText:
      return "plain-text";
    case MediaType::kMarkdown:
      return "markdown";
  }
  return "unknown";
}

std::string_view ToString(ChunkKind kind) {
  switch (kind) {
    case ChunkKind::kProse:
      return "prose";
    case ChunkKind::kCode:
      return "code";
    case ChunkKind::kTable:
      return "table";
    case ChunkKind::kList:
      return "list";
    case ChunkKind::kHtml:
      return "html";
    case ChunkKind::kQuote:
      return "quote";
  }
  return "unknown";
}

std::string_view ToString(ParentKind kind) {
  switch (kind) {
    case ParentKind::kDocument:
      return "document";
    case ParentKind::kSection:
      return "section";
  }
  return "unknown";
}

std::string Encode(const DocumentRecord& record) {
  ByteWriter out;
  out.Fixed8(kRecordVersion);
  out.LengthPrefixed(record.doc_id);
  out.LengthPrefixed(record.source);
  out.LengthPrefixed(record.title);
  for (const std::uint8_t byte : record.content_sha256) out.Fixed8(byte);
  out.Varint(record.size_bytes);
  out.Varint(static_cast<std::uint64_t>(record.media_type));
  out.Varint(record.num_chunks);
  out.Varint(record.num_parents);
  out.Varint(record.num_segments);
  out.Varint(record.chunks_per_group);
  WriteLevelSizes(out, record.level_sizes);
  WriteSummary(out, record.summary, 0);
  WriteMetadata(out, record.metadata);
  return out.Take();
}

absl::StatusOr<DocumentRecord> DecodeDocument(std::string_view bytes) {
  ByteReader in(bytes, "document record");
  DocumentRecord record;
  ReadVersion(in);
  record.doc_id = in.LengthPrefixed();
  record.source = in.LengthPrefixed();
  record.title = in.LengthPrefixed();
  for (std::uint8_t& byte : record.content_sha256) byte = in.Fixed8();
  record.size_bytes = in.Varint();
  record.media_type = ReadEnum(in, MediaType::kMarkdown);
  record.num_chunks = ReadU32(in);
  record.num_parents = ReadU32(in);
  record.num_segments = ReadU32(in);
  record.chunks_per_group = ReadU32(in);
  if (in.ok() && record.num_chunks > 0 && record.chunks_per_group == 0) {
    in.Fail("chunks of a group: expected at least 1, found 0");
  }
  record.level_sizes = ReadLevelSizes(in);
  record.summary = ReadSummary(in, 0, std::numeric_limits<std::uint64_t>::max());
  record.metadata = ReadMetadata(in);
  return Finish(in, std::move(record));
}

std::string Encode(const ParentRecord& record) {
  ByteWriter out;
  out.Fixed8(kRecordVersion);
  out.Varint(static_cast<std::uint64_t>(record.kind));
  out.RelativeSpan(record.range, 0);
  out.Varint(record.first_chunk);
  out.Varint(record.num_chunks);
  out.Varint(record.level);
  out.LengthPrefixed(record.heading_path);
  return out.Take();
}

absl::StatusOr<ParentRecord> DecodeParent(std::string_view bytes) {
  ByteReader in(bytes, "parent record");
  ParentRecord record;
  ReadVersion(in);
  record.kind = ReadEnum(in, ParentKind::kSection);
  record.range = in.RelativeSpan(0);
  record.first_chunk = ReadU32(in);
  record.num_chunks = ReadRangeCount(in, record.first_chunk);
  record.level = static_cast<std::uint8_t>(in.VarintAtMost(kMaxHeadingLevel));
  record.heading_path = in.LengthPrefixed();
  return Finish(in, std::move(record));
}

std::string Encode(const ChunkRecord& record) {
  ByteWriter out;
  out.Fixed8(kRecordVersion);
  out.RelativeSpan(record.range, 0);
  out.Varint(record.line_start);
  out.Varint(record.line_end - record.line_start);
  out.Varint(record.parent);
  out.Varint(static_cast<std::uint64_t>(record.kind));
  WriteSummary(out, record.summary, record.range.start);
  out.Bytes(record.text);
  return out.Take();
}

absl::StatusOr<ChunkRecord> DecodeChunk(std::string_view bytes) {
  ByteReader in(bytes, "chunk record");
  ChunkRecord record;
  ReadVersion(in);
  record.range = in.RelativeSpan(0);
  record.line_start = ReadU32(in);
  if (in.ok() && record.line_start == 0) in.Fail("first line: expected at least 1, found 0");
  record.line_end = record.line_start + ReadRangeCount(in, record.line_start);
  record.parent = ReadU32(in);
  record.kind = ReadEnum(in, ChunkKind::kQuote);
  record.summary = ReadSummary(in, record.range.start, record.range.end);
  // The text takes the rest; its length is known from the range, so a cut is noticed.
  if (in.ok() && in.remaining() != record.range.size()) {
    in.Fail("text: the range has " + std::to_string(record.range.size()) + " bytes, found " +
            std::to_string(in.remaining()));
  }
  record.text = in.Bytes(in.remaining());
  return Finish(in, std::move(record));
}

std::string Encode(const SummaryNode& record) {
  ByteWriter out;
  out.Fixed8(kRecordVersion);
  out.Varint(record.first_child);
  out.Varint(record.num_children);
  out.Varint(record.input_tokens);
  WriteSummary(out, record.summary, 0);
  return out.Take();
}

absl::StatusOr<SummaryNode> DecodeSummaryNode(std::string_view bytes) {
  ByteReader in(bytes, "summary node");
  SummaryNode record;
  ReadVersion(in);
  record.first_child = ReadU32(in);
  record.num_children = ReadRangeCount(in, record.first_child);
  record.input_tokens = ReadU32(in);
  record.summary = ReadSummary(in, 0, std::numeric_limits<std::uint64_t>::max());
  return Finish(in, std::move(record));
}

}  // namespace rag::formats
