// INDEX/CURRENT, beside the generations 1 and 1000000.
#include <string>

#include "formats/checksum.h"
#include "storage/generation.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch_folder.h"

namespace rag::fuzz {
namespace {

const std::filesystem::path& Index() {
  static const ScratchFolder folder;
  static const bool made = [] {
    for (const std::uint64_t number : {1U, 1'000'000U}) {
      std::filesystem::create_directories(folder.path() / storage::GenerationName(number));
    }
    return true;
  }();
  Require(made, "the folders are made once");
  return folder.path();
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  const std::string_view bytes = fuzz::Bytes(data, size);
  const std::filesystem::path& index = fuzz::Index();
  std::ofstream(index / "CURRENT", std::ios::binary) << bytes;

  const auto number = storage::ReadCurrent(index);

  if (!number.ok()) {
    fuzz::RequireDamage(number.status());
    return 0;
  }
  const std::string name = storage::GenerationName(*number);
  fuzz::Require(bytes == name + " " + formats::ToHex(formats::Xxh3(name)) + "\n",
                "a generation has one CURRENT");
  fuzz::Require(*number == 1 || *number == 1'000'000, "the generation is there");
  return 0;
}
