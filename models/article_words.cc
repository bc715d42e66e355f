#include "models/article_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>

namespace rag::models {
namespace {

constexpr std::array<std::string_view, 18> kImportantTerms = {
    "answer",     "budget",    "chunk",     "chunks",    "context", "embedding",
    "embeddings", "fail",      "failure",   "failures",  "model",   "prompt",
    "rag",        "retrieval", "retrieves", "summaries", "summary", "window"};
constexpr std::array<std::string_view, 25> kStopWords = {
    "a",  "an", "and", "are", "as", "be", "because", "but", "by",   "can", "for", "from", "if",
    "in", "is", "it",  "of",  "on", "or", "that",    "the", "this", "to",  "use", "with"};
constexpr std::array<std::string_view, 4> kPriorityTerms = {"budget", "fail", "failure",
                                                            "failures"};
static_assert(std::is_sorted(kImportantTerms.begin(), kImportantTerms.end()));
static_assert(std::is_sorted(kStopWords.begin(), kStopWords.end()));
static_assert(std::is_sorted(kPriorityTerms.begin(), kPriorityTerms.end()));

constexpr double kImportantBonus = 0.15;
constexpr double kPriorityBonus = 0.35;

template <std::size_t kSize>
bool Contains(const std::array<std::string_view, kSize>& sorted, std::string_view word) {
  return std::binary_search(sorted.begin(), sorted.end(), word);
}

// The lower-case ASCII letter or digit at text[at], 0 if there is none; `size` becomes the bytes it
// takes. Two characters beyond ASCII have an ASCII letter for their lower case: the Kelvin sign (k)
// and the capital I with a dot (i, then a combining dot, which ends the word).
char LowerAlnum(std::string_view text, std::size_t at, std::size_t& size, bool& ends_word) {
  size = 1;
  ends_word = false;
  const char c = text[at];
  if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) return c;
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c | 0x20);
  if (c == '\xE2' && text.substr(at, 3) == "\u212A") {
    size = 3;
    return 'k';
  }
  if (c == '\xC4' && text.substr(at, 2) == "\u0130") {
    size = 2;
    ends_word = true;
    return 'i';
  }
  return 0;
}

using WordCounts = std::map<std::string, std::uint64_t, std::less<>>;

WordCounts CountWords(std::string_view text) {
  WordCounts counts;
  for (std::string& word : ArticleWords(text)) ++counts[std::move(word)];
  return counts;
}

double Norm(const WordCounts& counts) {
  double squares = 0;
  for (const auto& [word, count] : counts) {
    squares += static_cast<double>(count) * static_cast<double>(count);
  }
  return std::sqrt(squares);
}

}  // namespace

std::vector<std::string> ArticleWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto finish_word = [&] {
    if (word.size() > 1 && !Contains(kStopWords, word)) words.push_back(word);
    word.clear();
  };
  std::size_t size = 0;
  for (std::size_t at = 0; at < text.size(); at += size) {
    bool ends_word = false;
    const char c = LowerAlnum(text, at, size, ends_word);
    if (c != 0) word.push_back(c);
    if (c == 0 || ends_word) finish_word();
  }
  finish_word();
  return words;
}

bool IsArticleImportant(std::string_view word) { return Contains(kImportantTerms, word); }

bool IsArticlePriority(std::string_view word) { return Contains(kPriorityTerms, word); }

double ArticleSimilarity(std::string_view query, std::string_view text) {
  const WordCounts in_query = CountWords(query);
  const WordCounts in_text = CountWords(text);
  if (in_query.empty() || in_text.empty()) return 0;
  double dot = 0;
  int num_important = 0;
  int num_priority = 0;
  for (const auto& [word, count] : in_query) {
    const auto found = in_text.find(word);
    if (found == in_text.end()) continue;
    dot += static_cast<double>(count) * static_cast<double>(found->second);
    if (!IsArticleImportant(word)) continue;
    ++num_important;
    if (IsArticlePriority(word)) ++num_priority;
  }
  return dot / (Norm(in_query) * Norm(in_text)) + kImportantBonus * num_important +
         kPriorityBonus * num_priority;
}

}  // namespace rag::models
