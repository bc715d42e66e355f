// From text to terms and costs. Any bytes will do.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "formats/utf8.h"
#include "models/article_words.h"
#include "models/token_counter.h"
#include "models/words.h"
#include "tests/fuzz/fuzz.h"

namespace rag::fuzz {
namespace {

void CheckTerms(std::string_view text) {
  static models::TermAnalyzer memo;  // has seen other texts, whose stems it keeps
  models::TermAnalyzer fresh;
  const std::vector<std::string> terms = fresh.Terms(text);
  Require(memo.Terms(text) == terms, "the memo of stems changes nothing");
  std::vector<std::uint64_t> hashes;
  memo.AppendTermHashes(text, hashes);
  Require(hashes.size() == terms.size(), "each term has a hash");
  for (std::size_t i = 0; i < terms.size(); ++i) {
    Require(hashes[i] == models::TermHash(terms[i]), "hashes are those of the terms");
    Require(!terms[i].empty() && formats::ValidPrefix(terms[i]) == terms[i].size(),
            "terms are valid UTF-8");
  }
  for (const std::string& word : fresh.Words(text)) {
    Require(!word.empty() && formats::ValidPrefix(word) == word.size(), "words are valid UTF-8");
  }
}

void CheckCosts(std::string_view text, std::size_t cut) {
  while (cut > 0 && formats::IsContinuationByte(formats::ByteAt(text, cut))) --cut;
  const auto counter = models::MakeTokenCounter(models::kDefaultTokenCounter);
  RequireOk(counter.status());
  const std::uint64_t cost = (*counter)->Cost(text);
  Require(cost == (*counter)->Cost(text.substr(0, cut)) + (*counter)->Cost(text.substr(cut)),
          "costs of pieces add up");
  Require((*counter)->CountTokens(text) <= text.size(), "a token is at least a byte");
}

void CheckArticle(std::string_view text) {
  const std::vector<std::string> words = models::ArticleWords(text);
  for (const std::string& word : words) Require(word.size() > 1, "words are longer than a byte");
  const double similarity = models::ArticleSimilarity(text, text);
  Require(std::isfinite(similarity) && similarity >= 0, "a similarity is a number");
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  const std::string_view bytes = fuzz::Bytes(data, size);
  fuzz::CheckTerms(bytes);
  fuzz::CheckArticle(bytes);
  const std::string text = fuzz::ToUtf8(bytes);
  if (!text.empty()) fuzz::CheckCosts(text, text.size() / 2);
  return 0;
}
