#include "tools/splitter_options.h"

#include <gtest/gtest.h>

namespace rag::tools {
namespace {

using indexer::ChunkUnit;
using indexer::Profile;
using indexer::SplitterKind;

Profile Default() { return indexer::FindProfile("default").value(); }

// The id of the splitter that these make of a profile.
std::string Id(const SplitterArguments& args, Profile profile = Default()) {
  const absl::Status status = ApplySplitterOptions(args, profile);
  EXPECT_TRUE(status.ok()) << status;
  return indexer::MakeSplitter(profile).value()->Id();
}

void ExpectRefused(const SplitterArguments& args, const std::vector<std::string>& texts) {
  Profile profile = Default();
  const absl::Status status = ApplySplitterOptions(args, profile);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  for (const std::string& text : texts) {
    EXPECT_NE(status.message().find(text), std::string::npos) << status << " lacks " << text;
  }
}

TEST(SplitterOptions, NothingGivenChangesNothing) {
  EXPECT_EQ(Id({}), indexer::MakeSplitter(Default()).value()->Id());
  EXPECT_EQ(Id({}, indexer::FindProfile("article").value()), "article-v1/size=420");
}

TEST(SplitterOptions, WhatIsNotGivenStaysTheProfiles) {
  Profile profile = Default();
  profile.structure = {.target = 100, .cap = 200, .hard_max = 300};
  profile.recursive = {.size = 50};
  profile.chunk_unit = ChunkUnit::kTokens;

  EXPECT_EQ(Id({}, profile), "structure-v2/target=100/cap=200/max=300");
  EXPECT_EQ(Id({.max = 150}, profile), "structure-v2/target=100/cap=150/max=150");
  EXPECT_EQ(Id({.splitter = "recursive"}, profile),
            "recursive-v1/size=50/overlap=0/unit=chars4-v1");
  EXPECT_EQ(Id({.splitter = "recursive", .unit = "chars"}, profile),
            "recursive-v1/size=200/overlap=0/unit=chars");
}

TEST(SplitterOptions, EachSplitterHasSizesOfItsOwn) {
  EXPECT_EQ(Id({.splitter = "structure"}), "structure-v2/target=280/cap=360/max=1680");
  EXPECT_EQ(Id({.splitter = "article"}), "article-v1/size=420");
  EXPECT_EQ(Id({.splitter = "recursive"}), "recursive-v1/size=400/overlap=0/unit=chars");
  EXPECT_EQ(Id({.splitter = "sentence"}), "sentence-v1/size=280/max=1680/unit=chars");
  EXPECT_EQ(Id({.splitter = "tokens"}), "tokens-v1/size=100/overlap=0/unit=chars4-v1");
}

TEST(SplitterOptions, ASizeIsPutIntoTheChosenSplitter) {
  EXPECT_EQ(Id({.size = 150}), "structure-v2/target=150/cap=192/max=900");
  EXPECT_EQ(Id({.splitter = "article", .size = 150}), "article-v1/size=150");
  EXPECT_EQ(Id({.splitter = "recursive", .size = 1}), "recursive-v1/size=1/overlap=0/unit=chars");
  EXPECT_EQ(Id({.splitter = "sentence", .size = 120}), "sentence-v1/size=120/max=720/unit=chars");
  EXPECT_EQ(Id({.splitter = "tokens", .size = 30, .overlap = 0}),
            "tokens-v1/size=30/overlap=0/unit=chars4-v1");
}

TEST(SplitterOptions, TheMaximumFollowsTheSizeUnlessGiven) {
  EXPECT_EQ(Id({.max = 300}), "structure-v2/target=280/cap=300/max=300");
  EXPECT_EQ(Id({.splitter = "sentence", .size = 120, .max = 300}),
            "sentence-v1/size=120/max=300/unit=chars");
  EXPECT_EQ(Id({.splitter = "sentence", .size = 900'000}),
            "sentence-v1/size=900000/max=1000000/unit=chars");
}

TEST(SplitterOptions, SizesInTokensAreAQuarterUnlessGiven) {
  EXPECT_EQ(Id({.splitter = "recursive", .unit = "tokens"}),
            "recursive-v1/size=100/overlap=0/unit=chars4-v1");
  EXPECT_EQ(Id({.splitter = "sentence", .unit = "tokens"}),
            "sentence-v1/size=70/max=420/unit=chars4-v1");
  EXPECT_EQ(Id({.splitter = "sentence", .size = 50, .unit = "tokens"}),
            "sentence-v1/size=50/max=300/unit=chars4-v1");
  EXPECT_EQ(Id({.splitter = "recursive", .unit = "chars"}),
            "recursive-v1/size=400/overlap=0/unit=chars");
}

TEST(SplitterOptions, AnOverlapIsPutIntoTheChosenSplitter) {
  Profile profile = Default();
  EXPECT_TRUE(
      ApplySplitterOptions({.splitter = "recursive", .size = 400, .overlap = 399}, profile).ok());
  EXPECT_EQ(profile.recursive.overlap, 399U);
  EXPECT_TRUE(ApplySplitterOptions({.splitter = "tokens", .overlap = 7}, profile).ok());
  EXPECT_EQ(profile.tokens.overlap, 7U);
}

TEST(SplitterOptions, WhatDoesNotApplyIsRefused) {
  for (const char* splitter : {"structure", "article", "sentence"}) {
    ExpectRefused({.splitter = splitter, .overlap = 0}, {"--chunk-overlap", splitter});
  }
  for (const char* splitter : {"article", "recursive", "tokens"}) {
    ExpectRefused({.splitter = splitter, .max = 2000}, {"--chunk-max", splitter});
  }
  for (const char* splitter : {"structure", "article", "tokens"}) {
    ExpectRefused({.splitter = splitter, .unit = "tokens"}, {"--chunk-unit", splitter});
  }
  ExpectRefused({.overlap = 10}, {"--chunk-overlap", "structure"});
}

TEST(SplitterOptions, ImpossibleSizesAreRefusedByTheirValues) {
  for (const auto& [size, overlap] :
       {std::pair{400, 400}, std::pair{400, 500}, std::pair{0, 0}, std::pair{400, -1}}) {
    for (const char* splitter : {"recursive", "tokens"}) {
      ExpectRefused(
          {.splitter = splitter, .size = size, .overlap = overlap},
          {"--chunk-size " + std::to_string(size), "--chunk-overlap " + std::to_string(overlap)});
    }
  }
  ExpectRefused({.size = 0}, {"--chunk-size 0"});
  ExpectRefused({.splitter = "article", .size = -3}, {"--chunk-size -3"});
  ExpectRefused({.splitter = "sentence", .size = 1'000'001}, {"--chunk-size 1000001"});
  ExpectRefused({.splitter = "sentence", .size = 100, .max = 99}, {"--chunk-max 99", "100"});
  ExpectRefused({.splitter = "sentence", .max = 1'000'001}, {"--chunk-max 1000001"});
  // The overlap of a size that the splitter has by default.
  ExpectRefused({.splitter = "recursive", .overlap = 400}, {"--chunk-size 400"});
}

}  // namespace
}  // namespace rag::tools
