// Which files become documents, as the command line says, and what is said about the others.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Strings = std::set<std::string>;

class CorpusTest : public ::testing::Test {
 protected:
  void Write(const std::string& source, const std::string& text = "Some text.\n") const {
    WriteFile(fs::path(corpus_) / source, text);
  }

  [[nodiscard]] Outcome Index(std::vector<std::string> options = {},
                              const Launch& launch = {}) const {
    options.insert(options.begin(), {"build", corpus_, "-o", index_});
    return RagIndex(options, launch);
  }

  [[nodiscard]] std::vector<json> Chunks() const {
    const Outcome outcome = RagInspect({"chunks", index_});
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    std::vector<json> chunks;
    for (const std::string& line : Lines(outcome.out)) chunks.push_back(json::parse(line));
    return chunks;
  }

  [[nodiscard]] Strings Sources() const {
    Strings sources;
    for (const json& chunk : Chunks()) sources.insert(chunk["source"].get<std::string>());
    return sources;
  }

  TempFolder folder_;
  const std::string corpus_ = folder_ / "corpus";
  const std::string index_ = folder_ / "index";
};

bool Says(const Outcome& outcome, std::string_view text) {
  return outcome.err.find(text) != std::string::npos;
}

using IgnoreFilesCommandTest = CorpusTest;
using GlobsCommandTest = CorpusTest;
using LinksCommandTest = CorpusTest;
using UnreadableCommandTest = CorpusTest;
using ChurnTest = CorpusTest;

