// From text to index terms, the same for documents and questions.
//
// Words: parts of camelCase identifiers beside the whole; then lower case; NFKD with marks stripped
// (Thai vowels kept); runs of letters and digits; runs of scripts without spaces (kana, Han, Thai)
// as character bigrams. Terms: words without stop words, stemmed by Snowball's English stemmer. The
// rules are those of the measurements in docs/design.md; a change of them is a new Id().
#ifndef MODELS_WORDS_H_
#define MODELS_WORDS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rag::models {

// Identifies the rules in manifests: "words-v1/snowball-english".
std::string_view WordsId();

// The 64-bit hash by which the index knows a term (XXH3, seed 0, of its UTF-8 bytes).
std::uint64_t TermHash(std::string_view term);

// Splits text into terms, with a memo of stems. `text` is UTF-8; bad bytes separate words.
// Threads: one thread (make one each).
class TermAnalyzer {
 public:
  TermAnalyzer();
  ~TermAnalyzer();
  TermAnalyzer(TermAnalyzer&&) noexcept;
  TermAnalyzer& operator=(TermAnalyzer&&) noexcept;

  // Lower-case words before stop words are taken out and stems are cut; in text order.
  std::vector<std::string> Words(std::string_view text);
  // Stemmed terms in text order.
  std::vector<std::string> Terms(std::string_view text);
  // TermHash of each term, in text order, appended to `out`. The fast way: no string per term.
  void AppendTermHashes(std::string_view text, std::vector<std::uint64_t>& out);

  static bool IsStopWord(std::string_view lower_case_word);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rag::models

#endif  // MODELS_WORDS_H_
