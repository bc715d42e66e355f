// Verification of what sound files hold: records, vectors and totals against each other.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/chunk_group.h"
#include "formats/coding.h"
#include "formats/forward_index.h"
#include "formats/keys.h"
#include "formats/records.h"
#include "storage/vector_files.h"
#include "tests/storage/verify_testing.h"

namespace rag::storage {
namespace {

using formats::DocumentKey;
using formats::ItemKey;
using formats::NodeKey;

// The bytes of a record after a change to the decoded one.
template <typename Record>
std::string Changed(const absl::StatusOr<Record>& record,
                    const std::function<void(Record&)>& change) {
  Record copy = record.value();
  change(copy);
  return Encode(copy);
}

constexpr std::uint32_t kChunksPerGroup = 2;

// a.md has several groups of chunks here, which the writer would make of a larger file only.
class VerifyContentsTest : public VerifyTest {
 protected:
  VerifyContentsTest() {
    Store store = ReadStore();
    const auto chunks = formats::DecodeChunkGroup(store["chunks"].at(ItemKey(0, 0))).value();
    for (std::uint32_t first = 0; first < chunks.size(); first += kChunksPerGroup) {
      const auto count = std::min<std::size_t>(kChunksPerGroup, chunks.size() - first);
      store["chunks"][ItemKey(0, first / kChunksPerGroup)] =
          formats::EncodeChunkGroup(std::span(chunks).subspan(first, count)).value();
    }
    std::string& value = store["documents"].at(DocumentKey(0));
    value = Changed<formats::DocumentRecord>(
        formats::DecodeDocument(value),
        [](formats::DocumentRecord& record) { record.chunks_per_group = kChunksPerGroup; });
    WriteStore(store, /*consistent=*/true);
  }

  // Changes the chunks of a group of a.md.
  static void ChangeGroup(Store& store, std::uint32_t group,
                          const std::function<void(std::vector<formats::ChunkRecord>&)>& change) {
    std::string& value = store["chunks"].at(ItemKey(0, group));
    std::vector<formats::ChunkRecord> chunks = formats::DecodeChunkGroup(value).value();
    change(chunks);
    value = formats::EncodeChunkGroup(chunks).value();
  }

  // Changes the store, keeps the manifest consistent with it, and asserts the problem.
  void ExpectStoreProblem(const std::function<void(Store&)>& change,
                          const std::vector<std::string>& texts) const {
    Store store = ReadStore();
    change(store);
    WriteStore(store, /*consistent=*/true);
    ExpectProblem(texts);
  }

  void ExpectChunkProblem(std::uint32_t chunk,
                          const std::function<void(formats::ChunkRecord&)>& change,
                          const std::string& text) const {
    ExpectStoreProblem(
        [&](Store& store) {
          ChangeGroup(store, chunk / kChunksPerGroup,
                      [&](auto& chunks) { change(chunks[chunk % kChunksPerGroup]); });
        },
        {"chunks 0/" + std::to_string(chunk) + " of a.md: ", text});
  }

