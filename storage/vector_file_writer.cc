#include <omp.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include <faiss/Clustering.h>
#include <faiss/IndexFlat.h>
#include <faiss/IndexScalarQuantizer.h>
#include <faiss/impl/io.h>
#include <faiss/index_io.h>
#include <faiss/utils/distances.h>

#include "absl/strings/str_cat.h"
#include "formats/status_macros.h"
#include "storage/catch_exceptions.h"
#include "storage/output_file.h"
#include "storage/vector_files.h"

namespace rag::storage {
namespace {

constexpr std::size_t kDefaultProbes = 16;  // only plain FAISS reads it from the file
constexpr std::size_t kSamplePerCentroid = 64;
constexpr int kClusteringIterations = 10;
constexpr int kSeed = 1234;

faiss::ScalarQuantizer MakeScalarQuantizer(std::size_t dim, float range) {
  faiss::ScalarQuantizer quantizer(dim, faiss::ScalarQuantizer::QT_8bit_uniform);
  quantizer.trained = {-range, 2 * range};  // lowest value, width
  return quantizer;
}

void AppendBytes(std::vector<std::uint8_t>& out, const void* data, std::size_t n) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  out.insert(out.end(), bytes, bytes + n);
}

// Everything before the lists, as write_index(index with ArrayInvertedLists of these sizes) has it.
// FAISS itself would need the lists in memory, so the header it writes for an index without lists
// is completed here.
std::vector<std::uint8_t> EncodeHeader(faiss::Index& coarse_quantizer, float range,
                                       std::span<const std::uint64_t> sizes) {
  const auto dim = static_cast<std::size_t>(coarse_quantizer.d);
  faiss::IndexIVFScalarQuantizer index(&coarse_quantizer, dim, sizes.size(),
                                       faiss::ScalarQuantizer::QT_8bit_uniform,
                                       faiss::METRIC_INNER_PRODUCT, /*encode_residual=*/false);
  index.replace_invlists(nullptr);
  index.sq = MakeScalarQuantizer(dim, range);
  index.is_trained = true;
  index.nprobe = std::clamp<std::size_t>(sizes.size(), 1, kDefaultProbes);
  for (const std::uint64_t size : sizes) index.ntotal += static_cast<std::int64_t>(size);

  faiss::VectorIOWriter writer;
  faiss::write_index(&index, &writer);
  constexpr std::size_t kTagBytes = 4;
  writer.data.resize(writer.data.size() - kTagBytes);  // "il00": no lists
  const std::uint64_t num_lists = sizes.size();
  const std::uint64_t code_size = dim;
  AppendBytes(writer.data, "ilar", kTagBytes);
  AppendBytes(writer.data, &num_lists, sizeof num_lists);
  AppendBytes(writer.data, &code_size, sizeof code_size);
  AppendBytes(writer.data, "full", kTagBytes);
  AppendBytes(writer.data, &num_lists, sizeof num_lists);
  AppendBytes(writer.data, sizes.data(), sizes.size_bytes());
  return std::move(writer.data);
}

std::span<const std::uint8_t> AsBytes(std::span<const std::int64_t> ids) {
  return {reinterpret_cast<const std::uint8_t*>(ids.data()), ids.size_bytes()};
}

class StreamingShardWriter final : public ChunkShardWriter {
 public:
  StreamingShardWriter(std::filesystem::path path, std::filesystem::path spool_path,
                       OutputFile spool, std::uint32_t dim, float range)
      : path_(std::move(path)),
        spool_path_(std::move(spool_path)),
        spool_(std::move(spool)),
        dim_(dim),
        range_(range) {}

  ~StreamingShardWriter() override {
    spool_.reset();
    std::error_code ignored;  // a spool that stays behind is harmless: it is in no manifest
    std::filesystem::remove(spool_path_, ignored);
  }
  StreamingShardWriter(const StreamingShardWriter&) = delete;
  StreamingShardWriter& operator=(const StreamingShardWriter&) = delete;

  absl::Status AddRows(std::span<const std::uint8_t> codes) override {
    if (!status_.ok()) return status_;
    if (codes.size() % dim_ != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(path_.string(), ": ", codes.size(), " bytes are not rows of ", dim_));
    }
    status_ = spool_->Append(codes);
    list_size_ += codes.size() / dim_;
    return status_;
  }

