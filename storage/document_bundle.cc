#include "storage/document_bundle.h"

#include <utility>

#include "formats/coding.h"
#include "formats/status_macros.h"

namespace rag::storage {
namespace {

void WriteStrings(const std::vector<std::string>& strings, formats::ByteWriter& out) {
  out.Varint(strings.size());
  for (const std::string& text : strings) out.LengthPrefixed(text);
}

std::vector<std::string> ReadStrings(formats::ByteReader& in) {
  std::vector<std::string> strings(in.Count(1));
  for (std::string& text : strings) text = in.LengthPrefixed();
  return strings;
}

void WriteCodes(const std::vector<std::uint8_t>& codes, formats::ByteWriter& out) {
  out.LengthPrefixed({reinterpret_cast<const char*>(codes.data()), codes.size()});
}

std::vector<std::uint8_t> ReadCodes(formats::ByteReader& in) {
  const std::string_view codes = in.LengthPrefixed();
  return {codes.begin(), codes.end()};
}

void WritePart(const BundlePart& part, formats::ByteWriter& out) {
  WriteStrings(part.parents, out);
  WriteStrings(part.chunk_groups, out);
  out.Varint(part.levels.size());
  for (const std::vector<std::string>& level : part.levels) WriteStrings(level, out);
  WriteStrings(part.segments, out);
  WriteCodes(part.chunk_codes, out);
  WriteCodes(part.document_codes, out);
}

void ReadPart(formats::ByteReader& in, BundlePart& part) {
  part.parents = ReadStrings(in);
  part.chunk_groups = ReadStrings(in);
  part.levels.resize(in.Count(1));
  for (std::vector<std::string>& level : part.levels) level = ReadStrings(in);
  part.segments = ReadStrings(in);
  part.chunk_codes = ReadCodes(in);
  part.document_codes = ReadCodes(in);
}

}  // namespace

std::string Encode(const BundlePart& part) {
  formats::ByteWriter out;
  WritePart(part, out);
  return out.Take();
}

std::string Encode(const DocumentBundle& bundle) {
  formats::ByteWriter out;
  out.LengthPrefixed(formats::Encode(bundle.document));
  WritePart(bundle, out);
  return out.Take();
}

absl::StatusOr<BundlePart> DecodeBundlePart(std::string_view bytes) {
  formats::ByteReader in(bytes, "part of a stored document");
  BundlePart part;
  ReadPart(in, part);
  RAG_RETURN_IF_ERROR(in.Finish());
  return part;
}

absl::StatusOr<DocumentBundle> DecodeBundle(std::string_view bytes) {
  formats::ByteReader in(bytes, "stored document");
  DocumentBundle bundle;
  const std::string_view document = in.LengthPrefixed();
  ReadPart(in, bundle);
  RAG_RETURN_IF_ERROR(in.Finish());
  RAG_ASSIGN_OR_RETURN(bundle.document, formats::DecodeDocument(document));
  return bundle;
}

}  // namespace rag::storage
