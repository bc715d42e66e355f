#include "tests/e2e/crash_testing.h"

#include <cstdlib>

namespace rag::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string CraneText(const std::string& ballast) {
  return "# Harbour crane\n\nThe harbour crane carries a ballast of " + ballast +
         " tons.\n\n## Rules\n\nNobody stands below the crane.\n";
}

void WriteSecondState(const fs::path& corpus, int documents) {
  WriteFile(corpus / "crane.md", CraneText("twelve"));
  for (int i = 0; i < documents; i += 20) {
    const std::string number = std::to_string(i);
    WriteFile(corpus / ("note-" + number + ".md"),
              "# Note " + number + "\n\nThe crane was greased on day " + number + ".\n");
    WriteFile(corpus / ("new-" + number + ".md"),
              "# New " + number + "\n\nCrane driver number " + number + " starts today.\n");
    fs::remove(corpus / ("note-" + std::to_string(i + 1) + ".md"));
  }
}

fs::path CurrentFolder(const fs::path& index) {
  const std::string current = ReadFile(index / "CURRENT");
  return index / current.substr(0, current.find(' '));
}

}  // namespace

Answer AskAboutChange(const std::string& index) {
  Answer answer;
  answer.text = WithoutTimes(Ask(index, {"What ballast does the harbour crane carry?"}));
  answer.generation = answer.text.value("generation", std::uint64_t{0});
  answer.text.erase("generation");
  answer.text.erase("index");
  return answer;
}

std::map<std::string, std::string> ContentOf(const fs::path& index) {
  std::map<std::string, std::string> content = ReadTree(CurrentFolder(index));
  std::erase_if(content, [](const auto& file) { return file.first.starts_with("records/"); });
  json manifest = json::parse(content["MANIFEST.json"], nullptr, false);
  EXPECT_TRUE(manifest.is_object()) << index;
  for (const char* member : {"generation", "created", "files", "checksum"}) manifest.erase(member);
  content["MANIFEST.json"] = manifest.dump();
  return content;
}

std::set<std::string> NamesIn(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

void CopyIndex(const fs::path& from, const fs::path& to) {
  fs::remove_all(to);
  if (fs::exists(from)) fs::copy(from, to, fs::copy_options::recursive);
}

int NumberFromEnvironment(const char* name, int fallback) {
  const char* const text = std::getenv(name);
  return text == nullptr ? fallback : std::atoi(text);
}

void CrashTest::Prepare(int documents) {
  WriteManyNotes(corpus_, documents);
  WriteFile(fs::path(corpus_) / "crane.md", CraneText("nine"));
  Build(corpus_, prepared_);
  old_answer_ = AskAboutChange(prepared_);
  WriteSecondState(corpus_, documents);
  CopyIndex(prepared_, index_);
  Build(corpus_, index_);
  new_text_ = AskAboutChange(index_).text;
  new_content_ = ContentOf(index_);
  const std::string first = folder_ / "first";
  Build(corpus_, first);
  first_text_ = AskAboutChange(first).text;
  first_content_ = ContentOf(first);
  ASSERT_NE(old_answer_.text, new_text_);
  ASSERT_NE(first_content_, new_content_);  // a rebuild carries something over
}

std::vector<std::string> CrashTest::BuildArguments(const std::vector<std::string>& more) {
  std::vector<std::string> all{"build", corpus_, "-o", index_};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

void CrashTest::ExpectTidy() const {
  std::size_t generations = 0;
  for (const std::string& name : NamesIn(index_)) {
    const bool is_generation = name.starts_with("gen-");
    generations += is_generation ? 1 : 0;
    EXPECT_TRUE(is_generation || name == "CURRENT" || name == "LOCK") << name;
  }
  EXPECT_LE(generations, 2U);
}

bool CrashTest::ExpectOldOrNew() {
  const Outcome verify = RagIndex({"verify", index_});
  EXPECT_EQ(verify.exit_code, 0) << verify;
  const Answer answer = AskAboutChange(index_);
  if (answer == old_answer_) return false;
  EXPECT_EQ(answer.text, new_text_);
  EXPECT_GT(answer.generation, old_answer_.generation);
  return true;
}

bool CrashTest::ExpectNoneOrFirst() {
  if (!fs::exists(fs::path(index_) / "CURRENT")) {
    ExpectError(RagQuery({"-i", index_, "crane"}), 3, "rag-query", "no index there");
    return false;
  }
  const Outcome verify = RagIndex({"verify", index_});
  EXPECT_EQ(verify.exit_code, 0) << verify;
  EXPECT_EQ(AskAboutChange(index_).text, first_text_);
  return true;
}

json CrashTest::ExpectRerunMakes(const std::map<std::string, std::string>& content) {
  const Outcome outcome = RagIndex(BuildArguments({"--json"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_TRUE(IsOneLine(outcome.err)) << outcome;
  const std::map<std::string, std::string> made = ContentOf(index_);
  for (const auto& [name, bytes] : content) {
    const auto it = made.find(name);
    EXPECT_TRUE(it != made.end() && it->second == bytes) << name << " differs" << outcome;
  }
  EXPECT_EQ(made.size(), content.size());
  ExpectTidy();
  return json::parse(outcome.out, nullptr, false);
}

}  // namespace rag::e2e
