#include "storage/output_file.h"
#include "tests/storage/vector_files_testing.h"

namespace rag::storage {
namespace {

class DamagedVectorFiles : public VectorFiles {};

TEST(OutputFile, SaysWhenTheDiskIsFull) {
  auto full = OutputFile::Create("/dev/full");
  ASSERT_TRUE(full.ok()) << full.status();
  absl::Status status = full->Append(std::vector<std::uint8_t>(1000));
  if (status.ok()) status = full->Close();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
}

TEST_F(DamagedVectorFiles, MissingFileIsAnError) { EXPECT_FALSE(VectorFile::Open(Path()).ok()); }

TEST_F(DamagedVectorFiles, EveryTruncationIsDataLoss) {
  WriteShard(Path("good"), {RandomRows(2, 1), RandomRows(1, 2)});
  for (std::uint64_t n = fs::file_size(Path("good")); n-- > 0;) {
    fs::resize_file(Path("good"), n);
    EXPECT_EQ(VectorFile::Open(Path("good")).status().code(), absl::StatusCode::kDataLoss) << n;
  }
}

TEST_F(DamagedVectorFiles, TrailingBytesAreDataLoss) {
  WriteShard(Path(), {RandomRows(2, 1)});
  std::ofstream(Path(), std::ios::app) << "x";
  EXPECT_EQ(VectorFile::Open(Path()).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(DamagedVectorFiles, GarbageIsDataLoss) {
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    std::string bytes = i % 2 == 0 ? "IwSq" : "";
    for (int n = 0; n < 500; ++n) bytes.push_back(static_cast<char>(random()));
    WriteBytes(Path(), bytes);
    EXPECT_EQ(VectorFile::Open(Path()).status().code(), absl::StatusCode::kDataLoss);
  }
}

// Opens and uses a file in every way; only crashes and sanitizers can fail.
void UseEverything(const fs::path& path) {
  const auto file = VectorFile::Open(path);
  if (!file.ok()) {
    EXPECT_EQ(file.status().code(), absl::StatusCode::kDataLoss) << file.status();
    return;
  }
  const Rows query((*file)->dim(), 0.5F);
  for (std::uint64_t list = 0; list < (*file)->num_lists(); ++list) {
    EXPECT_EQ((*file)->ReadListIds(list).size(), (*file)->list_size(list));
    EXPECT_TRUE((*file)->ReadList(list).ok());
    const auto hits = (*file)->SearchList(list, query, 10);
    EXPECT_TRUE(hits.ok() || hits.status().code() == absl::StatusCode::kDataLoss);
  }
  const auto hits = (*file)->SearchDistinct(query, 3, 1);
  EXPECT_TRUE(hits.ok() || hits.status().code() != absl::StatusCode::kInternal);
}

// Overwrites in place: recreating the file for each of thousands of flips would take most of the
// time.
void FlipEveryBitAndUse(const fs::path& path) {
  const std::string good = ReadBytes(path);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit <= 8; ++bit) {
      const int byte = bit < 8 ? good[i] ^ (1 << bit) : good[i];  // at last, the good byte again
      file.seekp(static_cast<std::streamoff>(i)).put(static_cast<char>(byte)).flush();
      UseEverything(path);
    }
  }
  EXPECT_TRUE(file.good());
}

TEST_F(DamagedVectorFiles, FlippedBitsOfAShardNeverCrash) {
  WriteShard(Path(), {RandomRows(2, 1), {}, RandomRows(1, 2)});
  FlipEveryBitAndUse(Path());
}

TEST_F(DamagedVectorFiles, FlippedBitsOfDocumentVectorsNeverCrash) {
  WriteDocuments(Path(), 2);
  FlipEveryBitAndUse(Path());
}

TEST_F(DamagedVectorFiles, ImpossibleIdIsDataLoss) {
  WriteShard(Path(), {RandomRows(2, 1)});
  std::string bytes = ReadBytes(Path());
  bytes.back() = '\x80';
  WriteBytes(Path(), bytes);
  const auto file = OpenOrDie(Path());
  EXPECT_EQ(file->SearchList(0, Rows(kDim), 1).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(file->ReadListIds(0), (std::vector<std::uint32_t>{0, 0xFFFFFFFFU}));
}

}  // namespace
}  // namespace rag::storage
