// MANIFEST.json of a generation: the last file that a build writes, and the first that a reader
// trusts. It names every other file with size and checksum, every build parameter, and the id of
// every component that gives bytes their meaning. FORMAT.md, "Manifest".
#ifndef FORMATS_MANIFEST_H_
#define FORMATS_MANIFEST_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace rag::formats {

inline constexpr int kFormatVersion = 1;

struct FileEntry {
  std::string path;  // relative to the generation's folder
  std::uint64_t size_bytes = 0;
  std::string xxh128;              // of the whole file
  std::uint64_t header_bytes = 0;  // what an opening reader checks before an engine sees the file
  std::string header_xxh3;         // of those bytes; empty when header_bytes is 0
  friend bool operator==(const FileEntry&, const FileEntry&) = default;
};

// How the corpus was turned into records. Everything here changes the result of a build.
struct BuildParams {
  std::string profile = "default";
  std::string splitter;  // Id() of each component
  std::string summarizer;
  std::string embedder;
  std::string token_counter;
  std::string source_prefix;
  std::uint32_t chunk_dim = 0;
  std::uint32_t document_dim = 0;
  std::uint32_t reduction_budget_tokens = 0;
  std::uint32_t shard_documents = 0;
  friend bool operator==(const BuildParams&, const BuildParams&) = default;
};

// What a query does when the user does not say otherwise; set by the profile.
struct QueryDefaults {
  std::string scorer = "bm25";  // "bm25" or "article"
  std::uint32_t budget_tokens = 0;
  std::uint32_t top_documents = 0;        // 0 = follows the budget
  std::uint32_t chunks_per_document = 0;  // likewise
  bool neighbors = false;
  std::string header = "short";  // "full", "short", "none"
  bool count_frame = true;  // whether separators and the frame of a prompt count, as in the default
  friend bool operator==(const QueryDefaults&, const QueryDefaults&) = default;
};

struct Counts {
  std::uint64_t documents = 0;
  std::uint64_t chunks = 0;
  std::uint64_t parents = 0;
  std::uint64_t summary_nodes = 0;
  std::uint64_t segments = 0;
  std::uint64_t document_vectors = 0;
  std::uint64_t corpus_bytes = 0;
  std::uint64_t skipped_files = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

// What the summaries and vectors rest on: the statistics of the last generation that was made from
// nothing, and how much has changed since.
struct Fit {
  std::uint64_t chunks = 0;          // of that generation
  std::uint64_t changed_chunks = 0;  // that came or went in the generations after it
  friend bool operator==(const Fit&, const Fit&) = default;
};

struct Manifest {
  int format_version = kFormatVersion;
  std::uint64_t generation = 0;
  std::string created;      // UTC, ISO 8601; information only
  std::string program;      // "rag-index 0.1.0"; information only
  std::string corpus_root;  // a hint for people; nothing is opened through it
  BuildParams build;
  QueryDefaults query;
  Counts counts;
  Fit fit;
  std::map<std::string, std::uint64_t> family_keys;   // column family -> number of keys
  std::map<std::string, std::string> family_digests;  // column family -> content digest, xxh128
  std::vector<FileEntry> files;                       // ascending by path
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// Pretty-printed JSON whose last member, "checksum", is the XXH3-64 of all bytes before it.
std::string EncodeManifest(const Manifest& manifest);
// DATA_LOSS when damaged, FAILED_PRECONDITION when of another format version (message names both).
absl::StatusOr<Manifest> DecodeManifest(std::string_view text, std::string_view name);

}  // namespace rag::formats

#endif  // FORMATS_MANIFEST_H_
