// Exit codes, the one line that explains each, and what is left behind.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>

#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class ExitCodesTest : public ::testing::Test {
 protected:
  void SetUp() override { WriteNotes(folder_.path() / "corpus"); }
  TempFolder folder_;
  const std::string corpus_ = folder_ / "corpus";
  const std::string index_ = folder_ / "index";
};

TEST_F(ExitCodesTest, MissingCorpusIsRefused) {
  ExpectError(RagIndex({"build", folder_ / "nowhere", "-o", index_}), 2, "rag-index",
              "nowhere: no such folder; name the folder of documents");
  EXPECT_FALSE(fs::exists(index_));
}

TEST_F(ExitCodesTest, CorpusThatIsAFileIsRefused) {
  ExpectError(RagIndex({"build", folder_ / "corpus/pumps.md", "-o", index_}), 2, "rag-index",
              "pumps.md");
  EXPECT_FALSE(fs::exists(index_));
}

TEST_F(ExitCodesTest, UnknownOptionIsWrongUse) {
  ExpectError(RagIndex({"build", corpus_, "-o", index_, "--colour"}), 2, "rag-index", "--colour");
  ExpectError(RagIndex({"--colour"}), 2, "rag-index");
  ExpectError(RagQuery({"-i", index_, "--colour", "pump"}), 2, "rag-query", "--colour");
  ExpectError(RagInspect({"chunks", index_, "--colour"}), 2, "rag-inspect", "--colour");
}

TEST_F(ExitCodesTest, MissingArgumentIsWrongUse) {
  ExpectError(RagIndex({}), 2, "rag-index");
  ExpectError(RagIndex({"build"}), 2, "rag-index", "corpus");
  ExpectError(RagIndex({"build", corpus_}), 2, "rag-index", "output");
  ExpectError(RagQuery({"pump"}), 2, "rag-query", "index");
  ExpectError(RagInspect({}), 2, "rag-inspect");
  ExpectError(RagInspect({"chunks"}), 2, "rag-inspect", "index");
}

TEST_F(ExitCodesTest, UnknownSubcommandIsWrongUse) {
  ExpectError(RagIndex({"bild", corpus_, "-o", index_}), 2, "rag-index",
              "unknown subcommand 'bild'; one of build, verify, gc");
  ExpectError(RagInspect({"chunk", index_}), 2, "rag-inspect", "unknown subcommand 'chunk'");
  ExpectError(RagIndex({}), 2, "rag-index", "a subcommand is required; one of build, verify, gc");
  ExpectError(RagIndex({"--colour"}), 2, "rag-index", "unknown option '--colour'");
}

TEST_F(ExitCodesTest, SecondCorpusIsWrongUse) {
  fs::create_directory(folder_.path() / "other");
  ExpectError(RagIndex({"build", corpus_, folder_ / "other", "-o", index_}), 2, "rag-index",
              "other'; build takes only one corpus");
  EXPECT_FALSE(fs::exists(index_));
}

TEST_F(ExitCodesTest, EmptyNameOfAFolderIsWrongUse) {
  ExpectError(RagIndex({"build", corpus_, "-o", ""}), 2, "rag-index",
              "--output: must not be empty");
  ExpectError(RagIndex({"build", "", "-o", index_}), 2, "rag-index", "corpus: must not be empty");
  ExpectError(RagIndex({"verify", ""}), 2, "rag-index", "index: must not be empty");
  ExpectError(RagIndex({"gc", ""}), 2, "rag-index", "index: must not be empty");
  ExpectError(RagQuery({"-i", "", "pump"}), 2, "rag-query", "--index: must not be empty");
  ExpectError(RagInspect({"chunks", ""}), 2, "rag-inspect", "index: must not be empty");
}

TEST_F(ExitCodesTest, OfAnOptionGivenTwiceTheLastCounts) {
  Build(corpus_, index_, {"--profile", "article", "--profile", "default", "-j", "1", "-j", "2"});
  const json answer =
      Ask(index_, {"--budget", "1", "--budget", "200", "--header", "full", "--header=none", "-i",
                   index_, "--question", "valve", "--question", "pump"});
  EXPECT_EQ(answer["budget_tokens"], 200);
  EXPECT_EQ(answer["question"], "pump");
  EXPECT_EQ(answer["context"].get<std::string>().find("Source:"), std::string::npos);
  // A bad value is refused wherever it stands.
  ExpectError(RagQuery({"-i", index_, "--budget", "x", "--budget", "2", "pump"}), 2, "rag-query",
              "--budget");
}

