#include "indexer/summarizer.h"

#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rag::indexer {
namespace {

using Chunk = std::vector<std::string>;  // its sentences
using Indices = std::vector<std::uint32_t>;

// A document made of sentences, and the text that its view borrows. Terms are the words' first
// bytes and lengths, which is enough of a hash here.
class Document {
 public:
  // `between` separates sentences, a blank line chunks.
  explicit Document(const std::vector<Chunk>& chunks, const std::string& between = " ") {
    for (const Chunk& chunk : chunks) {
      if (!text_.empty()) text_ += "\n\n";
      const std::uint64_t start = text_.size();
      view_.chunk_first_sentence.push_back(static_cast<std::uint32_t>(view_.sentences.size()));
      for (std::size_t i = 0; i < chunk.size(); ++i) {
        if (i > 0) text_ += between;
        AddSentence(chunk[i]);
      }
      view_.chunks.push_back({start, text_.size()});
    }
    view_.chunk_first_sentence.push_back(static_cast<std::uint32_t>(view_.sentences.size()));
    view_.text = text_;
  }
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  [[nodiscard]] const DocumentText& view() const { return view_; }

 private:
  void AddSentence(const std::string& sentence) {
    Sentence& added = view_.sentences.emplace_back();
    added.range = {text_.size(), text_.size() + sentence.size()};
    for (std::size_t start = 0; start < sentence.size();) {
      const std::size_t end = std::min(sentence.find(' ', start), sentence.size());
      if (end > start) added.terms.push_back(HashOf(sentence.substr(start, end - start)));
      start = end + 1;
    }
    text_ += sentence;
  }

  static std::uint64_t HashOf(const std::string& word) {
    return std::accumulate(word.begin(), word.end(), std::uint64_t{0}, [](std::uint64_t h, char c) {
      return h * 131 + static_cast<unsigned char>(c);
    });
  }

