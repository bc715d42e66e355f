// rag-query --batch: JSON lines in, JSON lines out.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

using nlohmann::json;

class BatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteNotes(folder_.path() / "corpus");
    Build(folder_ / "corpus", index_);
  }

  // Asserts that each line of stdout is JSON.
  std::vector<json> Batch(const std::string& input, int exit_code,
                          std::vector<std::string> args = {}) {
    Launch launch;
    launch.input = input;
    args.insert(args.begin(), {"-i", index_, "--batch"});
    const Outcome outcome = RagQuery(args, launch);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome;
    EXPECT_EQ(outcome.err, "") << outcome;
    std::vector<json> answers;
    for (const std::string& line : Lines(outcome.out)) {
      answers.push_back(json::parse(line, nullptr, false));
      EXPECT_TRUE(answers.back().is_object()) << outcome;
    }
    return answers;
  }

  TempFolder folder_;
  const std::string index_ = folder_ / "index";
};

bool IsErrorOfLine(const json& answer, int line) {
  return answer.is_object() && answer.contains("error") && answer["error"].is_string() &&
         !answer["error"].get<std::string>().empty() && answer.value("line", 0) == line &&
         !answer.contains("context");
}

TEST_F(BatchTest, AnswersComeInOrder) {
  std::string input;
  for (int i = 0; i < 50; ++i) {
    input += R"({"id":)" + std::to_string(i) + R"(,"question":"pump on day )" + std::to_string(i) +
             "\"}\n";
  }
  const std::vector<json> answers = Batch(input, 0);
  ASSERT_EQ(answers.size(), 50U);
  for (int i = 0; i < 50; ++i) {
    const json& answer = answers[static_cast<std::size_t>(i)];
    EXPECT_EQ(answer["id"], i);
    EXPECT_EQ(answer["question"], "pump on day " + std::to_string(i));
  }
}

TEST_F(BatchTest, IdOfAnyTypeIsEchoed) {
  const std::vector<std::string> ids{"\"a b\"", "7",    "-1.5",          "18446744073709551615",
                                     "null",    "true", "[1,[2,\"x\"]]", R"({"a":{"b":[]}})",
                                     "\"\""};
  std::string input;
  for (const std::string& id : ids) input += "{\"question\":\"pump\",\"id\":" + id + "}\n";
  const std::vector<json> answers = Batch(input, 0);
  ASSERT_EQ(answers.size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_TRUE(answers[i].contains("id")) << ids[i];
    EXPECT_EQ(answers[i]["id"], json::parse(ids[i]));
  }
}

TEST_F(BatchTest, WithoutIdNoneIsMade) {
  const std::vector<json> answers = Batch("{\"question\":\"pump\"}\n", 0);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_FALSE(answers[0].contains("id"));
}

TEST_F(BatchTest, AnswerIsThatOfASingleQuestion) {
  const std::vector<json> answers = Batch("{\"question\":\"pump seal\"}\n", 0, {"--budget", "99"});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(WithoutTimes(answers[0]),
            WithoutTimes(Ask(index_, {"--budget", "99", "--", "pump seal"})));
}

TEST_F(BatchTest, BudgetOfALineBeatsTheOptionForThatLineOnly) {
  const std::vector<json> answers = Batch(
      "{\"question\":\"pump\"}\n"
      "{\"question\":\"pump\",\"budget\":60}\n"
      "{\"question\":\"pump\"}\n",
      0, {"--budget", "300"});
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0]["budget_tokens"], 300);
  EXPECT_EQ(answers[1]["budget_tokens"], 60);
  EXPECT_LE(answers[1]["used_tokens"], 60);
  EXPECT_EQ(answers[2]["budget_tokens"], 300);
}