TEST_F(ExitCodesTest, UnknownProfileIsWrongUse) {
  ExpectError(RagIndex({"build", corpus_, "-o", index_, "--profile", "novel"}), 2, "rag-index",
              "novel");
  EXPECT_FALSE(fs::exists(index_));
}

TEST_F(ExitCodesTest, FolderOfOthersIsRefusedAndUntouched) {
  WriteFile(folder_.path() / "photos" / "CURRENT", "not an index");
  WriteFile(folder_.path() / "photos" / "building" / "house.jpg", "house");
  const auto before = ReadTree(folder_.path() / "photos");
  ExpectError(RagIndex({"build", corpus_, "-o", folder_ / "photos"}), 2, "rag-index", "photos");
  EXPECT_EQ(ReadTree(folder_.path() / "photos"), before);
}

TEST_F(ExitCodesTest, OutputThatIsAFileIsRefusedAndUntouched) {
  WriteFile(folder_.path() / "letter", "Dear pump");
  ExpectError(RagIndex({"build", corpus_, "-o", folder_ / "letter"}), 2, "rag-index", "letter");
  EXPECT_EQ(ReadFile(folder_.path() / "letter"), "Dear pump");
}

TEST_F(ExitCodesTest, BadBudgetIsWrongUse) {
  Build(corpus_, index_);
  for (const std::string budget : {"0", "-1", "abc", "1.5", "", "99999999999", "12x"}) {
    SCOPED_TRACE(budget);
    ExpectError(RagQuery({"-i", index_, "--budget", budget, "pump"}), 2, "rag-query", "--budget");
  }
}

TEST_F(ExitCodesTest, BadBudgetOfTheEnvironmentIsWrongUse) {
  Build(corpus_, index_);
  for (const std::string budget : {"0", "-1", "abc"}) {
    Launch launch;
    launch.env["RAW_CONTEXT_TOKEN_BUDGET"] = budget;
    ExpectError(RagQuery({"-i", index_, "pump"}, launch), 2, "rag-query",
                "$RAW_CONTEXT_TOKEN_BUDGET: Value " + budget);
    ExpectError(RagQuery({"-i", index_, "pump", "--budget", "y"}, launch), 2, "rag-query",
                "--budget: Value y");
  }
}

TEST_F(ExitCodesTest, BadChoiceIsWrongUse) {
  ExpectError(RagQuery({"-i", index_, "--header", "long", "pump"}), 2, "rag-query", "long");
  ExpectError(RagQuery({"-i", index_, "--format", "poem", "pump"}), 2, "rag-query", "poem");
  ExpectError(RagIndex({"build", corpus_, "-o", index_, "--threads", "0"}), 2, "rag-index");
  ExpectError(RagIndex({"build", corpus_, "-o", index_, "--keep", "0"}), 2, "rag-index");
}

TEST_F(ExitCodesTest, MissingIndexIsABadIndex) {
  ExpectError(RagQuery({"-i", index_, "pump"}), 3, "rag-query", "rag-index build");
  ExpectError(RagInspect({"chunks", index_}), 3, "rag-inspect", "rag-index build");
}

TEST_F(ExitCodesTest, IndexThatIsAFileIsABadIndex) {
  ExpectError(RagQuery({"-i", folder_ / "corpus/pumps.md", "pump"}), 3, "rag-query", "pumps.md");
}

TEST_F(ExitCodesTest, FolderWithoutCurrentIsABadIndex) {
  Build(corpus_, index_);
  fs::remove(fs::path(index_) / "CURRENT");
  ExpectError(RagQuery({"-i", index_, "pump"}), 3, "rag-query", "CURRENT");
}