  std::string text_;
  DocumentText view_;
};

DraftSummary OfSentences(Indices sentences) {
  DraftSummary summary;
  summary.sentences = std::move(sentences);
  return summary;
}

DraftSummary OfText(std::string text) {
  DraftSummary summary;
  summary.text = std::move(text);
  return summary;
}

double IdfOf(std::uint64_t hash) { return 1.0 + static_cast<double>(hash % 97) / 10.0; }

// The formula of the greedy cover, taken literally.
Indices ReferenceCover(const DocumentText& document, const Indices& candidates, std::size_t max) {
  if (candidates.size() <= max) return candidates;
  std::map<std::uint64_t, int> frequency;
  for (const std::uint32_t i : candidates) {
    for (const std::uint64_t term : document.sentences[i].terms) ++frequency[term];
  }
  std::set<std::uint64_t> covered;
  std::set<std::uint32_t> picked;
  while (picked.size() < max) {
    double best_gain = -1;
    std::uint32_t best = 0;
    for (const std::uint32_t i : candidates) {
      if (picked.contains(i)) continue;
      const std::vector<std::uint64_t>& terms = document.sentences[i].terms;
      double gain = 0;
      for (const std::uint64_t term : std::set<std::uint64_t>(terms.begin(), terms.end())) {
        if (!covered.contains(term)) gain += std::sqrt(frequency[term]) * IdfOf(term);
      }
      gain /= std::sqrt(static_cast<double>(terms.size()) + 5);
      if (gain > best_gain) {
        best_gain = gain;
        best = i;
      }
    }
    picked.insert(best);
    const std::vector<std::uint64_t>& terms = document.sentences[best].terms;
    covered.insert(terms.begin(), terms.end());
  }
  return {picked.begin(), picked.end()};
}

Chunk RandomSentences(std::mt19937& random, std::size_t count) {
  Chunk sentences(count);
  for (std::string& sentence : sentences) {
    const std::size_t length = 1 + random() % 12;
    for (std::size_t i = 0; i < length; ++i) {
      sentence +=
          std::string(1, static_cast<char>('a' + random() % 26)) + (i + 1 < length ? " " : "");
    }
  }
  return sentences;
}

std::unique_ptr<Summarizer> SmallCover() { return MakeCoverSummarizer({1, 2, 3}, IdfOf); }

// Chunks that overlap hold the same sentence twice, the second time perhaps only a part of it.
TEST(SummaryText, SaysWhatOverlappingChunksShareOnce) {
  DocumentText document;
  document.text = "Oil it. Wipe it. Trim it. Light it.";
  const std::vector<formats::Span> ranges = {{0, 7},  {8, 16},  {17, 25},
                                             {8, 16}, {22, 25}, {26, 35}};
  for (const formats::Span& range : ranges)
    document.sentences.push_back({.range = range, .terms = {}});

  const DraftSummary all = OfSentences({0, 1, 2, 3, 4, 5});
  EXPECT_EQ(RenderSummary(document, all), "Oil it. Wipe it. Trim it. Light it.");
  EXPECT_EQ(ToSummary(document, all).spans, (std::vector<formats::Span>{{0, 35}}));
  // The later chunk's sentence is before the earlier one's.
  const DraftSummary crossed = OfSentences({2, 3});
  EXPECT_EQ(RenderSummary(document, crossed), "Wipe it. Trim it.");
  EXPECT_EQ(ToSummary(document, crossed).spans, (std::vector<formats::Span>{{8, 25}}));
  const DraftSummary apart = OfSentences({0, 4});
  EXPECT_EQ(RenderSummary(document, apart), "Oil it. it.");
}

TEST(SummaryText, RenderJoinsSentencesAndCollapsesTheirWhiteSpace) {
  const Document document({Chunk{"One\n  line.", "Two.", "Three."}}, "\n");
  EXPECT_EQ(RenderSummary(document.view(), OfSentences({0, 2})), "One line. Three.");
}

TEST(SummaryText, RenderLeavesLiteralTextAlone) {
  const Document document({Chunk{"One."}});
  EXPECT_EQ(RenderSummary(document.view(), OfText("as  it is")), "as  it is");
}

TEST(SummaryText, EmptySummaryHasNeitherRangesNorText) {
  const Document document({Chunk{"One."}});
  EXPECT_EQ(ToSummary(document.view(), {}), formats::Summary{});
  EXPECT_EQ(RenderSummary(document.view(), {}), "");
}

TEST(SummaryText, AdjacentSentencesAreStoredAsOneRange) {
  const Document document({Chunk{"One.", "Two."}, Chunk{"Three.", "Four."}});
  const formats::Summary stored = ToSummary(document.view(), OfSentences({1, 2}));
  ASSERT_EQ(stored.spans.size(), 1U);
  EXPECT_EQ(document.view().text.substr(stored.spans[0].start, stored.spans[0].size()),
            "Two.\n\nThree.");
}

TEST(SummaryText, SentencesWithTextBetweenThemStayApart) {
  const Document document({Chunk{"One.", "Two.", "Three."}});
  const formats::Summary stored = ToSummary(document.view(), OfSentences({0, 2}));
  EXPECT_EQ(stored.spans, (std::vector<formats::Span>{{0, 4}, {10, 16}}));
}

TEST(SummaryText, LiteralTextIsStoredAsText) {
  const Document document({Chunk{"One."}});
  const formats::Summary stored = ToSummary(document.view(), OfText("own words"));
  EXPECT_EQ(stored.text, "own words");
  EXPECT_TRUE(stored.spans.empty());
}

TEST(ArticleSummarizer, ChunksAreNumberedFromOneAndTheirWhiteSpaceCollapsed) {
  const Document document({Chunk{"First."}, Chunk{"# Head\n\nBody  text."}});
  EXPECT_EQ(MakeArticleSummarizer()->SummarizeChunk(document.view(), 1).text,
            "Chunk 2 summary: # Head Body text.");
}

TEST(ArticleSummarizer, ImportantWordsBeatTheFirstSentence) {
  const Document document({Chunk{"Plain start.", "A budget.", "Nothing.", "The prompt."}});
  EXPECT_EQ(MakeArticleSummarizer()->SummarizeChunk(document.view(), 0).text,
            "Chunk 1 summary: A budget. The prompt.");
}

TEST(ArticleSummarizer, EveryOccurrenceOfAnImportantWordCounts) {
  const Document document({Chunk{"Model.", "Budget here.", "Chunk, chunk, chunk."}});
  EXPECT_EQ(MakeArticleSummarizer()->SummarizeChunk(document.view(), 0).text,
            "Chunk 1 summary: Model. Chunk, chunk, chunk.");
}

TEST(ArticleSummarizer, EqualScoresGoToTheEarlierSentences) {
  const Document document({Chunk{"Zero.", "One.", "Two.", "Three."}});
  EXPECT_EQ(MakeArticleSummarizer()->SummarizeChunk(document.view(), 0).text,
            "Chunk 1 summary: Zero. One.");
}

TEST(ArticleSummarizer, BatchesAndDocumentsKeepThreeSentences) {
  const Document document({Chunk{"Unused."}});
  const std::vector<DraftSummary> parts = {OfText("One. Two."), OfText("Three. Four rag.")};
  for (const bool final : {false, true}) {
    EXPECT_EQ(MakeArticleSummarizer()->Reduce(document.view(), parts, final).text,
              "One. Two. Four rag.");
  }
}

TEST(CoverSummarizer, IdNamesItsSizes) {
  EXPECT_EQ(SmallCover()->Id(), "cover-v2/chunk=1/batch=2/final=3");
}

TEST(CoverSummarizer, FewSentencesAreAllKept) {
  const Document document({Chunk{"a b", "a b"}});
  EXPECT_EQ(MakeCoverSummarizer({}, IdfOf)->SummarizeChunk(document.view(), 0).sentences,
            (Indices{0, 1}));
}

TEST(CoverSummarizer, EqualGainsGoToTheEarlierSentence) {
  const Document document({Chunk{"x", "b a", "a b", "y"}});
  const auto cover = MakeCoverSummarizer({1, 2, 3}, [](std::uint64_t) { return 1.0; });
  EXPECT_EQ(cover->SummarizeChunk(document.view(), 0).sentences, (Indices{1}));
}

TEST(CoverSummarizer, SentencesThatAddNothingAreTakenLastAndInOrder) {
  const Document document({Chunk{"a b c", "a b", "a c", "d"}});
  const auto cover = MakeCoverSummarizer({3, 3, 3}, [](std::uint64_t) { return 1.0; });
  EXPECT_EQ(cover->SummarizeChunk(document.view(), 0).sentences, (Indices{0, 1, 3}));
}

TEST(CoverSummarizer, SummaryOfAChunkStaysInTheChunk) {
  const Document document({Chunk{"a b c d", "e f g h"}, Chunk{"i", "j k"}, Chunk{"l m n o"}});
  EXPECT_EQ(SmallCover()->SummarizeChunk(document.view(), 1).sentences.size(), 1U);
  const std::uint32_t picked = SmallCover()->SummarizeChunk(document.view(), 1).sentences[0];
  EXPECT_TRUE(picked == 2 || picked == 3);
}

TEST(CoverSummarizer, ChunkSummaryMatchesTheLiteralFormula) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const std::size_t size = 1 + random() % 30;
    const Document document({RandomSentences(random, 3), RandomSentences(random, size)});
    Indices candidates(size);
    std::iota(candidates.begin(), candidates.end(), 3U);
    const auto max = static_cast<std::uint32_t>(1 + random() % 6);
    EXPECT_EQ(MakeCoverSummarizer({max, 1, 1}, IdfOf)->SummarizeChunk(document.view(), 1).sentences,
              ReferenceCover(document.view(), candidates, max));
  }
}

