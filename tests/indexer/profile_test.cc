#include "indexer/profile.h"

#include <string>

#include <gtest/gtest.h>

#include "formats/chunk_header.h"
#include "models/token_counter.h"

namespace rag::indexer {
namespace {

Profile Find(const char* name) { return FindProfile(name).value(); }

TEST(Profile, UnknownNamesAreRefusedWithThoseThatExist) {
  for (const char* name : {"", "Default", "legal"}) {
    const absl::Status status = FindProfile(name).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_NE(status.message().find("default"), std::string::npos) << status;
    EXPECT_NE(status.message().find("article"), std::string::npos) << status;
  }
}

TEST(Profile, EveryProfileIsComplete) {
  for (const char* name : {"default", "article"}) {
    const Profile profile = Find(name);
    EXPECT_EQ(profile.name, name);
    EXPECT_TRUE(MakeSplitter(profile).ok());
    EXPECT_TRUE(models::MakeTokenCounter(profile.token_counter).ok());
    EXPECT_TRUE(formats::ParseHeaderStyle(profile.query.header).ok());
    EXPECT_GT(profile.chunk_dim, 0U);
    EXPECT_GT(profile.document_dim, 0U);
    EXPECT_GT(profile.query.budget_tokens, 0U);
  }
}

TEST(Profile, TheArticlesConstantsAreTheArticles) {
  const Profile profile = Find("article");

  EXPECT_EQ(profile.article_size, 420U);
  EXPECT_EQ(profile.reduction.budget_tokens, 90U);
  EXPECT_EQ(profile.query.budget_tokens, 250U);
  EXPECT_EQ(profile.query.top_documents, 2U);
  EXPECT_EQ(profile.query.chunks_per_document, 2U);
  EXPECT_TRUE(profile.query.neighbors);
  EXPECT_EQ(profile.query.header, "full");
  EXPECT_FALSE(profile.query.count_frame);
}

TEST(Profile, ComponentsAreNamedByRuleAndSizes) {
  Profile profile = Find("default");
  profile.structure = {.target = 100, .cap = 200, .hard_max = 300};
  const auto idf = [](std::uint64_t) { return 1.0; };

  EXPECT_EQ(MakeSplitter(profile).value()->Id(), "structure-v2/target=100/cap=200/max=300");
  EXPECT_NE(MakeSplitter(profile).value()->Id(), MakeSplitter(Find("article")).value()->Id());
  EXPECT_NE(MakeSummarizer(profile, idf)->Id(), MakeSummarizer(Find("article"), idf)->Id());
}

TEST(Profile, ImpossibleSizesAreRefused) {
  Profile profile = Find("default");
  for (const StructureSizes& sizes :
       {StructureSizes{.target = 0}, StructureSizes{.target = 500, .cap = 400},
        StructureSizes{.cap = 2000}}) {
    profile.structure = sizes;
    EXPECT_TRUE(absl::IsInvalidArgument(MakeSplitter(profile).status()));
  }
}

TEST(Profile, EverySplitterCanBeChosen) {
  Profile profile = Find("default");
  profile.recursive = {.size = 90};
  profile.sentence = {.size = 80, .hard_max = 500};
  profile.tokens = {.size = 70};
  const auto id = [&](const char* splitter) {
    profile.splitter = ParseSplitterKind(splitter).value();
    EXPECT_EQ(ToString(profile.splitter), splitter);
    return MakeSplitter(profile).value()->Id();
  };

  EXPECT_EQ(id("structure"), "structure-v2/target=280/cap=360/max=1680");
  EXPECT_EQ(id("article"), "article-v1/size=420");
  EXPECT_EQ(id("recursive"), "recursive-v1/size=90/overlap=0/unit=chars");
  EXPECT_EQ(id("sentence"), "sentence-v1/size=80/max=500/unit=chars");
  EXPECT_EQ(id("tokens"), "tokens-v1/size=70/overlap=0/unit=chars4-v1");
  profile.chunk_unit = ChunkUnit::kTokens;
  EXPECT_EQ(id("recursive"), "recursive-v1/size=90/overlap=0/unit=chars4-v1");
  EXPECT_EQ(id("sentence"), "sentence-v1/size=80/max=500/unit=chars4-v1");
}

TEST(Profile, UnknownSplittersAreRefusedWithThoseThatExist) {
  for (const char* name : {"", "Structure", "semantic"}) {
    const absl::Status status = ParseSplitterKind(name).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_NE(status.message().find("recursive"), std::string::npos) << status;
  }
}

TEST(Profile, AnOverlapIsNotBuiltYet) {
  Profile profile = Find("default");
  for (const SplitterKind kind : {SplitterKind::kRecursive, SplitterKind::kTokens}) {
    profile.splitter = kind;
    profile.recursive = {.size = 90, .overlap = 20};
    profile.tokens = {.size = 90, .overlap = 20};
    const absl::Status status = MakeSplitter(profile).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_NE(status.message().find("20"), std::string::npos) << status;
  }
}

TEST(DocumentId, IsTheSourceByDefault) {
  EXPECT_EQ(DocumentId(DocIdStyle::kSource, 6, "data/a b/notes.v2.md"), "data/a b/notes.v2.md");
}

TEST(DocumentId, OfTheArticleHasNumberAndStem) {
  EXPECT_EQ(DocumentId(DocIdStyle::kArticle, 2, "data/large_rag_notes.md"),
            "doc-003-large_rag_notes");
  EXPECT_EQ(DocumentId(DocIdStyle::kArticle, 999, "notes.v2.md"), "doc-1000-notes.v2");
}

}  // namespace
}  // namespace rag::indexer
