// The result is a function of the corpus and the profile: of no thread, no time, no path.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class DeterminismTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteNotes(folder_.path() / "corpus");
    WriteManyNotes(folder_.path() / "corpus", 150);
  }

  std::string BuildAs(const std::string& name, const std::vector<std::string>& args) {
    Build(folder_ / "corpus", folder_ / name, args);
    return folder_ / name;
  }

  TempFolder folder_;
};

json ManifestOf(const std::string& index) {
  return json::parse(ReadFile(fs::path(index) / "gen-000001" / "MANIFEST.json"));
}

// Files that are equal in builds of the same corpus, byte for byte.
std::map<std::string, std::string> ReproducibleFiles(const std::string& index) {
  std::map<std::string, std::string> files = ReadTree(fs::path(index) / "gen-000001");
  std::erase_if(files, [](const auto& file) {
    return !file.first.ends_with(".faiss") && file.first != "model/terms.bin";
  });
  return files;
}

// What FORMAT.md allows to differ is taken away.
json ReproducibleManifest(const std::string& index) {
  json manifest = ManifestOf(index);
  for (const char* member : {"generation", "created", "program", "corpus_root", "checksum"}) {
    EXPECT_EQ(manifest.erase(member), 1U) << member;
  }
  std::erase_if(manifest["files"].get_ref<json::array_t&>(), [](const json& file) {
    return file["path"].get<std::string>().starts_with("records/");
  });
  return manifest;
}

void ExpectEqualIndexes(const std::string& a, const std::string& b) {
  const auto files_a = ReproducibleFiles(a);
  const auto files_b = ReproducibleFiles(b);
  ASSERT_EQ(files_a.size(), files_b.size());
  EXPECT_GE(files_a.size(), 3U);
  for (const auto& [name, bytes] : files_a) {
    ASSERT_TRUE(files_b.contains(name)) << name;
    EXPECT_TRUE(bytes == files_b.at(name)) << name << " differs";
  }
  EXPECT_EQ(ManifestOf(a)["family_digests"], ManifestOf(b)["family_digests"]);
  EXPECT_EQ(ReproducibleManifest(a), ReproducibleManifest(b));
  const Outcome chunks = RagInspect({"chunks", a});
  EXPECT_EQ(chunks.exit_code, 0) << chunks;
  EXPECT_NE(chunks.out, "");
  EXPECT_EQ(chunks.out, RagInspect({"chunks", b}).out);
}

TEST_F(DeterminismTest, NumberOfThreadsChangesNothing) {
  const std::string one = BuildAs("one", {"--threads", "1"});
  ExpectEqualIndexes(one, BuildAs("two", {"--threads", "2"}));
  ExpectEqualIndexes(one, BuildAs("seven", {"--threads", "7"}));
}

TEST_F(DeterminismTest, NumberOfThreadsChangesNothingWithTheArticleProfile) {
  ExpectEqualIndexes(BuildAs("one", {"--threads", "1", "--profile", "article"}),
                     BuildAs("two", {"--threads", "2", "--profile", "article"}));
}

TEST_F(DeterminismTest, SecondRunChangesNothing) {
  ExpectEqualIndexes(BuildAs("first", {}), BuildAs("second", {}));
}

TEST_F(DeterminismTest, OrderInTheFolderAndItsNameChangeNothing) {
  const auto files = ReadTree(folder_.path() / "corpus");
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    WriteFile(folder_.path() / "same notes" / file->first, file->second);
  }
  Build(folder_ / "same notes", folder_ / "copied");
  ExpectEqualIndexes(BuildAs("first", {}), folder_ / "copied");
}

TEST_F(DeterminismTest, WayToTheFolderChangesNothing) {
  WriteFile(folder_.path() / "x" / "corpus" / "sub" / "a.md", "# A\n\nThe pump has a seal.\n");
  WriteFile(folder_.path() / "y" / "z" / "corpus" / "sub" / "a.md",
            "# A\n\nThe pump has a seal.\n");
  const auto build_in = [this](const std::string& folder, const std::string& corpus,
                               const std::string& index) {
    Launch launch;
    launch.folder = folder_.path() / folder;
    const Outcome outcome = RagIndex({"build", corpus, "-o", folder_ / index, "-q"}, launch);
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    return folder_ / index;
  };
  const std::string absolute = build_in("x", folder_ / "x/corpus", "absolute");
  const std::string exported = RagInspect({"export", absolute}).out;
  const json answer = WithoutTimes(Ask(absolute, {"pump"}));
  EXPECT_EQ(answer["documents"][0]["source"], "sub/a.md");
  // The first line has the root and the time of the build.
  const auto dump = [](const std::string& text) { return text.substr(text.find('\n')); };
  for (const std::string& other : {
           build_in("y/z", folder_ / "y/z/corpus", "elsewhere"),
           build_in("x/corpus", ".", "dot"),
           build_in("y", "../y/z/../../x/corpus/", "dots"),
       }) {
    ExpectEqualIndexes(absolute, other);
    EXPECT_EQ(dump(RagInspect({"export", other}).out), dump(exported)) << other;
    EXPECT_EQ(WithoutTimes(Ask(other, {"pump"})), answer) << other;
  }
}

TEST_F(DeterminismTest, AnswersAreEqual) {
  const std::string one = BuildAs("one", {"--threads", "1"});
  const std::string two = BuildAs("two", {"--threads", "2"});
  for (const std::string question : {"pump", "valve 17 before the winter", "Größe Ventil"}) {
    const json answer = WithoutTimes(Ask(one, {"--", question}));
    EXPECT_FALSE(answer["included"].empty());
    EXPECT_EQ(answer, WithoutTimes(Ask(two, {"--", question})));
    EXPECT_EQ(answer, WithoutTimes(Ask(one, {"--", question})));
  }
}

// Documents of equal text have equal scores: the source decides.
TEST_F(DeterminismTest, EqualScoresAreInOrderOfSourceAndIndex) {
  for (const std::string name : {"c", "a", "e", "b", "d"}) {
    WriteFile(folder_.path() / "twins" / (name + ".md"), "# Twin\n\nA rare gasket.\n");
  }
  Build(folder_ / "twins", folder_ / "index");
  const json answer = Ask(folder_ / "index", {"--", "rare gasket"});
  std::vector<std::string> documents;
  for (const json& hit : answer["documents"]) documents.push_back(hit["source"]);
  std::vector<std::string> chunks;
  for (const json& hit : answer["chunks"]) chunks.push_back(hit["source"]);
  const std::vector<std::string> wanted{"a.md", "b.md", "c.md", "d.md", "e.md"};
  EXPECT_EQ(documents, wanted);
  EXPECT_EQ(chunks, wanted);
}

}  // namespace
}  // namespace rag::e2e
