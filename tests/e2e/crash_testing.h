// What the tests of dying and failing builds share: a corpus in two states, and what an index must
// be like after the trouble.
#ifndef TESTS_E2E_CRASH_TESTING_H_
#define TESTS_E2E_CRASH_TESTING_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/harness.h"

namespace rag::e2e {

// An answer to a question about what changes, without times.
struct Answer {
  std::uint64_t generation = 0;
  nlohmann::json text;  // all but the generation
  bool operator==(const Answer&) const = default;
};
// A failed assertion unless the index answers.
Answer AskAboutChange(const std::string& index);

// What equal builds have in common (FORMAT.md): the manifest without what may differ, and the bytes
// of the files that are not RocksDB's. Of the current generation.
std::map<std::string, std::string> ContentOf(const std::filesystem::path& index);

std::set<std::string> NamesIn(const std::filesystem::path& folder);
// Replaces `to` by a copy of the folder `from`, or by nothing when there is none.
void CopyIndex(const std::filesystem::path& from, const std::filesystem::path& to);

// A number from the environment, or `fallback`.
int NumberFromEnvironment(const char* name, int fallback);

// A corpus in its second state, the index of the first, and what undisturbed builds make of it.
class CrashTest : public ::testing::Test {
 protected:
  // Of about so many documents, of which a tenth changes.
  void Prepare(int documents);

  [[nodiscard]] std::vector<std::string> BuildArguments(const std::vector<std::string>& more = {});
  // Nothing that a dead build left: no file but CURRENT, LOCK and two generations at most.
  void ExpectTidy() const;
  // The index answers as it did before or as it will after a rebuild, and is whole. Whether it is
  // the rebuilt one.
  bool ExpectOldOrNew();
  // No index yet, or the one that a first build makes.
  bool ExpectNoneOrFirst();
  // The next build succeeds and makes what an undisturbed one does. What it printed with --json.
  nlohmann::json ExpectRerunMakes(const std::map<std::string, std::string>& content);

  TempFolder folder_;
  const std::string corpus_ = folder_ / "corpus";
  const std::string prepared_ = folder_ / "prepared";  // generation 1, of the first state
  const std::string index_ = folder_ / "index";
  Answer old_answer_;
  nlohmann::json new_text_;
  nlohmann::json first_text_;                         // of a first build of the second state
  std::map<std::string, std::string> new_content_;    // of a rebuild
  std::map<std::string, std::string> first_content_;  // of a first build
};

}  // namespace rag::e2e

#endif  // TESTS_E2E_CRASH_TESTING_H_
