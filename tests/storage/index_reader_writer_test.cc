#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "formats/chunk_group.h"
#include "formats/forward_index.h"
#include "formats/keys.h"
#include "formats/term_table.h"
#include "storage/generation.h"
#include "storage/index_reader.h"
#include "storage/index_writer.h"
#include "tests/testing/temp_folder.h"

namespace rag::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kChunkDim = 8;
constexpr std::uint32_t kDocumentDim = 16;
constexpr float kRange = 4;

// A vector that points along one axis.
std::vector<float> Axis(std::uint32_t dim, std::uint32_t axis, float length = 1) {
  std::vector<float> vector(dim, 0.0F);
  vector[axis % dim] = length;
  return vector;
}

void AppendCode(std::uint32_t dim, std::uint32_t axis, std::vector<std::uint8_t>& codes) {
  const absl::Status status = VectorCodec(dim, kRange).Encode(Axis(dim, axis, 3), codes);
  EXPECT_TRUE(status.ok()) << status;
}

constexpr std::uint32_t kChunksPerGroup = 2;

std::vector<formats::ChunkRecord> MakeChunks(std::uint32_t n) {
  std::vector<formats::ChunkRecord> chunks(n % 4 + 1);
  std::uint64_t at = 0;
  for (std::uint32_t i = 0; i < chunks.size(); ++i) {
    formats::ChunkRecord& chunk = chunks[i];
    chunk.text = "d" + std::to_string(100 + n) + " chunk " + std::to_string(i);
    chunk.range = {at, at + chunk.text.size()};
    chunk.summary.spans = {chunk.range};
    at = chunk.range.end + 2;
  }
  return chunks;
}

// Document number `n` with `n % 4 + 1` chunks; chunk i points along axis i, the document along n.
DocumentBundle MakeBundle(std::uint32_t n) {
  DocumentBundle bundle;
  const std::uint32_t num_chunks = n % 4 + 1;
  const std::string name = "d" + std::to_string(100 + n);
  formats::ForwardSegment segment;
  segment.sections.push_back({});
  const std::vector<formats::ChunkRecord> chunks = MakeChunks(n);
  for (std::uint32_t i = 0; i < num_chunks; i += kChunksPerGroup) {
    const std::span group = std::span(chunks).subspan(i, std::min(kChunksPerGroup, num_chunks - i));
    bundle.chunk_groups.push_back(formats::EncodeChunkGroup(group).value());
  }
  for (std::uint32_t i = 0; i < num_chunks; ++i) {
    formats::ChunkTerms terms;
    terms.length = i + 1;
    terms.terms = {{n, 1}, {100 + i, i + 1}};
    segment.chunks.push_back(terms);
    AppendCode(kChunkDim, i, bundle.chunk_codes);
  }
  formats::ParentRecord parent;
  parent.range = {0, chunks.back().range.end};
  parent.num_chunks = num_chunks;
  parent.heading_path = name;
  bundle.parents = {formats::Encode(parent)};
  bundle.segments = {formats::Encode(segment)};
  formats::SummaryNode node;
  node.num_children = num_chunks;
  node.summary.text = "all of " + name;
  bundle.levels = {{formats::Encode(node)}};
  bundle.document.doc_id = name;
  bundle.document.source = name + ".md";
  bundle.document.num_chunks = num_chunks;
  bundle.document.num_parents = 1;
  bundle.document.num_segments = 1;
  bundle.document.chunks_per_group = kChunksPerGroup;
  bundle.document.level_sizes = {1};
  AppendCode(kDocumentDim, n, bundle.document_codes);
  AppendCode(kDocumentDim, n + 1, bundle.document_codes);
  return bundle;
}

class IndexReaderWriter : public ::testing::Test {
 protected:
  IndexReaderWriter() {
    build_.profile = "test";
    build_.chunk_dim = kChunkDim;
    build_.document_dim = kDocumentDim;
    build_.shard_documents = 3;
  }

  [[nodiscard]] fs::path Index() const { return folder_.path() / "index"; }
  [[nodiscard]] std::unique_ptr<IndexWriter> Create() const {
    return IndexWriter::Create(Index(), build_, kRange).value();
  }

