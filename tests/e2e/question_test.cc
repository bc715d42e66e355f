// How a question reaches rag-query: as argument, option, line or standard input, whatever is in it.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

using nlohmann::json;

class QuestionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteNotes(folder_.path() / "corpus");
    Build(folder_ / "corpus", index_);
  }
  TempFolder folder_;
  const std::string index_ = folder_ / "index";
};

const std::vector<std::string>& OddQuestions() {
  static const std::vector<std::string> questions{
      R"("the pump" and 'the valve')",
      "--budget 10 pump",
      "-i pump",
      "-pump",
      "-- pump",
      "--",
      "-h",
      "--help pump",
      "/pump/../valve \\ C:\\pump\\n",
      "Größe → Насос 日本語 😀 pump",
      "pump AND valve OR NOT seal",
      "[pump] (valve) {seal} <filter>",
      "[pump, valve]",
      "(pump OR valve) AND -seal",
      "pump* valve? ~seal^2 title:filter",
      "%s %n %d pump",
      "$HOME $(pump) `valve` ; | & > seal",
      "@pump #valve key=value",
      "\"[pump]\"",
      "'pump'",
      "pump\tvalve",
      "pump\nvalve",
      "  pump  ",
      "\x1b[31mpump",
      "e\xCC\x81 pump",
  };
  return questions;
}

TEST_F(QuestionTest, ArgumentIsEchoedExactly) {
  for (const std::string& question : OddQuestions()) {
    SCOPED_TRACE(question);
    EXPECT_EQ(Ask(index_, {"--", question})["question"], question);
  }
}

TEST_F(QuestionTest, OptionGivesWhatTheArgumentGives) {
  for (const std::string& question : OddQuestions()) {
    SCOPED_TRACE(question);
    const json wanted = WithoutTimes(Ask(index_, {"--", question}));
    EXPECT_EQ(WithoutTimes(Ask(index_, {"--question=" + question})), wanted);
    if (question == "--") continue;  // alone it ends the options
    EXPECT_EQ(WithoutTimes(Ask(index_, {"--question", question})), wanted);
  }
}

TEST_F(QuestionTest, BatchGivesWhatTheArgumentGives) {
  Launch launch;
  for (const std::string& question : OddQuestions()) {
    launch.input += json{{"question", question}}.dump() + "\n";
  }
  const Outcome outcome = RagQuery({"-i", index_, "--batch"}, launch);
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), OddQuestions().size()) << outcome;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    SCOPED_TRACE(OddQuestions()[i]);
    EXPECT_EQ(WithoutTimes(json::parse(lines[i])),
              WithoutTimes(Ask(index_, {"--", OddQuestions()[i]})));
  }
}

TEST_F(QuestionTest, DashReadsItFromStandardInput) {
  Launch launch;
  launch.input = "pump\nvalve";
  EXPECT_EQ(WithoutTimes(Ask(index_, {"-"}, launch)),
            WithoutTimes(Ask(index_, {"--", "pump\nvalve"})));
}

TEST_F(QuestionTest, MatchingIgnoresCaseAndPunctuation) {
  json plain = WithoutTimes(Ask(index_, {"--", "pump valve"}));
  json odd = WithoutTimes(Ask(index_, {"--", "«PUMP» -- (Valve)?!"}));
  plain.erase("question");
  odd.erase("question");
  EXPECT_EQ(plain, odd);
}

TEST_F(QuestionTest, BlankOneIsRefused) {
  for (const std::string blank : {"", "   ", "\n", " \t\r\n "}) {
    SCOPED_TRACE("'" + blank + "'");
    ExpectError(RagQuery({"-i", index_, "--", blank}), 2, "rag-query", "blank");
    ExpectError(RagQuery({"-i", index_, "--question", blank}), 2, "rag-query", "blank");
    ExpectError(RagQuery({"-i", index_, "--json", "--", blank}), 2, "rag-query", "blank");
    Launch launch;
    launch.input = blank;
    ExpectError(RagQuery({"-i", index_, "-"}, launch), 2, "rag-query", "blank");
  }
}

TEST_F(QuestionTest, NoneAtTheEndOfInputIsWrongUse) {
  ExpectError(RagQuery({"-i", index_}), 2, "rag-query", "no question");
}

TEST_F(QuestionTest, NoneWithClosedInputIsWrongUse) {
  Launch launch;
  launch.in = Stream::kClosed;
  ExpectError(RagQuery({"-i", index_}, launch), 2, "rag-query", "no question");
}

TEST_F(QuestionTest, TwoAreWrongUse) {
  ExpectError(RagQuery({"-i", index_, "pump", "--question", "valve"}), 2, "rag-query");
  ExpectError(RagQuery({"-i", index_, "pump", "valve"}), 2, "rag-query", "valve");
}