  absl::Status FinishDocument() override {
    if (!status_.ok()) return status_;
    const std::size_t rows = std::exchange(list_size_, 0);
    while (ids_.size() < rows) ids_.push_back(static_cast<std::int64_t>(ids_.size()));
    status_ = spool_->Append(AsBytes(std::span(ids_).first(rows)));
    sizes_.push_back(rows);
    num_rows_ += rows;
    return status_;
  }

  absl::StatusOr<VectorFileInfo> Finish() override {
    RAG_RETURN_IF_ERROR(status_);
    status_ = absl::FailedPreconditionError(absl::StrCat(path_.string(), ": already finished"));
    auto info = CatchExceptions(path_.string(), [&] { return Assemble(); });
    std::error_code ignored;
    if (!info.ok()) std::filesystem::remove(path_, ignored);
    std::filesystem::remove(spool_path_, ignored);
    return info;
  }

 private:
  absl::StatusOr<VectorFileInfo> Assemble() {
    OutputFile spool = *std::exchange(spool_, std::nullopt);
    RAG_RETURN_IF_ERROR(spool.Close());
    // No centroids: a document's list is addressed by its number, and opening stays cheap.
    faiss::IndexFlatIP no_centroids(static_cast<faiss::Index::idx_t>(dim_));
    const std::vector<std::uint8_t> header = EncodeHeader(no_centroids, range_, sizes_);
    RAG_ASSIGN_OR_RETURN(OutputFile out, OutputFile::Create(path_));
    RAG_RETURN_IF_ERROR(out.Append(header));
    RAG_RETURN_IF_ERROR(out.AppendFile(spool_path_));
    RAG_RETURN_IF_ERROR(out.Close());
    return VectorFileInfo{header.size(), sizes_.size(), num_rows_};
  }

  std::filesystem::path path_;
  std::filesystem::path spool_path_;
  std::optional<OutputFile> spool_;
  std::uint32_t dim_;
  float range_;
  absl::Status status_;
  std::vector<std::uint64_t> sizes_;
  std::size_t list_size_ = 0;      // rows of the document that is being added
  std::vector<std::int64_t> ids_;  // 0, 1, 2 … as many as the longest list
  std::uint64_t num_rows_ = 0;
};

// Quantised rows with their ids, in blocks, so that growing never copies or doubles them.
class RowStore {
 public:
  static constexpr std::size_t kBlockRows = 1024;
  static constexpr std::uint32_t kUnknownList = ~std::uint32_t{0};
  explicit RowStore(std::size_t dim) : dim_(dim) {}

  // `list`: where it belongs, when that is known.
  void Add(std::uint32_t id, const std::uint8_t* code, std::uint32_t list = kUnknownList) {
    if (list != kUnknownList || !lists_.empty()) {
      lists_.resize(ids_.size(), kUnknownList);
      lists_.push_back(list);
    }
    if (ids_.size() == blocks_.size() * kBlockRows) {
      blocks_.emplace_back().reserve(kBlockRows * dim_);
    }
    blocks_.back().insert(blocks_.back().end(), code, code + dim_);
    if (ids_.size() == ids_.capacity()) ids_.reserve(ids_.size() + ids_.size() / 8 + kBlockRows);
    ids_.push_back(id);
  }
  void Replace(std::size_t row, std::span<const std::uint8_t> code) {
    const std::size_t at = row % kBlockRows * dim_;
    std::copy(code.begin(), code.end(),
              blocks_[row / kBlockRows].begin() + static_cast<std::ptrdiff_t>(at));
  }
  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  [[nodiscard]] std::size_t dim() const { return dim_; }
  [[nodiscard]] std::uint32_t id(std::size_t row) const { return ids_[row]; }
  [[nodiscard]] std::uint32_t list(std::size_t row) const {
    return row < lists_.size() ? lists_[row] : kUnknownList;
  }
  [[nodiscard]] std::span<const std::uint8_t> code(std::size_t row) const {
    return std::span(blocks_[row / kBlockRows]).subspan(row % kBlockRows * dim_, dim_);
  }

 private:
  std::size_t dim_;
  std::vector<std::vector<std::uint8_t>> blocks_;
  std::vector<std::uint32_t> ids_;
  std::vector<std::uint32_t> lists_;  // empty while none is known
};

