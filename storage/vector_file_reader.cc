#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_set>
#include <utility>

#include <faiss/IndexFlat.h>
#include <faiss/IndexScalarQuantizer.h>
#include <faiss/index_io.h>
#include <faiss/invlists/OnDiskInvertedLists.h>
#include <faiss/utils/distances.h>

#include "absl/strings/str_cat.h"
#include "formats/status_macros.h"
#include "storage/catch_exceptions.h"
#include "storage/faiss_layout.h"
#include "storage/file_io.h"
#include "storage/vector_files.h"

namespace rag::storage {
namespace {

constexpr std::uint32_t kNoId = std::numeric_limits<std::uint32_t>::max();

// Whether `a` comes after `b`: the order of std heaps, whose front is then the best hit.
bool IsWorse(const VectorHit& a, const VectorHit& b) {
  if (a.score != b.score) return a.score < b.score;
  return a.id > b.id;
}

// The best k of `candidates` in order, each id once when `distinct`. Building a heap and taking k
// from it is linear in the rows, and the first hit of an id is its best.
std::vector<VectorHit> TakeBest(std::vector<VectorHit> candidates, std::size_t k, bool distinct) {
  std::vector<VectorHit> best;
  best.reserve(std::min(k, candidates.size()));
  std::unordered_set<std::uint32_t> seen;
  std::ranges::make_heap(candidates, IsWorse);
  while (best.size() < k && !candidates.empty()) {
    std::ranges::pop_heap(candidates, IsWorse);
    if (!distinct || seen.insert(candidates.back().id).second) best.push_back(candidates.back());
    candidates.pop_back();
  }
  return best;
}

// kNoId for an id that is not of our making. Copied, as ids are not aligned in the file.
std::uint32_t ReadId(const void* ids, std::size_t row) {
  std::int64_t id = 0;
  std::memcpy(&id, static_cast<const char*>(ids) + row * sizeof id, sizeof id);
  return id >= 0 && id < kNoId ? static_cast<std::uint32_t>(id) : kNoId;
}

// The inner product of a query with few components other than 0 and a coded row: it reads only
// those bytes of the row, where FAISS decodes them all. A question embedded by hashing touches 4
// components a term, so this makes a scan of wide vectors cost what the question is long. The sum
// is FAISS's, up to the order of additions.
class SparseQuery {
 public:
  // Worth it below this share of components; above, FAISS's straight loop is faster.
  static constexpr std::size_t kMinZerosPerValue = 4;

  SparseQuery(std::span<const float> query, float range_min, float range_size) {
    const float step = range_size / 255;
    double bias = 0;
    for (std::size_t i = 0; i < query.size(); ++i) {
      if (query[i] == 0) continue;
      terms_.push_back({static_cast<std::uint32_t>(i), query[i] * step});
      bias += double{query[i]} * (range_min + 0.5 * step);
    }
    bias_ = static_cast<float>(bias);
    pays_off_ = terms_.size() * kMinZerosPerValue <= query.size();
  }

  [[nodiscard]] bool pays_off() const { return pays_off_; }
  [[nodiscard]] float Score(const std::uint8_t* code) const {
    float score = bias_;
    for (const Term& term : terms_) score += term.weight * static_cast<float>(code[term.at]);
    return score;
  }

 private:
  struct Term {
    std::uint32_t at = 0;
    float weight = 0;
  };
  std::vector<Term> terms_;
  float bias_ = 0;
  bool pays_off_ = false;
};

class MappedVectorFile final : public VectorFile {
 public:
  MappedVectorFile(std::string name, const FaissLayout& layout,
                   std::unique_ptr<faiss::IndexIVFScalarQuantizer> index)
      : name_(std::move(name)),
        layout_(layout),
        index_(std::move(index)),
        decoder_(index_->sq.select_quantizer()) {}

  std::uint32_t dim() const override { return static_cast<std::uint32_t>(layout_.dim); }
  std::uint64_t num_lists() const override { return layout_.num_lists; }
  std::uint64_t num_rows() const override { return layout_.num_rows; }
  std::uint64_t list_size(std::uint64_t list) const override {
    return list < layout_.num_lists ? index_->get_list_size(list) : 0;
  }

  absl::StatusOr<std::vector<VectorHit>> SearchList(std::uint64_t list,
                                                    std::span<const float> query,
                                                    std::size_t k) const override {
    RAG_RETURN_IF_ERROR(CheckQuery(query));
    RAG_RETURN_IF_ERROR(CheckList(list));
    const std::uint64_t lists[] = {list};
    return Search(lists, query, k, /*distinct=*/false);
  }

