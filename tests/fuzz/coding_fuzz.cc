// The alphabet of records: a script of reads over arbitrary bytes. Byte 0: number of steps, a byte
// each; the rest: what is read. What was read well, written again, gives the bytes.
#include <string>

#include "formats/coding.h"
#include "tests/fuzz/fuzz.h"

namespace rag::fuzz {
namespace {

using formats::ByteReader;
using formats::ByteWriter;

// One read, and the write that undoes it.
void Step(std::uint8_t step, ByteReader& in, ByteWriter& out) {
  switch (step % 8) {
    case 0:
      return out.Fixed8(in.Fixed8());
    case 1:
      return out.Fixed32(in.Fixed32());
    case 2:
      return out.Fixed64(in.Fixed64());
    case 3:
      return out.Varint(in.Varint());
    case 4: {
      const std::uint64_t max = (std::uint64_t{1} << (step / 4)) - 1;
      const std::uint64_t value = in.VarintAtMost(max);
      Require(value <= max, "no varint is above its limit");
      return out.Varint(value);
    }
    case 5: {
      const std::size_t count = in.Count(1U + step / 8U);
      Require(!in.ok() || count <= in.remaining() / (1U + step / 8U), "a count fits the rest");
      return out.Varint(count);
    }
    case 6: {
      const formats::Span span = in.RelativeSpan(step);
      if (in.ok()) {
        Require(span.start >= step && span.start <= span.end, "spans do not wrap");
        out.RelativeSpan(span, step);
      }
      return;
    }
    default:
      return out.LengthPrefixed(in.LengthPrefixed());
  }
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  fuzz::Input input(data, size);
  const std::string_view script = input.Take(input.Byte());
  const std::string_view bytes = input.Rest();
  formats::ByteReader in(bytes, "bytes");
  formats::ByteWriter out;
  for (const char step : script) {
    fuzz::Step(static_cast<std::uint8_t>(step), in, out);
    fuzz::Require(in.offset() <= bytes.size(), "reads stay inside");
    fuzz::Require(in.ok() == in.status().ok(), "ok() and status() agree");
    if (!in.ok()) break;
    fuzz::Require(out.view() == bytes.substr(0, in.offset()), "values have one encoding");
  }
  if (in.ok()) {
    fuzz::Require(in.Finish().ok() == (in.remaining() == 0), "bytes that are left over are damage");
    return 0;
  }
  fuzz::RequireDamage(in.status());
  fuzz::Require(in.Fixed8() == 0 && in.Varint() == 0 && in.LengthPrefixed().empty(),
                "a failed reader reads nothing");
  return 0;
}
