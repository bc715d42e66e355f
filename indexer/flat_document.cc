#include "indexer/flat_document.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "indexer/characters.h"
#include "indexer/markdown_blocks.h"

namespace rag::indexer {
namespace {

constexpr std::size_t kFirstPrefixBytes = 1 << 12;
constexpr std::size_t kPrefixGrowth = 8;

// The title of the first heading, for which a long text need not be parsed as a whole: a heading
// that is found in its first lines is one whatever follows. Front matter of which the end is not
// seen is an exception, because it would read as a heading.
std::string TitleOf(std::string_view text) {
  for (std::size_t size = kFirstPrefixBytes; size < text.size(); size *= kPrefixGrowth) {
    const std::size_t end = text.rfind('\n', size - 1);
    if (end == std::string_view::npos) continue;
    const std::string_view prefix = text.substr(0, end + 1);
    if (prefix.substr(0, 3) == "---" && FrontMatterBytes(prefix) == 0) continue;
    std::string title = FirstHeading(prefix);
    if (!title.empty()) return title;
  }
  return FirstHeading(text);
}

}  // namespace

SplitDocument FlatDocument(std::string_view text, formats::MediaType type,
                           const std::vector<formats::Span>& chunks) {
  SplitDocument out;
  if (chunks.empty()) return out;
  const std::size_t mark_size = ByteOrderMarkSize(text);
  if (type == formats::MediaType::kMarkdown) out.title = TitleOf(text.substr(mark_size));
  out.chunks.reserve(chunks.size());
  for (const formats::Span& range : chunks) {
    out.chunks.push_back({range, formats::ChunkKind::kProse, 0});
  }
  formats::ParentRecord parent;
  parent.range = {mark_size, text.size()};
  parent.num_chunks = static_cast<std::uint32_t>(chunks.size());
  out.parents.push_back(std::move(parent));
  return out;
}

}  // namespace rag::indexer