  // Writes and publishes a generation of `n` documents.
  formats::Manifest Write(std::uint32_t n) {
    const WriterLock lock = WriterLock::Acquire(Index()).value();
    const auto writer = Create();
    for (std::uint32_t i = 0; i < n; ++i) {
      const absl::Status status = writer->Add(MakeBundle(i));
      EXPECT_TRUE(status.ok()) << status;
    }
    const absl::Status status = writer->SetTermTable(Terms(n));
    EXPECT_TRUE(status.ok()) << status;
    formats::Manifest manifest;
    manifest.program = "test";
    manifest.counts.corpus_bytes = 12345;
    manifest.counts.skipped_files = 6;
    return writer->Publish(manifest, 2).value();
  }

  static std::string Terms(std::uint32_t n) {
    const formats::TermRow row{.hash = 42, .chunk_frequency = n, .document_frequency = n};
    return formats::EncodeTermTable({.num_documents = n}, {&row, 1});
  }

  [[nodiscard]] std::unique_ptr<IndexReader> Open() const {
    return IndexReader::Open(Index()).value();
  }
  [[nodiscard]] absl::Status OpenStatus() const { return IndexReader::Open(Index()).status(); }

  testing::TempFolder folder_;
  formats::BuildParams build_;
};

TEST_F(IndexReaderWriter, EveryRecordComesBack) {
  Write(7);

  const auto reader = Open();

  for (std::uint32_t i = 0; i < 7; ++i) {
    const DocumentBundle bundle = MakeBundle(i);
    EXPECT_EQ(reader->Document(i).value(), bundle.document);
    EXPECT_EQ(formats::Encode(reader->Parent(i, 0).value()), bundle.parents[0]);
    const IndexReader::ChunkRef segment{i, 0};
    EXPECT_EQ(reader->Segments({&segment, 1}).value(), bundle.segments);
    const std::vector<formats::ChunkRecord> chunks = MakeChunks(i);
    for (std::uint32_t chunk = 0; chunk < chunks.size(); ++chunk) {
      const IndexReader::ChunkRef ref{i, chunk};
      EXPECT_EQ(reader->Chunks({&ref, 1}).value().at(0), chunks[chunk]);
    }
    const std::string node =
        reader->records().Get(formats::kSummariesFamily, formats::NodeKey(i, 0, 0)).value();
    EXPECT_EQ(node, bundle.levels[0][0]);
  }
}

TEST_F(IndexReaderWriter, RecordsComeInTheOrderInWhichTheyAreAskedFor) {
  Write(7);
  const auto reader = Open();
  const std::vector<IndexReader::ChunkRef> refs = {{6, 2}, {3, 1}, {0, 0}, {3, 3},
                                                   {0, 0}, {3, 0}, {3, 2}};

  const std::vector<formats::ChunkRecord> chunks = reader->Chunks(refs).value();

  ASSERT_EQ(chunks.size(), refs.size());
  for (std::size_t i = 0; i < refs.size(); ++i) {
    EXPECT_EQ(chunks[i], MakeChunks(refs[i].document)[refs[i].chunk]);
  }
  const std::vector<std::uint32_t> ordinals = {5, 0, 5};
  EXPECT_EQ(reader->Documents(ordinals).value().at(2).doc_id, "d105");
}

TEST_F(IndexReaderWriter, WhoKnowsTheGroupsNeedsNoDocumentRecord) {
  Write(7);
  const auto reader = Open();
  const std::vector<IndexReader::ChunkRef> refs = {{6, 2}, {3, 3}, {3, 2}};
  const std::vector<std::uint32_t> chunks_per_group(3, kChunksPerGroup);

  EXPECT_EQ(reader->Chunks(refs, chunks_per_group).value(), reader->Chunks(refs).value());
}

TEST_F(IndexReaderWriter, AskingForNothingGivesNothing) {
  Write(1);
  const auto reader = Open();

  EXPECT_TRUE(reader->Chunks({}).value().empty());
  EXPECT_TRUE(reader->Documents({}).value().empty());
  EXPECT_TRUE(reader->Segments({}).value().empty());
}

TEST_F(IndexReaderWriter, WhatIsNotThereIsAnError) {
  Write(2);
  const auto reader = Open();

  EXPECT_TRUE(absl::IsDataLoss(reader->Document(2).status()));
  // No such document, no such group, no such chunk in the last group.
  for (const IndexReader::ChunkRef ref : {IndexReader::ChunkRef{2, 0}, {1, 9}, {0, 1}}) {
    EXPECT_TRUE(absl::IsDataLoss(reader->Chunks({&ref, 1}).status())) << ref.document;
  }
  EXPECT_TRUE(absl::IsNotFound(reader->Parent(0, 1).status()));
}

