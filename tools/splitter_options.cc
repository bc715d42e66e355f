#include "tools/splitter_options.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "formats/status_macros.h"
#include "tools/cli.h"

namespace rag::tools {
namespace {

using indexer::ChunkUnit;
using indexer::Profile;
using indexer::SplitterKind;

constexpr std::int64_t kMaxSize = 1'000'000;

// Which options a splitter has besides --chunk-size.
struct Applicable {
  bool overlap = false;
  bool max = false;
  bool unit = false;
};

Applicable OptionsOf(SplitterKind kind) {
  switch (kind) {
    case SplitterKind::kStructure:
      return {.max = true};
    case SplitterKind::kArticle:
      return {};
    case SplitterKind::kRecursive:
      return {.overlap = true, .unit = true};
    case SplitterKind::kSentence:
      return {.max = true, .unit = true};
    case SplitterKind::kTokens:
      return {.overlap = true};
  }
  return {};
}

absl::Status Refuse(std::string_view option, SplitterKind kind) {
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(option), ": does not apply to the splitter ",
                   std::string(ToString(kind)), "; leave it out or choose another splitter"));
}

absl::Status CheckApplicable(const SplitterArguments& args, SplitterKind kind) {
  const Applicable applicable = OptionsOf(kind);
  if (args.overlap.has_value() && !applicable.overlap) return Refuse("--chunk-overlap", kind);
  if (args.max.has_value() && !applicable.max) return Refuse("--chunk-max", kind);
  if (args.unit.has_value() && !applicable.unit) return Refuse("--chunk-unit", kind);
  return absl::OkStatus();
}

struct Sizes {
  std::int64_t size = 0;
  std::int64_t overlap = 0;
  std::int64_t max = 0;
};

Sizes ProfileSizes(const Profile& profile) {
  switch (profile.splitter) {
    case SplitterKind::kStructure:
      return {.size = profile.structure.target, .max = profile.structure.hard_max};
    case SplitterKind::kArticle:
      return {.size = profile.article_size};
    case SplitterKind::kRecursive:
      return {.size = profile.recursive.size, .overlap = profile.recursive.overlap};
    case SplitterKind::kSentence:
      return {.size = profile.sentence.size, .max = profile.sentence.hard_max};
    case SplitterKind::kTokens:
      return {.size = profile.tokens.size, .overlap = profile.tokens.overlap};
  }
  return {};
}

ChunkUnit UnitOf(const SplitterArguments& args, const Profile& profile) {
  if (!args.unit.has_value()) return profile.chunk_unit;
  return *args.unit == "tokens" ? ChunkUnit::kTokens : ChunkUnit::kCharacters;
}

// What was given, else what follows from that, else the profile's.
Sizes ChosenSizes(const SplitterArguments& args, const Profile& profile) {
  constexpr std::int64_t kCharactersPerToken = 4;
  constexpr std::int64_t kSizesPerMax = 6;
  Sizes sizes = ProfileSizes(profile);
  const ChunkUnit unit = UnitOf(args, profile);
  const auto convert = [&](std::int64_t& value) {
    if (unit == profile.chunk_unit) return;
    value = unit == ChunkUnit::kTokens ? value / kCharactersPerToken : value * kCharactersPerToken;
  };
  convert(sizes.size);
  convert(sizes.overlap);
  convert(sizes.max);
  if (args.size.has_value()) {
    sizes.size = *args.size;
    sizes.max =
        std::min(std::clamp<std::int64_t>(sizes.size, 0, kMaxSize) * kSizesPerMax, kMaxSize);
  }
  sizes.overlap = args.overlap.value_or(sizes.overlap);
  sizes.max = args.max.value_or(sizes.max);
  return sizes;
}

absl::Status CheckSizes(const Sizes& sizes, const Applicable& applicable) {
  const bool good_size = sizes.size >= 1 && sizes.size <= kMaxSize;
  if (applicable.overlap && (!good_size || sizes.overlap < 0 || sizes.overlap >= sizes.size)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--chunk-size ", sizes.size, ", --chunk-overlap ", sizes.overlap,
        ": the size must be 1 to ", kMaxSize, ", the overlap 0 or more and less than the size"));
  }
  if (!good_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("--chunk-size ", sizes.size, ": must be 1 to ", kMaxSize));
  }
  if (applicable.max && (sizes.max < sizes.size || sizes.max > kMaxSize)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--chunk-max ", sizes.max, ", --chunk-size ", sizes.size,
                     ": the maximum must be at least the size and at most ", kMaxSize));
  }
  return absl::OkStatus();
}

void SetSizes(const Sizes& sizes, Profile& profile) {
  const auto size = static_cast<std::uint32_t>(sizes.size);
  const auto overlap = static_cast<std::uint32_t>(sizes.overlap);
  const auto max = static_cast<std::uint32_t>(sizes.max);
  switch (profile.splitter) {
    case SplitterKind::kStructure: {
      indexer::StructureSizes& structure = profile.structure;
      // For another size, prose is cut above nine sevenths of it, as by default.
      if (size != structure.target) structure.cap = size + size * 2 / 7;
      structure = {.target = size, .cap = std::min(structure.cap, max), .hard_max = max};
      break;
    }
    case SplitterKind::kArticle:
      profile.article_size = size;
      break;
    case SplitterKind::kRecursive:
      profile.recursive = {.size = size, .overlap = overlap};
      break;
    case SplitterKind::kSentence:
      profile.sentence = {.size = size, .hard_max = max};
      break;
    case SplitterKind::kTokens:
      profile.tokens = {.size = size, .overlap = overlap};
      break;
  }
}

}  // namespace

void AddSplitterOptions(CLI::App& build, SplitterArguments& args) {
  build
      .add_option("--splitter", args.splitter,
                  "how documents are cut into chunks: structure, article, recursive, sentence or "
                  "tokens; default: the profile's")
      ->type_name("NAME")
      ->check(OneOf({"structure", "article", "recursive", "sentence", "tokens"}));
  build.add_option("--chunk-size", args.size, "what chunks are filled up to")
      ->type_name("N")
      ->check(NotEmpty());
  build.add_option("--chunk-overlap", args.overlap, "what a chunk repeats of the one before")
      ->type_name("N")
      ->check(NotEmpty());
  build.add_option("--chunk-max", args.max, "what sentences and blocks are cut above")
      ->type_name("N")
      ->check(NotEmpty());
  build.add_option("--chunk-unit", args.unit, "what the sizes count: chars or tokens")
      ->type_name("UNIT")
      ->check(OneOf({"chars", "tokens"}));
}

absl::Status ApplySplitterOptions(const SplitterArguments& args, Profile& profile) {
  if (args.splitter.has_value()) {
    RAG_ASSIGN_OR_RETURN(profile.splitter, indexer::ParseSplitterKind(*args.splitter));
  }
  RAG_RETURN_IF_ERROR(CheckApplicable(args, profile.splitter));
  const Sizes sizes = ChosenSizes(args, profile);
  RAG_RETURN_IF_ERROR(CheckSizes(sizes, OptionsOf(profile.splitter)));
  SetSizes(sizes, profile);
  profile.chunk_unit = UnitOf(args, profile);
  return absl::OkStatus();
}

}  // namespace rag::tools
