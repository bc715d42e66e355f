#include "formats/manifest.h"

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "formats/checksum.h"
#include "tests/formats/damage.h"

namespace rag::formats {
namespace {

using Json = nlohmann::ordered_json;

Manifest SampleManifest() {
  Manifest manifest;
  manifest.generation = 7;
  manifest.created = "2024-05-06T07:08:09Z";
  manifest.program = "rag-index 0.1.0";
  manifest.corpus_root = "/home/ann/notes \"new\"\n";
  manifest.build = {.profile = "docs",
                    .splitter = "structure-v1/target=280",
                    .summarizer = "cover-v1",
                    .embedder = "hashed-v1/dim=384",
                    .token_counter = "script-v1",
                    .source_prefix = "data/",
                    .chunk_dim = 256,
                    .document_dim = 384,
                    .reduction_budget_tokens = 300,
                    .shard_documents = 8192};
  manifest.query = {.scorer = "article",
                    .budget_tokens = 250,
                    .top_documents = 2,
                    .chunks_per_document = 2,
                    .neighbors = true,
                    .header = "full",
                    .count_frame = false};
  manifest.counts = {.documents = 4,
                     .chunks = 40,
                     .parents = 12,
                     .summary_nodes = 9,
                     .segments = 4,
                     .document_vectors = 13,
                     .corpus_bytes = std::numeric_limits<std::uint64_t>::max(),
                     .skipped_files = 1};
  manifest.family_keys = {{"chunks", 40}, {"documents", 4}};
  manifest.family_digests = {{"chunks", Xxh128Hex("c")}, {"documents", Xxh128Hex("d")}};
  manifest.files = {{.path = "chunks-0000.faiss",
                     .size_bytes = 9000,
                     .xxh128 = Xxh128Hex("1"),
                     .header_bytes = 300,
                     .header_xxh3 = ToHex(Xxh3("1"))},
                    {.path = "records/000012.sst",
                     .size_bytes = 0,
                     .xxh128 = Xxh128Hex(""),
                     .header_bytes = 0,
                     .header_xxh3 = ""}};
  return manifest;
}

// `text`, which ends behind the comma of its last member, with a checksum that fits.
std::string Sealed(std::string text) {
  const std::string checksum = ToHex(Xxh3(text));
  return text + "  \"checksum\": \"" + checksum + "\"\n}\n";
}

// The text with some change in its members and a checksum that fits.
std::string Resealed(const std::function<void(Json&)>& change) {
  Json json = Json::parse(EncodeManifest(SampleManifest()));
  json.erase("checksum");
  change(json);
  std::string text = json.dump(2);
  text.resize(text.size() - 2);
  return Sealed(text + ",\n");
}

absl::Status StatusOf(const std::function<void(Json&)>& change) {
  return DecodeManifest(Resealed(change), "MANIFEST.json").status();
}

void ExpectDamage(const std::function<void(Json&)>& change, std::string_view part) {
  const absl::Status status = StatusOf(change);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_NE(std::string(status.message()).find(part), std::string::npos) << status;
}

TEST(Manifest, SampleComesBack) {
  const auto decoded = DecodeManifest(EncodeManifest(SampleManifest()), "MANIFEST.json");
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, SampleManifest());
}

TEST(Manifest, DefaultComesBack) {
  const auto decoded = DecodeManifest(EncodeManifest(Manifest{}), "MANIFEST.json");
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, Manifest{});
}

TEST(Manifest, IsJsonWhoseLastMemberIsTheChecksumOfAllBefore) {
  const std::string text = EncodeManifest(SampleManifest());
  const Json json = Json::parse(text);
  EXPECT_EQ(std::prev(json.end()).key(), "checksum");
  EXPECT_EQ(json["checksum"], ToHex(Xxh3(text.substr(0, text.rfind("  \"checksum\"")))));
  EXPECT_EQ(json["format_version"], kFormatVersion);
}

TEST(Manifest, ResealedTextIsWhatTheEncoderWrites) {
  EXPECT_EQ(Resealed([](Json&) {}), EncodeManifest(SampleManifest()));
}

