// Texts of any size for tests and benchmarks: made-up words, the same on every machine.
#ifndef TESTS_TESTING_MADE_UP_TEXT_H_
#define TESTS_TESTING_MADE_UP_TEXT_H_

#include <cstdint>
#include <random>
#include <string>

namespace rag::testing {

// Words of a made-up language; none is a stop word, and the stems of all 4096 differ.
inline std::string MadeUpWord(std::uint64_t number) {
  static constexpr const char* kSyllables[] = {"ba", "do", "ka", "lo", "mu", "na", "po", "ru"};
  std::string word = "z";
  for (int i = 0; i < 4; ++i, number /= 8) word += kSyllables[number % 8];
  return word + "x";
}

// One of `num_words` words, the first ones more often.
inline std::string RandomWord(std::mt19937_64& random, std::uint64_t num_words) {
  const std::uint64_t a = random() % num_words;
  const std::uint64_t b = random() % num_words;
  return MadeUpWord(a * b / num_words);
}

// `num_paragraphs` paragraphs of six words, about 65 bytes, with a heading before every
// `per_section`-th one.
inline std::string RandomDocument(std::uint64_t seed, int num_paragraphs, int per_section,
                                  std::uint64_t num_words) {
  std::mt19937_64 random(seed);
  const auto word = [&] { return RandomWord(random, num_words); };
  std::string text;
  for (int i = 0; i < num_paragraphs; ++i) {
    if (per_section > 0 && i % per_section == 0) text += "## " + word() + "\n\n";
    for (int j = 0; j < 5; ++j) text += word() + " ";
    text += word() + ".\n\n";
  }
  return text;
}

}  // namespace rag::testing

#endif  // TESTS_TESTING_MADE_UP_TEXT_H_
