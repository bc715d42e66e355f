#include "tests/damage/damaged_index.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "formats/checksum.h"
#include "formats/manifest.h"
#include "indexer/build.h"
#include "querier/query.h"
#include "storage/file_io.h"
#include "storage/generation.h"
#include "storage/index_reader.h"
#include "storage/verify.h"

namespace rag::testing {
namespace {

namespace fs = std::filesystem;

// Words of several documents, of one alone, and of headings.
constexpr std::string_view kQuestion = "How often is the seal of the pump greased? kx-400";
constexpr const char* kManifestName = "gen-000001/MANIFEST.json";
constexpr const char* kTermTableName = "gen-000001/model/terms.bin";
constexpr std::size_t kTermTableHeader = 128;

constexpr std::pair<const char*, const char*> kCorpus[] = {
    {"a.md",
     "# Pumps\n\nA pump has a seal.\n\nThe seal wears out.\n\n## Care\n\nGrease the seal in "
     "spring.\n\nNever run it dry.\n\nAsk the dealer for parts of the pump.\n\n## Faults\n\n"
     "- It hums.\n- It leaks.\n\n```\npump --test\n```\n\n| part | age |\n|---|---|\n| seal | 2 "
     "|\n"},
    {"b.txt", "A valve leaks.\n"},
    {"c.md",
     "# Filters\n\nFilters clog. The pump then hums.\n\nRinse them weekly in warm water.\n"},
    {"d/e.md", "# Model KX-400\n\nThe KX-400 has two seals; grease each of them.\n"}};

[[noreturn]] void Die(const absl::Status& status) {
  std::fprintf(stderr, "damaged index: %s\n", status.ToString().c_str());
  std::abort();
}

// In place: ext4 waits for the disk when a file was emptied first, which takes most of the time.
void WriteBytes(const fs::path& path, std::string_view bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  const auto size = static_cast<ssize_t>(bytes.size());
  const bool ok = fd >= 0 && pwrite(fd, bytes.data(), bytes.size(), 0) == size &&
                  ftruncate(fd, static_cast<off_t>(size)) == 0 && close(fd) == 0;
  if (!ok) Die(absl::InternalError(absl::StrCat(path.string(), ": cannot write")));
}

std::string ReadBytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Small chunks and narrow vectors, so that few bytes hold all there is to damage.
indexer::Profile SmallProfile() {
  indexer::Profile profile = indexer::FindProfile("default").value();
  profile.structure = {.target = 40, .cap = 200, .hard_max = 400};
  profile.chunk_dim = 32;
  profile.document_dim = 64;
  return profile;
}

void Build(const fs::path& corpus, const fs::path& index) {
  for (const auto& [name, text] : kCorpus) {
    fs::create_directories((corpus / name).parent_path());
    WriteBytes(corpus / name, text);
  }
  indexer::BuildOptions options;
  options.corpus = corpus;
  options.index = index;
  options.profile = SmallProfile();
  const absl::StatusOr<indexer::BuildReport> report = indexer::BuildIndex(options);
  if (!report.ok()) Die(report.status());
}

// All that a user can see of a result.
std::string ToText(const querier::QueryResult& result) {
  std::string text = absl::StrCat(result.context, "\nused ", result.used_tokens, "\n");
  for (const querier::DocumentHit& hit : result.documents) {
    absl::StrAppend(&text, hit.doc_id, " ", hit.source, " ", hit.score, "\n");
  }
  for (const querier::ChunkHit& hit : result.chunks) {
    absl::StrAppend(&text, hit.chunk_id, " ", hit.source, " ", hit.score, "\n");
  }
  for (const querier::IncludedChunk& chunk : result.included) {
    absl::StrAppend(&text, chunk.chunk_id, " ", chunk.start, " ", chunk.end, " ", chunk.line_start,
                    " ", chunk.line_end, " ", chunk.tokens, "\n");
  }
  for (const querier::SkippedChunk& chunk : result.skipped) {
    absl::StrAppend(&text, chunk.chunk_id, " ", chunk.tokens, " ", chunk.reason, "\n");
  }
  return text;
}

}  // namespace

DamagedIndex::DamagedIndex(const fs::path& folder)
    : index_(folder / "index"), generation_(index_ / storage::GenerationName(1)) {
  Build(folder / "corpus", index_);
  for (const auto& entry : fs::recursive_directory_iterator(index_)) {
    const std::string name = entry.path().lexically_relative(index_).string();
    if (entry.is_regular_file() && name != "LOCK") files_[name] = ReadBytes(entry.path());
  }
  const absl::StatusOr<formats::Manifest> manifest = storage::ReadManifest(index_, 1);
  if (!manifest.ok()) Die(manifest.status());
  for (const formats::FileEntry& entry : manifest->files) {
    header_bytes_[absl::StrCat(storage::GenerationName(1), "/", entry.path)] = entry.header_bytes;
  }
  absl::StatusOr<std::string> answer = Answer();
  if (!answer.ok()) Die(answer.status());
  answer_ = *std::move(answer);
}

void DamagedIndex::Write(const std::string& name, std::string_view bytes) {
  WriteBytes(index_ / name, bytes);
  written_[name] = bytes;
}

void DamagedIndex::Restore() {
  for (const auto& [name, bytes] : written_) WriteBytes(index_ / name, files_.at(name));
  written_.clear();
}

void DamagedIndex::Reseal() {
  ResealTermTable();
  ResealManifest();
  absl::StatusOr<formats::Manifest> manifest = storage::ReadManifest(index_, 1);
  if (!manifest.ok()) return;
  for (formats::FileEntry& entry : manifest->files) {
    std::error_code error;
    const std::uint64_t size = fs::file_size(generation_ / entry.path, error);
    if (error) continue;
    const bool whole = entry.header_bytes == entry.size_bytes || entry.header_bytes > size;
    absl::StatusOr<formats::FileEntry> described =
        storage::DescribeFile(generation_, entry.path, whole ? size : entry.header_bytes);
    if (described.ok()) entry = *std::move(described);
  }
  Write(kManifestName, formats::EncodeManifest(*manifest));
}

void DamagedIndex::ResealTermTable() {
  std::string table = ReadBytes(index_ / kTermTableName);
  if (table.size() < kTermTableHeader) return;
  const std::uint64_t checksum =
      formats::Xxh3(std::string_view(table).substr(0, kTermTableHeader - 8));
  std::memcpy(&table[kTermTableHeader - 8], &checksum, sizeof checksum);
  Write(kTermTableName, table);
}

// The text as it is, but for its closing checksum.
void DamagedIndex::ResealManifest() {
  constexpr std::size_t kTailBytes = 35;
  std::string text = ReadBytes(index_ / kManifestName);
  if (text.size() < kTailBytes) return;
  text.resize(text.size() - kTailBytes);
  const std::string checksum = formats::ToHex(formats::Xxh3(text));
  Write(kManifestName, absl::StrCat(text, "  \"checksum\": \"", checksum, "\"\n}\n"));
}

// What holds where there is damage of both kinds: one refused place is enough for all to be
// refused; where the answer may change, it does not matter that it must not do so elsewhere.
DamagedIndex::Claim DamagedIndex::Both(Claim a, Claim b) {
  if (a == Claim::kNone || b == Claim::kNone) return std::min(a, b);
  if (a == Claim::kRefused || b == Claim::kRefused) return Claim::kRefused;
  return std::max(a, b);
}

DamagedIndex::Claim DamagedIndex::ClaimOf(const std::string& name, std::uint64_t offset) const {
  if (name.ends_with(".sst")) return Claim::kRefusedOrSame;
  if (name.ends_with("terms.bin")) {
    return offset < kTermTableHeader ? Claim::kRefused : Claim::kNoticedByVerify;
  }
  const auto header = header_bytes_.find(name);
  if (header == header_bytes_.end() || offset < header->second) return Claim::kRefused;
  return Claim::kNoticedByVerify;
}

DamagedIndex::Claim DamagedIndex::ClaimOf(const std::string& name, std::string_view bytes) const {
  const std::string& sound = files_.at(name);
  if (bytes.size() != sound.size()) return Claim::kRefused;
  Claim claim = Claim::kNone;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != sound[i]) claim = Both(claim, ClaimOf(name, i));
  }
  return claim;
}

