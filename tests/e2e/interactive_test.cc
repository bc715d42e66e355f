// The programs on a terminal.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

constexpr std::string_view kPrompt = "question> ";

class InteractiveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteNotes(folder_.path() / "corpus");
    Build(folder_ / "corpus", index_);
  }
  TempFolder folder_;
  const std::string index_ = folder_ / "index";
};

Launch OnTerminal() {
  Launch launch;
  launch.keep_input_open = true;
  launch.in = launch.out = launch.err = Stream::kTerminal;
  return launch;
}

std::size_t CountPrompts(const Outcome& outcome) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = outcome.terminal.find(kPrompt, at)) != std::string::npos;
       at += kPrompt.size()) {
    ++count;
  }
  return count;
}

bool WaitForPrompts(Process& process, std::size_t count) {
  return process.PumpUntil([=](const Outcome& o) { return CountPrompts(o) >= count; });
}

// No byte that drives a terminal, but for line breaks and tabs.
bool IsPrintable(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) return false;
    const bool c1 =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c1) return false;
  }
  return true;
}

TEST_F(InteractiveTest, PromptAnswerPrompt) {
  const std::vector<std::string> args{"-i", index_, "--top-docs", "1"};
  const auto answer = [&args](const std::string& question) {
    std::vector<std::string> with_question = args;
    with_question.push_back(question);
    return RagQuery(with_question).out;
  };
  Process process(Program::kQuery, args, OnTerminal());
  ASSERT_TRUE(WaitForPrompts(process, 1));
  process.Send("worn seal\n");
  ASSERT_TRUE(WaitForPrompts(process, 2));
  process.Send("hose clamp\n");
  ASSERT_TRUE(WaitForPrompts(process, 3));
  process.Send("q\n");
  const Outcome outcome = process.Finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  const std::string prompt(kPrompt);
  EXPECT_NE(answer("worn seal"), answer("hose clamp"));
  EXPECT_EQ(outcome.terminal, prompt + answer("worn seal") + prompt + answer("hose clamp") + prompt)
      << outcome;
}

TEST_F(InteractiveTest, WordsThatLeave) {
  for (const std::string word : {"q", "quit", "exit"}) {
    Process process(Program::kQuery, {"-i", index_}, OnTerminal());
    ASSERT_TRUE(WaitForPrompts(process, 1));
    process.Send(word + "\n");
    const Outcome outcome = process.Finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_EQ(CountPrompts(outcome), 1U) << outcome;
  }
}

TEST_F(InteractiveTest, EndOfFileLeavesOnALineOfItsOwn) {
  Process process(Program::kQuery, {"-i", index_}, OnTerminal());
  ASSERT_TRUE(WaitForPrompts(process, 1));
  process.Send("\x04");
  const Outcome outcome = process.Finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.terminal, std::string(kPrompt) + "\n") << outcome;
}

TEST_F(InteractiveTest, BlankLinePromptsAgain) {
  Process process(Program::kQuery, {"-i", index_}, OnTerminal());
  ASSERT_TRUE(WaitForPrompts(process, 1));
  process.Send("\n");
  ASSERT_TRUE(WaitForPrompts(process, 2));
  process.Send("   \n");
  ASSERT_TRUE(WaitForPrompts(process, 3));
  process.Send("quit\n");
  const Outcome outcome = process.Finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.terminal, "question> question> question> ") << outcome;
}

TEST_F(InteractiveTest, QuestionWithoutMatchDoesNotEndIt) {
  Process process(Program::kQuery, {"-i", index_}, OnTerminal());
  ASSERT_TRUE(WaitForPrompts(process, 1));
  process.Send("xylophone\n");
  ASSERT_TRUE(WaitForPrompts(process, 2));
  process.Send("exit\n");
  const Outcome outcome = process.Finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_NE(outcome.terminal.find("no chunk matches"), std::string::npos) << outcome;
}

TEST_F(InteractiveTest, InterruptLeavesAtOnce) {
  Process process(Program::kQuery, {"-i", index_}, OnTerminal());
  ASSERT_TRUE(WaitForPrompts(process, 1));
  process.Send("\x03");
  const Outcome outcome = process.Finish();
  EXPECT_FALSE(outcome.timed_out) << outcome;
  EXPECT_TRUE(outcome.signal == 2 || outcome.exit_code == 130) << outcome;
}

TEST_F(InteractiveTest, PromptIsNotMixedWithResultsInAPipe) {
  Launch launch = OnTerminal();
  launch.out = Stream::kPipe;
  Process process(Program::kQuery, {"-i", index_}, launch);
  ASSERT_TRUE(WaitForPrompts(process, 1));
  process.Send("pump seal\n");
  ASSERT_TRUE(WaitForPrompts(process, 2));
  process.Send("q\n");
  const Outcome outcome = process.Finish();
  EXPECT_EQ(outcome.out, RagQuery({"-i", index_, "pump seal"}).out) << outcome;
  EXPECT_EQ(outcome.terminal, "question> question> ") << outcome;
}

