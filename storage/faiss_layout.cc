#include "storage/faiss_layout.h"

#include <bit>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "formats/coding.h"
#include "storage/vector_files.h"

namespace rag::storage {
namespace {

constexpr std::uint32_t kInnerProduct = 0;  // faiss::METRIC_INNER_PRODUCT
constexpr std::uint32_t k8BitUniform = 2;   // faiss::ScalarQuantizer::QT_8bit_uniform
constexpr std::uint32_t kMaxRangeStat = 3;  // faiss::ScalarQuantizer::RS_optim
constexpr std::uint64_t kIdBytes = 8;

void Expect(formats::ByteReader& in, bool holds, std::string_view message) {
  if (in.ok() && !holds) in.Fail(message);
}

void ExpectTag(formats::ByteReader& in, std::string_view tag) {
  Expect(in, in.Bytes(tag.size()) == tag, "not the kind of FAISS index that is stored here");
}

float ReadFloat(formats::ByteReader& in) { return std::bit_cast<float>(in.Fixed32()); }

struct IndexHeader {
  std::uint64_t dim = 0;
  std::uint64_t num_rows = 0;
};

IndexHeader ReadIndexHeader(formats::ByteReader& in) {
  IndexHeader header;
  header.dim = in.Fixed32();
  header.num_rows = in.Fixed64();
  in.Skip(16);  // two fields that FAISS no longer uses
  Expect(in, in.Fixed8() == 1, "index is not trained");
  Expect(in, in.Fixed32() == kInnerProduct, "metric is not the inner product");
  return header;
}

// The centroids, an IndexFlatIP.
void ReadCoarseQuantizer(formats::ByteReader& in, FaissLayout& layout) {
  ExpectTag(in, "IxFI");
  const IndexHeader header = ReadIndexHeader(in);
  Expect(in, header.dim == layout.dim, "centroids of another dimension");
  Expect(in, header.num_rows == 0 || header.num_rows == layout.num_lists,
         "number of centroids is not that of lists");
  const std::uint64_t num_floats = in.Fixed64();
  // Compared by division: the product of two fields of a damaged file may overflow.
  Expect(in, num_floats % layout.dim == 0 && num_floats / layout.dim == header.num_rows,
         "size of the centroids");
  Expect(in, num_floats <= in.remaining() / sizeof(float), "centroids exceed the file");
  for (std::uint64_t i = 0; in.ok() && i < num_floats; ++i) {
    Expect(in, std::isfinite(ReadFloat(in)), "centroid is not finite");
  }
  layout.num_centroids = header.num_rows;
}

void ReadScalarQuantizer(formats::ByteReader& in, const FaissLayout& layout) {
  Expect(in, in.Fixed32() == k8BitUniform, "vectors are not 8-bit uniform");
  Expect(in, in.Fixed32() <= kMaxRangeStat, "unknown range statistic");
  in.Skip(4);  // argument of the range statistic, which only training uses
  Expect(in, in.Fixed64() == layout.dim, "scalar quantizer of another dimension");
  Expect(in, in.Fixed64() == layout.dim, "bytes per vector differ from the dimension");
  Expect(in, in.Fixed64() == 2, "range is not two numbers");
  Expect(in, std::isfinite(ReadFloat(in)), "range is not finite");
  const float width = ReadFloat(in);
  Expect(in, std::isfinite(width) && width > 0, "width of the range is not positive");
}

// The sizes of the lists, after which the lists fill the file exactly.
void ReadListSizes(formats::ByteReader& in, FaissLayout& layout) {
  ExpectTag(in, "ilar");
  Expect(in, in.Fixed64() == layout.num_lists, "number of lists is not that of the index");
  Expect(in, in.Fixed64() == layout.dim, "bytes per code differ from the dimension");
  ExpectTag(in, "full");
  Expect(in, in.Fixed64() == layout.num_lists, "number of sizes is not that of lists");
  Expect(in, layout.num_lists <= in.remaining() / sizeof(std::uint64_t), "sizes exceed the file");
  if (!in.ok()) return;
  const std::uint64_t row_bytes = layout.dim + kIdBytes;
  const std::uint64_t data_bytes = in.remaining() - layout.num_lists * sizeof(std::uint64_t);
  std::uint64_t rows_left = data_bytes / row_bytes;
  Expect(in, data_bytes % row_bytes == 0 && rows_left == layout.num_rows,
         "number of rows does not match the size of the file");
  for (std::uint64_t i = 0; in.ok() && i < layout.num_lists; ++i) {
    const std::uint64_t size = in.Fixed64();
    Expect(in, size <= rows_left, "list exceeds the file");
    rows_left -= size;
  }
  Expect(in, rows_left == 0, "rows that belong to no list");
}

absl::Status Damaged(const formats::ByteReader& in) {
  return absl::DataLossError(absl::StrCat(
      in.status().message(), "; the index is damaged, rebuild it with rag-index build"));
}

}  // namespace

absl::StatusOr<FaissLayout> ParseFaissLayout(std::string_view file, std::string_view name) {
  formats::ByteReader in(file, name);
  FaissLayout layout;
  ExpectTag(in, "IwSq");
  const IndexHeader header = ReadIndexHeader(in);
  layout.dim = header.dim;
  layout.num_rows = header.num_rows;
  layout.num_lists = in.Fixed64();
  in.Skip(8);  // nprobe, a default for users of plain FAISS
  Expect(in, layout.dim > 0 && layout.dim <= kMaxVectorDim, "impossible dimension");
  if (!in.ok()) return Damaged(in);
  ReadCoarseQuantizer(in, layout);
  Expect(in, in.Fixed8() == 0 && in.Fixed64() == 0, "index has a direct map");
  ReadScalarQuantizer(in, layout);
  Expect(in, in.Fixed64() == layout.dim, "code size differs from the dimension");
  Expect(in, in.Fixed8() == 0, "vectors are residuals");
  ReadListSizes(in, layout);
  if (!in.ok()) return Damaged(in);
  layout.header_bytes = in.offset();
  return layout;
}

}  // namespace rag::storage