TEST(Manifest, RootThatIsNotUtfEightIsKeptReadable) {
  Manifest manifest = SampleManifest();
  manifest.corpus_root = "/home/\xff/notes";
  const auto decoded = DecodeManifest(EncodeManifest(manifest), "MANIFEST.json");
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->corpus_root, "/home/\xef\xbf\xbd/notes");
}

TEST(Manifest, EveryCutIsDamage) {
  ForEachCut(EncodeManifest(SampleManifest()), [](std::string_view text) {
    EXPECT_EQ(DecodeManifest(text, "MANIFEST.json").status().code(), absl::StatusCode::kDataLoss);
  });
}

TEST(Manifest, EveryFlipIsDamage) {
  ForEachFlip(EncodeManifest(SampleManifest()), [](std::string_view text) {
    EXPECT_EQ(DecodeManifest(text, "MANIFEST.json").status().code(), absl::StatusCode::kDataLoss);
  });
}

TEST(Manifest, DamageIsNamedWithFileAndOffset) {
  std::string text = EncodeManifest(SampleManifest());
  text[30] ^= 1;
  const absl::Status status = DecodeManifest(text, "gen-000007/MANIFEST.json").status();
  const std::string at = std::to_string(text.rfind("  \"checksum\"") + 15);
  EXPECT_EQ(std::string(status.message()).find("gen-000007/MANIFEST.json: checksum at " + at), 0U)
      << status;
}

