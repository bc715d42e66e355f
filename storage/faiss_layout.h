// The bytes of a FAISS file before its list data, as FAISS 1.7 writes them for the one kind of
// index that we store. FAISS does not check what it reads: a flipped bit in these bytes makes it
// crash, so they are checked here first. FORMAT.md, "FAISS files".
#ifndef STORAGE_FAISS_LAYOUT_H_
#define STORAGE_FAISS_LAYOUT_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace rag::storage {

struct FaissLayout {
  std::uint64_t dim = 0;
  std::uint64_t num_lists = 0;
  std::uint64_t num_rows = 0;
  std::uint64_t num_centroids = 0;  // 0, or num_lists
  std::uint64_t header_bytes = 0;
};

// `file`: the whole file, of which only the header is read. DATA_LOSS unless it is an
// IndexIVFScalarQuantizer as vector_files.h describes it and the file ends where its last list
// does.
absl::StatusOr<FaissLayout> ParseFaissLayout(std::string_view file, std::string_view name);

}  // namespace rag::storage

#endif  // STORAGE_FAISS_LAYOUT_H_