TEST_F(BatchTest, BadLinesGiveErrorsAndTheOthersAnswers) {
  const std::vector<std::string> bad{"not json",
                                     "",
                                     "   ",
                                     "[]",
                                     "\"pump\"",
                                     "null",
                                     "{}",
                                     R"({"id":1})",
                                     R"({"question":5})",
                                     R"({"question":null})",
                                     R"({"question":["pump"]})",
                                     R"({"question":""})",
                                     R"({"question":"  \n "})",
                                     R"({"question":"pump")",
                                     R"({"question":"pump"} trailing)",
                                     "{\"question\":\"pump \xFF\"}",
                                     R"({"question":"pump","id":1e999})",
                                     R"({"question":"\ud800"})"};
  std::string input;
  for (const std::string& line : bad) input += line + "\n{\"question\":\"valve\"}\n";
  const std::vector<json> answers = Batch(input, 1);
  ASSERT_EQ(answers.size(), 2 * bad.size());
  for (std::size_t i = 0; i < bad.size(); ++i) {
    EXPECT_TRUE(IsErrorOfLine(answers[2 * i], static_cast<int>(2 * i + 1))) << bad[i] << "\n"
                                                                            << answers[2 * i];
    EXPECT_TRUE(answers[2 * i + 1].contains("context")) << answers[2 * i + 1];
  }
}

TEST_F(BatchTest, BadBudgetsGiveErrorsWithTheId) {
  const std::vector<std::string> bad{"0",  "-1",   "1.5",  "\"100\"",       "true",
                                     "[]", "null", "1e3",  "4294967296",    "18446744073709551615",
                                     "-0", "{}",   "1e99", "-9999999999999"};
  std::string input;
  for (const std::string& budget : bad) {
    input += R"({"id":"x","question":"pump","budget":)" + budget + "}\n";
  }
  const std::vector<json> answers = Batch(input, 1);
  ASSERT_EQ(answers.size(), bad.size());
  for (std::size_t i = 0; i < bad.size(); ++i) {
    EXPECT_TRUE(IsErrorOfLine(answers[i], static_cast<int>(i + 1))) << bad[i] << answers[i];
    EXPECT_EQ(answers[i]["id"], "x") << bad[i];
  }
}

TEST_F(BatchTest, ErrorsOfAQuestionCarryTheId) {
  const std::vector<json> answers = Batch(R"({"id":"x","question":" "})", 1);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_TRUE(IsErrorOfLine(answers[0], 1)) << answers[0];
  EXPECT_EQ(answers[0]["id"], "x");
}

TEST_F(BatchTest, UnknownMembersAreIgnored) {
  const std::vector<json> answers =
      Batch("{\"question\":\"pump\",\"note\":[1],\"expected\":\"x\"}\n", 0);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_FALSE(answers[0].contains("note"));
}

TEST_F(BatchTest, LineBreakAtTheEndIsOptionalAndMayHaveACarriageReturn) {
  const std::vector<json> answers = Batch("{\"question\":\"pump\"}\r\n{\"question\":\"valve\"}", 0);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[1]["question"], "valve");
}

TEST_F(BatchTest, EmptyInputGivesNothing) { EXPECT_TRUE(Batch("", 0).empty()); }

TEST_F(BatchTest, NoMatchAndNothingFitsAreAnswersNotErrors) {
  Launch launch;
  launch.input = "{\"question\":\"xylophone\"}\n{\"question\":\"pump\",\"budget\":1}\n";
  const Outcome outcome = RagQuery({"-i", index_, "--batch"}, launch);
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 2U) << outcome;
  EXPECT_EQ(json::parse(lines[0])["context"], "");
  EXPECT_EQ(json::parse(lines[1])["context"], "");
}

// Input of a stranger must not end the program.
TEST_F(BatchTest, DeepNestingDoesNotStopTheBatch) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  Launch launch;
  launch.input = "{\"id\":" + deep + ",\"question\":\"pump\"}\n{\"question\":\"valve\"}\n";
  const Outcome outcome = RagQuery({"-i", index_, "--batch"}, launch);
  EXPECT_EQ(outcome.signal, 0) << "ended by a signal, exit code " << outcome.exit_code;
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(json::parse(lines[1])["question"], "valve");
}

// For a caller that keeps the program running and sends the next question after an answer.
TEST_F(BatchTest, AnswerComesBeforeTheNextLineIsSent) {
  Launch launch;
  launch.keep_input_open = true;
  launch.timeout = std::chrono::seconds(20);
  Process process(Program::kQuery, {"-i", index_, "--batch"}, launch);
  process.Send("{\"question\":\"pump\"}\n");
  EXPECT_TRUE(process.PumpUntil([](const Outcome& o) { return Lines(o.out).size() == 1; }))
      << "no answer while the input is open";
  process.CloseInput();
  const Outcome outcome = process.Finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
}

}  // namespace
}  // namespace rag::e2e
