// A FAISS file: the parser of its header, and, where that is content, FAISS and the searches.
#include <cmath>
#include <string>
#include <vector>

#include "storage/faiss_layout.h"
#include "storage/vector_files.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch_folder.h"

namespace rag::fuzz {
namespace {

void RequireHits(const absl::StatusOr<std::vector<storage::VectorHit>>& hits, std::size_t most) {
  if (!hits.ok()) return RequireDamage(hits.status());
  Require(hits->size() <= most, "there are no more hits than rows");
}

void UseLists(const storage::VectorFile& file, const std::vector<float>& query) {
  std::uint64_t rows = 0;
  for (std::uint64_t list = 0; list < file.num_lists(); ++list) {
    const std::uint64_t size = file.list_size(list);
    rows += size;
    Require(file.ReadListIds(list).size() == size, "each row has an id");
    const auto values = file.ReadList(list);
    RequireOk(values.status());
    Require(values->size() == size * file.dim(), "each row has all its components");
    RequireHits(file.SearchList(list, query, 5), size);
  }
  Require(rows == file.num_rows(), "lists hold all rows");
  RequireHits(file.SearchDistinct(query, 5, 2), rows);
}

void UseFile(std::string_view bytes) {
  static const ScratchFolder folder;
  const auto file = storage::VectorFile::Open(folder.Write("vectors.faiss", bytes));
  if (!file.ok()) return RequireDamage(file.status());
  std::vector<float> query((*file)->dim(), 0.0F);
  query[0] = 1.0F;  // few components: the sparse scan
  UseLists(**file, query);
  query.assign(query.size(), 0.5F);  // FAISS's scanner
  UseLists(**file, query);
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  const std::string_view bytes = fuzz::Bytes(data, size);
  const auto layout = storage::ParseFaissLayout(bytes, "vectors.faiss");
  if (!layout.ok()) {
    fuzz::RequireDamage(layout.status());
    return 0;
  }
  fuzz::Require(layout->header_bytes + layout->num_rows * (layout->dim + 8) == size,
                "the lists fill the file");
  fuzz::UseFile(bytes);
  return 0;
}