// While alive, OpenMP regions started by this thread use one thread.
class SingleThreaded {
 public:
  SingleThreaded() { omp_set_num_threads(1); }
  ~SingleThreaded() { omp_set_num_threads(previous_); }
  SingleThreaded(const SingleThreaded&) = delete;
  SingleThreaded& operator=(const SingleThreaded&) = delete;

 private:
  int previous_ = omp_get_max_threads();
};

// Decodes rows to unit length. A zero row stays zero.
class UnitRows {
 public:
  UnitRows(const RowStore& rows, float range)
      : rows_(rows),
        scalar_quantizer_(MakeScalarQuantizer(rows.dim(), range)),
        decoder_(scalar_quantizer_.select_quantizer()) {}

  // False for a zero row.
  bool Read(std::size_t row, float* out) const {
    decoder_->decode_vector(rows_.code(row).data(), out);
    const float length = std::sqrt(faiss::fvec_norm_L2sqr(out, rows_.dim()));
    if (length == 0) return false;
    for (std::size_t i = 0; i < rows_.dim(); ++i) out[i] /= length;
    return true;
  }

 private:
  const RowStore& rows_;
  faiss::ScalarQuantizer scalar_quantizer_;
  std::unique_ptr<faiss::ScalarQuantizer::SQuantizer> decoder_;
};

// About `target` rows that are not zero, one at a random place of each of `target` equal stretches:
// a fixed step could always meet the same kind of row, as each document adds its rows in the same
// order.
std::vector<float> SampleRows(const RowStore& rows, const UnitRows& unit_rows, std::size_t target) {
  std::mt19937_64 random(kSeed);
  std::vector<float> sample(target * rows.dim());
  std::size_t taken = 0;
  for (std::size_t i = 0; i < target; ++i) {
    const std::size_t begin = i * rows.size() / target;
    const std::size_t end = (i + 1) * rows.size() / target;
    const std::size_t row = begin + random() % (end - begin);
    if (unit_rows.Read(row, &sample[taken * rows.dim()])) ++taken;
  }
  sample.resize(taken * rows.dim());
  return sample;
}

// Spherical k-means: rows are clustered by direction and probed by the query's inner product with
// unit centroids, which is coherent for every query, whereas centroids of unnormalised rows would
// attract queries by their length. Fewer lists when too few rows are not zero; at least one.
std::vector<float> TrainCentroids(const RowStore& rows, const UnitRows& unit_rows,
                                  std::size_t num_lists) {
  const std::vector<float> sample =
      SampleRows(rows, unit_rows, std::min(rows.size(), num_lists * kSamplePerCentroid));
  const std::size_t dim = rows.dim();
  const std::size_t sampled = sample.size() / dim;
  if (sampled < num_lists) return std::vector<float>(dim);
  faiss::ClusteringParameters parameters;
  parameters.niter = kClusteringIterations;
  parameters.seed = kSeed;
  parameters.spherical = true;
  parameters.min_points_per_centroid = 1;  // or FAISS prints a warning
  parameters.max_points_per_centroid = kSamplePerCentroid;
  faiss::Clustering clustering(static_cast<int>(dim), static_cast<int>(num_lists), parameters);
  faiss::IndexFlatIP assignment(static_cast<faiss::Index::idx_t>(dim));
  clustering.train(static_cast<faiss::Index::idx_t>(sampled), sample.data(), assignment);
  return std::move(clustering.centroids);
}

// The list of every row: that of the centroid nearest in direction, where it is not known.
std::vector<std::uint32_t> AssignLists(const RowStore& rows, const UnitRows& unit_rows,
                                       const faiss::IndexFlatIP& centroids, bool some_known) {
  std::vector<std::uint32_t> lists(rows.size());
  if (centroids.ntotal == 1) return lists;
  std::vector<std::size_t> unknown;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    lists[row] = some_known ? rows.list(row) : RowStore::kUnknownList;
    if (lists[row] >= static_cast<std::uint64_t>(centroids.ntotal)) unknown.push_back(row);
  }
  const std::size_t dim = rows.dim();
  std::vector<float> block(RowStore::kBlockRows * dim);
  std::array<faiss::Index::idx_t, RowStore::kBlockRows> nearest;
  for (std::size_t begin = 0; begin < unknown.size(); begin += RowStore::kBlockRows) {
    const std::size_t n = std::min(RowStore::kBlockRows, unknown.size() - begin);
    for (std::size_t i = 0; i < n; ++i) unit_rows.Read(unknown[begin + i], &block[i * dim]);
    centroids.assign(static_cast<faiss::Index::idx_t>(n), block.data(), nearest.data());
    for (std::size_t i = 0; i < n; ++i) {
      lists[unknown[begin + i]] = static_cast<std::uint32_t>(nearest[i]);
    }
  }
  return lists;
}