TEST_F(IndexReaderWriter, EachDocumentHasItsOwnVectorsInEveryShard) {
  Write(8);
  const auto reader = Open();

  for (std::uint32_t document = 0; document < 8; ++document) {
    const std::uint32_t num_chunks = document % 4 + 1;
    for (std::uint32_t chunk = 0; chunk < num_chunks; ++chunk) {
      const auto hits = reader->SearchDocument(document, Axis(kChunkDim, chunk), 10).value();
      ASSERT_EQ(hits.size(), num_chunks);
      EXPECT_EQ(hits[0].id, chunk);
      EXPECT_NEAR(hits[0].score, 3, 0.05);
    }
  }
}

TEST_F(IndexReaderWriter, ADocumentBeyondTheLastIsOutOfRange) {
  Write(4);
  const auto reader = Open();

  for (const std::uint32_t document : {4U, 6U, 4'000'000'000U}) {
    EXPECT_TRUE(
        absl::IsOutOfRange(reader->SearchDocument(document, Axis(kChunkDim, 0), 1).status()))
        << document;
  }
}

TEST_F(IndexReaderWriter, DocumentVectorsCarryTheirOrdinals) {
  Write(8);
  const auto reader = Open();

  EXPECT_EQ(reader->document_vectors().num_rows(), 16U);
  for (std::uint32_t document = 0; document < 8; ++document) {
    const auto hits =
        reader->document_vectors().SearchDistinct(Axis(kDocumentDim, document + 1), 3, 1).value();
    // Its second row, and the first one of its successor.
    ASSERT_GE(hits.size(), 2U);
    EXPECT_EQ(hits[0].id, document);
    EXPECT_NEAR(hits[0].score, 3, 0.05);
  }
}

TEST_F(IndexReaderWriter, TheTermTableComesBack) {
  Write(5);

  const auto reader = Open();

  EXPECT_EQ(reader->terms().totals().num_documents, 5U);
  EXPECT_EQ(reader->terms().Find(42)->chunk_frequency, 5U);
}

TEST_F(IndexReaderWriter, TheManifestCountsWhatWasAdded) {
  const formats::Manifest manifest = Write(7);

  EXPECT_EQ(manifest.counts, (formats::Counts{.documents = 7,
                                              .chunks = 1 + 2 + 3 + 4 + 1 + 2 + 3,
                                              .parents = 7,
                                              .summary_nodes = 7,
                                              .segments = 7,
                                              .document_vectors = 14,
                                              .corpus_bytes = 12345,
                                              .skipped_files = 6}));
  EXPECT_EQ(manifest.generation, 1U);
  EXPECT_EQ(manifest.build, build_);
  EXPECT_EQ(manifest.program, "test");
  EXPECT_EQ(manifest, Open()->manifest());
}

TEST_F(IndexReaderWriter, ShardsAreAsLargeAsTheParametersSay) {
  for (const auto& [documents, shards] :
       std::map<std::uint32_t, std::uint32_t>{{1, 1}, {3, 1}, {4, 2}, {6, 2}, {7, 3}}) {
    const formats::Manifest manifest = Write(documents);
    EXPECT_EQ(std::count_if(manifest.files.begin(), manifest.files.end(),
                            [](const auto& file) { return file.path.starts_with("chunks-"); }),
              shards)
        << documents << " documents";
  }
}

TEST_F(IndexReaderWriter, AnIndexOfNoDocumentsOpens) {
  Write(0);

  const auto reader = Open();

  EXPECT_EQ(reader->manifest().counts.documents, 0U);
  EXPECT_EQ(reader->document_vectors().num_rows(), 0U);
  EXPECT_TRUE(absl::IsOutOfRange(reader->SearchDocument(0, Axis(kChunkDim, 0), 1).status()));
}

TEST_F(IndexReaderWriter, TheManifestDescribesEveryFile) {
  const formats::Manifest manifest = Write(4);

  const fs::path root = Open()->folder();
  for (const formats::FileEntry& file : manifest.files) {
    EXPECT_EQ(fs::file_size(root / file.path), file.size_bytes) << file.path;
  }
  EXPECT_TRUE(std::is_sorted(manifest.files.begin(), manifest.files.end(),
                             [](const auto& a, const auto& b) { return a.path < b.path; }));
}

TEST_F(IndexReaderWriter, WithoutPublishTheOldGenerationStays) {
  Write(2);
  {
    const WriterLock lock = WriterLock::Acquire(Index()).value();
    const auto writer = Create();
    EXPECT_EQ(writer->generation(), 2U);
    ASSERT_TRUE(writer->Add(MakeBundle(0)).ok());
  }

  EXPECT_EQ(Open()->manifest().counts.documents, 2U);
  EXPECT_FALSE(fs::exists(Index() / "building"));
}

// A session that stays open while builds replace the index more often than generations are kept.
TEST_F(IndexReaderWriter, AReaderReadsRecordsAfterItsGenerationIsGone) {
  Write(5);
  const auto reader = Open();
  for (const std::uint32_t documents : {1U, 2U, 3U}) Write(documents);
  ASSERT_FALSE(fs::exists(reader->folder()));

  for (std::uint32_t i = 0; i < 5; ++i) {
    const DocumentBundle bundle = MakeBundle(i);
    const IndexReader::ChunkRef ref{i, 0};
    EXPECT_EQ(reader->Document(i).value(), bundle.document);
    EXPECT_EQ(formats::Encode(reader->Parent(i, 0).value()), bundle.parents[0]);
    EXPECT_EQ(reader->Chunks({&ref, 1}).value().at(0), MakeChunks(i)[0]);
    EXPECT_EQ(reader->Segments({&ref, 1}).value(), bundle.segments);
  }
  EXPECT_EQ(reader->terms().totals().num_documents, 5U);
}

TEST_F(IndexReaderWriter, AReaderSearchesAfterItsGenerationIsGone) {
  Write(5);
  const auto reader = Open();
  for (const std::uint32_t documents : {1U, 2U, 3U}) Write(documents);
  ASSERT_FALSE(fs::exists(reader->folder()));

  for (std::uint32_t i = 0; i < 5; ++i) {
    const auto hits = reader->SearchDocument(i, Axis(kChunkDim, 0), 1);
    ASSERT_TRUE(hits.ok()) << "document " << i << ": " << hits.status();
    EXPECT_EQ(hits->at(0).id, 0U);
  }
  EXPECT_TRUE(reader->document_vectors().SearchDistinct(Axis(kDocumentDim, 0), 1, 1).ok());
}

TEST_F(IndexReaderWriter, DocumentsOutOfOrderAreRefused) {
  const WriterLock lock = WriterLock::Acquire(Index()).value();
  const auto writer = Create();
  ASSERT_TRUE(writer->Add(MakeBundle(2)).ok());

  EXPECT_TRUE(absl::IsInvalidArgument(writer->Add(MakeBundle(1))));
}

TEST_F(IndexReaderWriter, VectorsOfTheWrongNumberAreRefused) {
  const WriterLock lock = WriterLock::Acquire(Index()).value();
  const auto writer = Create();
  DocumentBundle bundle = MakeBundle(1);
  bundle.chunk_codes.pop_back();
  EXPECT_FALSE(writer->Add(bundle).ok());
  bundle = MakeBundle(1);
  bundle.document_codes.pop_back();
  EXPECT_FALSE(writer->Add(bundle).ok());
}

TEST_F(IndexReaderWriter, GroupsOfTheWrongNumberAreRefused) {
  const WriterLock lock = WriterLock::Acquire(Index()).value();
  const auto writer = Create();
  DocumentBundle bundle = MakeBundle(2);
  bundle.chunk_groups.pop_back();
  EXPECT_FALSE(writer->Add(bundle).ok());
  bundle = MakeBundle(2);
  bundle.document.chunks_per_group = 0;
  EXPECT_FALSE(writer->Add(bundle).ok());
}

TEST_F(IndexReaderWriter, ParametersOfZeroAreRefused) {
  const WriterLock lock = WriterLock::Acquire(Index()).value();
  for (std::uint32_t formats::BuildParams::*field :
       {&formats::BuildParams::chunk_dim, &formats::BuildParams::document_dim,
        &formats::BuildParams::shard_documents}) {
    formats::BuildParams build = build_;
    build.*field = 0;
    EXPECT_TRUE(absl::IsInvalidArgument(IndexWriter::Create(Index(), build, kRange).status()));
  }
}

TEST_F(IndexReaderWriter, WhereThereIsNoIndexItIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(OpenStatus()));
  fs::create_directories(Index());
  EXPECT_TRUE(absl::IsNotFound(OpenStatus()));
}

