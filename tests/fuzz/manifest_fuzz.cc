// MANIFEST.json. Byte 0, odd: the rest gets a closing checksum that fits, so that the parser behind
// it is reached; even: the rest is the file as it is.
#include <string>

#include <nlohmann/json.hpp>

#include "formats/checksum.h"
#include "formats/manifest.h"
#include "tests/fuzz/fuzz.h"

namespace rag::fuzz {
namespace {

// Members in any order; the checksum is of the bytes and may differ.
nlohmann::json Values(std::string_view text) {
  nlohmann::json json = nlohmann::json::parse(text);
  json.erase("checksum");
  return json;
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  fuzz::Input input(data, size);
  const bool seal = input.Byte() % 2 == 1;
  std::string text(input.Rest());
  if (seal) {
    const std::string checksum = formats::ToHex(formats::Xxh3(text));
    text += "  \"checksum\": \"" + checksum + "\"\n}\n";
  }
  const auto manifest = formats::DecodeManifest(text, "manifest");
  if (!manifest.ok()) {
    fuzz::RequireDamage(manifest.status());
    return 0;
  }
  const std::string encoded = formats::EncodeManifest(*manifest);
  const auto again = formats::DecodeManifest(encoded, "again");
  fuzz::RequireOk(again.status());
  fuzz::Require(*again == *manifest, "encoding keeps every field");
  fuzz::Require(formats::EncodeManifest(*again) == encoded, "the encoding is canonical");
  fuzz::Require(fuzz::Values(text) == fuzz::Values(encoded), "nothing was read as something else");
  return 0;
}
