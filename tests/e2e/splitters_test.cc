// rag-index build --splitter and its sizes: what is cut where, what is recorded, what is refused.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

using nlohmann::json;
using Strings = std::vector<std::string>;

// The text of docs/splitters.md.
constexpr const char* kLamp =
    "# Lamp\n\nTrim the wick. Fill the tank to the mark,\nnot above it.\n\n- clear oil\n- thick "
    "oil, only in summer\n\n```sh\nlamp --on\n\nlamp --dim 3\n```\n";

class SplittersTest : public ::testing::Test {
 protected:
  SplittersTest() { WriteFile(folder_.path() / "corpus" / "lamp.md", kLamp); }

  // The chunks of the only file, after a build with these.
  Strings Chunks(const Strings& args) const {
    Build(corpus_, index_, args);
    const Outcome verified = RagIndex({"verify", index_});
    EXPECT_EQ(verified.exit_code, 0) << verified;
    const std::string text = ReadFile(folder_.path() / "corpus" / "lamp.md");
    Strings out;
    for (const std::string& line : Lines(RagInspect({"chunks", index_}).out)) {
      const json chunk = json::parse(line);
      const std::size_t start = chunk["start"];
      out.push_back(text.substr(start, chunk["end"].get<std::size_t>() - start));
    }
    return out;
  }

  [[nodiscard]] std::string Splitter() const {
    return json::parse(RagInspect({"stats", index_, "--json"}).out)["build"]["splitter"];
  }

  void ExpectRefused(const Strings& args, const Strings& texts) const {
    Strings all = {"build", corpus_, "-o", index_};
    all.insert(all.end(), args.begin(), args.end());
    const Outcome outcome = RagIndex(all);
    for (const std::string& text : texts) ExpectError(outcome, 2, "rag-index", text);
    EXPECT_FALSE(std::filesystem::exists(index_));
  }

  TempFolder folder_;
  const std::string corpus_ = folder_ / "corpus";
  const std::string index_ = folder_ / "index";
};

TEST_F(SplittersTest, EachCutsAsItsPictureShows) {
  const std::string list = "- clear oil\n- thick oil, only in summer";
  const std::string code = "```sh\nlamp --on\n\nlamp --dim 3\n```";
  EXPECT_EQ(Chunks({"--splitter", "structure", "--chunk-size", "40"}),
            (Strings{"# Lamp\n\nTrim the wick.", "Fill the tank to the mark,\nnot above it.", list,
                     code}));
  EXPECT_EQ(
      Chunks({"--splitter", "article", "--chunk-size", "40"}),
      (Strings{"# Lamp", "Trim the wick. Fill the tank to the mark,\nnot above it.", list, code}));
  EXPECT_EQ(Chunks({"--splitter", "recursive", "--chunk-size", "40"}),
            (Strings{"# Lamp", "Trim the wick.", "Fill the tank to the mark,", "not above it.",
                     list, code}));
  EXPECT_EQ(Chunks({"--splitter", "sentence", "--chunk-size", "40"}),
            (Strings{"# Lamp\n\nTrim the wick.", "Fill the tank to the mark,\nnot above it.", list,
                     code}));
  EXPECT_EQ(Chunks({"--splitter", "tokens", "--chunk-size", "10"}),
            (Strings{"# Lamp\n\nTrim the wick. Fill the tank to",
                     "the mark,\nnot above it.\n\n- clear oil\n-",
                     "thick oil, only in summer\n\n```sh\nlamp", "--on\n\nlamp --dim 3\n```"}));
}

TEST_F(SplittersTest, AChangeOfSizesMakesEverythingAnewAndSaysWhatDiffers) {
  Build(corpus_, index_, {"--splitter", "recursive"});
  EXPECT_EQ(Splitter(), "recursive-v1/size=400/overlap=0/unit=chars");
  const Outcome outcome = RagIndex({"build", corpus_, "-o", index_, "--splitter", "recursive",
                                    "--chunk-size", "90", "--chunk-unit", "tokens"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_NE(outcome.err.find("splitter was 'recursive-v1/size=400/overlap=0/unit=chars', is "
                             "'recursive-v1/size=90/overlap=0/unit=chars4-v1'"),
            std::string::npos)
      << outcome;
  EXPECT_EQ(Splitter(), "recursive-v1/size=90/overlap=0/unit=chars4-v1");
}

TEST_F(SplittersTest, SizesThatNeverMoveOnAreRefusedByTheirValues) {
  for (const auto& [size, overlap] : {std::pair{"400", "400"}, std::pair{"400", "500"},
                                      std::pair{"0", "0"}, std::pair{"400", "-1"}}) {
    ExpectRefused({"--splitter", "recursive", "--chunk-size", size, "--chunk-overlap", overlap},
                  {std::string("--chunk-size ") + size, std::string("--chunk-overlap ") + overlap});
  }
}

TEST_F(SplittersTest, OptionsThatDoNotApplyAreRefused) {
  ExpectRefused({"--chunk-overlap", "10"}, {"--chunk-overlap", "structure"});
  ExpectRefused({"--profile", "article", "--chunk-unit", "tokens"}, {"--chunk-unit", "article"});
  ExpectRefused({"--splitter", "tokens", "--chunk-max", "900"}, {"--chunk-max", "tokens"});
  ExpectRefused({"--splitter", "semantic"}, {"semantic"});
  ExpectRefused({"--chunk-size", "many"}, {"many"});
  for (const char* option : {"--chunk-size", "--chunk-max", "--chunk-overlap"}) {
    ExpectRefused({"--splitter", "sentence", option, ""}, {option});
  }
}

// What comes after splitting does not know overlaps yet.
TEST_F(SplittersTest, AnOverlapIsRefusedForNow) {
  ExpectRefused({"--splitter", "tokens", "--chunk-overlap", "10"}, {"overlap 10"});
}

}  // namespace
}  // namespace rag::e2e