TEST(Manifest, AnotherVersionIsNamedAndRefused) {
  const absl::Status status = StatusOf([](Json& json) {
    json["format_version"] = 2;
    json["counts"] = "something that version 1 does not know";
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "MANIFEST.json: format version 2, this program reads version 1; rebuild with rag-index "
            "build");
}

TEST(Manifest, EncoderWritesTheVersionItIsGiven) {
  Manifest manifest = SampleManifest();
  manifest.format_version = 3;
  const auto decoded = DecodeManifest(EncodeManifest(manifest), "MANIFEST.json");
  EXPECT_EQ(decoded.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Manifest, VersionThatIsNoNumberIsDamage) {
  ExpectDamage([](Json& json) { json["format_version"] = "1"; }, "format_version");
  ExpectDamage([](Json& json) { json["format_version"] = -1; }, "format_version");
  ExpectDamage([](Json& json) { json.erase("format_version"); }, "format_version: is missing");
}

TEST(Manifest, TextThatIsNoObjectIsDamage) {
  for (const std::string_view start : {"", "[\n", "{\n,\n", "[1,\n", "\n"}) {
    std::string text(start);
    text += "  \"checksum\": \"" + ToHex(Xxh3(start)) + "\"\n}\n";
    EXPECT_EQ(DecodeManifest(text, "MANIFEST.json").status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(Manifest, TextThatNestsWithoutEndIsDamage) {
  constexpr std::size_t kDepth = 1'000'000;
  const std::string text = Sealed("{\n\"format_version\": " + std::string(kDepth, '[') +
                                  std::string(kDepth, ']') + ",\n");
  EXPECT_TRUE(absl::IsDataLoss(DecodeManifest(text, "MANIFEST.json").status()));
}

TEST(Manifest, MemberThatIsThereTwiceIsDamage) {
  const std::string text = EncodeManifest(SampleManifest());
  for (const std::string member : {"\"generation\": ", "\"chunk_dim\": ", "\"path\": "}) {
    std::string twice = text.substr(0, text.rfind("  \"checksum\""));
    const std::size_t at = twice.find(member);
    ASSERT_NE(at, std::string::npos) << member;
    twice.insert(at, twice.substr(at, twice.find('\n', at) - at));
    const absl::Status status = DecodeManifest(Sealed(twice), "MANIFEST.json").status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_NE(status.message().find("is there twice"), std::string::npos) << status;
  }
}

TEST(Manifest, DamageSaysWhatToDo) {
  const absl::Status status = DecodeManifest("", "MANIFEST.json").status();
  EXPECT_NE(status.message().find("rebuild it with rag-index build"), std::string::npos) << status;
}

TEST(Manifest, FamiliesThatShareTheirNameUpToANulAreTwo) {
  const std::string with_nul("chunks\0b", 8);
  Manifest manifest = SampleManifest();
  manifest.family_keys[with_nul] = 5;
  manifest.family_digests[with_nul] = Xxh128Hex("e");
  EXPECT_EQ(DecodeManifest(EncodeManifest(manifest), "MANIFEST.json").value(), manifest);
}

TEST(Manifest, EveryMissingMemberIsDamage) {
  const Json whole = Json::parse(EncodeManifest(SampleManifest()));
  for (const auto& member : whole.items()) {
    if (member.key() == "checksum") continue;
    ExpectDamage([&](Json& json) { json.erase(member.key()); }, member.key() + ": is missing");
    if (!member.value().is_object()) continue;
    for (const auto& inner : member.value().items()) {
      if (member.key().find("family") == 0) continue;
      ExpectDamage([&](Json& json) { json[member.key()].erase(inner.key()); },
                   member.key() + "." + inner.key() + ": is missing");
    }
  }
}

TEST(Manifest, EveryMemberOfAnotherTypeIsDamage) {
  const Json whole = Json::parse(EncodeManifest(SampleManifest()));
  for (const auto& member : whole.items()) {
    if (member.key() == "checksum") continue;
    ExpectDamage([&](Json& json) { json[member.key()] = nullptr; }, member.key());
    if (!member.value().is_object()) continue;
    for (const auto& inner : member.value().items()) {
      ExpectDamage([&](Json& json) { json[member.key()][inner.key()] = Json::array(); },
                   inner.key());
    }
  }
}

TEST(Manifest, UnknownMembersAreDamage) {
  ExpectDamage([](Json& json) { json["extra"] = 1; }, "expected 13 members, found 14");
  ExpectDamage([](Json& json) { json["build"]["extra"] = 1; }, "build: expected 10 members");
  ExpectDamage([](Json& json) { json["files"][0]["extra"] = 1; }, "files[0]: expected 5 members");
}

TEST(Manifest, NumbersOutOfRangeAreDamage) {
  ExpectDamage([](Json& json) { json["build"]["chunk_dim"] = std::uint64_t{1} << 32; },
               "build.chunk_dim: expected a number from 0 to 4294967295, found 4294967296");
  ExpectDamage([](Json& json) { json["counts"]["chunks"] = -1; }, "counts.chunks");
  ExpectDamage([](Json& json) { json["counts"]["chunks"] = 1.5; }, "counts.chunks");
}

TEST(Manifest, UnknownScorerAndHeaderAreDamage) {
  ExpectDamage([](Json& json) { json["query"]["scorer"] = "magic"; },
               "query.scorer: expected one of bm25 article, found magic");
  ExpectDamage([](Json& json) { json["query"]["header"] = "long"; }, "query.header");
}

TEST(Manifest, FilePathsStayInTheFolder) {
  for (const char* path :
       {"", "/etc/passwd", "..", "../x", "a/../b", "a/..", "./a", "a//b", "a/", "a\\b", "."}) {
    ExpectDamage([&](Json& json) { json["files"][0]["path"] = path; }, "leaves the folder");
  }
  ExpectDamage([](Json& json) { json["files"][0]["path"] = std::string("a\0b", 3); }, "folder");
  EXPECT_TRUE(StatusOf([](Json& json) { json["files"][0]["path"] = "a/..b/c..d"; }).ok());
}

TEST(Manifest, FilesOutOfOrderAreDamage) {
  ExpectDamage([](Json& json) { json["files"][0]["path"] = "records/000012.sst"; },
               "files[1].path: expected above");
}

TEST(Manifest, ChecksumsThatAreNoHexadecimalAreDamage) {
  for (const char* text :
       {"", "abc", "ABCDEF01234567890123456789abcdef", "g0000000000000000000000000000000"}) {
    ExpectDamage([&](Json& json) { json["files"][0]["xxh128"] = text; }, "files[0].xxh128");
    ExpectDamage([&](Json& json) { json["files"][0]["header_xxh3"] = text; }, "header_xxh3");
    ExpectDamage([&](Json& json) { json["family_digests"]["chunks"] = text; },
                 "family_digests.chunks");
  }
}

TEST(Manifest, HeaderLargerThanItsFileIsDamage) {
  ExpectDamage([](Json& json) { json["files"][0]["header_bytes"] = 9001; },
               "files[0].header_bytes");
}

}  // namespace
}  // namespace rag::formats