  absl::StatusOr<std::vector<VectorHit>> SearchDistinct(std::span<const float> query, std::size_t k,
                                                        std::size_t probes) const override {
    RAG_RETURN_IF_ERROR(CheckQuery(query));
    if (layout_.num_lists > 1 && layout_.num_centroids == 0) {
      return absl::FailedPreconditionError(
          absl::StrCat(name_, ": lists have no centroids, they can only be searched one by one"));
    }
    return Search(NearestLists(query, probes), query, k, /*distinct=*/true);
  }

  std::vector<float> Centroids() const override {
    if (layout_.num_lists <= 1 || layout_.num_centroids == 0) return {};
    const auto& centroids = static_cast<const faiss::IndexFlatIP&>(*index_->quantizer);
    const float* rows = centroids.get_xb();
    return {rows, rows + layout_.num_centroids * layout_.dim};
  }

  absl::StatusOr<std::vector<float>> ReadList(std::uint64_t list) const override {
    RAG_RETURN_IF_ERROR(CheckList(list));
    const std::size_t size = index_->get_list_size(list);
    const std::uint8_t* codes = index_->invlists->get_codes(list);
    std::vector<float> rows(size * layout_.dim);
    for (std::size_t i = 0; i < rows.size(); i += layout_.dim) {
      decoder_->decode_vector(codes + i, &rows[i]);
    }
    return rows;
  }

  std::vector<std::uint32_t> ReadListIds(std::uint64_t list) const override {
    std::vector<std::uint32_t> ids(list_size(list));
    if (ids.empty()) return ids;
    const void* mapped_ids = index_->invlists->get_ids(list);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = ReadId(mapped_ids, i);
    return ids;
  }

  absl::StatusOr<std::span<const std::uint8_t>> ListCodes(std::uint64_t list) const override {
    RAG_RETURN_IF_ERROR(CheckList(list));
    return std::span(index_->invlists->get_codes(list), index_->get_list_size(list) * layout_.dim);
  }

