// A document as a generation holds it, but for its ordinal: what is copied from one generation to
// the next, or kept by the journal of a build.
#ifndef STORAGE_DOCUMENT_BUNDLE_H_
#define STORAGE_DOCUMENT_BUNDLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/records.h"

namespace rag::storage {

// Items of a document, each kind following those of the parts before.
struct BundlePart {
  std::vector<std::string> parents;              // encoded formats::ParentRecord
  std::vector<std::string> chunk_groups;         // formats/chunk_group.h
  std::vector<std::vector<std::string>> levels;  // encoded formats::SummaryNode, level 0 first
  std::vector<std::string> segments;             // encoded formats::ForwardSegment
  std::vector<std::uint8_t> chunk_codes;         // chunks x chunk_dim, from VectorCodec
  // rows x document_dim: of level 0 of the tree, and before them in the last part that of the
  // document's summary.
  std::vector<std::uint8_t> document_codes;
  // The list of docs.faiss in which each of these rows is; empty when there is only one, and for a
  // document that is in no generation yet.
  std::vector<std::uint32_t> document_lists;
  friend bool operator==(const BundlePart&, const BundlePart&) = default;
};

// With the last part, which is all there is of most documents. A large one has had others before
// it, so that it is never in memory as a whole.
struct DocumentBundle : BundlePart {
  formats::DocumentRecord document;
  friend bool operator==(const DocumentBundle&, const DocumentBundle&) = default;
};

// For the journal of a build, which knows no lists. DATA_LOSS when damaged.
std::string Encode(const BundlePart& part);
std::string Encode(const DocumentBundle& bundle);
absl::StatusOr<BundlePart> DecodeBundlePart(std::string_view bytes);
absl::StatusOr<DocumentBundle> DecodeBundle(std::string_view bytes);

}  // namespace rag::storage

#endif  // STORAGE_DOCUMENT_BUNDLE_H_
