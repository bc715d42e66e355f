// The build: a folder of documents in, a published generation out.
//
// Two passes over the documents. The first reads, splits and counts terms; the second, which knows
// the statistics of the corpus, summarises, embeds and writes. Both run on several threads over
// bounded queues and write in order of the sources, so the result never depends on the number of
// threads. What a pass finishes goes into a journal, from which the next build goes on after a
// crash.
//
// A rebuild carries over the documents whose file has not changed as the generation before holds
// them, and takes those of files that were moved, or that equal another one, from there, so it
// costs what changed. Statistics of terms, which decide the scores, are brought up to date exactly;
// summaries and vectors of documents that are carried over keep the statistics that they were made
// with, until the chunks that came and went are a quarter of those at the last build from nothing:
// then all is made anew.
#ifndef INDEXER_BUILD_H_
#define INDEXER_BUILD_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/manifest.h"
#include "indexer/profile.h"
#include "indexer/rebuild_plan.h"
#include "indexer/walk.h"

namespace rag::indexer {

struct BuildProgress {
  const char* phase = "";       // "reading", "indexing"
  std::uint64_t documents = 0;  // done in this phase
  std::uint64_t total = 0;
};

struct BuildOptions {
  // Carry nothing over.
  bool full = false;
  // Only say what would be done: BuildReport without a manifest. Takes no lock, writes nothing.
  bool dry_run = false;
  std::filesystem::path corpus;
  std::filesystem::path index;
  Profile profile;
  WalkOptions walk;           // its leave_out is not read: the index is left out
  std::string source_prefix;  // put before every source, e.g. "data/"
  unsigned threads = 1;
  std::size_t keep_generations = 2;
  std::chrono::milliseconds wait_for_lock{0};  // how long another writer may go on
  std::string program;                         // name and version, for the manifest
  std::string created;                         // time, for the manifest
  // Called on the calling thread; either may be empty.
  std::function<void(const BuildProgress&)> progress;
  std::function<void(std::string_view source, std::string_view line)> reduction_log;
  // When set and true, the build stops at the next document with CANCELLED. Borrowed; may be null.
  const std::atomic<bool>* cancel = nullptr;
};

struct BuildReport {
  formats::Manifest manifest;  // of the current generation; empty after a dry run
  bool published = false;      // false: the index held all this already
  std::string why_full;  // why nothing was carried over from an index though it was not asked for
  std::vector<SkippedFile> skipped;  // ascending by source
  std::uint64_t cut_summaries = 0;
  // Documents against the generation before; sources, each list ascending.
  std::uint64_t unchanged = 0;
  std::vector<std::string> added;
  std::vector<MovedDocument> moved;  // in neither of `added` and `removed`
  std::vector<std::string> changed;
  std::vector<std::string> removed;
  std::vector<std::string> stale;  // kept although their file could not be read
  std::uint64_t resumed = 0;       // documents that a build before this one had finished
  std::vector<std::string> notes;  // what failed when the index was done already, a line each
};

// Builds and publishes, unless there is nothing to do. The index is unchanged unless the result is
// OK. NOT_FOUND / INVALID_ARGUMENT: corpus or index path; UNAVAILABLE: another writer holds the
// lock; RESOURCE_EXHAUSTED: disk full; CANCELLED: asked to stop.
absl::StatusOr<BuildReport> BuildIndex(const BuildOptions& options);

}  // namespace rag::indexer

#endif  // INDEXER_BUILD_H_
