// Every record and key of formats/records.h and keys.h. Byte 0: which one; the rest: its bytes.
#include <string>
#include <string_view>

#include "formats/coding.h"
#include "formats/keys.h"
#include "formats/records.h"
#include "tests/fuzz/fuzz.h"

namespace rag::fuzz {
namespace {

template <typename Decoder>
void CheckRecord(std::string_view bytes, const Decoder& decode) {
  const auto record = decode(bytes);
  if (!record.ok()) return RequireDamage(record.status());
  const std::string encoded = formats::Encode(*record);
  Require(encoded == bytes, "encoding a decoded record gives its bytes");
  const auto again = decode(encoded);
  RequireOk(again.status());
  Require(*again == *record, "decoding that gives the record again");
}

void CheckChunk(std::string_view bytes) {
  CheckRecord(bytes, formats::DecodeChunk);
  const auto chunk = formats::DecodeChunk(bytes);
  if (!chunk.ok()) return;
  Require(chunk->text.size() == chunk->range.size(), "a chunk's text is as long as its range");
  Require(chunk->line_start >= 1 && chunk->line_start <= chunk->line_end, "lines ascend from 1");
  for (const formats::Span& span : chunk->summary.spans) {
    Require(
        span.start >= chunk->range.start && span.start <= span.end && span.end <= chunk->range.end,
        "a summary's spans lie in the chunk");
  }
}

void CheckKey(std::string_view bytes) {
  for (int parts = 1; parts <= 3; ++parts) {
    const auto key = formats::ParseKey(bytes, parts);
    if (!key.ok()) {
      RequireDamage(key.status());
      continue;
    }
    const std::string encoded = parts == 1 ? formats::DocumentKey(key->part[0])
                                : parts == 2
                                    ? formats::ItemKey(key->part[0], key->part[1])
                                    : formats::NodeKey(key->part[0], key->part[1], key->part[2]);
    Require(encoded == bytes, "encoding a parsed key gives its bytes");
  }
}

// The value of the family of sources.
void CheckOrdinal(std::string_view bytes) {
  formats::ByteReader in(bytes, "ordinal");
  const std::uint64_t value = in.VarintAtMost(0xFFFFFFFF);
  if (!in.Finish().ok()) return;
  formats::ByteWriter out;
  out.Varint(value);
  Require(out.view() == bytes, "encoding an ordinal gives its bytes");
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  fuzz::Input input(data, size);
  const int kind = input.Byte() % 6;
  const std::string_view bytes = input.Rest();
  switch (kind) {
    case 0:
      fuzz::CheckRecord(bytes, formats::DecodeDocument);
      break;
    case 1:
      fuzz::CheckRecord(bytes, formats::DecodeParent);
      break;
    case 2:
      fuzz::CheckChunk(bytes);
      break;
    case 3:
      fuzz::CheckRecord(bytes, formats::DecodeSummaryNode);
      break;
    case 4:
      fuzz::CheckOrdinal(bytes);
      break;
    default:
      fuzz::CheckKey(bytes);
  }
  return 0;
}
