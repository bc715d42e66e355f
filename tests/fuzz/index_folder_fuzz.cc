// A mutated index folder. Byte 0: flags, 1 = the checksums are made to fit; then edits: file, kind,
// offset (2 bytes, from the front or the end), argument. The index is built at the first input.
#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "storage/verify.h"
#include "tests/damage/damaged_index.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch_folder.h"

namespace rag::fuzz {
namespace {

using testing::DamagedIndex;

constexpr int kMaxEdits = 8;

DamagedIndex& Index() {
  static const ScratchFolder folder;
  static DamagedIndex index(folder.path());
  return index;
}

void Edit(Input& input, std::map<std::string, std::string>& files) {
  auto file = files.begin();
  std::advance(file, input.Byte() % files.size());
  std::string& bytes = file->second;
  const int kind = input.Byte() % 8;
  std::size_t at = std::min<std::size_t>(input.Number(2), bytes.size());
  if (kind % 2 == 1) at = bytes.size() - at;
  const std::uint8_t argument = input.Byte();
  switch (kind / 2) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ argument);
      break;
    case 1: {
      const std::string_view text = input.Take(argument % 16);
      bytes.replace(at, std::min(text.size(), bytes.size() - at), text);
      break;
    }
    case 2:
      bytes.insert(at, input.Take(argument % 16));
      break;
    default:
      bytes.resize(at);
      bytes.append(argument % 16, '\0');
  }
}

// With checksums that fit, contents are all that is left to tell: no crash, and an error that says
// that the index is bad.
void CheckForgery() {
  Index().Reseal();
  const auto answer = Index().Answer();
  if (!answer.ok()) Require(DamagedIndex::IsBadIndex(answer.status()), answer.status().ToString());
  const auto skipping = Index().Answer(/*skip_damaged=*/true);
  Require(skipping.ok() || DamagedIndex::IsBadIndex(skipping.status()),
          "what cannot be skipped is a bad index");
  const auto report = storage::VerifyIndex(Index().path(), {});
  if (!report.ok()) Require(DamagedIndex::IsBadIndex(report.status()), report.status().ToString());
  const bool noticed = !report.ok() || report->num_problems > 0;
  Require(answer.ok() || noticed, "what a query refuses verify notices");
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  fuzz::Input input(data, size);
  const bool forge = input.Byte() % 2 == 1;
  std::map<std::string, std::string> files = fuzz::Index().files();
  for (int edits = 0; edits < fuzz::kMaxEdits && !input.empty(); ++edits) fuzz::Edit(input, files);
  for (const auto& [name, bytes] : files) {
    if (bytes != fuzz::Index().files().at(name)) fuzz::Index().Write(name, bytes);
  }
  if (forge) {
    fuzz::CheckForgery();
  } else {
    const testing::DamagedIndex::Judgement judgement = fuzz::Index().Judge();
    fuzz::Require(judgement.complaint.empty(), judgement.complaint);
  }
  fuzz::Index().Restore();
  return 0;
}