DamagedIndex::Claim DamagedIndex::ClaimOfAll() const {
  Claim claim = Claim::kNone;
  for (const auto& [name, bytes] : written_) claim = Both(claim, ClaimOf(name, bytes));
  return claim;
}

absl::StatusOr<std::string> DamagedIndex::Answer(bool skip_damaged) const {
  const auto reader = storage::IndexReader::Open(index_, {.skip_damaged_shards = skip_damaged});
  if (!reader.ok()) return reader.status();
  querier::QueryOptions options;
  options.budget_tokens = 60;  // so that some chunks are skipped
  options.skip_damaged = skip_damaged;
  const auto result = querier::Query(**reader, kQuestion, options);
  if (!result.ok()) return result.status();
  return ToText(*result);
}

bool DamagedIndex::IsBadIndex(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsNotFound(status) || absl::IsFailedPrecondition(status);
}

// Why verify does not report the damage, empty when it does.
std::string DamagedIndex::VerifyMisses() const {
  const absl::StatusOr<storage::VerifyReport> report = storage::VerifyIndex(index_, {});
  if (!report.ok()) {
    return IsBadIndex(report.status()) ? "" : absl::StrCat("verify: ", report.status().ToString());
  }
  return report->num_problems > 0 ? "" : "verify does not notice";
}

DamagedIndex::Judgement DamagedIndex::Judge() const {
  const Claim claim = ClaimOfAll();
  const absl::StatusOr<std::string> answer = Answer();
  const absl::StatusOr<std::string> skipping = Answer(/*skip_damaged=*/true);
  Judgement judgement{.reaction = !answer.ok()         ? Reaction::kRefused
                                  : *answer == answer_ ? Reaction::kSame
                                                       : Reaction::kChanged,
                      .complaint = claim == Claim::kNone ? "" : VerifyMisses()};
  if (!answer.ok() && !IsBadIndex(answer.status())) {
    judgement.complaint = absl::StrCat("wrong code: ", answer.status().ToString());
  } else if (!skipping.ok() && !IsBadIndex(skipping.status())) {
    judgement.complaint = absl::StrCat("wrong code when skipping: ", skipping.status().ToString());
  } else if (answer.ok() && (!skipping.ok() || *skipping != *answer)) {
    judgement.complaint = "skipping changes an answer that needs none";
  } else if (claim == Claim::kRefused && judgement.reaction != Reaction::kRefused) {
    judgement.complaint = "opening does not notice";
  } else if (claim == Claim::kRefusedOrSame && judgement.reaction == Reaction::kChanged) {
    judgement.complaint = "the answer changes without a word";
  } else if (claim == Claim::kNone && judgement.reaction != Reaction::kSame) {
    judgement.complaint = "a sound index gives another answer";
  }
  return judgement;
}

}  // namespace rag::testing
