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
#include "formats/manifest.h"
#include "storage/document_bundle.h"
#include "storage/generation.h"
#include "storage/record_writer.h"
#include "storage/vector_files.h"

namespace rag::storage {

// Takes documents in order of their source path; gives them ordinals 0, 1, 2 …
// Threads: one thread. REQUIRES: the WriterLock is held while it lives.
class IndexWriter {
 public:
  // `build` is recorded in the manifest; its dims and shard size are obeyed.
  static absl::StatusOr<std::unique_ptr<IndexWriter>> Create(const std::filesystem::path& index,
                                                             const formats::BuildParams& build,
                                                             float vector_range);
  ~IndexWriter();

  [[nodiscard]] std::uint64_t generation() const;

  // The centroids of an earlier docs.faiss, to which the lists of the bundles refer. Optional; call
  // before Add.
  void UseCentroids(std::vector<float> centroids);
  // A part of the next document, before its last one.
  absl::Status AddPart(const BundlePart& part);
  absl::Status Add(const DocumentBundle& bundle);
  // Writes model/terms.bin. Call once.
  absl::Status SetTermTable(std::string_view bytes);
  // Finishes every file, describes each in the manifest, publishes. `manifest` brings the fields
  // that the caller knows (created, program, corpus_root, query, counts.skipped_files,
  // counts.corpus_bytes); the rest is filled in. Returns the manifest as written.
  absl::StatusOr<formats::Manifest> Publish(formats::Manifest manifest, std::size_t keep);
  // What failed after the generation had become current, a line each.
  [[nodiscard]] const std::vector<std::string>& notes() const;

 private:
  struct State;
  explicit IndexWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rag::storage

#endif  // STORAGE_INDEX_WRITER_H_