  absl::Status ScanList(std::uint64_t list,
                        const std::function<absl::Status(std::uint32_t, std::span<const float>)>&
                            visit) const override {
    RAG_RETURN_IF_ERROR(CheckList(list));
    const std::size_t size = index_->get_list_size(list);
    const std::uint8_t* codes = index_->invlists->get_codes(list);
    const void* ids = index_->invlists->get_ids(list);
    std::vector<float> row(layout_.dim);
    for (std::size_t i = 0; i < size; ++i) {
      decoder_->decode_vector(codes + i * layout_.dim, row.data());
      RAG_RETURN_IF_ERROR(visit(ReadId(ids, i), row));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckQuery(std::span<const float> query) const {
    if (query.size() != layout_.dim) {
      return absl::InvalidArgumentError(absl::StrCat(name_, ": vectors have ", layout_.dim,
                                                     " dimensions, the query ", query.size()));
    }
    if (!std::ranges::all_of(query, [](float x) { return std::isfinite(x); })) {
      return absl::InvalidArgumentError(absl::StrCat(name_, ": query is not finite"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckList(std::uint64_t list) const {
    if (list < layout_.num_lists) return absl::OkStatus();
    return absl::OutOfRangeError(absl::StrCat(name_, ": list ", list, " of ", layout_.num_lists));
  }

  // The `probes` lists of largest inner product, equal ones by lower number.
  std::vector<std::uint64_t> NearestLists(std::span<const float> query, std::size_t probes) const {
    std::vector<std::uint64_t> lists(layout_.num_lists);
    std::iota(lists.begin(), lists.end(), 0U);
    if (lists.size() <= 1 || probes >= lists.size()) return lists;
    const auto& centroids = static_cast<const faiss::IndexFlatIP&>(*index_->quantizer);
    std::vector<float> scores(lists.size());
    faiss::fvec_inner_products_ny(scores.data(), query.data(), centroids.get_xb(), layout_.dim,
                                  lists.size());
    const auto kth = lists.begin() + static_cast<std::ptrdiff_t>(probes);
    std::partial_sort(lists.begin(), kth, lists.end(), [&](std::uint64_t a, std::uint64_t b) {
      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    });
    lists.erase(kth, lists.end());
    return lists;
  }

  absl::StatusOr<std::vector<VectorHit>> Search(std::span<const std::uint64_t> lists,
                                                std::span<const float> query, std::size_t k,
                                                bool distinct) const {
    return CatchExceptions(name_, [&]() -> absl::StatusOr<std::vector<VectorHit>> {
      const std::unique_ptr<faiss::InvertedListScanner> scanner(
          index_->get_InvertedListScanner(/*store_pairs=*/false, /*sel=*/nullptr));
      scanner->set_query(query.data());
      const SparseQuery sparse(query, index_->sq.trained[0], index_->sq.trained[1]);
      std::vector<VectorHit> candidates;
      for (const std::uint64_t list : lists) {
        scanner->set_list(static_cast<faiss::Index::idx_t>(list), 0);
        RAG_RETURN_IF_ERROR(
            sparse.pays_off()
                ? ScoreList(list, distinct, candidates,
                            [&sparse](const std::uint8_t* code) { return sparse.Score(code); })
                : ScoreList(list, distinct, candidates, [&scanner](const std::uint8_t* code) {
                    return scanner->distance_to_code(code);
                  }));
      }
      return TakeBest(std::move(candidates), k, distinct);
    });
  }

  // Scores every row: FAISS's own selection breaks ties by its heap's history, and as fast as its
  // scan_codes (measured: the time goes into decoding) is distance_to_code in a loop. Neighbouring
  // rows of the same id, as documents add them, are merged at once when `distinct`.
  template <typename Score>
  absl::Status ScoreList(std::uint64_t list, bool distinct, std::vector<VectorHit>& candidates,
                         const Score& score_of) const {
    const std::size_t size = index_->get_list_size(list);
    const std::uint8_t* codes = index_->invlists->get_codes(list);
    const void* ids = index_->invlists->get_ids(list);
    candidates.reserve(candidates.size() + size);
    for (std::size_t row = 0; row < size; ++row) {
      const std::uint32_t id = ReadId(ids, row);
      if (id == kNoId) {
        return absl::DataLossError(
            absl::StrCat(name_, ": list ", list, " row ", row,
                         ": impossible id; the index is damaged, rebuild it with rag-index build"));
      }
      float score = score_of(codes + row * layout_.dim);
      // Infinities of both signs can meet in the sum of a huge query.
      if (std::isnan(score)) score = -std::numeric_limits<float>::infinity();
      if (distinct && !candidates.empty() && candidates.back().id == id) {
        candidates.back().score = std::max(candidates.back().score, score);
      } else {
        candidates.push_back({id, score});
      }
    }
    return absl::OkStatus();
  }

  std::string name_;
  FaissLayout layout_;
  std::unique_ptr<faiss::IndexIVFScalarQuantizer> index_;
  std::unique_ptr<faiss::ScalarQuantizer::SQuantizer> decoder_;
};

absl::StatusOr<std::unique_ptr<faiss::IndexIVFScalarQuantizer>> MapIndex(
    const std::filesystem::path& path) {
  std::unique_ptr<faiss::Index> any(
      faiss::read_index(path.c_str(), faiss::IO_FLAG_MMAP | faiss::IO_FLAG_READ_ONLY));
  auto* index = dynamic_cast<faiss::IndexIVFScalarQuantizer*>(any.get());
  if (index == nullptr || dynamic_cast<faiss::IndexFlatIP*>(index->quantizer) == nullptr) {
    return absl::InternalError(absl::StrCat(path.string(), ": FAISS read another kind of index"));
  }
  auto* lists = dynamic_cast<faiss::OnDiskInvertedLists*>(index->invlists);
  if (lists == nullptr) {
    return absl::InternalError(absl::StrCat(path.string(), ": FAISS did not map the lists"));
  }
  lists->prefetch_nthread = 0;  // its threads cost more than a query
  any.release();  // NOLINT(bugprone-unused-return-value): the same object, by its real type
  return std::unique_ptr<faiss::IndexIVFScalarQuantizer>(index);
}

}  // namespace

absl::StatusOr<std::unique_ptr<VectorFile>> VectorFile::Open(const std::filesystem::path& path,
                                                             std::string_view name) {
  const std::string shown = name.empty() ? path.string() : std::string(name);
  FaissLayout layout;
  {
    RAG_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
    RAG_ASSIGN_OR_RETURN(layout, ParseFaissLayout(file.bytes(), shown));
  }
  return CatchExceptions(shown, [&]() -> absl::StatusOr<std::unique_ptr<VectorFile>> {
    RAG_ASSIGN_OR_RETURN(auto index, MapIndex(path));
    return std::make_unique<MappedVectorFile>(shown, layout, std::move(index));
  });
}

}  // namespace rag::storage
