// rag-inspect stats, show, tree, summaries, headings, diff and export.
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "formats/checksum.h"
#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class InspectShowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteNotes(folder_.path() / "corpus");
    WriteFile(folder_.path() / "corpus" / "guide.md", kGuide);
    Build(corpus_, index_);
  }

  // The objects of the lines that a command prints; a failed assertion unless it exits with 0.
  [[nodiscard]] static std::vector<json> JsonLines(const std::vector<std::string>& args) {
    const Outcome outcome = RagInspect(args);
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_EQ(outcome.err, "") << outcome;
    std::vector<json> lines;
    for (const std::string& line : Lines(outcome.out)) lines.push_back(json::parse(line));
    return lines;
  }
  [[nodiscard]] static json JsonLine(const std::vector<std::string>& args) {
    const std::vector<json> lines = JsonLines(args);
    EXPECT_EQ(lines.size(), 1U);
    return lines.empty() ? json() : lines.front();
  }

  static constexpr const char* kGuide =
      "Before any heading.\n\n# Install\n\nUnpack it.\n\n## From source\n\nRun the compiler.\n\n"
      "# Use\n\nStart it.\n";

  TempFolder folder_;
  const std::string corpus_ = folder_ / "corpus";
  const std::string index_ = folder_ / "index";
};

TEST_F(InspectShowTest, StatsAgreeWithTheFiles) {
  const json stats = JsonLine({"stats", index_, "--json"});
  std::uint64_t bytes = 0;
  for (const auto& [name, content] : ReadTree(fs::path(index_) / "gen-000001")) {
    bytes += content.size();
  }
  std::uint64_t part_bytes = 0;
  for (const json& part : stats["parts"]) part_bytes += part["bytes"].get<std::uint64_t>();
  EXPECT_EQ(stats["bytes"], bytes);
  EXPECT_EQ(part_bytes, bytes);
  EXPECT_EQ(stats["counts"]["documents"], 6);
}

TEST_F(InspectShowTest, StatsCountEveryChunkInTheHistogram) {
  const json stats = JsonLine({"stats", index_, "--json"});
  const json& tokens = stats["chunk_tokens"];
  std::uint64_t chunks = 0;
  for (const json& bucket : tokens["histogram"]) {
    EXPECT_LE(bucket["from"], bucket["to"]);
    chunks += bucket["chunks"].get<std::uint64_t>();
  }
  EXPECT_EQ(chunks, stats["counts"]["chunks"]);
  EXPECT_LE(tokens["min"], tokens["p50"]);
  EXPECT_LE(tokens["p99"], tokens["max"]);
}

TEST_F(InspectShowTest, StatsNameKeysAndSizesOfEveryFamily) {
  const json stats = JsonLine({"stats", index_, "--json"});
  std::map<std::string, json> families;
  for (const json& family : stats["families"]) families[family["family"]] = family;
  EXPECT_EQ(families.size(), 6U);
  EXPECT_EQ(families["documents"]["keys"], stats["counts"]["documents"]);
  EXPECT_GT(families["terms"]["raw_bytes"], 0);
  EXPECT_GT(families["terms"]["bytes"], 0);
}

// They are compressed in groups, of which a small document has one.
TEST_F(InspectShowTest, StatsTellWhatChunksTakeBeforeCompression) {
  const json stats = JsonLine({"stats", index_, "--json"});
  for (const json& family : stats["families"]) {
    if (family["family"] != "chunks") continue;
    EXPECT_EQ(family["keys"], stats["counts"]["documents"]);
    EXPECT_GT(family["raw_bytes"], stats["counts"]["corpus_bytes"]);
  }
}

TEST_F(InspectShowTest, StatsListTheGenerations) {
  WriteFile(folder_.path() / "corpus" / "new.md", "New.\n");
  Build(corpus_, index_);
  const json generations = JsonLine({"stats", index_, "--json"})["generations"];
  ASSERT_EQ(generations.size(), 2U);
  EXPECT_EQ(generations[0]["documents"], 6);
  EXPECT_EQ(generations[0]["current"], false);
  EXPECT_EQ(generations[1]["documents"], 7);
  EXPECT_EQ(generations[1]["current"], true);
}

TEST_F(InspectShowTest, StatsAreReadable) {
  const Outcome outcome = RagInspect({"stats", index_});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  for (const std::string text : {"generation 1", "chunk vectors", "tokens of a chunk", "* 1  "}) {
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << outcome;
  }
}

TEST_F(InspectShowTest, StatsOfAnEmptyIndexAreZeros) {
  fs::create_directory(folder_ / "none");
  Build(folder_ / "none", folder_ / "empty");
  const json stats = JsonLine({"stats", folder_ / "empty", "--json"});
  EXPECT_EQ(stats["counts"]["chunks"], 0);
  EXPECT_EQ(stats["of_corpus"], 0.0);
  EXPECT_EQ(RagInspect({"stats", folder_ / "empty"}).exit_code, 0);
}