TEST_F(IndexReaderWriter, EveryFileThatIsMissingIsDataLoss) {
  const formats::Manifest manifest = Write(4);
  const fs::path root = Open()->folder();
  for (const formats::FileEntry& file : manifest.files) {
    fs::rename(root / file.path, folder_.path() / "away");
    const absl::Status status = OpenStatus();
    EXPECT_TRUE(absl::IsDataLoss(status)) << file.path << ": " << status;
    fs::rename(folder_.path() / "away", root / file.path);
  }
  EXPECT_TRUE(OpenStatus().ok());
}

TEST_F(IndexReaderWriter, EveryFileThatIsCutOrLongerIsDataLoss) {
  const formats::Manifest manifest = Write(4);
  const fs::path root = Open()->folder();
  for (const formats::FileEntry& file : manifest.files) {
    const std::string bytes = testing::ReadAll(root / file.path);
    const std::string relative = (root / file.path).lexically_relative(folder_.path()).string();
    std::vector<std::string> wrong = {bytes + "x"};
    if (!bytes.empty()) wrong.push_back(bytes.substr(0, bytes.size() - 1));
    for (const std::string& other : wrong) {
      folder_.Write(relative, other);
      const absl::Status status = OpenStatus();
      EXPECT_TRUE(absl::IsDataLoss(status)) << file.path << ": " << status;
      EXPECT_NE(status.message().find(fs::path(file.path).filename().string()), std::string::npos)
          << status;
    }
    folder_.Write(relative, bytes);
  }
  EXPECT_TRUE(OpenStatus().ok());
}