TEST(CoverSummarizer, ReduceChoosesAmongTheSentencesOfItsParts) {
  std::mt19937 random(8);
  const Document document({RandomSentences(random, 40)});
  const std::vector<DraftSummary> parts = {OfSentences({1, 5, 6}), OfSentences({11, 20, 33})};
  const Indices all = {1, 5, 6, 11, 20, 33};
  EXPECT_EQ(SmallCover()->Reduce(document.view(), parts, false).sentences,
            ReferenceCover(document.view(), all, 2));
  EXPECT_EQ(SmallCover()->Reduce(document.view(), parts, true).sentences,
            ReferenceCover(document.view(), all, 3));
}

TEST(CoverSummarizer, SentenceOfTwoPartsCountsOnce) {
  const Document document({Chunk{"a b", "c", "d e f"}});
  const std::vector<DraftSummary> parts = {OfSentences({0, 1}), OfSentences({1, 2})};
  EXPECT_EQ(SmallCover()->Reduce(document.view(), parts, true).sentences, (Indices{0, 1, 2}));
}

TEST(CoverSummarizer, SentencesWithoutTermsAreNoObstacle) {
  const Document document({Chunk{"", "", ""}});
  EXPECT_EQ(SmallCover()->SummarizeChunk(document.view(), 0).sentences, (Indices{0}));
}

TEST(CoverSummarizer, ChunkWithoutSentencesHasAnEmptySummary) {
  const Document document({Chunk{}});
  EXPECT_TRUE(SmallCover()->SummarizeChunk(document.view(), 0).sentences.empty());
}

}  // namespace
}  // namespace rag::indexer
