// The word rules and word lists of the source article (profile `article`). docs/design.md, "The
// article profile". Kept to the letter: [a-z0-9]+ of the lower-cased ASCII text, longer than one
// character, no stop words.
#ifndef MODELS_ARTICLE_WORDS_H_
#define MODELS_ARTICLE_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

namespace rag::models {

std::vector<std::string> ArticleWords(std::string_view text);
bool IsArticleImportant(std::string_view word);  // counts 3 in a summary, 0.15 in the similarity
bool IsArticlePriority(std::string_view word);   // counts 0.35 more in the similarity

// Cosine of word counts + 0.15 x |query, text and important words in common| + 0.35 x |those that
// are priority words|. 0 when either side has no words and no bonus.
double ArticleSimilarity(std::string_view query, std::string_view text);

}  // namespace rag::models

#endif  // MODELS_ARTICLE_WORDS_H_
