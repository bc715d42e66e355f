#include "storage/verify.h"

#include <algorithm>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/status_macros.h"
#include "storage/file_io.h"
#include "storage/generation.h"
#include "storage/index_reader.h"
#include "storage/verify_parts.h"

namespace rag::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRepeated = "; the index is damaged, rebuild it with rag-index build";

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// A file in full: existence, size and both checksums.
void VerifyFile(const VerifyJob& job, const formats::FileEntry& entry) {
  const fs::path folder = job.index / job.generation;
  absl::Status status = CheckFile(folder, entry);
  if (status.ok() && !job.options.quick) {
    const absl::StatusOr<formats::FileEntry> found = DescribeFile(folder, entry.path, 0);
    status = found.status();
    if (found.ok() && found->xxh128 != entry.xxh128) {
      job.problems.Add(
          absl::StrCat(job.generation, "/", entry.path),
          absl::StrCat("checksum is ", found->xxh128, ", the manifest says ", entry.xxh128));
    }
  }
  if (!status.ok()) job.problems.Add(job.index, status);
}

// The folders above each file that the manifest names, and the files.
std::set<std::string> NamedPaths(const formats::Manifest& manifest) {
  std::set<std::string> named = {std::string(kManifestFile)};
  for (const formats::FileEntry& entry : manifest.files) {
    named.insert(entry.path);
    for (std::size_t at = entry.path.find('/'); at != std::string::npos;
         at = entry.path.find('/', at + 1)) {
      named.insert(entry.path.substr(0, at));
    }
  }
  return named;
}

void FindUnnamedFiles(const VerifyJob& job) {
  const fs::path folder = job.index / job.generation;
  const std::set<std::string> named = NamedPaths(job.manifest);
  std::vector<std::string> unnamed;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    std::string path = it->path().lexically_relative(folder).string();
    if (!named.contains(path)) unnamed.push_back(std::move(path));
  }
  if (error) job.problems.Add(job.index, SystemError(folder, "list", error.value()));
  std::sort(unnamed.begin(), unnamed.end());
  for (const std::string& path : unnamed) {
    job.problems.Add(absl::StrCat(job.generation, "/", path), "the manifest does not name it");
  }
}

void VerifyContents(const VerifyJob& job) {
  const auto reader = IndexReader::OpenGeneration(job.index, job.manifest.generation);
  if (!reader.ok()) {
    job.problems.Add(job.index, reader.status());
    return;
  }
  if (job.options.quick) return;
  job.report.contents_checked = true;
  const std::vector<DocumentShape> documents = VerifyRecords(job, **reader);
  VerifyVectors(job, **reader, documents);
  VerifyTermTable(job, (*reader)->terms());
}

absl::Status VerifyGeneration(const fs::path& index, const VerifyOptions& options,
                              ProblemList& problems, VerifyReport& report) {
  const absl::StatusOr<std::uint64_t> number = ReadCurrent(index);
  if (absl::IsNotFound(number.status())) return number.status();
  if (!number.ok()) {
    problems.Add(index, number.status());
    return absl::OkStatus();
  }
  report.generation = *number;
  const absl::StatusOr<formats::Manifest> manifest = ReadManifest(index, *number);
  if (absl::IsFailedPrecondition(manifest.status())) return manifest.status();
  if (!manifest.ok()) {
    problems.Add(index, manifest.status());
    return absl::OkStatus();
  }
  const VerifyJob job{index, GenerationName(*number), *manifest, options, problems, report};
  VerifyFiles(job);
  // An engine gets to see nothing but sound files: not every kind of damage is safe in its hands.
  if (problems.size() == 0 && problems.failure().ok()) VerifyContents(job);
  if (!options.quick) FindUnnamedFiles(job);
  return absl::OkStatus();
}

}  // namespace

void ProblemList::Add(std::string_view place, std::string_view what) {
  ++size_;
  if (problems_.size() < limit_) problems_.push_back(absl::StrCat(View(place), ": ", View(what)));
}

void ProblemList::Add(const fs::path& index, const absl::Status& status) {
  if (absl::IsPermissionDenied(status)) {
    failure_.Update(status);
    return;
  }
  std::string message(status.message());
  const std::string prefix = (index / "").string();
  if (message.starts_with(prefix)) message.erase(0, prefix.size());
  if (message.ends_with(kRepeated)) message.resize(message.size() - kRepeated.size());
  ++size_;
  if (problems_.size() < limit_) problems_.push_back(std::move(message));
}

void VerifyFiles(const VerifyJob& job) {
  std::uint64_t total = 0;
  for (const formats::FileEntry& entry : job.manifest.files) total += entry.size_bytes;
  std::error_code error;
  const std::uintmax_t manifest_bytes =
      fs::file_size(job.index / job.generation / kManifestFile, error);
  job.report.files = 1;
  job.report.bytes = error ? 0 : manifest_bytes;
  std::uint64_t done = 0;
  for (const formats::FileEntry& entry : job.manifest.files) {
    job.Progress("checking files", done, total, "bytes");
    VerifyFile(job, entry);
    ++job.report.files;
    done += entry.size_bytes;
  }
  job.report.bytes += done;
}

absl::StatusOr<VerifyReport> VerifyIndex(const fs::path& index, const VerifyOptions& options) {
  while (true) {
    VerifyReport report;
    ProblemList problems(options.max_problems);
    RAG_RETURN_IF_ERROR(VerifyGeneration(index, options, problems, report));
    // Problems that a writer made by removing the generation meanwhile are none.
    const absl::StatusOr<std::uint64_t> now = ReadCurrent(index);
    std::error_code error;
    const bool removed = problems.size() > 0 && now.ok() && *now != report.generation &&
                         report.generation != 0 &&
                         !fs::exists(index / GenerationName(report.generation), error);
    if (removed) continue;
    RAG_RETURN_IF_ERROR(problems.failure());
    report.num_problems = problems.size();
    report.problems = problems.Take();
    return report;
  }
}

}  // namespace rag::storage
