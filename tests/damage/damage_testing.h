// The fixture of tests that damage an index in many ways and count what comes of it.
#ifndef TESTS_DAMAGE_DAMAGE_TESTING_H_
#define TESTS_DAMAGE_DAMAGE_TESTING_H_

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/damage/damaged_index.h"
#include "tests/testing/temp_folder.h"

namespace rag::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Whether to test all damages instead of a sample: an hour instead of seconds.
inline bool TestsAll() {
  const char* value = std::getenv("RAG_DAMAGE_ALL");
  return value != nullptr && std::string_view(value) == "1";
}

class DamageTest : public ::testing::Test {
 protected:
  ~DamageTest() override {
    std::printf("[  DAMAGES ] %zu refused, %zu without effect, %zu changed the answer\n",
                count(Reaction::kRefused), count(Reaction::kSame), count(Reaction::kChanged));
  }

  DamagedIndex& index() { return index_; }
  [[nodiscard]] std::size_t count(Reaction reaction) const {
    const auto found = counts_.find(reaction);
    return found == counts_.end() ? 0 : found->second;
  }

  // The files of the index whose names hold `part`.
  [[nodiscard]] std::vector<std::string> Names(std::string_view part) const {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : index_.files()) {
      if (name.find(part) != std::string::npos) names.push_back(name);
    }
    EXPECT_FALSE(names.empty()) << part;
    return names;
  }

  // Judges the index as it is now.
  void ExpectNoticed(const std::string& damage) {
    const DamagedIndex::Judgement judgement = index_.Judge();
    EXPECT_EQ(judgement.complaint, "") << damage;
    ++counts_[judgement.reaction];
  }

 private:
  TempFolder folder_;
  DamagedIndex index_{folder_.path()};
  std::map<Reaction, std::size_t> counts_;
};

}  // namespace rag::testing

#endif  // TESTS_DAMAGE_DAMAGE_TESTING_H_
