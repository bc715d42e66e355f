#include "indexer/sentence_splitter.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "indexer/characters.h"
#include "models/token_counter.h"

namespace rag::indexer {
namespace {

using formats::MediaType;
using Strings = std::vector<std::string>;

Strings Split(const SentenceSizes& sizes, std::string_view text,
              const TextRuler& ruler = TextRuler()) {
  const auto splitter = MakeSentenceSplitter(sizes, ruler);
  EXPECT_TRUE(splitter.ok()) << splitter.status();
  Strings out;
  for (const SplitChunk& chunk : (*splitter)->Split(text, MediaType::kPlainText).chunks) {
    out.emplace_back(text.substr(chunk.range.start, chunk.range.size()));
  }
  return out;
}

TEST(SentenceSplitter, PacksWholeSentencesAcrossParagraphs) {
  EXPECT_EQ(Split({18, 99}, "Oil it. Wipe it.\n\nTrim it. Light the lamp now."),
            (Strings{"Oil it. Wipe it.", "Trim it.", "Light the lamp now."}));
  EXPECT_EQ(Split({26, 99}, "Oil it. Wipe it.\n\nTrim it. Light the lamp now."),
            (Strings{"Oil it. Wipe it.\n\nTrim it.", "Light the lamp now."}));
}

TEST(SentenceSplitter, ASentenceAboveTheSizeStaysWhole) {
  EXPECT_EQ(Split({8, 30}, "Oil it. Light the lamp before dusk. So."),
            (Strings{"Oil it.", "Light the lamp before dusk.", "So."}));
}

TEST(SentenceSplitter, ASentenceAboveTheHardMaximumIsCutAtLineEndsAndWhiteSpace) {
  EXPECT_EQ(Split({8, 12}, "Oil.\n\n- lamp glass\n- wick and soap\n- rope"),
            (Strings{"Oil.", "- lamp glass", "- wick", "and soap", "- rope"}));
}

TEST(SentenceSplitter, WhatIsLeftOfALongSentenceJoinsTheNext) {
  // No chunk is a lone full stop, and nothing is lost behind a sentence that had to be cut.
  const std::string word(20, 'w');
  EXPECT_EQ(Split({20, 20}, word + ". Oil it."), (Strings{word, ". Oil it."}));
}

TEST(SentenceSplitter, ScriptsWithoutSpacesAreCutAtTheirFullStops) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "今晚灯塔照常亮灯。明天会不会起雾？";
  const Strings chunks = Split({50, 100}, text);
  EXPECT_GT(chunks.size(), 10U);
  for (const std::string& chunk : chunks) {
    EXPECT_TRUE(chunk.ends_with("。") || chunk.ends_with("？")) << chunk;
    EXPECT_LE(CountCodePoints(chunk), 50U) << chunk;
  }
}

TEST(SentenceSplitter, SizesMayBeTokens) {
  const TextRuler tokens(std::shared_ptr(*models::MakeTokenCounter(models::kDefaultTokenCounter)));
  EXPECT_EQ(Split({3, 9}, "Oil it. Wipe it. Trim it.", tokens),
            (Strings{"Oil it.", "Wipe it.", "Trim it."}));
  EXPECT_EQ(Split({4, 9}, "Oil it. Wipe it. Trim it.", tokens),
            (Strings{"Oil it. Wipe it.", "Trim it."}));
}

TEST(SentenceSplitter, RefusesSizesOutOfOrder) {
  for (const SentenceSizes& sizes : {SentenceSizes{0, 100}, SentenceSizes{101, 100}}) {
    const absl::Status status = MakeSentenceSplitter(sizes, TextRuler()).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_NE(status.message().find(std::to_string(sizes.size)), std::string::npos) << status;
    EXPECT_NE(status.message().find("100"), std::string::npos) << status;
  }
}

TEST(SentenceSplitter, TheIdNamesEveryValue) {
  EXPECT_EQ((*MakeSentenceSplitter({120, 300}, TextRuler()))->Id(),
            "sentence-v1/size=120/max=300/unit=chars");
}

}  // namespace
}  // namespace rag::indexer
