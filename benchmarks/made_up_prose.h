// Documents for benchmarks: prose of made-up words, the same on every machine.
#ifndef BENCHMARKS_MADE_UP_PROSE_H_
#define BENCHMARKS_MADE_UP_PROSE_H_

#include <cstdint>
#include <random>
#include <string>

#include "tests/testing/made_up_text.h"

namespace rag::benchmarks {

inline constexpr std::uint64_t kVocabulary = 4096;

inline std::string MakeSentence(std::mt19937_64& random) {
  std::string sentence = testing::RandomWord(random, kVocabulary);
  for (int i = 0; i < 9; ++i) sentence += " " + testing::RandomWord(random, kVocabulary);
  return sentence + ".";
}

// Markdown: a heading before every fifth paragraph, two or three sentences of ten words to a
// paragraph, so that a paragraph (about 270 bytes) is about a chunk.
inline std::string MakeProse(std::uint64_t seed, int num_paragraphs) {
  std::mt19937_64 random(seed);
  std::string text = "# " + testing::RandomWord(random, kVocabulary) + "\n\n";
  for (int i = 0; i < num_paragraphs; ++i) {
    if (i % 5 == 0) text += "## " + testing::RandomWord(random, kVocabulary) + "\n\n";
    const std::uint64_t num_sentences = 2 + random() % 2;
    for (std::uint64_t j = 0; j < num_sentences; ++j) text += MakeSentence(random) + " ";
    text.back() = '\n';
    text += "\n";
  }
  return text;
}

inline std::string MakeQuestion(std::mt19937_64& random) {
  std::string question = "Which";
  for (int i = 0; i < 5; ++i) question += " " + testing::RandomWord(random, kVocabulary);
  return question + "?";
}

}  // namespace rag::benchmarks

#endif  // BENCHMARKS_MADE_UP_PROSE_H_
