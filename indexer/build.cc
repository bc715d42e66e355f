#include "indexer/build.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/status_macros.h"
#include "indexer/analyzed_document.h"
#include "indexer/corpus_stats.h"
#include "indexer/document_builder.h"
#include "indexer/ordered_pipeline.h"
#include "indexer/spill.h"
#include "indexer/text_file.h"
#include "models/hashed_bm25.h"
#include "models/words.h"
#include "storage/generation.h"
#include "storage/index_writer.h"

namespace rag::indexer {
namespace {

// Documents of a shard of chunk vectors (docs/design.md, "Shards").
constexpr std::uint32_t kShardDocuments = 8192;

// One analyzer a thread: it holds a memo of stems and is not shareable.
models::TermAnalyzer& ThreadAnalyzer() {
  thread_local models::TermAnalyzer analyzer;
  return analyzer;
}

// A file after the first pass: analyzed, or skipped with a reason.
struct FirstPassResult {
  bool ok = false;
  AnalyzedDocument document;  // only its statistics: the rest is in `spilled`
  std::uint64_t size_bytes = 0;
  std::string spilled;
  SkippedFile skipped;
};

class Build {
 public:
  explicit Build(const BuildOptions& options) : options_(options) {}

  absl::StatusOr<BuildReport> Run() {
    RAG_RETURN_IF_ERROR(Prepare());
    RAG_RETURN_IF_ERROR(Lock());
    LeaveOutIndex();
    RAG_ASSIGN_OR_RETURN(writer_,
                         storage::IndexWriter::Create(options_.index, params_, models::kRange));
    RAG_ASSIGN_OR_RETURN(Spill spill, Spill::Create(writer_->scratch() / "documents.spill"));
    RAG_RETURN_IF_ERROR(FirstPass(spill));
    RAG_RETURN_IF_ERROR(spill.Rewind());
    RAG_RETURN_IF_ERROR(SecondPass(spill));
    RAG_RETURN_IF_ERROR(writer_->SetTermTable(stats_.EncodeTermTable()));
    RAG_RETURN_IF_ERROR(CheckCancel());
    return Publish();
  }

 private:
  absl::Status Lock() {
    RAG_ASSIGN_OR_RETURN(
        storage::WriterLock lock,
        storage::WriterLock::Acquire(options_.index, options_.wait_for_lock, options_.cancel));
    lock_.emplace(std::move(lock));
    // The corpus may have changed while another writer was at work.
    if (options_.wait_for_lock.count() > 0) {
      RAG_ASSIGN_OR_RETURN(walk_, WalkCorpus(options_.corpus));
    }
    return absl::OkStatus();
  }

  absl::Status Prepare() {
    const Profile& profile = options_.profile;
    RAG_ASSIGN_OR_RETURN(splitter_, MakeSplitter(profile));
    RAG_ASSIGN_OR_RETURN(counter_, models::MakeTokenCounter(profile.token_counter));
    summarizer_ =
        MakeSummarizer(profile, [this](std::uint64_t hash) { return stats_.ChunkIdf(hash); });
    WalkOptions walk = options_.walk;
    walk.leave_out = options_.index;
    RAG_ASSIGN_OR_RETURN(walk_, WalkCorpus(options_.corpus, walk));
    std::error_code error;
    if (std::filesystem::equivalent(options_.corpus, options_.index, error)) {
      return absl::InvalidArgumentError(absl::StrCat(
          options_.index.string(), ": is the corpus itself; choose another folder for the index"));
    }
    params_.profile = profile.name;
    params_.splitter = splitter_->Id();
    params_.summarizer = summarizer_->Id();
    params_.embedder = models::HashedBm25::Id();
    params_.token_counter = counter_->Id();
    params_.source_prefix = options_.source_prefix;
    params_.chunk_dim = profile.chunk_dim;
    params_.document_dim = profile.document_dim;
    params_.reduction_budget_tokens = profile.reduction.budget_tokens;
    params_.shard_documents = kShardDocuments;
    return absl::OkStatus();
  }

  // An index that lies inside its corpus is not part of it. The walk passes it over; what is left
  // here is one that another build made meanwhile.
  void LeaveOutIndex() {
    std::error_code error;
    const std::string inside =
        std::filesystem::canonical(options_.index, error)
            .lexically_relative(std::filesystem::canonical(options_.corpus, error))
            .generic_string() +
        "/";
    if (error || inside.starts_with("..")) return;
    std::erase_if(walk_.files,
                  [&inside](const CorpusFile& file) { return file.source.starts_with(inside); });
  }

  absl::Status FirstPass(Spill& spill) {
    std::size_t at = 0;
    const auto next = [&]() -> absl::StatusOr<std::optional<std::size_t>> {
      RAG_RETURN_IF_ERROR(CheckCancel());
      if (at == walk_.files.size()) return std::optional<std::size_t>();
      return std::optional<std::size_t>(at++);
    };
    std::uint64_t done = 0;
    const auto consume = [&](FirstPassResult result) -> absl::Status {
      Report("reading", ++done, walk_.files.size());
      if (!result.ok) {
        walk_.skipped.push_back(std::move(result.skipped));
        return absl::OkStatus();
      }
      corpus_bytes_ += result.size_bytes;
      stats_.Add(result.document);
      return spill.Append(result.spilled);
    };
    return OrderedPipeline<std::size_t, FirstPassResult>::Run(
        options_.threads, next, [this](std::size_t i) { return Analyze(i); }, consume);
  }