TEST_F(InspectShowTest, ShowOfADocumentHoldsItsChunksAndSections) {
  const json document = JsonLine({"show", index_, "guide.md", "--json"});
  EXPECT_EQ(document["source"], "guide.md");
  EXPECT_EQ(document["title"], "Install");
  EXPECT_EQ(document["size_bytes"], std::string(kGuide).size());
  EXPECT_EQ(document["content_sha256"], formats::ToHex(formats::ComputeSha256(kGuide)));
  EXPECT_EQ(document["sections"].size(), 4U);
  EXPECT_EQ(document["sections"][2]["heading_path"], "Install > From source");
  EXPECT_EQ(document["chunks"].size(), 4U);
}

TEST_F(InspectShowTest, ShowOfAChunkIsTheFilesText) {
  const json chunk = JsonLine({"show", index_, "guide.md-chunk-003", "--json"});
  EXPECT_EQ(chunk["index"], 3);
  EXPECT_EQ(chunk["heading_path"], "Install > From source");
  const std::size_t start = chunk["start"];
  const std::size_t end = chunk["end"];
  EXPECT_EQ(chunk["text"], std::string(kGuide).substr(start, end - start));
  EXPECT_GT(chunk["tokens"], 0);
  EXPECT_NE(chunk["summary"], "");
}

TEST_F(InspectShowTest, ShowFindsDocumentsByTheirIdToo) {
  Build(corpus_, folder_ / "article", {"--profile", "article"});
  const std::vector<json> documents = JsonLines({"summaries", folder_ / "article"});
  const std::string doc_id = documents[0]["doc_id"];
  EXPECT_NE(doc_id, documents[0]["source"]);
  EXPECT_EQ(JsonLine({"show", folder_ / "article", doc_id, "--json"})["doc_id"], doc_id);
  EXPECT_EQ(JsonLine({"show", folder_ / "article", doc_id + "-chunk-001", "--json"})["index"], 1);
}

TEST_F(InspectShowTest, ShowAsTextHoldsTheChunksText) {
  const Outcome chunk = RagInspect({"show", index_, "guide.md-chunk-003"});
  EXPECT_NE(chunk.out.find("\n## From source\n\nRun the compiler.\n"), std::string::npos) << chunk;
  const Outcome document = RagInspect({"show", index_, "guide.md"});
  EXPECT_NE(document.out.find("  guide.md-chunk-004  bytes ["), std::string::npos) << document;
}

TEST_F(InspectShowTest, UnknownNamesAreWrongUse) {
  for (const std::string name :
       {"nothing.md", "guide.md-chunk-000", "guide.md-chunk-999", "guide.md-chunk-3x", ""}) {
    ExpectError(RagInspect({"show", index_, name}), 2, "rag-inspect", "no document or chunk");
    ExpectError(RagInspect({"tree", index_, name}), 2, "rag-inspect", "no document or chunk");
  }
}

TEST_F(InspectShowTest, SummariesHaveALineADocumentAndAChunk) {
  std::map<std::string, int> kinds;
  for (const json& line : JsonLines({"summaries", index_})) {
    ++kinds[line["kind"]];
    EXPECT_NE(line["summary"], "") << line;
  }
  EXPECT_EQ(kinds["document"], 6);
  EXPECT_EQ(kinds["chunk"], static_cast<int>(JsonLines({"chunks", index_}).size()));
}

TEST_F(InspectShowTest, ExtractedSummariesAreWordsOfTheChunk) {
  for (const json& line : JsonLines({"summaries", index_})) {
    if (line.value("chunk_id", "") != "guide.md-chunk-004") continue;
    EXPECT_EQ(line["summary"], "# Use Start it.");
  }
}

TEST_F(InspectShowTest, HeadingsHaveOffsetLevelAndTitle) {
  std::vector<json> found;
  for (const json& line : JsonLines({"headings", index_})) {
    if (line["source"] == "guide.md") found.push_back(line);
  }
  const std::string text = kGuide;
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[1], (json{{"source", "guide.md"},
                            {"offset", text.find("## From source")},
                            {"level", 2},
                            {"title", "From source"}}));
  EXPECT_EQ(found[2]["title"], "Use");
}

// Counts the leaves of a tree of summaries.
std::size_t CountChunks(const json& node) {
  if (node.contains("chunk_id")) return 1;
  std::size_t chunks = 0;
  for (const json& child : node["children"]) chunks += CountChunks(child);
  return chunks;
}

TEST_F(InspectShowTest, TreeHoldsEveryChunkOnce) {
  for (const std::string source : {"guide.md", "diary.txt"}) {
    const json tree = JsonLine({"tree", index_, source, "--json"});
    const json document = JsonLine({"show", index_, source, "--json"});
    EXPECT_EQ(CountChunks(tree), document["chunks"].size());
    EXPECT_EQ(tree["summary"], document["summary"]);
  }
}

TEST_F(InspectShowTest, TreeAsTextIsIndented) {
  const Outcome outcome = RagInspect({"tree", index_, "guide.md"});
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_GE(lines.size(), 6U) << outcome;
  EXPECT_TRUE(lines[0].starts_with("guide.md: ")) << outcome;
  EXPECT_TRUE(lines[1].starts_with("  level ")) << outcome;
  EXPECT_NE(outcome.out.find("    chunk 4: # Use Start it.\n"), std::string::npos) << outcome;
}

