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

}  // namespace

std::string Encode(const DocumentBundle& bundle) {
  formats::ByteWriter out;
  out.LengthPrefixed(formats::Encode(bundle.document));
  WriteStrings(bundle.parents, out);
  WriteStrings(bundle.chunk_groups, out);
  out.Varint(bundle.levels.size());
  for (const std::vector<std::string>& level : bundle.levels) WriteStrings(level, out);
  WriteStrings(bundle.segments, out);
  WriteCodes(bundle.chunk_codes, out);
  WriteCodes(bundle.document_codes, out);
  return out.Take();
}

absl::StatusOr<DocumentBundle> DecodeBundle(std::string_view bytes) {
  formats::ByteReader in(bytes, "stored document");
  DocumentBundle bundle;
  const std::string_view document = in.LengthPrefixed();
  bundle.parents = ReadStrings(in);
  bundle.chunk_groups = ReadStrings(in);
  bundle.levels.resize(in.Count(1));
  for (std::vector<std::string>& level : bundle.levels) level = ReadStrings(in);
  bundle.segments = ReadStrings(in);
  bundle.chunk_codes = ReadCodes(in);
  bundle.document_codes = ReadCodes(in);
  RAG_RETURN_IF_ERROR(in.Finish());
  RAG_ASSIGN_OR_RETURN(bundle.document, formats::DecodeDocument(document));
  return bundle;
}

}  // namespace rag::storage