TEST_F(IndexReaderWriter, EveryCheckedHeaderThatIsDamagedIsDataLoss) {
  const formats::Manifest manifest = Write(2);
  const fs::path root = Open()->folder();
  for (const formats::FileEntry& file : manifest.files) {
    const std::string bytes = testing::ReadAll(root / file.path);
    const std::string relative = (root / file.path).lexically_relative(folder_.path()).string();
    for (std::size_t at = 0; at < file.header_bytes; at += 1 + file.header_bytes / 20) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      folder_.Write(relative, damaged);
      EXPECT_TRUE(absl::IsDataLoss(OpenStatus())) << file.path << " byte " << at;
    }
    folder_.Write(relative, bytes);
  }
}

TEST_F(IndexReaderWriter, AManifestOfAnotherGenerationIsDataLoss) {
  Write(2);
  const std::string first = testing::ReadAll(Index() / "gen-000001" / "MANIFEST.json");
  Write(2);
  folder_.Write("index/gen-000002/MANIFEST.json", first);

  const absl::Status status = OpenStatus();

  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_NE(status.message().find("generation 1"), std::string::npos) << status;
}

TEST_F(IndexReaderWriter, AManifestThatIsMissingIsDataLoss) {
  Write(2);
  fs::remove(Index() / "gen-000001" / "MANIFEST.json");

  EXPECT_TRUE(absl::IsDataLoss(OpenStatus()));
}

TEST_F(IndexReaderWriter, ShardsAreOpenedOnceByConcurrentReaders) {
  Write(8);
  const auto reader = Open();
  std::vector<const VectorFile*> opened(6, nullptr);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < opened.size(); ++i) {
    threads.emplace_back([&, i] { opened[i] = reader->ChunkShard(i % 3).value_or(nullptr); });
  }
  for (std::thread& thread : threads) thread.join();

  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NE(opened[i], nullptr);
    EXPECT_EQ(opened[i], opened[i + 3]);
  }
  EXPECT_NE(opened[0], opened[1]);
}

TEST(ChunkShardFile, HasFourDigitsAtLeast) {
  EXPECT_EQ(ChunkShardFile(0), "chunks-0000.faiss");
  EXPECT_EQ(ChunkShardFile(12345), "chunks-12345.faiss");
}

}  // namespace
}  // namespace rag::storage