std::vector<std::uint64_t> CountRows(std::span<const std::uint32_t> lists, std::size_t num_lists) {
  std::vector<std::uint64_t> sizes(num_lists);
  for (const std::uint32_t list : lists) ++sizes[list];
  return sizes;
}

// The rows sorted by list, those of a list in the order they were added.
std::vector<std::uint32_t> OrderByList(std::span<const std::uint32_t> lists,
                                       std::span<const std::uint64_t> sizes) {
  std::vector<std::uint64_t> next(sizes.size());
  for (std::size_t i = 1; i < sizes.size(); ++i) next[i] = next[i - 1] + sizes[i - 1];
  std::vector<std::uint32_t> order(lists.size());
  for (std::size_t row = 0; row < lists.size(); ++row) {
    order[next[lists[row]]++] = static_cast<std::uint32_t>(row);
  }
  return order;
}

absl::Status WriteLists(const RowStore& rows, std::span<const std::uint32_t> order,
                        std::span<const std::uint64_t> sizes, OutputFile& out) {
  std::vector<std::int64_t> ids;
  for (const std::uint64_t size : sizes) {
    ids.clear();
    for (const std::uint32_t row : order.first(size)) {
      RAG_RETURN_IF_ERROR(out.Append(rows.code(row)));
      ids.push_back(rows.id(row));
    }
    RAG_RETURN_IF_ERROR(out.Append(AsBytes(ids)));
    order = order.subspan(size);
  }
  return absl::OkStatus();
}

absl::StatusOr<VectorFileInfo> WriteDocumentVectors(const RowStore& rows, float range,
                                                    const std::vector<float>& known_centroids,
                                                    const std::filesystem::path& path) {
  const SingleThreaded single_threaded;
  const UnitRows unit_rows(rows, range);
  std::vector<float> centroids(rows.dim());  // one list around zero: plain FAISS can probe it, too
  const bool cluster = rows.size() > DocumentVectorsWriter::kExactRows;
  if (cluster && !known_centroids.empty()) {
    centroids = known_centroids;
  } else if (cluster) {
    const double num_lists = std::round(std::sqrt(static_cast<double>(rows.size())));
    centroids = TrainCentroids(rows, unit_rows, static_cast<std::size_t>(num_lists));
  }
  const std::size_t num_lists = centroids.size() / rows.dim();
  faiss::IndexFlatIP coarse_quantizer(static_cast<faiss::Index::idx_t>(rows.dim()));
  coarse_quantizer.add(static_cast<faiss::Index::idx_t>(num_lists), centroids.data());

  const std::vector<std::uint32_t> lists =
      AssignLists(rows, unit_rows, coarse_quantizer, !known_centroids.empty());
  const std::vector<std::uint64_t> sizes = CountRows(lists, num_lists);
  const std::vector<std::uint8_t> header = EncodeHeader(coarse_quantizer, range, sizes);
  RAG_ASSIGN_OR_RETURN(OutputFile out, OutputFile::Create(path));
  RAG_RETURN_IF_ERROR(out.Append(header));
  RAG_RETURN_IF_ERROR(WriteLists(rows, OrderByList(lists, sizes), sizes, out));
  RAG_RETURN_IF_ERROR(out.Close());
  return VectorFileInfo{header.size(), num_lists, rows.size()};
}

}  // namespace

struct VectorCodec::Impl {
  Impl(std::uint32_t dim_arg, float range)
      : dim(dim_arg),
        scalar_quantizer(MakeScalarQuantizer(dim_arg, range)),
        encoder(scalar_quantizer.select_quantizer()) {}
  std::uint32_t dim;
  faiss::ScalarQuantizer scalar_quantizer;
  std::unique_ptr<faiss::ScalarQuantizer::SQuantizer> encoder;
};