TEST_F(ExitCodesTest, LockOfAnotherProcessIsReportedAndQueriesGoOn) {
  Build(corpus_, index_);
  const auto before = ReadTree(index_);
  const int fd = open((index_ + "/LOCK").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
  ExpectError(RagIndex({"build", corpus_, "-o", index_}), 4, "rag-index", "locked");
  EXPECT_EQ(ReadTree(index_), before);
  EXPECT_EQ(RagQuery({"-i", index_, "pump"}).exit_code, 0);
  close(fd);
  Build(corpus_, index_);
}

// An index of 5 notes, and a corpus that takes seconds to build.
class StoppedBuildTest : public ExitCodesTest {
 protected:
  void SetUp() override {
    ExitCodesTest::SetUp();
    Build(corpus_, index_);
    before_ = ReadTree(index_);
    before_.erase("LOCK");
    answer_ = WithoutTimes(Ask(index_, {"pump"}));
    WriteManyNotes(corpus_, 3000);
  }

  // Starts a build and sends the signal as soon as it writes.
  Outcome StopWith(int number) {
    Process process(Program::kIndex, {"build", corpus_, "-o", index_}, {});
    const bool started = process.PumpUntil(
        [&](const Outcome&) { return fs::exists(fs::path(index_) / "building"); });
    EXPECT_TRUE(started);
    process.Signal(number);
    return process.Finish();
  }

  std::map<std::string, std::string> before_;
  json answer_;
};

TEST_F(StoppedBuildTest, InterruptLeavesTheIndexAsItWas) {
  ExpectError(StopWith(SIGINT), 130, "rag-index", "interrupted");
  auto after = ReadTree(index_);
  after.erase("LOCK");
  std::erase_if(after, [](const auto& file) { return file.first.starts_with("journal/"); });
  EXPECT_EQ(after, before_);
  EXPECT_EQ(WithoutTimes(Ask(index_, {"pump"})), answer_);
}

TEST_F(StoppedBuildTest, TerminateLeavesTheIndexAsItWas) {
  ExpectError(StopWith(SIGTERM), 130, "rag-index", "interrupted");
  EXPECT_FALSE(fs::exists(fs::path(index_) / "building"));
  EXPECT_EQ(WithoutTimes(Ask(index_, {"pump"})), answer_);
}

TEST_F(StoppedBuildTest, KillLeavesAnIndexThatAnswersAndCanBeRebuilt) {
  const Outcome outcome = StopWith(SIGKILL);
  EXPECT_EQ(outcome.signal, SIGKILL) << outcome;
  EXPECT_EQ(WithoutTimes(Ask(index_, {"pump"})), answer_);
  Build(corpus_, index_);
  EXPECT_FALSE(fs::exists(fs::path(index_) / "building"));
  EXPECT_EQ(Ask(index_, {"pump"})["generation"], 2);
}

class SkippedFilesTest : public ExitCodesTest {
 protected:
  void SetUp() override {
    ExitCodesTest::SetUp();
    WriteFile(folder_.path() / "corpus" / "photo.jpg", std::string("JFIF\0\1", 6));
    WriteFile(folder_.path() / "corpus" / "latin1.txt",
              "Gr\xF6\xDF"
              "e");
    WriteFile(folder_.path() / "corpus" / "empty.md", "");
    WriteFile(folder_.path() / "corpus" / ".hidden.md", "pump");
    fs::create_symlink("pumps.md", folder_.path() / "corpus" / "link.md");
  }
};

TEST_F(SkippedFilesTest, AreWarningsThatTheSummaryCounts) {
  const Outcome outcome = RagIndex({"build", corpus_, "-o", index_});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out, "") << outcome;
  EXPECT_TRUE(IsOneLine(outcome.err)) << outcome;
  for (const std::string part : {"rag-index: ", "indexed 5 documents", "skipped 5", "binary: 1",
                                 "invalid-utf8: 1", "blank: 1", "hidden: 1", "symlink: 1"}) {
    EXPECT_NE(outcome.err.find(part), std::string::npos) << part << outcome;
  }
}