TEST_F(IgnoreFilesCommandTest, IgnoredFilesAreCountedAndNoReasonForStrict) {
  for (const char* source : {"a.md", "build/b.md", "run.log"}) Write(source);
  Write(".gitignore", "build/\n*.log\n");
  Write(".ragignore", "!run.log\n");

  const Outcome outcome = Index({"--strict"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_TRUE(IsOneLine(outcome.err)) << outcome;
  EXPECT_TRUE(Says(outcome, "; skipped 3 (hidden: 2, ignored: 1)\n")) << outcome;
  EXPECT_EQ(Sources(), (Strings{"a.md", "run.log"}));
}

TEST_F(IgnoreFilesCommandTest, NoIgnoreAndHiddenTakeAllButGit) {
  for (const char* source : {"a.md", "build/b.md", ".notes/c.md", ".git/d.md"}) Write(source);
  Write(".gitignore", "build/\n");

  EXPECT_EQ(Index({"--no-ignore"}).exit_code, 0);
  EXPECT_EQ(Sources(), (Strings{"a.md", "build/b.md"}));
  EXPECT_EQ(Index({"--no-ignore", "--hidden"}).exit_code, 0);
  EXPECT_EQ(Sources(), (Strings{".gitignore", ".notes/c.md", "a.md", "build/b.md"}));
}

TEST_F(GlobsCommandTest, IncludeAndExcludeCanBeRepeatedBeforeTheCorpus) {
  for (const char* source : {"a.md", "b.txt", "c.log", "x/a.md", "x/drop.md"}) Write(source);

  const Outcome outcome = RagIndex({"build", "--include", "*.md", "--exclude", "drop*", "--include",
                                    "*.txt", corpus_, "-o", index_, "--strict", "--json"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_TRUE(Says(outcome, "; skipped 2 (excluded: 2)\n")) << outcome;
  EXPECT_EQ(Sources(), (Strings{"a.md", "b.txt", "x/a.md"}));
  EXPECT_EQ(json::parse(outcome.out)["skipped"],
            json::parse(R"([{"source": "c.log", "reason": "excluded", "detail": ""},
                            {"source": "x/drop.md", "reason": "excluded", "detail": ""}])"));
}

TEST_F(GlobsCommandTest, ClassesAndNegationsReachTheProgramAsTheyAre) {
  for (const char* source : {"a", "b", "c", ",", "[a,b]"}) Write(source);

  EXPECT_EQ(Index({"--exclude", "[a,b]", "--exclude=!b"}).exit_code, 0);

  EXPECT_EQ(Sources(), (Strings{"b", "c", "[a,b]"}));
}

TEST_F(GlobsCommandTest, AnEmptyGlobIsRefused) {
  Write("a.md");

  ExpectError(Index({"--include", ""}), 2, "rag-index", "--include");
}

TEST_F(GlobsCommandTest, AnIndexInsideTheCorpusIsNotCountedAsExcluded) {
  Write("a.md");
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome =
        RagIndex({"build", corpus_, "-o", corpus_ + "/index", "--include", "*.md"});
    EXPECT_FALSE(Says(outcome, "skipped")) << outcome;
  }
}

TEST_F(LinksCommandTest, LinksAreCountedAndFollowedOnlyWhenAsked) {
  Write("a.txt");
  Write("sub/b.txt");
  for (const auto& [target, link] :
       {std::pair(".", "loop"), {"..", "sub/up"}, {"self", "self"}, {"/", "rootlink"}}) {
    fs::create_symlink(target, fs::path(corpus_) / link);
  }
  const Outcome plain = Index();
  EXPECT_TRUE(Says(plain, "; skipped 4 (symlink: 4)\n")) << plain;
  EXPECT_EQ(Sources(), (Strings{"a.txt", "sub/b.txt"}));

  const Outcome followed = Index({"--follow-symlinks", "-v"});

  EXPECT_EQ(followed.exit_code, 0) << followed;
  EXPECT_EQ(Sources(), (Strings{"a.txt", "sub/b.txt"}));
  EXPECT_TRUE(Says(followed, "skipped loop: duplicate: the corpus itself\n")) << followed;
  EXPECT_TRUE(Says(followed, "skipped rootlink: symlink: a folder above the corpus\n")) << followed;
}

TEST_F(LinksCommandTest, AFileOutsideIsIndexedOnlyWhenLinksAreFollowed) {
  Write("a.txt");
  WriteFile(folder_.path() / "outside.txt", "A heron.\n");
  fs::create_symlink("../outside.txt", fs::path(corpus_) / "link.txt");

  EXPECT_EQ(Index({"--strict"}).exit_code, 5);
  EXPECT_EQ(Sources(), Strings{"a.txt"});
  EXPECT_EQ(Index({"--strict", "--follow-symlinks"}).exit_code, 0);
  EXPECT_EQ(Ask(index_, {"heron"})["documents"][0]["source"], "link.txt");
}

TEST_F(UnreadableCommandTest, APipeIsNamedWithoutVerboseAndIndexedOnceItIsAFile) {
  Write("open.txt");
  const fs::path secret = fs::path(corpus_) / "secret.txt";
  ASSERT_EQ(::mkfifo(secret.c_str(), 0600), 0);

  const Outcome outcome = Index();
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.err.rfind("rag-index: skipped secret.txt: special\n", 0), 0U) << outcome;
  EXPECT_TRUE(Says(outcome, "; skipped 1 (special: 1)\n")) << outcome;
  EXPECT_EQ(Index({"--strict"}).exit_code, 5);
  EXPECT_EQ(Index({"-q"}).err, "");

  fs::remove(secret);
  Write("secret.txt");
  EXPECT_EQ(Index({"--strict"}).exit_code, 0);
  EXPECT_EQ(Sources(), (Strings{"open.txt", "secret.txt"}));
}

TEST_F(UnreadableCommandTest, FilesAndFoldersWithoutPermissionAreNamedWithTheReason) {
  for (const char* source : {"a.txt", "b/b.txt", "locked/c.txt", "secret.txt"}) Write(source);
  fs::permissions(folder_.path(), fs::perms::all);
  fs::permissions(fs::path(corpus_) / "locked", fs::perms::none);
  fs::permissions(fs::path(corpus_) / "secret.txt", fs::perms::none);
  Launch launch;
  launch.unprivileged = true;

  const Outcome outcome = Index({}, launch);
  if (outcome.exit_code == 127) GTEST_SKIP() << "nobody may not run the programs here";
  const Outcome strict = Index({"--strict"}, launch);
  fs::permissions(fs::path(corpus_) / "locked", fs::perms::owner_all);

  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(strict.exit_code, 5) << strict;
  EXPECT_EQ(Lines(outcome.err).size(), 3U) << outcome;
  EXPECT_TRUE(Says(outcome, "skipped locked: unreadable: Permission denied\n")) << outcome;
  EXPECT_TRUE(Says(outcome, "skipped secret.txt: unreadable: Permission denied\n")) << outcome;
  EXPECT_EQ(Sources(), (Strings{"a.txt", "b/b.txt"}));
}

TEST_F(UnreadableCommandTest, AnUnreadableCorpusIsAFailureAndTheIndexStaysAsItWas) {
  Write("a.txt");
  fs::permissions(folder_.path(), fs::perms::all);
  Launch launch;
  launch.unprivileged = true;
  if (Index({}, launch).exit_code == 127) GTEST_SKIP() << "nobody may not run the programs here";
  const auto before = ReadTree(index_);
  fs::permissions(corpus_, fs::perms::none);

  const Outcome outcome = Index({}, launch);
  fs::permissions(corpus_, fs::perms::owner_all);

  ExpectError(outcome, 1, "rag-index", "Permission denied");
  EXPECT_EQ(ReadTree(index_), before);
}

TEST_F(UnreadableCommandTest, WarningsAreNotEndless) {
  for (int i = 0; i < 25; ++i) {
    fs::create_directories(corpus_);
    ASSERT_EQ(::mkfifo((corpus_ + "/pipe" + std::to_string(i)).c_str(), 0600), 0);
  }

  const Outcome outcome = Index();

  EXPECT_EQ(Lines(outcome.err).size(), 12U) << outcome;
  EXPECT_TRUE(Says(outcome, "rag-index: skipped 15 more; --verbose names them all\n")) << outcome;
  EXPECT_EQ(Lines(Index({"-v"}).err).size(), 26U);
}

TEST_F(ChurnTest, FilesThatChangeDuringABuildNeitherStopItNorStayHalf) {
  const auto text = [](unsigned long i) {
    std::string lines;
    for (int line = 0; line < 40; ++line) {
      lines += "File " + std::to_string(i) + " line " + std::to_string(line) + " has a lantern.\n";
    }
    return lines;
  };
  for (unsigned i = 0; i < 100; ++i) Write("f" + std::to_string(i) + ".txt", text(i));
  std::atomic<bool> stop = false;
  std::thread churn([&] {
    std::mt19937 random(11);
    while (!stop) {
      const fs::path file = fs::path(corpus_) / ("f" + std::to_string(random() % 100) + ".txt");
      std::error_code ignored;
      const auto what = random() % 3;
      if (what == 0) fs::remove(file, ignored);
      if (what == 1) std::ofstream(file, std::ios::trunc).flush();
      if (what == 2) std::ofstream(file, std::ios::app) << text(random() % 100);
    }
  });
  std::vector<Outcome> outcomes;
  for (int i = 0; i < 3; ++i) outcomes.push_back(Index());
  stop = true;
  churn.join();

  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.exit_code, 0) << outcome;
  Strings filled;
  for (const auto& [name, bytes] : ReadTree(corpus_)) {
    if (!bytes.empty()) filled.insert(name);
  }
  EXPECT_EQ(Index().exit_code, 0);
  EXPECT_EQ(Sources(), filled);
}

class OddNamesTest : public CorpusTest {
 protected:
  void SetUp() override {
    int number = 0;
    for (const std::string& name : names_) {
      Write(name, "Bell number " + std::to_string(++number) + ".\n");
    }
  }

  const std::vector<std::string> names_ = {"-n.txt",
                                           "back\\slash tab\t.txt",
                                           "caf\xE9.txt",
                                           "e\xCC\x81.txt",
                                           "new\nline.txt",
                                           "quote\"x.txt",
                                           std::string(240, 'x') + ".txt",
                                           "\xC3\xA9.txt"};
  // As JSON has them: only what is no UTF-8 is escaped.
  const Strings in_json_ = {"-n.txt",
                            "back\\slash tab\t.txt",
                            "caf%E9.txt",
                            "e\xCC\x81.txt",
                            "new\nline.txt",
                            "quote\"x.txt",
                            std::string(240, 'x') + ".txt",
                            "\xC3\xA9.txt"};
};

TEST_F(OddNamesTest, AllAreIndexedAndCited) {
  const Outcome outcome = Index({"--strict"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(Sources(), in_json_);

  const json answer = Ask(index_, {"bell", "--budget", "2000"});

  Strings cited;
  for (const json& chunk : answer["included"]) {
    cited.insert(chunk["source"].get<std::string>());
    EXPECT_EQ(chunk.contains("escaped"), chunk["source"] == "caf%E9.txt") << chunk;
  }
  EXPECT_EQ(cited, in_json_);
}

TEST_F(OddNamesTest, NothingPrintedHasAControlCharacterFromAName) {
  EXPECT_EQ(Index().exit_code, 0);

  const Outcome outcome = RagQuery({"-i", index_, "bell", "--budget", "2000", "--trace"});

  for (const std::string& text : {outcome.out, outcome.err}) {
    EXPECT_NE(text.find("new%0Aline.txt"), std::string::npos) << outcome;
    EXPECT_NE(text.find("back\\slash tab%09.txt"), std::string::npos) << outcome;
    EXPECT_EQ(text.find('\t'), std::string::npos) << outcome;
    EXPECT_EQ(text.find('\xE9'), std::string::npos) << outcome;
  }
}

TEST_F(OddNamesTest, BatchAnswersAreLinesOfJson) {
  EXPECT_EQ(Index().exit_code, 0);
  Launch launch;
  launch.input = "{\"question\":\"bell number 3\"}\n";

  const Outcome outcome = RagQuery({"-i", index_, "--batch"}, launch);

  EXPECT_TRUE(IsOneLine(outcome.out)) << outcome;
  EXPECT_TRUE(json::parse(outcome.out).is_object());
}

TEST_F(OddNamesTest, SkippedOddNamesAreOneLineEachAndEscapedInJson) {
  fs::remove_all(corpus_);
  for (const std::string& name : names_) Write(name, "");

  const Outcome outcome = Index({"-v", "--json"});

  EXPECT_EQ(Lines(outcome.err).size(), names_.size() + 1) << outcome;
  const json report = json::parse(outcome.out);
  Strings skipped;
  for (const json& file : report["skipped"]) {
    skipped.insert(file["source"].get<std::string>());
    EXPECT_EQ(file.contains("escaped"), file["source"] == "caf%E9.txt") << file;
  }
  EXPECT_EQ(skipped, in_json_);
}

TEST_F(OddNamesTest, ACorpusThatLooksLikeAnOptionStandsBehindTwoDashes) {
  WriteFile(folder_.path() / "-n" / "-o.md", "A heron.\n");
  Launch launch;
  launch.folder = folder_.path();

  const Outcome outcome = RagIndex({"build", "-o", "index", "--", "-n"}, launch);

  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(Sources(), Strings{"-o.md"});
}

}  // namespace
}  // namespace rag::e2e
