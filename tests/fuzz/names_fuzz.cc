// Names of files as they are shown, and the header lines made of them.
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include <utf8proc.h>

#include "formats/chunk_header.h"
#include "formats/names.h"
#include "formats/utf8.h"
#include "tests/fuzz/fuzz.h"

namespace rag::fuzz {
namespace {

// Where utf8proc, which has its own decoder, finds the first bad sequence.
std::size_t ValidPrefixByUtf8proc(std::string_view text) {
  std::size_t pos = 0;
  while (pos < text.size()) {
    utf8proc_int32_t c = 0;
    const utf8proc_ssize_t length =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + pos,
                         static_cast<utf8proc_ssize_t>(text.size() - pos), &c);
    if (length <= 0) break;
    pos += static_cast<std::size_t>(length);
  }
  return pos;
}

std::string PercentDecoded(std::string_view text) {
  std::string out;
  for (std::size_t pos = 0; pos < text.size(); ++pos) {
    if (text[pos] != '%') {
      out += text[pos];
      continue;
    }
    Require(pos + 2 < text.size(), "a percent sign leads two digits");
    unsigned value = 0;
    const auto [end, error] = std::from_chars(&text[pos + 1], &text[pos + 1] + 2, value, 16);
    Require(error == std::errc() && end == &text[pos + 1] + 2, "digits follow a percent sign");
    out += static_cast<char>(value);
    pos += 2;
  }
  return out;
}

void RequireOneLine(std::string_view text) {
  Require(formats::ValidPrefix(text) == text.size(), "what is shown is valid UTF-8");
  const bool has_control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  Require(!has_control, "what is shown has no control characters");
  for (const std::string_view line_end : {"\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"}) {
    Require(text.find(line_end) == text.npos, "what is shown is one line");
  }
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  const std::string_view name = fuzz::Bytes(data, size);
  fuzz::Require(formats::ValidPrefix(name) == fuzz::ValidPrefixByUtf8proc(name),
                "what is valid UTF-8 is so for utf8proc");

  const std::string escaped = formats::EscapeName(name);
  fuzz::RequireOneLine(escaped);
  fuzz::Require(fuzz::PercentDecoded(escaped) == name, "an escaped name can be had back");

  const std::string shown = formats::PrintableName(name);
  fuzz::RequireOneLine(shown);
  fuzz::Require(shown == name || shown == escaped, "a name is shown as it is or escaped");

  const formats::ChunkHeaderFields fields{.source = name, .doc_id = name, .chunk = 1};
  const std::string header = formats::ChunkHeader(formats::HeaderStyle::kShort, fields);
  fuzz::Require(std::count(header.begin(), header.end(), '\n') == 1, "a short header is one line");
  const std::string full = formats::ChunkHeader(formats::HeaderStyle::kFull, fields);
  fuzz::Require(std::count(full.begin(), full.end(), '\n') == 4, "a full header is four lines");
  return 0;
}
