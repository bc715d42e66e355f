// A file of the corpus: text to index, or the reason why not. Slow by nature: a file that was just
// written is read after a pause.
#include <string>

#include "indexer/characters.h"
#include "indexer/text_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch_folder.h"

namespace rag::fuzz {
namespace {

bool IsBlank(std::string_view text) {
  for (std::size_t pos = indexer::ByteOrderMarkSize(text); pos < text.size();) {
    const indexer::CodePoint c = indexer::DecodeAt(text, pos);
    if (!indexer::IsWhiteSpace(c.value)) return false;
    pos += c.size_bytes;
  }
  return true;
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  static const fuzz::ScratchFolder folder;
  const std::string_view bytes = fuzz::Bytes(data, size);
  const indexer::CorpusFile file{.source = "a.txt", .path = folder.Write("a.txt", bytes)};

  const indexer::LoadedFile loaded = indexer::LoadTextFile(file);

  const bool is_text = bytes.find('\0') == bytes.npos &&
                       indexer::ValidUtf8Prefix(bytes) == bytes.size() && !fuzz::IsBlank(bytes);
  fuzz::Require(loaded.ok == is_text, "text is indexed, and nothing else");
  fuzz::Require(!loaded.ok || loaded.bytes == bytes, "the bytes are the file's");
  return 0;
}