VectorCodec::VectorCodec(std::uint32_t dim, float range)
    : impl_(std::make_unique<Impl>(dim, range)) {
  assert(dim > 0 && range > 0);
}
VectorCodec::~VectorCodec() = default;

std::uint32_t VectorCodec::dim() const { return impl_->dim; }

absl::Status VectorCodec::Encode(std::span<const float> rows,
                                 std::vector<std::uint8_t>& codes) const {
  const std::size_t dim = impl_->dim;
  if (rows.size() % dim != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("vectors: ", rows.size(), " numbers are not rows of ", dim));
  }
  const auto bad = std::ranges::find_if_not(rows, [](float x) { return std::isfinite(x); });
  if (bad != rows.end()) {
    const auto place = static_cast<std::size_t>(bad - rows.begin());
    return absl::InvalidArgumentError(absl::StrCat("vectors: component ", place % dim, " of row ",
                                                   place / dim, " is not finite"));
  }
  const std::size_t begin = codes.size();
  codes.resize(begin + rows.size());
  // Row by row: ScalarQuantizer::compute_codes starts OpenMP threads for a handful of rows.
  for (std::size_t i = 0; i < rows.size(); i += dim) {
    impl_->encoder->encode_vector(&rows[i], &codes[begin + i]);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ChunkShardWriter>> ChunkShardWriter::Create(
    const std::filesystem::path& path, std::uint32_t dim, float range) {
  if (dim == 0 || !(range > 0) || !std::isfinite(2 * range)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path.string(), ": impossible dimension ", dim, " or range ", range));
  }
  std::filesystem::path spool_path = path;
  spool_path += ".tmp";
  RAG_ASSIGN_OR_RETURN(OutputFile spool, OutputFile::Create(spool_path));
  return std::make_unique<StreamingShardWriter>(path, std::move(spool_path), std::move(spool), dim,
                                                range);
}

struct DocumentVectorsWriter::Impl {
  RowStore rows;
  float range;
  std::vector<float> centroids = {};  // of an earlier file
};

DocumentVectorsWriter::DocumentVectorsWriter(std::uint32_t dim, float range)
    : impl_(std::make_unique<Impl>(Impl{RowStore(dim), range})) {
  assert(dim > 0 && range > 0);
}
DocumentVectorsWriter::~DocumentVectorsWriter() = default;

void DocumentVectorsWriter::UseCentroids(std::vector<float> centroids) {
  assert(centroids.size() % impl_->rows.dim() == 0);
  impl_->centroids = std::move(centroids);
}

void DocumentVectorsWriter::Add(std::uint32_t document, std::span<const std::uint8_t> codes,
                                std::span<const std::uint32_t> lists) {
  const std::size_t dim = impl_->rows.dim();
  const std::size_t num_rows = codes.size() / dim;
  assert(codes.size() % dim == 0 && (lists.empty() || lists.size() == num_rows));
  for (std::size_t row = 0; row < num_rows; ++row) {
    impl_->rows.Add(document, &codes[row * dim],
                    lists.empty() ? RowStore::kUnknownList : lists[row]);
  }
}

std::size_t DocumentVectorsWriter::AddPlace(std::uint32_t document) {
  const std::vector<std::uint8_t> nothing(impl_->rows.dim());
  impl_->rows.Add(document, nothing.data());
  return impl_->rows.size() - 1;
}

void DocumentVectorsWriter::Fill(std::size_t place, std::span<const std::uint8_t> code) {
  assert(code.size() == impl_->rows.dim());
  impl_->rows.Replace(place, code);
}

absl::StatusOr<VectorFileInfo> DocumentVectorsWriter::Finish(const std::filesystem::path& path) {
  if (impl_->rows.size() > std::numeric_limits<std::uint32_t>::max()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path.string(), ": ", impl_->rows.size(), " document vectors, limit 2^32 - 1"));
  }
  auto info = CatchExceptions(path.string(), [&] {
    return WriteDocumentVectors(impl_->rows, impl_->range, impl_->centroids, path);
  });
  std::error_code ignored;
  if (!info.ok()) std::filesystem::remove(path, ignored);
  return info;
}

}  // namespace rag::storage
