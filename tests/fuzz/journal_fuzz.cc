// What a build leaves for its successor. Byte 0: 0 an analyzed document, 1 a stored document, which
// the rest is; 2 the journal: byte 1: size of a value, the value, then flips of its file (offset of
// 2 bytes, mask).
#include <filesystem>
#include <string>

#include "indexer/analyzed_document.h"
#include "indexer/journal.h"
#include "storage/document_bundle.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch_folder.h"

namespace rag::fuzz {
namespace {

using indexer::Journal;

constexpr std::string_view kPurpose = "fuzzing";

void CheckAnalyzed(std::string_view bytes) {
  const auto document = indexer::DecodeAnalyzedDocument(bytes);
  if (!document.ok()) return RequireDamage(document.status());
  Require(indexer::Encode(*document) == bytes, "encoding a document gives its bytes");
}

void CheckBundle(std::string_view bytes) {
  const auto bundle = storage::DecodeBundle(bytes);
  if (!bundle.ok()) return RequireDamage(bundle.status());
  Require(storage::Encode(*bundle) == bytes, "encoding a bundle gives its bytes");
}

std::string ReadBytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The value of the key is the one that was written, or is known to be damaged, or is not there.
void CheckValue(const Journal& journal, std::string_view key, std::string_view value) {
  const auto entry = journal.Find(key);
  if (!entry.has_value()) return;
  const auto found = journal.Read(*entry);
  if (!found.ok()) return RequireDamage(found.status());
  Require(*found == value, "an entry has the value that was written");
}

void CheckJournal(Input input) {
  static const ScratchFolder folder;
  const std::filesystem::path path = folder.path() / "journal";
  const std::string_view value = input.Take(input.Byte());
  std::filesystem::remove(path);
  {
    const auto journal = Journal::Open(path, kPurpose);
    RequireOk(journal.status());
    RequireOk((*journal)->Append("first", "1").status());
    RequireOk((*journal)->Append("second", value).status());
  }
  std::string bytes = ReadBytes(path);
  while (!input.empty()) {
    const std::size_t at = input.Number(2) % bytes.size();
    bytes[at] = static_cast<char>(bytes[at] ^ input.Byte());
  }
  const auto damaged = Journal::Open(folder.Write("journal", bytes), kPurpose);
  RequireOk(damaged.status());
  CheckValue(**damaged, "first", "1");
  CheckValue(**damaged, "second", value);
  RequireOk((*damaged)->Append("third", "3").status());
  const auto again = Journal::Open(path, kPurpose);
  RequireOk(again.status());
  Require((*again)->Find("third").has_value(), "a journal goes on behind its last sound entry");
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  fuzz::Input input(data, size);
  switch (input.Byte() % 3) {
    case 0:
      fuzz::CheckAnalyzed(input.Rest());
      break;
    case 1:
      fuzz::CheckBundle(input.Rest());
      break;
    default:
      fuzz::CheckJournal(input);
  }
  return 0;
}
