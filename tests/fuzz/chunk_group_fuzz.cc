// Groups of compressed chunks. Byte 0, odd: the rest is what the group holds, which is compressed
// first, so that the decoder behind zstd is reached; even: the rest is the group.
#include <zstd.h>

#include <string>
#include <string_view>
#include <vector>

#include "formats/chunk_group.h"
#include "tests/fuzz/fuzz.h"

namespace rag::fuzz {
namespace {

using formats::ChunkGroupView;
using formats::ChunkRecord;

constexpr char kVersion = 1;

std::string Compressed(std::string_view content) {
  std::string group(1 + ZSTD_compressBound(content.size()), kVersion);
  const std::size_t size =
      ZSTD_compress(&group[1], group.size() - 1, content.data(), content.size(), 1);
  Require(ZSTD_isError(size) == 0, "the content can be compressed");
  group.resize(1 + size);
  return group;
}

// Of the chunks of a view that was parsed, those that can be decoded are all or not.
void CheckView(const ChunkGroupView& view, const absl::StatusOr<std::vector<ChunkRecord>>& all) {
  Require(view.num_chunks() > 0, "no group is empty");
  bool sound = true;
  for (std::uint32_t i = 0; i < view.num_chunks(); ++i) {
    const absl::StatusOr<ChunkRecord> chunk = view.chunk(i);
    if (!chunk.ok()) {
      RequireDamage(chunk.status());
      sound = false;
      continue;
    }
    Require(!all.ok() || (*all)[i] == *chunk, "both decoders give the same chunk");
  }
  Require(sound == all.ok(), "a group is sound when its chunks are");
}

void CheckSound(const std::vector<ChunkRecord>& chunks) {
  const absl::StatusOr<std::string> encoded = formats::EncodeChunkGroup(chunks);
  RequireOk(encoded.status());
  const auto again = formats::DecodeChunkGroup(*encoded);
  RequireOk(again.status());
  Require(*again == chunks, "encoding keeps every chunk");
  const auto encoded_again = formats::EncodeChunkGroup(*again);
  Require(encoded_again.ok() && *encoded_again == *encoded, "equal chunks give equal bytes");
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  fuzz::Input input(data, size);
  const bool compress = input.Byte() % 2 == 1;
  const std::string_view rest = input.Rest();
  const std::string compressed = compress ? fuzz::Compressed(rest) : "";
  const std::string_view group = compress ? std::string_view(compressed) : rest;

  const auto view = formats::ChunkGroupView::Parse(group);
  const auto all = formats::DecodeChunkGroup(group);
  const auto content_bytes = formats::ChunkGroupContentBytes(group);

  if (!view.ok()) {
    fuzz::RequireDamage(view.status());
    fuzz::Require(!all.ok(), "what the view refuses is refused whole");
    if (!content_bytes.ok()) fuzz::RequireDamage(content_bytes.status());
    return 0;
  }
  fuzz::Require(content_bytes.ok(), "what can be unpacked has a size");
  fuzz::Require(!compress || *content_bytes == rest.size(), "the size is that of the content");
  fuzz::CheckView(*view, all);
  if (all.ok()) fuzz::CheckSound(*all);
  return 0;
}
