// rag-inspect chunks: one JSON line a chunk, in order, checkable against the files.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "formats/checksum.h"
#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

using nlohmann::json;

class InspectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteNotes(folder_.path() / "corpus");
    Build(folder_ / "corpus", index_);
    outcome_ = RagInspect({"chunks", index_});
    ASSERT_EQ(outcome_.exit_code, 0) << outcome_;
    for (const std::string& line : Lines(outcome_.out)) chunks_.push_back(json::parse(line));
  }
  TempFolder folder_;
  const std::string index_ = folder_ / "index";
  Outcome outcome_;
  std::vector<json> chunks_;
};

TEST_F(InspectTest, MembersAreInTheDocumentedOrder) {
  for (const std::string& line : Lines(outcome_.out)) {
    const auto chunk = nlohmann::ordered_json::parse(line);
    std::vector<std::string> names;
    for (const auto& [name, value] : chunk.items()) names.push_back(name);
    EXPECT_EQ(names, (std::vector<std::string>{"source", "index", "start", "end", "prev", "next",
                                               "text_sha256"}));
  }
  EXPECT_EQ(outcome_.err, "") << outcome_;
}

TEST_F(InspectTest, EveryFileHasChunksInOrderOfSource) {
  std::vector<std::string> sources;
  for (const json& chunk : chunks_) {
    if (sources.empty() || sources.back() != chunk["source"]) sources.push_back(chunk["source"]);
  }
  EXPECT_EQ(sources, (std::vector<std::string>{"diary.txt", "parts.md", "pumps.md", "report.txt",
                                               "sub folder/größe.md"}));
}

TEST_F(InspectTest, ChecksumsAreThoseOfTheFilesBytes) {
  for (const json& chunk : chunks_) {
    const std::string file =
        ReadFile(folder_.path() / "corpus" / chunk["source"].get<std::string>());
    const std::size_t start = chunk["start"];
    const std::size_t end = chunk["end"];
    ASSERT_LT(start, end) << chunk;
    ASSERT_LE(end, file.size()) << chunk;
    EXPECT_EQ(chunk["text_sha256"],
              formats::ToHex(formats::ComputeSha256(file.substr(start, end - start))))
        << chunk;
  }
}

TEST_F(InspectTest, IndexesCountFromOneAndLinkNeighbors) {
  std::map<std::string, std::uint32_t> counts;
  for (const json& chunk : chunks_) ++counts[chunk["source"]];
  EXPECT_GT(counts["diary.txt"], 3U);
  std::map<std::string, std::uint32_t> seen;
  for (const json& chunk : chunks_) {
    const std::string source = chunk["source"];
    const std::uint32_t index = ++seen[source];
    EXPECT_EQ(chunk["index"], index) << chunk;
    EXPECT_EQ(chunk["prev"], index == 1 ? json() : json(index - 1)) << chunk;
    EXPECT_EQ(chunk["next"], index == counts[source] ? json() : json(index + 1)) << chunk;
  }
}

TEST_F(InspectTest, RangesAscendAndLeaveOutWhiteSpaceOnly) {
  std::map<std::string, std::size_t> ends;
  for (const json& chunk : chunks_) {
    std::size_t& end = ends[chunk["source"]];
    const std::string file =
        ReadFile(folder_.path() / "corpus" / chunk["source"].get<std::string>());
    ASSERT_GE(chunk["start"], end) << chunk;
    const std::string gap = file.substr(end, chunk["start"].get<std::size_t>() - end);
    EXPECT_EQ(gap.find_first_not_of(" \t\r\n\xEF\xBB\xBF"), std::string::npos) << gap;
    end = chunk["end"];
  }
}

TEST_F(InspectTest, ChunksAreThoseOfAnswers) {
  std::map<std::string, json> by_place;
  for (const json& chunk : chunks_) {
    by_place[chunk["source"].get<std::string>() + chunk["index"].dump()] = chunk;
  }
  const json answer = Ask(index_, {"--", "pump valve diary"});
  for (const json& included : answer["included"]) {
    const json& chunk = by_place[included["source"].get<std::string>() + included["index"].dump()];
    EXPECT_EQ(chunk["start"], included["start"]);
    EXPECT_EQ(chunk["end"], included["end"]);
  }
}

TEST_F(InspectTest, OddFileNamesAreValidJson) {
  WriteFile(folder_.path() / "odd" / "quote\"back\\slash\nline.md", "A pump.\n");
  WriteFile(folder_.path() / "odd" / "latin-\xF6.md", "A valve.\n");
  Build(folder_ / "odd", folder_ / "odd index");
  const Outcome outcome = RagInspect({"chunks", folder_ / "odd index"});
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 2U) << outcome;
  EXPECT_EQ(json::parse(lines[0])["source"], "latin-%F6.md");
  EXPECT_EQ(json::parse(lines[1])["source"], "quote\"back\\slash\nline.md");
}

}  // namespace
}  // namespace rag::e2e