TEST_F(InteractiveTest, WordsThatLeaveAreQuestionsInAPipe) {
  WriteFile(folder_.path() / "exits" / "a.md", "The exit is on the left.\n");
  Build(folder_ / "exits", folder_ / "exits index");
  Launch launch;
  launch.input = "exit\nleft\n";
  const Outcome outcome = RagQuery({"-i", folder_ / "exits index", "--json"}, launch);
  EXPECT_EQ(Lines(outcome.out).size(), 2U) << outcome;
}

// What a document must not do to a terminal: colours, title, bell, C1 commands.
class HostileTextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteFile(folder_.path() / "corpus" / name_, text_);
    WriteFile(folder_.path() / "corpus" / "evil\x1b[2J.bin", std::string("\0", 1));
    build_ = {"build", folder_ / "corpus", "-o", index_};
    ASSERT_EQ(RagIndex(build_).exit_code, 0);
  }
  TempFolder folder_;
  const std::string name_ = "evil\x1b[31m\a.md";
  const std::string text_ =
      "A pump \x1b[31mred\x1b[0m \x1b]0;title\a bell\b\x7F and \xC2\x9B"
      "31m end é ü.\n";
  const std::string index_ = folder_ / "index";
  std::vector<std::string> build_;
};

TEST_F(HostileTextTest, IsMadeHarmlessOnATerminal) {
  Launch launch;
  launch.out = Stream::kTerminal;
  for (const std::string header : {"full", "short", "none"}) {
    const Outcome outcome = RagQuery({"-i", index_, "--header", header, "pump"}, launch);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.exit_code;
    EXPECT_TRUE(IsPrintable(outcome.terminal));
    EXPECT_NE(outcome.terminal.find("end é ü."), std::string::npos);
  }
}

TEST_F(HostileTextTest, IsUnchangedInAPipe) {
  const Outcome outcome = RagQuery({"-i", index_, "--header", "none", "pump"});
  EXPECT_EQ(outcome.out, text_);
}

TEST_F(HostileTextTest, NameIsMadeHarmlessInATraceOnATerminal) {
  Launch launch;
  launch.err = Stream::kTerminal;
  const Outcome outcome = RagQuery({"-i", index_, "--trace", "pump"}, launch);
  EXPECT_NE(outcome.terminal.find("documents: 1"), std::string::npos);
  EXPECT_TRUE(IsPrintable(outcome.terminal)) << "the file's name is printed as it is";
}

TEST_F(HostileTextTest, NameIsMadeHarmlessInMessagesOnATerminal) {
  Launch launch;
  launch.err = Stream::kTerminal;
  launch.env["TERM"] = "dumb";  // no progress line
  build_.push_back("--verbose");
  const Outcome outcome = RagIndex(build_, launch);
  EXPECT_NE(outcome.terminal.find("binary"), std::string::npos);
  EXPECT_TRUE(IsPrintable(outcome.terminal)) << "the file's name is printed as it is";
}

TEST_F(InteractiveTest, CarriageReturnsOfALineEndAreNotMadeVisible) {
  Launch launch;
  launch.out = Stream::kTerminal;
  const Outcome outcome = RagQuery({"-i", index_, "night pump noisy stuck half"}, launch);
  EXPECT_NE(outcome.terminal.find("The night pump was noisy."), std::string::npos) << outcome;
  EXPECT_EQ(outcome.terminal.find("noisy.?"), std::string::npos) << outcome;
}

TEST_F(InteractiveTest, BuildShowsProgressOnATerminal) {
  Launch launch;
  launch.err = Stream::kTerminal;
  const Outcome outcome = RagIndex({"build", folder_ / "corpus", "-o", folder_ / "other"}, launch);
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_NE(outcome.terminal.find("\rindexing 5/5 documents"), std::string::npos) << outcome;
  // The line is cleared before the summary.
  EXPECT_NE(outcome.terminal.find("\r\x1b[Krag-index: indexed 5 documents"), std::string::npos)
      << outcome;
}

TEST_F(InteractiveTest, BuildShowsNoProgressInAPipe) {
  const Outcome outcome = RagIndex({"build", folder_ / "corpus", "-o", index_});
  EXPECT_TRUE(IsOneLine(outcome.err)) << outcome;
  EXPECT_TRUE(IsPrintable(outcome.err)) << outcome;
}

TEST_F(InteractiveTest, BuildShowsNoProgressWhenQuietOrOnADumbTerminal) {
  Launch launch;
  launch.err = Stream::kTerminal;
  EXPECT_EQ(RagIndex({"build", folder_ / "corpus", "-o", index_, "--quiet"}, launch).terminal, "");
  launch.env["TERM"] = "dumb";
  const Outcome outcome = RagIndex({"build", folder_ / "corpus", "-o", index_}, launch);
  EXPECT_TRUE(IsOneLine(outcome.terminal)) << outcome;
  EXPECT_TRUE(IsPrintable(outcome.terminal)) << outcome;
}

}  // namespace
}  // namespace rag::e2e