TEST_F(InspectShowTest, DiffNamesAddedRemovedAndChangedDocuments) {
  WriteFile(folder_.path() / "corpus" / "new.md", "New.\n");
  WriteFile(folder_.path() / "corpus" / "guide.md", "# Changed\n\nAll of it.\n");
  fs::remove(folder_.path() / "corpus" / "diary.txt");
  Build(corpus_, index_);
  EXPECT_EQ(RagInspect({"diff", index_, "1", "gen-000002"}).out,
            "removed diary.txt\nchanged guide.md\nadded new.md\n");
  EXPECT_EQ(RagInspect({"diff", index_, "2", "1"}).out,
            "added diary.txt\nchanged guide.md\nremoved new.md\n");
  const std::vector<json> lines = JsonLines({"diff", index_, "1", "2", "--json"});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["new_sha256"], json());
  EXPECT_EQ(lines[1]["old_bytes"], std::string(kGuide).size());
  EXPECT_EQ(lines[2]["new_sha256"], formats::ToHex(formats::ComputeSha256("New.\n")));
}

TEST_F(InspectShowTest, DiffOfAGenerationWithItselfIsEmpty) {
  EXPECT_EQ(RagInspect({"diff", index_, "1", "1"}).out, "");
}

TEST_F(InspectShowTest, UnknownGenerationsAreWrongUse) {
  for (const std::string name : {"9", "gen-000009", "one", "1x", ""}) {
    ExpectError(RagInspect({"diff", index_, "1", name}), 2, "rag-inspect", "there is 1");
  }
  ExpectError(RagInspect({"diff", folder_ / "nowhere", "1", "2"}), 3, "rag-inspect", "nowhere");
}

TEST_F(InspectShowTest, ExportHoldsEveryRecordAndVector) {
  const json stats = JsonLine({"stats", index_, "--json"});
  std::map<std::string, std::uint64_t> types;
  for (const json& line : JsonLines({"export", index_})) {
    ++types[line["type"]];
    if (line["type"] == "chunk") {
      EXPECT_EQ(line["vector"].size(), stats["build"]["chunk_dim"]);
    }
    if (line["type"] == "document_vector") {
      EXPECT_EQ(line["vector"].size(), stats["build"]["document_dim"]);
    }
  }
  EXPECT_EQ(types["index"], 1U);
  EXPECT_EQ(types["document"], stats["counts"]["documents"]);
  EXPECT_EQ(types["parent"], stats["counts"]["parents"]);
  EXPECT_EQ(types["chunk"], stats["counts"]["chunks"]);
  EXPECT_EQ(types["summary"], stats["counts"]["summary_nodes"]);
  EXPECT_EQ(types["document_vector"], stats["counts"]["document_vectors"]);
}

TEST_F(InspectShowTest, ExportedChunksRebuildTheFiles) {
  std::map<std::uint64_t, std::string> sources;
  for (const json& line : JsonLines({"export", index_, "--no-vectors"})) {
    EXPECT_FALSE(line.contains("vector"));
    if (line["type"] == "document") sources[line["document"]] = line["source"];
    if (line["type"] != "chunk") continue;
    const std::string file = ReadFile(fs::path(corpus_) / sources.at(line["document"]));
    const std::size_t start = line["start"];
    EXPECT_EQ(line["text"], file.substr(start, line["end"].get<std::size_t>() - start));
  }
  EXPECT_EQ(sources.size(), 6U);
}

TEST_F(InspectShowTest, OddFileNamesAreValidJsonEverywhere) {
  const std::string odd = "quote\"back\\slash\nline \x1b[31m.md";
  WriteFile(folder_.path() / "odd" / odd, "# A pump\n\nIt runs.\n");
  WriteFile(folder_.path() / "odd" / "latin-\xF6.md", "A valve.\n");
  const std::string index = folder_ / "odd index";
  Build(folder_ / "odd", index);
  for (const std::string command : {"summaries", "headings", "export"}) {
    EXPECT_FALSE(JsonLines({command, index}).empty());
  }
  EXPECT_EQ(JsonLine({"show", index, odd, "--json"})["source"], odd);
  EXPECT_EQ(JsonLine({"show", index, "latin-\xF6.md", "--json"})["source"], "latin-%F6.md");
  EXPECT_EQ(JsonLine({"show", index, "latin-\xF6.md", "--json"})["escaped"], true);
  EXPECT_EQ(JsonLine({"tree", index, odd, "--json"})["source"], odd);
  fs::remove(folder_.path() / "odd" / odd);
  Build(folder_ / "odd", index);
  EXPECT_EQ(JsonLine({"diff", index, "1", "2", "--json"})["source"], odd);
  EXPECT_TRUE(IsOneLine(RagInspect({"diff", index, "1", "2"}).out));
}

}  // namespace
}  // namespace rag::e2e
