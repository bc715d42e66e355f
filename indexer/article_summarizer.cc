#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "indexer/sentences.h"
#include "indexer/summarizer.h"
#include "models/article_words.h"

namespace rag::indexer {
namespace {

constexpr std::size_t kChunkSentences = 2;
constexpr std::size_t kBatchSentences = 3;
constexpr std::size_t kFinalSentences = 3;

std::int64_t CountImportantWords(std::string_view sentence) {
  const std::vector<std::string> words = models::ArticleWords(sentence);
  return std::count_if(words.begin(), words.end(),
                       [](const std::string& word) { return models::IsArticleImportant(word); });
}

// The best sentences in text order. An important word counts 3, being the first sentence 1; equal
// scores go to the earlier sentence.
std::string PickSentences(std::string_view text, std::size_t max_sentences) {
  const std::vector<std::string> sentences = ArticleSentences(text);
  std::vector<std::size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (sentences.size() > max_sentences) {
    std::vector<std::int64_t> scores;
    scores.reserve(sentences.size());
    for (const std::string& sentence : sentences) {
      scores.push_back(3 * CountImportantWords(sentence) + (scores.empty() ? 1 : 0));
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    order.resize(max_sentences);
    std::sort(order.begin(), order.end());
  }
  return absl::StrJoin(order, " ", [&](std::string* out, std::size_t position) {
    out->append(sentences[position]);
  });
}

class ArticleSummarizer final : public Summarizer {
 public:
  [[nodiscard]] std::string Id() const override {
    return absl::StrCat("article-v1/chunk=", kChunkSentences, "/batch=", kBatchSentences,
                        "/final=", kFinalSentences);
  }

  [[nodiscard]] DraftSummary SummarizeChunk(const DocumentText& document,
                                            std::uint32_t chunk) const override {
    const formats::Span range = document.chunks[chunk];
    DraftSummary summary;
    summary.text = absl::StrCat(
        "Chunk ", document.first_chunk + chunk + 1, " summary: ",
        PickSentences(document.text.substr(range.start, range.size()), kChunkSentences));
    return summary;
  }

  [[nodiscard]] DraftSummary Reduce(const DocumentText& document,
                                    std::span<const DraftSummary> parts,
                                    bool final) const override {
    const std::string text =
        absl::StrJoin(parts, " ", [&](std::string* out, const DraftSummary& part) {
          out->append(RenderSummary(document, part));
        });
    DraftSummary summary;
    summary.text = PickSentences(text, final ? kFinalSentences : kBatchSentences);
    return summary;
  }
};

}  // namespace

std::unique_ptr<Summarizer> MakeArticleSummarizer() {
  return std::make_unique<ArticleSummarizer>();
}

}  // namespace rag::indexer
