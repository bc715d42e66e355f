// What rag-query prints: the files' own bytes, within the budget, results alone on stdout.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

using nlohmann::json;

const std::vector<std::string>& Questions() {
  static const std::vector<std::string> questions{
      "pump",
      "Which valve leaks and what happens to the pump seal?",
      "Ventil öffnen nach dem Füllen",
      "αντλία насос",
      "night pump noisy half past two",
      "diary day 17 minutes valve checked",
      "spare parts hose clamp filter interval"};
  return questions;
}

class QueryOutputTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteNotes(folder_.path() / "corpus");
    Build(folder_ / "corpus", index_);
  }

  [[nodiscard]] std::string FileOf(const json& chunk) const {
    return ReadFile(folder_.path() / "corpus" / chunk["source"].get<std::string>());
  }
  // The file's bytes at the chunk's range.
  [[nodiscard]] std::string TextOf(const json& chunk) const {
    const std::size_t start = chunk["start"];
    const std::size_t end = chunk["end"];
    const std::string file = FileOf(chunk);
    EXPECT_LT(start, end) << chunk;
    EXPECT_LE(end, file.size()) << chunk;
    return file.substr(start, end - start);
  }

  // Calls `check` with the answers to all questions at several budgets.
  template <typename Check>
  void ForAllAnswers(const std::string& header, Check check) const {
    for (const std::string& question : Questions()) {
      for (const std::string budget : {"100", "250", "1200"}) {
        SCOPED_TRACE(question + " at " + budget + " with header " + header);
        check(Ask(index_, {"--budget", budget, "--header", header, "--", question}));
      }
    }
  }

  TempFolder folder_;
  const std::string index_ = folder_ / "index";
};