  [[nodiscard]] FirstPassResult Analyze(std::size_t file_number) const {
    const CorpusFile& file = walk_.files[file_number];
    FirstPassResult result;
    LoadedFile loaded = LoadTextFile(file);
    if (!loaded.ok) {
      result.skipped = std::move(loaded.skipped);
      return result;
    }
    result.size_bytes = loaded.bytes.size();
    std::string source = absl::StrCat(options_.source_prefix, file.source);
    std::string doc_id =
        DocumentId(options_.profile.doc_ids, static_cast<std::uint32_t>(file_number), source);
    AnalyzedDocument document =
        AnalyzeDocument(std::move(source), std::move(doc_id), std::move(loaded.bytes),
                        MediaTypeOf(file.source), *splitter_, *counter_, ThreadAnalyzer());
    if (document.chunks.empty()) {
      result.skipped = {file.source, SkipReason::kBlank, "no text to index"};
      return result;
    }
    result.ok = true;
    result.spilled = EncodeSpill(document);
    result.document.frequencies = std::move(document.frequencies);
    result.document.totals = document.totals;
    return result;
  }

  absl::Status SecondPass(Spill& spill) {
    const Profile& profile = options_.profile;
    const storage::VectorCodec chunk_codec(profile.chunk_dim, models::kRange);
    const storage::VectorCodec document_codec(profile.document_dim, models::kRange);
    const DocumentBuilder builder(profile, stats_, *summarizer_, *counter_, chunk_codec,
                                  document_codec);
    const auto next = [&]() -> absl::StatusOr<std::optional<std::string>> {
      RAG_RETURN_IF_ERROR(CheckCancel());
      return spill.Next();
    };
    const auto work = [&builder](std::string blob) -> absl::StatusOr<BuiltDocument> {
      RAG_ASSIGN_OR_RETURN(AnalyzedDocument document, DecodeSpill(blob));
      return builder.Build(std::move(document), ThreadAnalyzer());
    };
    std::uint64_t done = 0;
    const auto consume = [&](absl::StatusOr<BuiltDocument> built) -> absl::Status {
      RAG_RETURN_IF_ERROR(built.status());
      Report("indexing", ++done, stats_.totals().num_documents);
      if (options_.reduction_log) {
        for (const std::string& line : built->log) {
          options_.reduction_log(built->bundle.document.source, line);
        }
      }
      cut_summaries_ += built->cut_summaries;
      return writer_->Add(built->bundle);
    };
    return OrderedPipeline<std::string, absl::StatusOr<BuiltDocument>>::Run(options_.threads, next,
                                                                            work, consume);
  }

  absl::StatusOr<BuildReport> Publish() {
    BuildReport report;
    report.skipped = std::move(walk_.skipped);
    std::sort(report.skipped.begin(), report.skipped.end(),
              [](const SkippedFile& a, const SkippedFile& b) { return a.source < b.source; });
    report.cut_summaries = cut_summaries_;
    formats::Manifest manifest;
    manifest.created = options_.created;
    manifest.program = options_.program;
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(options_.corpus, error);
    manifest.corpus_root = error ? options_.corpus.string() : absolute.string();
    manifest.query = options_.profile.query;
    manifest.counts.corpus_bytes = corpus_bytes_;
    manifest.counts.skipped_files = report.skipped.size();
    RAG_ASSIGN_OR_RETURN(report.manifest,
                         writer_->Publish(std::move(manifest), options_.keep_generations));
    return report;
  }

  [[nodiscard]] absl::Status CheckCancel() const {
    if (options_.cancel != nullptr && options_.cancel->load()) {
      return absl::CancelledError("interrupted; the index is as it was");
    }
    return absl::OkStatus();
  }

  void Report(const char* phase, std::uint64_t done, std::uint64_t total) const {
    if (options_.progress) options_.progress({phase, done, total});
  }

  const BuildOptions& options_;
  WalkResult walk_;
  formats::BuildParams params_;
  std::unique_ptr<Splitter> splitter_;
  std::unique_ptr<Summarizer> summarizer_;
  std::unique_ptr<models::TokenCounter> counter_;
  CorpusStats stats_;
  std::optional<storage::WriterLock> lock_;  // outlives writer_, which cleans up under it
  std::unique_ptr<storage::IndexWriter> writer_;
  std::uint64_t corpus_bytes_ = 0;
  std::uint64_t cut_summaries_ = 0;
};

}  // namespace

absl::StatusOr<BuildReport> BuildIndex(const BuildOptions& options) {
  if (options.threads == 0) return absl::InvalidArgumentError("threads must be at least 1");
  return Build(options).Run();
}

}  // namespace rag::indexer