  void ExpectDocumentProblem(const std::function<void(formats::DocumentRecord&)>& change,
                             const std::vector<std::string>& texts) const {
    ExpectStoreProblem(
        [&](Store& store) {
          std::string& value = store["documents"].at(DocumentKey(0));
          value = Changed<formats::DocumentRecord>(formats::DecodeDocument(value), change);
        },
        texts);
  }
};

TEST_F(VerifyContentsTest, ADeletedRecordChangesCountAndDigest) {
  Store store = ReadStore();
  store["chunks"].erase(ItemKey(0, 1));
  WriteStore(store, /*consistent=*/false);
  ExpectProblem({"gen-000001/records: chunks: has ", " keys, the manifest says "});
  ExpectProblem({"gen-000001/records: chunks: content digest is "});
}

TEST_F(VerifyContentsTest, ADeletedRecordLeavesAHole) {
  ExpectStoreProblem([](Store& store) { store["chunks"].erase(ItemKey(0, 0)); },
                     {"chunks 0/group 1 of a.md", "expected group 0 next"});
}

TEST_F(VerifyContentsTest, TheContentsAreSoundToBeginWith) {
  EXPECT_EQ(Verify().problems, std::vector<std::string>());
}

TEST_F(VerifyContentsTest, AGroupThatIsNotFullIsNamed) {
  ExpectStoreProblem(
      [](Store& store) { ChangeGroup(store, 0, [](auto& chunks) { chunks.pop_back(); }); },
      {"chunks 0/group 0 of a.md", "has 1 chunks, expected 2"});
}

TEST_F(VerifyContentsTest, AGroupBehindTheLastChunkIsNamed) {
  ExpectStoreProblem(
      [](Store& store) { store["chunks"][ItemKey(0, 9)] = store["chunks"].at(ItemKey(0, 0)); },
      {"chunks 0/group 9 of a.md", "has 2 chunks, expected 0"});
}

TEST_F(VerifyContentsTest, AChunkThatDoesNotDecodeIsNamed) {
  ExpectChunkProblem(
      3, [](formats::ChunkRecord& chunk) { chunk.text += "x"; }, "text: the range has");
}

TEST_F(VerifyContentsTest, ADamagedGroupIsTheOnlyProblem) {
  Store store = ReadStore();
  store["chunks"].at(ItemKey(0, 1)) = "\x01zstd";
  WriteStore(store, /*consistent=*/true);
  const VerifyReport report = Verify();
  ASSERT_EQ(report.problems.size(), 1U) << ::testing::PrintToString(report.problems);
  EXPECT_NE(report.problems[0].find("chunks 0/group 1 of a.md: "), std::string::npos);
}

TEST_F(VerifyContentsTest, AChangedValueChangesTheDigest) {
  Store store = ReadStore();
  store["chunks"].at(ItemKey(1, 0)).back() ^= 1;
  WriteStore(store, /*consistent=*/false);
  ExpectProblem({"records: chunks: content digest is "});
}

TEST_F(VerifyContentsTest, RecordsOfNoDocumentAreNamedByTheirKeys) {
  for (const std::string family : {"parents", "chunks", "terms"}) {
    const Store sound = ReadStore();
    ExpectStoreProblem(
        [&](Store& store) { store[family][ItemKey(9, 0)] = store[family].begin()->second; },
        {"records: " + family + ": key 0000000900000000", "belongs to no document"});
    WriteStore(sound, /*consistent=*/true);
  }
}

TEST_F(VerifyContentsTest, SummariesOfNoDocumentAreNamed) {
  ExpectStoreProblem(
      [](Store& store) {
        store["summaries"][NodeKey(2, 9, 0)] = store["summaries"].begin()->second;
      },
      {"summaries 2/9/0 of c.md", "level"});
}

TEST_F(VerifyContentsTest, ADocumentThatIsGoneIsNamed) {
  ExpectStoreProblem([](Store& store) { store["documents"].erase(DocumentKey(1)); },
                     {"records: documents: key 00000002", "expected 1"});
  ExpectProblem({"records: chunks: key 0000000100000000", "belongs to no document"});
}

TEST_F(VerifyContentsTest, AKeyOfWrongLengthIsNamed) {
  ExpectStoreProblem([](Store& store) { store["parents"]["abc"] = "x"; },
                     {"records: parents: key 616263", "length"});
}

TEST_F(VerifyContentsTest, ARecordThatDoesNotDecodeIsNamed) {
  ExpectStoreProblem([](Store& store) { store["documents"].at(DocumentKey(1)) = "\x01"; },
                     {"records: documents: key 00000001"});
  ExpectStoreProblem([](Store& store) { store["chunks"].at(ItemKey(0, 1)) = "\x09"; },
                     {"records: chunks 0/group 1"});
  ExpectStoreProblem([](Store& store) { store["parents"].at(ItemKey(0, 0)) = ""; },
                     {"records: parents 0/0"});
  ExpectStoreProblem([](Store& store) { store["terms"].at(ItemKey(2, 0)) = ""; },
                     {"records: terms 2/0"});
  ExpectStoreProblem([](Store& store) { store["summaries"].at(NodeKey(0, 0, 0)) = ""; },
                     {"records: summaries 0/0/0"});
}

TEST_F(VerifyContentsTest, ASourceThatMapsToAnotherDocumentIsNamed) {
  formats::ByteWriter two;
  two.Varint(2);
  ExpectStoreProblem([&](Store& store) { store["sources"].at("b.txt") = two.view(); },
                     {"records: sources: key 622e747874", "names document 2"});
}

TEST_F(VerifyContentsTest, AMissingSourceIsNamed) {
  ExpectStoreProblem([](Store& store) { store["sources"].erase("b.txt"); },
                     {"records: sources", "b.txt", "not there"});
}

TEST_F(VerifyContentsTest, ASourceWithoutADocumentIsNamed) {
  ExpectStoreProblem([](Store& store) { store["sources"]["b.md"] = std::string(1, '\0'); },
                     {"records: sources: key 622e6d64", "belongs to no document"});
}

TEST_F(VerifyContentsTest, AChunkThatStartsBeforeTheOneBeforeEndsIsNamed) {
  ExpectChunkProblem(
      1,
      [](formats::ChunkRecord& chunk) {
        chunk.summary = {};
        chunk.range = {0, chunk.text.size()};
      },
      "starts before");
}

// Starts `by` bytes earlier.
void Widen(formats::ChunkRecord& chunk, std::uint64_t by) {
  chunk.range.start -= by;
  chunk.text.insert(0, by, 'x');
}

TEST_F(VerifyContentsTest, ChunksMayOverlapWhereTheSplitterDoes) {
  Store store = ReadStore();
  ChangeGroup(store, 0, [](auto& chunks) { Widen(chunks[1], 6); });
  for (const auto& [splitter, sound] :
       {std::pair{"recursive-v1/size=40/overlap=9/unit=chars", true},
        std::pair{"recursive-v1/size=40/overlap=0/unit=chars", false},
        std::pair{"structure-v2/target=40/cap=200/max=400", false}}) {
    WriteStore(store, /*consistent=*/true);
    ChangeManifest([&](formats::Manifest& manifest) { manifest.build.splitter = splitter; });
    EXPECT_EQ(Verify().problems.empty(), sound) << splitter;
  }
}

TEST_F(VerifyContentsTest, AChunkInsideTheOneBeforeIsNamedWhateverTheSplitter) {
  ChangeManifest([](formats::Manifest& manifest) {
    manifest.build.splitter = "tokens-v1/size=40/overlap=39/unit=chars4-v1";
  });
  // From where the one before starts.
  ExpectChunkProblem(
      1, [](formats::ChunkRecord& chunk) { Widen(chunk, chunk.range.start); }, "does not go on");
  // To where the one before ends.
  ExpectStoreProblem(
      [](Store& store) {
        ChangeGroup(store, 0, [](auto& chunks) {
          chunks[1].summary = {};
          chunks[1].range = {chunks[0].range.start + 1, chunks[0].range.end};
          chunks[1].text.assign(chunks[1].range.size(), 'x');
        });
      },
      {"chunks 0/1 of a.md: ", "does not go on"});
}

TEST_F(VerifyContentsTest, AChunkOutsideItsFileIsNamed) {
  ExpectChunkProblem(
      1,
      [](formats::ChunkRecord& chunk) {
        chunk.summary = {};
        chunk.range = {9000, 9000 + chunk.text.size()};
      },
      "exceeds the file's");
}

TEST_F(VerifyContentsTest, AChunkOfAParentThatDoesNotExistIsNamed) {
  ExpectChunkProblem(
      1, [](formats::ChunkRecord& chunk) { chunk.parent = 77; }, "names parent 77");
}

TEST_F(VerifyContentsTest, AChunkOfAnotherParentIsNamed) {
  ExpectChunkProblem(
      0, [](formats::ChunkRecord& chunk) { chunk.parent = 1; }, "which does not have it");
}

TEST_F(VerifyContentsTest, ParentsThatDoNotTileTheChunksAreNamed) {
  ExpectStoreProblem(
      [](Store& store) {
        std::string& value = store["parents"].at(ItemKey(0, 1));
        value = Changed<formats::ParentRecord>(formats::DecodeParent(value),
                                               [](formats::ParentRecord& p) { ++p.first_chunk; });
      },
      {"parents 0/1 of a.md", "the parents before it end at"});
}

TEST_F(VerifyContentsTest, ANodeThatLeavesOutAChildIsNamed) {
  ExpectStoreProblem(
      [](Store& store) {
        std::string& value = store["summaries"].at(NodeKey(2, 0, 0));
        value = Changed<formats::SummaryNode>(formats::DecodeSummaryNode(value),
                                              [](formats::SummaryNode& n) { --n.num_children; });
      },
      {"summaries 2/0 of c.md", "the level covers"});
}

TEST_F(VerifyContentsTest, ASegmentOfOtherChunksIsNamed) {
  ExpectStoreProblem(
      [](Store& store) {
        std::string& value = store["terms"].at(ItemKey(0, 0));
        value = Changed<formats::ForwardSegment>(
            formats::DecodeForwardSegment(value),
            [](formats::ForwardSegment& segment) { segment.first_chunk = 5; });
      },
      {"terms 0/0 of a.md", "starts at chunk 5"});
}

TEST_F(VerifyContentsTest, ASegmentWithTooFewChunksIsNamed) {
  ExpectStoreProblem(
      [](Store& store) {
        std::string& value = store["terms"].at(ItemKey(0, 0));
        value = Changed<formats::ForwardSegment>(
            formats::DecodeForwardSegment(value),
            [](formats::ForwardSegment& segment) { segment.chunks.pop_back(); });
      },
      {"terms 0 of a.md", "segments cover"});
}

TEST_F(VerifyContentsTest, WrongCountsOfADocumentAreNamed) {
  using Record = formats::DocumentRecord;
  ExpectDocumentProblem([](Record& r) { ++r.num_chunks; }, {"chunks 0 of a.md", "found"});
  ExpectDocumentProblem([](Record& r) { ++r.chunks_per_group; },
                        {"chunks 0/group 0 of a.md", "has 2 chunks, expected 3"});
  ExpectDocumentProblem([](Record& r) { ++r.num_parents; }, {"parents 0 of a.md", "found"});
  ExpectDocumentProblem([](Record& r) { ++r.num_segments; }, {"terms 0 of a.md", "found"});
  ExpectDocumentProblem([](Record& r) { r.level_sizes.push_back(1); },
                        {"summaries 0 of a.md", "levels"});
  ExpectDocumentProblem([](Record& r) { r.size_bytes = 3; }, {"chunks 0/0 of a.md", "exceeds"});
}

TEST_F(VerifyContentsTest, WrongTotalsAreNamed) {
  const formats::Manifest sound = Manifest();
  const std::vector<std::pair<std::string, std::uint64_t formats::Counts::*>> totals = {
      {"counts.chunks", &formats::Counts::chunks},
      {"counts.parents", &formats::Counts::parents},
      {"counts.summary_nodes", &formats::Counts::summary_nodes},
      {"counts.segments", &formats::Counts::segments},
      {"counts.document_vectors", &formats::Counts::document_vectors},
      {"counts.documents", &formats::Counts::documents},
      {"counts.corpus_bytes", &formats::Counts::corpus_bytes}};
  for (const auto& [name, member] : totals) {
    ChangeManifest([&](formats::Manifest& manifest) { ++(manifest.counts.*member); });
    ExpectProblem({name});
    WriteManifest(sound);
  }
}

TEST_F(VerifyContentsTest, WrongKeyCountsAndDigestsAreNamed) {
  ChangeManifest([](formats::Manifest& manifest) {
    ++manifest.family_keys["terms"];
    manifest.family_digests["sources"] = std::string(32, '0');
    manifest.family_keys.erase("parents");
  });
  ExpectProblem({"gen-000001/records: terms: has "});
  ExpectProblem({"gen-000001/records: sources: content digest"});
  ExpectProblem({"gen-000001/records: parents: ", "does not name"});
}

TEST_F(VerifyContentsTest, ChunkListsOfOtherSizesAreNamed) {
  const formats::Manifest manifest = Manifest();
  const std::uint32_t dim = manifest.build.chunk_dim;
  const auto writer = ChunkShardWriter::Create(generation_ / "chunks-0000.faiss", dim, 8).value();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(writer->AddDocument(std::vector<std::uint8_t>(dim)).ok());
  }
  const VectorFileInfo info = writer->Finish().value();
  ChangeManifest([&](formats::Manifest& changed) {
    for (auto& file : changed.files) {
      if (file.path == "chunks-0000.faiss") file.header_bytes = info.header_bytes;
    }
  });
  ExpectProblem({"gen-000001/chunks-0000.faiss: list 0 has 1 vectors"});
}

class VerifyDocumentVectorsTest : public VerifyContentsTest {
 protected:
  // Replaces docs.faiss by one with that many rows a document.
  void WriteRows(const std::vector<int>& rows_per_document) const {
    const std::uint32_t dim = Manifest().build.document_dim;
    DocumentVectorsWriter writer(dim, 8);
    for (std::uint32_t i = 0; i < rows_per_document.size(); ++i) {
      const auto rows = static_cast<std::size_t>(rows_per_document[i]);
      writer.Add(i, std::vector<std::uint8_t>(rows * dim));
    }
    ASSERT_TRUE(writer.Finish(generation_ / kDocumentVectorsFile).ok());
    WriteManifest(Manifest());
  }
};

TEST_F(VerifyDocumentVectorsTest, ADocumentWithoutRowsIsNamed) {
  WriteRows({2, 0, 2});
  ExpectProblem({"gen-000001/docs.faiss: document 1 has 0 rows, expected 2"});
}

TEST_F(VerifyDocumentVectorsTest, RowsOfNoDocumentAreNamed) {
  WriteRows({2, 2, 2, 1});
  ExpectProblem({"gen-000001/docs.faiss: list 0 has a row of document 3 of 3"});
}

// A query takes memory by these numbers, so they are refused before it does.
TEST_F(VerifyContentsTest, SizesOfVectorsThatAreNotTheirsAreNamed) {
  for (const std::uint32_t dim : {0U, 63U, 4'000'000'000U}) {
    ChangeManifest([&](formats::Manifest& manifest) { manifest.build.chunk_dim = dim; });
    ExpectProblem({dim == 63 ? "dimensions, expected 63" : "build.chunk_dim is "});
  }
}

TEST_F(VerifyContentsTest, SizesOfDocumentVectorsThatAreNotTheirsAreNamed) {
  for (const std::uint32_t dim : {0U, 63U, 4'000'000'000U}) {
    ChangeManifest([&](formats::Manifest& manifest) { manifest.build.document_dim = dim; });
    ExpectProblem({"gen-000001/MANIFEST.json: build.document_dim is "});
  }
}

TEST_F(VerifyContentsTest, MoreDocumentsThanAnyIndexHasAreNamed) {
  ChangeManifest([](formats::Manifest& manifest) { manifest.counts.documents = ~0ULL; });
  ExpectProblem({"gen-000001/MANIFEST.json: 18446744073709551615 documents need"});
}

TEST_F(VerifyContentsTest, TermsThatDoNotAscendAreNamed) {
  constexpr std::size_t kFirstHash = 128;
  std::string bytes = testing::ReadAll(generation_ / "model/terms.bin");
  std::swap_ranges(bytes.begin() + kFirstHash, bytes.begin() + kFirstHash + 8,
                   bytes.begin() + kFirstHash + 8);
  folder_.Write("index/gen-000001/model/terms.bin", bytes);
  WriteManifest(Manifest());
  ExpectProblem({"gen-000001/model/terms.bin: row 1: hashes do not ascend"});
}

TEST_F(VerifyContentsTest, ListsOfRareDocumentsThatDoNotFitTheFrequencyAreNamed) {
  std::string bytes = testing::ReadAll(generation_ / "model/terms.bin");
  const auto table = formats::TermTableView::Open(bytes, "terms.bin").value();
  // Behind the hashes and the frequencies in chunks, each filled up to 64 bytes.
  const std::size_t rows = table.size();
  const std::size_t frequencies = 128 + (rows * 8 + 63) / 64 * 64 + (rows * 4 + 63) / 64 * 64;
  ASSERT_EQ(bytes[frequencies], 1);
  bytes[frequencies] = 3;
  folder_.Write("index/gen-000001/model/terms.bin", bytes);
  WriteManifest(Manifest());
  ExpectProblem({"gen-000001/model/terms.bin: row 0: names 1 rare documents, expected 3"});
}

}  // namespace
}  // namespace rag::storage
