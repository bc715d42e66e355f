// Writes one generation: records, vectors, term table, manifest. The counterpart of IndexReader.
#ifndef STORAGE_INDEX_WRITER_H_
#define STORAGE_INDEX_WRITER_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/forward_index.h"
#include "formats/manifest.h"
#include "formats/records.h"
#include "storage/generation.h"
#include "storage/record_writer.h"
#include "storage/vector_files.h"

namespace rag::storage {

// One document, ready to be stored.
struct DocumentBundle {
  formats::DocumentRecord document;
  std::vector<formats::ParentRecord> parents;
  std::vector<std::string> chunk_groups;                  // encoded, formats/chunk_group.h
  std::vector<std::vector<formats::SummaryNode>> levels;  // the summary tree, level 0 first
  std::vector<std::string> segments;                      // encoded formats::ForwardSegment
  std::vector<std::uint8_t> chunk_codes;  // num_chunks x chunk_dim, from VectorCodec
  std::vector<std::uint8_t>
      document_codes;  // rows x document_dim: summary, then level 0 of the tree
};

// Takes documents in order of their source path; gives them ordinals 0, 1, 2 …
// Threads: one thread. REQUIRES: the WriterLock is held while it lives.
class IndexWriter {
 public:
  // `build` is recorded in the manifest; its dims and shard size are obeyed.
  static absl::StatusOr<std::unique_ptr<IndexWriter>> Create(const std::filesystem::path& index,
                                                             const formats::BuildParams& build,
                                                             float vector_range);
  ~IndexWriter();

  // A folder inside the unpublished generation for the build's own temporary files; gone at
  // Publish.
  [[nodiscard]] const std::filesystem::path& scratch() const { return scratch_; }
  [[nodiscard]] std::uint64_t generation() const;

  absl::Status Add(const DocumentBundle& bundle);
  // Writes model/terms.bin. Call once.
  absl::Status SetTermTable(std::string_view bytes);
  // Finishes every file, describes each in the manifest, publishes. `manifest` brings the fields
  // that the caller knows (created, program, corpus_root, query, counts.skipped_files,
  // counts.corpus_bytes); the rest is filled in. Returns the manifest as written.
  absl::StatusOr<formats::Manifest> Publish(formats::Manifest manifest, std::size_t keep);

 private:
  struct State;
  explicit IndexWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  std::filesystem::path scratch_;
};

}  // namespace rag::storage

#endif  // STORAGE_INDEX_WRITER_H_