TEST_F(SkippedFilesTest, MakeAStrictBuildExitWith5) {
  const Outcome outcome = RagIndex({"build", corpus_, "-o", index_, "--strict"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome;
  EXPECT_NE(outcome.err.find("skipped 5"), std::string::npos) << outcome;
  EXPECT_EQ(RagQuery({"-i", index_, "pump"}).exit_code, 0);
}

TEST_F(SkippedFilesTest, AreNamedWhenVerbose) {
  const Outcome outcome = RagIndex({"build", corpus_, "-o", index_, "--verbose"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  for (const std::string name : {"photo.jpg: binary", "latin1.txt: invalid-utf8", "empty.md: blank",
                                 ".hidden.md: hidden", "link.md: symlink"}) {
    EXPECT_NE(outcome.err.find(name), std::string::npos) << name << outcome;
  }
}

TEST_F(SkippedFilesTest, AreNamedInTheJsonSummary) {
  const Outcome outcome = RagIndex({"build", corpus_, "-o", index_, "--json", "--quiet"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.err, "") << outcome;
  ASSERT_TRUE(IsOneLine(outcome.out)) << outcome;
  const json summary = json::parse(outcome.out);
  EXPECT_EQ(summary["documents"], 5) << outcome;
  std::map<std::string, std::string> reasons;
  for (const json& file : summary["skipped"]) reasons[file["source"]] = file["reason"];
  EXPECT_EQ(reasons, (std::map<std::string, std::string>{{".hidden.md", "hidden"},
                                                         {"empty.md", "blank"},
                                                         {"latin1.txt", "invalid-utf8"},
                                                         {"link.md", "symlink"},
                                                         {"photo.jpg", "binary"}}));
}

TEST_F(ExitCodesTest, StrictBuildWithoutSkippedFilesExitsWith0) {
  EXPECT_EQ(RagIndex({"build", corpus_, "-o", index_, "--strict"}).exit_code, 0);
}

TEST_F(ExitCodesTest, EmptyCorpusGivesAnIndexThatAnswersNothing) {
  fs::create_directory(folder_.path() / "empty");
  Build(folder_ / "empty", index_);
  const json answer = Ask(index_, {"pump"});
  EXPECT_EQ(answer["context"], "");
  EXPECT_EQ(answer["used_tokens"], 0);
  EXPECT_TRUE(answer["documents"].empty());
  const Outcome outcome = RagQuery({"-i", index_, "pump"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out, "") << outcome;
  EXPECT_TRUE(IsOneLine(outcome.err)) << outcome;
  EXPECT_EQ(RagInspect({"chunks", index_}).out, "");
}

TEST_F(ExitCodesTest, EmptyCorpusWithTheArticleProfileAnswersNothing) {
  fs::create_directory(folder_.path() / "empty");
  Build(folder_ / "empty", index_, {"--profile", "article"});
  EXPECT_EQ(Ask(index_, {"pump"})["context"], "");
}

TEST_F(ExitCodesTest, CorpusOfSkippedFilesAloneAnswersNothing) {
  WriteFile(folder_.path() / "blanks" / "blank.md", " \n\n");
  Build(folder_ / "blanks", index_);
  EXPECT_EQ(Ask(index_, {"pump"})["context"], "");
}

TEST_F(ExitCodesTest, HelpAndVersionGoToStdout) {
  for (const Program program : {Program::kIndex, Program::kQuery, Program::kInspect}) {
    for (const std::string option : {"--help", "-h", "--version"}) {
      const Outcome outcome = RunProgram(program, {option});
      EXPECT_EQ(outcome.exit_code, 0) << outcome;
      EXPECT_NE(outcome.out, "") << outcome;
      EXPECT_EQ(outcome.err, "") << outcome;
    }
  }
}

TEST_F(ExitCodesTest, HelpNamesValuesAndDefaults) {
  const std::string build = RagIndex({"build", "--help"}).out;
  for (const std::string part :
       {"corpus FOLDER (required)", "--output INDEX (required)", "--keep N [2]",
        "--profile NAME [default]", "--chunk-dim N [128]", "--include GLOB ..."}) {
    EXPECT_NE(build.find(part), std::string::npos) << part << "\n" << build;
  }
  const std::string query = RagQuery({"--help"}).out;
  for (const std::string part : {"--budget N [1200] (or $RAW_CONTEXT_TOKEN_BUDGET)",
                                 "--index INDEX (or $RAG_INDEX) (required)", "--top-docs N [30]",
                                 "--header STYLE [short]", "--neighbors,--no-neighbors  "}) {
    EXPECT_NE(query.find(part), std::string::npos) << part << "\n" << query;
  }
  for (const std::string& help : {build, query}) {
    EXPECT_EQ(help.find("UINT"), std::string::npos) << help;
    EXPECT_EQ(help.find("4294967295"), std::string::npos) << help;
  }
}

TEST_F(ExitCodesTest, QuietBuildPrintsNothing) {
  const Outcome outcome = RagIndex({"build", corpus_, "-o", index_, "--quiet"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out + outcome.err, "") << outcome;
}

// A file that is opened takes the lowest free descriptor, which closed streams leave to it: then
// messages would be written into files of the index.
TEST_F(ExitCodesTest, ClosedStreamsDoNotReachFilesOfTheIndex) {
  for (unsigned closed = 1; closed < 8; ++closed) {
    Launch launch;
    if ((closed & 1) != 0) launch.in = Stream::kClosed;
    if ((closed & 2) != 0) launch.out = Stream::kClosed;
    if ((closed & 4) != 0) launch.err = Stream::kClosed;
    const std::string index = index_ + std::to_string(closed);
    SCOPED_TRACE(index);
    const Outcome outcome = RagIndex({"build", corpus_, "-o", index, "--verbose"}, launch);
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_FALSE(Ask(index, {"pump"})["included"].empty());
    const std::string lock = ReadFile(fs::path(index) / "LOCK");
    EXPECT_EQ(lock.find_first_not_of("0123456789TZ:- "), lock.size() - 1) << lock;
  }
}

}  // namespace
}  // namespace rag::e2e