TEST_F(QuestionTest, OneTogetherWithBatchIsWrongUse) {
  ExpectError(RagQuery({"-i", index_, "--batch", "pump"}), 2, "rag-query");
}

TEST_F(QuestionTest, EachLineOfAPipeGetsAnAnswer) {
  Launch launch;
  launch.input = "pump seal\nvalve\nfilter interval";  // the last without a line break
  const Outcome outcome = RagQuery({"-i", index_, "--json"}, launch);
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.err, "") << outcome;
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 3U) << outcome;
  const std::vector<std::string> questions{"pump seal", "valve", "filter interval"};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(WithoutTimes(json::parse(lines[i])), WithoutTimes(Ask(index_, {"--", questions[i]})));
  }
}

TEST_F(QuestionTest, LinesOfAPipeGiveTheContextsInOrder) {
  Launch launch;
  launch.input = "pump seal\nvalve\n";
  const Outcome outcome = RagQuery({"-i", index_}, launch);
  EXPECT_EQ(outcome.out,
            RagQuery({"-i", index_, "pump seal"}).out + RagQuery({"-i", index_, "valve"}).out)
      << outcome;
}

TEST_F(QuestionTest, WhatIsWrongWithALineOfAPipeComesWithItsNumber) {
  Launch launch;
  launch.input = "pump seal\n \nxyzzy\n";
  const Outcome outcome = RagQuery({"-i", index_}, launch);
  EXPECT_EQ(outcome.exit_code, 2) << outcome;
  const std::vector<std::string> lines = Lines(outcome.err);
  ASSERT_EQ(lines.size(), 2U) << outcome;
  EXPECT_TRUE(lines[0].starts_with("rag-query: line 2: question: is blank")) << outcome;
  EXPECT_TRUE(lines[1].starts_with("rag-query: line 3: no chunk matches")) << outcome;
}

TEST_F(QuestionTest, AnswerToALineComesBeforeTheNextIsSent) {
  Launch launch;
  launch.keep_input_open = true;
  Process process(Program::kQuery, {"-i", index_, "--json"}, launch);
  process.Send("pump\n");
  EXPECT_TRUE(process.PumpUntil([](const Outcome& o) { return Lines(o.out).size() == 1; }));
  process.Send("valve\n");
  EXPECT_TRUE(process.PumpUntil([](const Outcome& o) { return Lines(o.out).size() == 2; }));
  process.CloseInput();
  const Outcome outcome = process.Finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
}

TEST_F(QuestionTest, UnknownWordsFindNothingAndStderrSaysWhy) {
  Build(folder_ / "corpus", folder_ / "article", {"--profile", "article"});
  for (const std::string& index : {index_, folder_ / "article"}) {
    Outcome outcome = RagQuery({"-i", index, "xyzzy plugh"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_EQ(outcome.out, "") << outcome;
    EXPECT_EQ(Lines(outcome.err).size(), 1U) << outcome;
    EXPECT_NE(outcome.err.find("knows none of its words"), std::string::npos) << outcome;

    outcome = RagQuery({"-i", index, "xyzzy plugh", "--json"});
    EXPECT_EQ(outcome.out.find("null"), std::string::npos) << outcome;
    const json answer = json::parse(outcome.out);
    EXPECT_EQ(answer["known_terms"], 0) << outcome;
    for (const char* list : {"documents", "chunks", "included", "skipped"}) {
      EXPECT_EQ(answer[list], json::array()) << list << outcome;
    }
  }
}

// One document without a letter has no direction for a vector: it must neither win nor be lost.
TEST_F(QuestionTest, DocumentOfSymbolsIsIndexedAndNoHit) {
  WriteFile(folder_.path() / "odd" / "symbols.md", "+++ === *** §§\n");
  WriteFile(folder_.path() / "odd" / "words.md", "Plain words here.\n");
  Build(folder_ / "odd", folder_ / "odd index");
  EXPECT_NE(RagInspect({"chunks", folder_ / "odd index"}).out.find("symbols.md"),
            std::string::npos);
  const json answer = Ask(folder_ / "odd index", {"plain words"});
  ASSERT_EQ(answer["documents"].size(), 1U) << answer;
  EXPECT_EQ(answer["documents"][0]["source"], "words.md") << answer;
}

TEST_F(QuestionTest, LongOneIsAnswered) {
  std::string question;
  for (int i = 0; i < 5000; ++i) question += "pump valve " + std::to_string(i) + " ";
  const json answer = Ask(index_, {"--budget", "250", "--", question});
  EXPECT_EQ(answer["question"], question);
  EXPECT_FALSE(answer["included"].empty());
}

}  // namespace
}  // namespace rag::e2e