std::uint64_t CodePoints(const std::string& text) {
  std::uint64_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

std::int64_t LineBreaks(const std::string& text, std::size_t end) {
  return std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
}

TEST_F(QueryOutputTest, CorpusIsAnsweredFromEveryFile) {
  std::set<std::string> sources;
  ForAllAnswers("none", [&](const json& answer) {
    for (const json& chunk : answer["included"]) sources.insert(chunk["source"]);
  });
  EXPECT_EQ(sources, (std::set<std::string>{"diary.txt", "parts.md", "pumps.md", "report.txt",
                                            "sub folder/größe.md"}));
}

TEST_F(QueryOutputTest, ContextIsTheFilesBytesAndSeparators) {
  ForAllAnswers("none", [&](const json& answer) {
    std::string wanted;
    for (const json& chunk : answer["included"]) {
      if (!wanted.empty()) wanted += "\n\n---\n\n";
      wanted += TextOf(chunk);
    }
    if (!wanted.empty()) wanted += "\n";
    EXPECT_EQ(answer["context"], wanted);
  });
}

TEST_F(QueryOutputTest, ShortHeaderNamesSourceAndLines) {
  ForAllAnswers("short", [&](const json& answer) {
    std::string wanted;
    for (const json& chunk : answer["included"]) {
      if (!wanted.empty()) wanted += "\n\n---\n\n";
      wanted += "[" + chunk["source"].get<std::string>() + ":" + chunk["line_start"].dump() + "-" +
                chunk["line_end"].dump() + "]\n" + TextOf(chunk);
    }
    if (!wanted.empty()) wanted += "\n";
    EXPECT_EQ(answer["context"], wanted);
  });
}

TEST_F(QueryOutputTest, FullHeaderNamesSourceIdAndPosition) {
  ForAllAnswers("full", [&](const json& answer) {
    std::string wanted;
    for (const json& chunk : answer["included"]) {
      if (!wanted.empty()) wanted += "\n\n---\n\n";
      wanted += "Source: " + chunk["source"].get<std::string>() +
                "\nChunk ID: " + chunk["chunk_id"].get<std::string>() +
                "\nChunk position: " + chunk["index"].dump() + "\n\n" + TextOf(chunk);
    }
    if (!wanted.empty()) wanted += "\n";
    EXPECT_EQ(answer["context"], wanted);
  });
}

TEST_F(QueryOutputTest, LineNumbersAreThoseOfTheFile) {
  ForAllAnswers("short", [&](const json& answer) {
    for (const json& chunk : answer["included"]) {
      const std::string file = FileOf(chunk);
      const std::size_t last_byte = chunk["end"].get<std::size_t>() - 1;
      EXPECT_EQ(chunk["line_start"], 1 + LineBreaks(file, chunk["start"])) << chunk;
      EXPECT_EQ(chunk["line_end"], 1 + LineBreaks(file, last_byte)) << chunk;
    }
  });
}

TEST_F(QueryOutputTest, IncludedChunksAreInOrderAndApart) {
  ForAllAnswers("short", [&](const json& answer) {
    const json* before = nullptr;
    for (const json& chunk : answer["included"]) {
      if (before != nullptr && (*before)["source"] == chunk["source"]) {
        EXPECT_LT((*before)["index"], chunk["index"]);
        EXPECT_LE((*before)["end"], chunk["start"]);
      } else if (before != nullptr) {
        EXPECT_LT((*before)["source"], chunk["source"]);
      }
      before = &chunk;
    }
  });
}

TEST_F(QueryOutputTest, UsedTokensAreAQuarterOfTheCodePointsPrinted) {
  for (const std::string header : {"full", "short", "none"}) {
    ForAllAnswers(header, [&](const json& answer) {
      const std::uint64_t code_points = CodePoints(answer["context"]);
      EXPECT_EQ(answer["used_tokens"], (code_points + 3) / 4);
    });
  }
}

TEST_F(QueryOutputTest, BudgetIsNeverExceeded) {
  for (const std::string header : {"full", "short", "none"}) {
    for (int budget = 1; budget < 200; budget += 9) {
      const json answer =
          Ask(index_, {"--budget", std::to_string(budget), "--header", header, "--", "pump valve"});
      EXPECT_LE(CodePoints(answer["context"]), 4U * static_cast<unsigned>(budget)) << answer;
      EXPECT_LE(answer["used_tokens"], budget);
    }
  }
}

TEST_F(QueryOutputTest, PromptKeepsTheBudgetToo) {
  const Outcome printed =
      RagQuery({"-i", index_, "--format", "prompt", "--budget", "200", "--", "pump valve"});
  EXPECT_EQ(printed.exit_code, 0) << printed;
  EXPECT_NE(printed.out.find("pump"), std::string::npos) << printed;
  EXPECT_LE(CodePoints(printed.out), 800U) << printed;
}

TEST_F(QueryOutputTest, PromptThatCannotHoldItsFrameIsRefused) {
  ExpectError(RagQuery({"-i", index_, "--format", "prompt", "--budget", "5", "--", "pump"}), 2,
              "rag-query", "budget");
}

// Each chunk's tokens are rounded up, and hold a separator which the first printed one lacks.
TEST_F(QueryOutputTest, TokensOfChunksAddUpToTheUsedTokens) {
  ForAllAnswers("short", [&](const json& answer) {
    std::int64_t sum = 0;
    for (const json& chunk : answer["included"]) sum += chunk["tokens"].get<std::int64_t>();
    const std::int64_t used = answer["used_tokens"];
    const auto chunks = static_cast<std::int64_t>(answer["included"].size());
    if (chunks == 0) return;
    EXPECT_GE(sum, used);
    EXPECT_LE(sum, used + chunks + 1);
  });
}

TEST_F(QueryOutputTest, ContextOfJsonIsWhatIsPrinted) {
  for (const std::string& question : Questions()) {
    const Outcome printed = RagQuery({"-i", index_, "--", question});
    EXPECT_EQ(printed.out, Ask(index_, {"--", question})["context"]) << printed;
    EXPECT_EQ(printed.err, "") << printed;
  }
}

TEST_F(QueryOutputTest, TraceGoesToStderrAlone) {
  const Outcome plain = RagQuery({"-i", index_, "--", "pump valve"});
  const Outcome traced = RagQuery({"-i", index_, "--trace", "--", "pump valve"});
  EXPECT_EQ(traced.exit_code, 0) << traced;
  EXPECT_EQ(traced.out, plain.out) << traced;
  for (const std::string part : {"documents: ", "chunks: ", "included: ", "skipped: ", "time: "}) {
    EXPECT_NE(traced.err.find(part), std::string::npos) << part << traced;
  }
}

TEST_F(QueryOutputTest, JsonWithTraceIsStillOneLine) {
  const Outcome outcome = RagQuery({"-i", index_, "--json", "--trace", "--", "pump"});
  EXPECT_TRUE(IsOneLine(outcome.out)) << outcome;
  EXPECT_TRUE(json::accept(outcome.out)) << outcome;
}

TEST_F(QueryOutputTest, JsonHasEveryDocumentedMember) {
  const json answer = Ask(index_, {"--", "pump"});
  for (const std::string member :
       {"question", "generation", "budget_tokens", "used_tokens", "documents", "chunks", "included",
        "skipped", "context", "timings_us"}) {
    EXPECT_TRUE(answer.contains(member)) << member;
  }
}

TEST_F(QueryOutputTest, FullDiskFailsWithOneLine) {
  Launch launch;
  launch.out_file = "/dev/full";
  ExpectError(RagQuery({"-i", index_, "--", "pump"}, launch), 1, "rag-query", "standard output");
  ExpectError(RagQuery({"-i", index_, "--json", "--", "pump"}, launch), 1, "rag-query");
  ExpectError(RagQuery({"--help"}, launch), 1, "rag-query");
  ExpectError(RagInspect({"chunks", index_}, launch), 1, "rag-inspect");
  launch.input = "{\"question\":\"pump\"}\n";
  ExpectError(RagQuery({"-i", index_, "--batch"}, launch), 1, "rag-query");
  launch.input = "pump\n";
  ExpectError(RagQuery({"-i", index_}, launch), 1, "rag-query");
}

TEST_F(QueryOutputTest, ClosedPipeEndsQuietly) {
  Launch launch;
  for (int i = 0; i < 2000; ++i) launch.input += "pump valve filter\n";
  Process process(Program::kQuery, {"-i", index_, "--budget", "1200"}, launch);
  process.PumpUntil([](const Outcome& so_far) { return so_far.out.size() > 100; });
  process.CloseOutput();
  const Outcome outcome = process.Finish();
  EXPECT_FALSE(outcome.timed_out) << outcome;
  EXPECT_EQ(outcome.err, "") << outcome;
}

TEST_F(QueryOutputTest, NothingFitsIsNoErrorAndSaysWhatWould) {
  const Outcome outcome = RagQuery({"-i", index_, "--budget", "1", "--", "pump valve"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out, "") << outcome;
  EXPECT_TRUE(IsOneLine(outcome.err)) << outcome;
  EXPECT_EQ(outcome.err.rfind("rag-query: nothing fits the budget of 1 token", 0), 0U) << outcome;
}

// The last number of the message is the least budget that includes a chunk.
TEST_F(QueryOutputTest, SizeThatIsNamedWhenNothingFitsIsExact) {
  for (const std::string header : {"full", "short", "none"}) {
    const Outcome outcome =
        RagQuery({"-i", index_, "--budget", "1", "--header", header, "--", "pump valve"});
    const std::size_t digits = outcome.err.find_last_not_of("0123456789\n") + 1;
    ASSERT_LT(digits, outcome.err.size()) << outcome;
    const int named = std::stoi(outcome.err.substr(digits));
    const auto included_at = [&](int budget) {
      return Ask(index_, {"--budget", std::to_string(budget), "--header", header, "--",
                          "pump valve"})["included"]
          .size();
    };
    EXPECT_GE(included_at(named), 1U) << outcome;
    EXPECT_EQ(included_at(named - 1), 0U) << outcome;
  }
}

TEST_F(QueryOutputTest, NoMatchIsNoErrorAndSaysSo) {
  const Outcome outcome = RagQuery({"-i", index_, "--", "xylophone quartet"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out, "") << outcome;
  EXPECT_TRUE(IsOneLine(outcome.err)) << outcome;
  EXPECT_EQ(outcome.err.rfind("rag-query: no chunk matches", 0), 0U) << outcome;
}

TEST_F(QueryOutputTest, IndexComesFromTheEnvironment) {
  Launch launch;
  launch.env["RAG_INDEX"] = index_;
  const Outcome outcome = RagQuery({"pump"}, launch);
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out, RagQuery({"-i", index_, "pump"}).out) << outcome;
}

TEST_F(QueryOutputTest, IndexOptionBeatsTheEnvironment) {
  Launch launch;
  launch.env["RAG_INDEX"] = folder_ / "nothing here";
  EXPECT_EQ(RagQuery({"-i", index_, "pump"}, launch).exit_code, 0);
}

TEST_F(QueryOutputTest, LimitsOfDocumentsAndChunksAreKept) {
  const json answer = Ask(index_, {"--top-docs", "2", "--chunks-per-doc", "1", "--", "pump valve"});
  EXPECT_EQ(answer["documents"].size(), 2U);
  EXPECT_EQ(answer["chunks"].size(), 2U);
}

}  // namespace
}  // namespace rag::e2e
