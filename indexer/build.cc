#include "indexer/build.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/forward_index.h"
#include "formats/names.h"
#include "formats/status_macros.h"
#include "indexer/analyzed_document.h"
#include "indexer/build_journal.h"
#include "indexer/corpus_stats.h"
#include "indexer/document_builder.h"
#include "indexer/file_examiner.h"
#include "indexer/ordered_pipeline.h"
#include "indexer/previous_index.h"
#include "indexer/rebuild_plan.h"
#include "indexer/relabel.h"
#include "indexer/stored_term_counter.h"
#include "models/hashed_bm25.h"
#include "models/words.h"
#include "storage/generation.h"
#include "storage/index_writer.h"

namespace rag::indexer {
namespace {

// Documents of a shard of chunk vectors (docs/design.md, "Shards").
constexpr std::uint32_t kShardDocuments = 8192;
// Of the chunks at the last build from nothing: so many may come and go before the next one.
constexpr std::uint64_t kRefitShare = 4;
// Files that a thread of the first pass takes at once.
constexpr std::size_t kMaxTurn = 16;

// One analyzer a thread: it holds a memo of stems and is not shareable.
models::TermAnalyzer& ThreadAnalyzer() {
  thread_local models::TermAnalyzer analyzer;
  return analyzer;
}

// What the second pass hands to the writer.
struct SecondPassResult {
  absl::Status status;
  const PlannedDocument* planned = nullptr;
  bool resumed = false;
  BuiltDocument built;
};

class Build {
 public:
  explicit Build(const BuildOptions& options) : options_(options) {}

  absl::StatusOr<BuildReport> Run() {
    RAG_RETURN_IF_ERROR(Prepare());
    if (!options_.dry_run) RAG_RETURN_IF_ERROR(Lock());
    RAG_RETURN_IF_ERROR(OpenPrevious());
    if (!options_.dry_run) {
      RAG_ASSIGN_OR_RETURN(journal_, BuildJournal::Open(options_.index, params_, options_.program));
    }
    absl::StatusOr<BuildReport> report = MakeGeneration();
    if (absl::IsDataLoss(report.status()) && previous_ != nullptr) {
      why_full_ = std::string(report.status().message());
      bundles_.reset();
      previous_.reset();
      carry_over_ = false;
      report = MakeGeneration();
    }
    // What lies there would only keep the disk full.
    if (absl::IsResourceExhausted(report.status())) journal_->Discard().IgnoreError();
    return report;
  }

 private:
  absl::StatusOr<BuildReport> MakeGeneration() {
    writer_.reset();
    corpus_bytes_ = 0;
    cut_summaries_ = 0;
    RAG_RETURN_IF_ERROR(FirstPass());
    if (!options_.dry_run && carry_over_ && NothingToDo()) {
      BuildReport report = MakeReport();
      report.manifest = previous_->manifest();
      DiscardJournal(report);
      // What a build left that died, in the middle of the work or just before its end.
      const absl::Status status =
          storage::CollectGarbage(options_.index, options_.keep_generations).status();
      if (!status.ok()) report.notes.emplace_back(status.message());
      return report;
    }
    if (carry_over_ && NeedsRefit()) {
      why_full_ = "a quarter of the chunks came or went since the last build from nothing";
      carry_over_ = false;
      if (!options_.dry_run) RAG_RETURN_IF_ERROR(FirstPass());
    }
    if (options_.dry_run) return MakeReport();
    if (previous_ != nullptr) {
      RAG_ASSIGN_OR_RETURN(bundles_, storage::BundleReader::Open(previous_->reader()));
    }
    RAG_RETURN_IF_ERROR(SettleStatistics());
    RAG_ASSIGN_OR_RETURN(writer_,
                         storage::IndexWriter::Create(options_.index, params_, models::kRange));
    if (carry_over_) {
      writer_->UseCentroids(previous_->reader().document_vectors().Centroids());
    }
    RAG_RETURN_IF_ERROR(SecondPass());
    RAG_RETURN_IF_ERROR(writer_->SetTermTable(stats_.EncodeTermTable(ordinal_of_file_)));
    RAG_RETURN_IF_ERROR(CheckCancel());
    return Publish();
  }

  absl::Status Walk() {
    WalkOptions walk = options_.walk;
    walk.leave_out = options_.index;
    RAG_ASSIGN_OR_RETURN(walk_, WalkCorpus(options_.corpus, walk));
    return absl::OkStatus();
  }

  absl::Status Prepare() {
    const Profile& profile = options_.profile;
    RAG_ASSIGN_OR_RETURN(splitter_, MakeSplitter(profile));
    RAG_ASSIGN_OR_RETURN(counter_, models::MakeTokenCounter(profile.token_counter));
    summarizer_ =
        MakeSummarizer(profile, [this](std::uint64_t hash) { return stats_.ChunkIdf(hash); });
    RAG_RETURN_IF_ERROR(Walk());
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

  absl::Status Lock() {
    RAG_ASSIGN_OR_RETURN(
        storage::WriterLock lock,
        storage::WriterLock::Acquire(options_.index, options_.wait_for_lock, options_.cancel));
    lock_.emplace(std::move(lock));
    // The corpus may have changed while another writer was at work; and its index is not part of
    // it, though the folder was not there yet when it was walked.
    return options_.wait_for_lock.count() > 0 ? Walk() : absl::OkStatus();
  }

  absl::Status OpenPrevious() {
    absl::StatusOr<std::unique_ptr<PreviousIndex>> previous =
        PreviousIndex::Open(options_.index, params_);
    if (previous.ok()) {
      previous_ = *std::move(previous);
      carry_over_ = !options_.full;
      return absl::OkStatus();
    }
    if (absl::IsNotFound(previous.status())) return absl::OkStatus();
    // A damaged index is what a rebuild repairs.
    if (!absl::IsFailedPrecondition(previous.status()) && !absl::IsDataLoss(previous.status())) {
      return previous.status();
    }
    why_full_ = std::string(previous.status().message());
    return absl::OkStatus();
  }

  // Reads every file; analyzes those that are not carried over. Fills stats_ with those and plan_.
  absl::Status FirstPass() {
    stats_ = CorpusStats();
    resumed_ = 0;
    std::vector<PlannedDocument> documents;
    std::vector<SkippedFile> skipped = walk_.skipped;
    // Several files a turn, because a hand-over costs as much as reading a small one.
    const std::size_t num_files = walk_.files.size();
    const std::size_t turn =
        std::clamp<std::size_t>(num_files / (16 * std::size_t{options_.threads}), 1, kMaxTurn);
    std::size_t at = 0;
    const auto next = [&]() -> absl::StatusOr<std::optional<std::size_t>> {
      RAG_RETURN_IF_ERROR(CheckCancel());
      if (at >= num_files) return std::optional<std::size_t>();
      return std::optional<std::size_t>(std::exchange(at, at + turn));
    };
    const FileExaminer examiner({.profile = options_.profile,
                                 .source_prefix = options_.source_prefix,
                                 .splitter = *splitter_,
                                 .counter = *counter_,
                                 .previous = previous_.get(),
                                 .carry_over = carry_over_,
                                 .journal = journal_.get()});
    const auto work = [&](std::size_t first) {
      std::vector<ExaminedFile> examined;
      for (std::size_t i = first; i < std::min(first + turn, num_files); ++i) {
        if (CheckCancel().ok()) {
          examined.push_back(
              examiner.Examine(static_cast<std::uint32_t>(i), walk_.files[i], ThreadAnalyzer()));
        }
      }
      return examined;
    };
    std::uint64_t done = 0;
    const auto consume = [&](std::vector<ExaminedFile> examined) -> absl::Status {
      for (ExaminedFile& result : examined) {
        RAG_RETURN_IF_ERROR(result.status);
        Report("reading", ++done, num_files);
        if (!result.ok) {
          skipped.push_back(std::move(result.skipped));
          continue;
        }
        if (result.document.analyzed.has_value()) stats_.Add(result.document.file, result.stats);
        documents.push_back(std::move(result.document));
      }
      return CheckCancel();
    };
    RAG_RETURN_IF_ERROR((OrderedPipeline<std::size_t, std::vector<ExaminedFile>>::Run(
        options_.threads, next, work, consume)));
    plan_ = PlanRebuild(std::move(documents), previous_.get(), skipped, options_.corpus,
                        options_.source_prefix, options_.profile.doc_ids == DocIdStyle::kSource);
    skipped_ = std::move(skipped);
    std::sort(skipped_.begin(), skipped_.end(),
              [](const SkippedFile& a, const SkippedFile& b) { return a.source < b.source; });
    return absl::OkStatus();
  }

  [[nodiscard]] bool NothingToDo() const {
    const formats::Manifest& manifest = previous_->manifest();
    return plan_.nothing_to_do && manifest.query == options_.profile.query &&
           manifest.counts.skipped_files == skipped_.size();
  }

  [[nodiscard]] bool NeedsRefit() const {
    const formats::Fit& fit = previous_->manifest().fit;
    return (fit.changed_chunks + plan_.changed_chunks) * kRefitShare > fit.chunks;
  }

  // Documents that are carried over are numbered behind the files of the walk.
  [[nodiscard]] std::uint32_t FileOf(std::uint32_t previous_ordinal) const {
    return static_cast<std::uint32_t>(walk_.files.size()) + previous_ordinal;
  }

  [[nodiscard]] bool IsCarriedOver(const PlannedDocument& document) const {
    return document.stale || (carry_over_ && document.previous != PlannedDocument::kNone);
  }

  // By the second pass.
  [[nodiscard]] bool IsMade(const PlannedDocument& document) const {
    return !IsCarriedOver(document) && document.previous_twin == PlannedDocument::kNone &&
           document.twin == PlannedDocument::kNone;
  }

  absl::StatusOr<DocumentStats> StoredStatistics(std::uint32_t previous_ordinal) {
    StoredTermCounter counter(ThreadAnalyzer());
    RAG_ASSIGN_OR_RETURN(const storage::DocumentBundle bundle,
                         bundles_->Read(previous_ordinal, [&](const storage::BundlePart& part) {
                           return counter.Add(part);
                         }));
    RAG_RETURN_IF_ERROR(counter.Add(bundle));
    return counter.Finish(bundle.document.title);
  }

  // The statistics of all documents of the plan.
  absl::Status SettleStatistics() {
    const std::size_t num_previous = previous_ == nullptr ? 0 : previous_->documents().size();
    std::vector<std::uint32_t> file_of_previous(num_previous, kNoFile);
    ordinal_of_file_.assign(walk_.files.size() + num_previous, 0);
    std::uint32_t ordinal = 0;
    for (PlannedDocument& document : plan_.documents) {
      if (IsCarriedOver(document) || document.moved) {
        const std::uint32_t previous = document.moved ? document.previous_twin : document.previous;
        document.file = FileOf(previous);
        file_of_previous[previous] = document.file;
      }
      ordinal_of_file_[document.file] = ordinal++;
    }
    if (carry_over_) {
      RAG_RETURN_IF_ERROR(stats_.AddTable(previous_->reader().terms(), file_of_previous));
      for (const std::uint32_t gone : plan_.gone) {
        RAG_ASSIGN_OR_RETURN(const DocumentStats stats, StoredStatistics(gone));
        RAG_RETURN_IF_ERROR(stats_.Remove(stats));
      }
      for (const PlannedDocument& document : plan_.documents) {
        if (document.previous_twin == PlannedDocument::kNone || document.moved) continue;
        RAG_ASSIGN_OR_RETURN(const DocumentStats stats, StoredStatistics(document.previous_twin));
        stats_.Add(document.file, stats);
      }
      stats_.Settle();
      return absl::OkStatus();
    }
    for (const PlannedDocument& document : plan_.documents) {
      if (!document.stale) continue;
      RAG_ASSIGN_OR_RETURN(const DocumentStats stats, StoredStatistics(document.previous));
      stats_.Add(document.file, stats);
    }
    return absl::OkStatus();
  }

  absl::Status SecondPass() {
    const Profile& profile = options_.profile;
    const storage::VectorCodec chunk_codec(profile.chunk_dim, models::kRange);
    const storage::VectorCodec document_codec(profile.document_dim, models::kRange);
    const DocumentBuilder builder(profile, stats_, *summarizer_, *counter_, chunk_codec,
                                  document_codec);
    RAG_RETURN_IF_ERROR(journal_->BeginBuilding(stats_.Fingerprint()));
    FindTwins(plan_);
    // Only what is to be made goes through the threads; the documents between are written in turn.
    auto to_write = plan_.documents.begin();
    auto to_make = plan_.documents.begin();
    const auto next = [&]() -> absl::StatusOr<std::optional<const PlannedDocument*>> {
      RAG_RETURN_IF_ERROR(CheckCancel());
      to_make = std::find_if(to_make, plan_.documents.end(),
                             [this](const PlannedDocument& d) { return IsMade(d); });
      if (to_make == plan_.documents.end()) return std::optional<const PlannedDocument*>();
      return std::optional<const PlannedDocument*>(&*to_make++);
    };
    std::uint64_t done = 0;
    const auto carry_over_until = [&](const PlannedDocument* end) -> absl::Status {
      for (; to_write != plan_.documents.end() && &*to_write != end; ++to_write) {
        RAG_RETURN_IF_ERROR(CheckCancel());
        RAG_RETURN_IF_ERROR(IsCarriedOver(*to_write) ? CarryOver(*to_write) : Copy(*to_write));
        Report("indexing", ++done, plan_.documents.size());
      }
      return absl::OkStatus();
    };
    const auto consume = [&](SecondPassResult result) -> absl::Status {
      RAG_RETURN_IF_ERROR(result.status);
      RAG_RETURN_IF_ERROR(carry_over_until(result.planned));
      resumed_ += result.resumed ? 1 : 0;
      RAG_RETURN_IF_ERROR(WriteBuilt(result.built, *result.planned));
      Report("indexing", ++done, plan_.documents.size());
      ++to_write;
      return absl::OkStatus();
    };
    RAG_RETURN_IF_ERROR((OrderedPipeline<const PlannedDocument*, SecondPassResult>::Run(
        options_.threads, next,
        [&](const PlannedDocument* planned) { return Make(*planned, builder); }, consume)));
    return carry_over_until(nullptr);
  }

  [[nodiscard]] SecondPassResult Make(const PlannedDocument& planned,
                                      const DocumentBuilder& builder) const {
    SecondPassResult result;
    result.planned = &planned;
    if (std::optional<BuiltDocument> finished = journal_->FindBuilt(planned)) {
      result.built = *std::move(finished);
      result.resumed = true;
      return result;
    }
    absl::StatusOr<AnalyzedDocument> analyzed = journal_->ReadAnalyzed(planned);
    result.status = analyzed.status();
    if (!analyzed.ok()) return result;
    const DocumentBuilder::PartFlow flow{
        .read = [this](std::uint64_t entry) { return journal_->ReadAnalyzedPart(entry); },
        .write = [this](const storage::BundlePart& part) { return journal_->AddPart(part); }};
    absl::StatusOr<BuiltDocument> built =
        builder.Build(*std::move(analyzed), ThreadAnalyzer(), flow);
    result.status = built.status();
    if (!built.ok()) return result;
    result.built = *std::move(built);
    result.status = journal_->AddBuilt(result.built, planned);
    return result;
  }

  absl::Status WriteBuilt(const BuiltDocument& built, const PlannedDocument& planned) {
    if (options_.reduction_log) {
      for (const std::string& line : built.log) {
        options_.reduction_log(built.bundle.document.source, line);
      }
    }
    cut_summaries_ += built.cut_summaries;
    for (const std::uint64_t entry : built.earlier_parts) {
      RAG_RETURN_IF_ERROR(CheckCancel());
      RAG_ASSIGN_OR_RETURN(const storage::BundlePart part, journal_->ReadBuiltPart(entry));
      RAG_RETURN_IF_ERROR(WritePart(part, planned));
    }
    return Write(built.bundle, planned);
  }

  absl::Status CarryOver(const PlannedDocument& planned) {
    RAG_ASSIGN_OR_RETURN(storage::DocumentBundle bundle,
                         bundles_->Read(planned.previous, [&](const storage::BundlePart& part) {
                           return WritePart(part, planned);
                         }));
    if (planned.stale) {
      bundle.document.metadata[std::string(kStaleKey)] = "true";
    } else {
      bundle.document.metadata.erase(std::string(kStaleKey));
    }
    return Write(bundle, planned);
  }

  // Takes it from one that is the same but for its names.
  absl::Status Copy(const PlannedDocument& planned) {
    storage::DocumentBundle bundle;
    if (planned.twin != PlannedDocument::kNone) {
      std::optional<BuiltDocument> built = journal_->FindBuilt(plan_.documents[planned.twin]);
      if (!built.has_value()) {
        return absl::DataLossError(absl::StrCat(
            options_.index.string(), ": the journal lost what was made of ",
            formats::PrintableName(plan_.documents[planned.twin].source), "; build again"));
      }
      cut_summaries_ += built->cut_summaries;
      bundle = std::move(built->bundle);
    } else {
      RAG_ASSIGN_OR_RETURN(bundle, bundles_->ReadWhole(planned.previous_twin));
      bundle.document.metadata.erase(std::string(kStaleKey));
    }
    RAG_RETURN_IF_ERROR(Relabel(planned.source, planned.doc_id, *counter_, bundle));
    return Write(bundle, planned);
  }

  absl::Status Revisit(const storage::BundlePart& part, const PlannedDocument& planned) {
    if (stats_.doubtful().empty()) return absl::OkStatus();
    for (const std::string& segment : part.segments) {
      RAG_ASSIGN_OR_RETURN(const formats::ForwardSegmentView view,
                           formats::ForwardSegmentView::Parse(segment, stats_.doubtful()));
      stats_.Revisit(planned.file, view);
    }
    return absl::OkStatus();
  }

  absl::Status WritePart(const storage::BundlePart& part, const PlannedDocument& planned) {
    RAG_RETURN_IF_ERROR(Revisit(part, planned));
    return writer_->AddPart(part);
  }

  absl::Status Write(const storage::DocumentBundle& bundle, const PlannedDocument& planned) {
    RAG_RETURN_IF_ERROR(Revisit(bundle, planned));
    corpus_bytes_ += bundle.document.size_bytes;
    return writer_->Add(bundle);
  }

  absl::StatusOr<BuildReport> Publish() {
    formats::Manifest manifest;
    manifest.created = options_.created;
    manifest.program = options_.program;
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(options_.corpus, error);
    manifest.corpus_root = error ? options_.corpus.string() : absolute.string();
    manifest.query = options_.profile.query;
    manifest.counts.corpus_bytes = corpus_bytes_;
    manifest.counts.skipped_files = skipped_.size();
    if (carry_over_) {
      manifest.fit = previous_->manifest().fit;
      manifest.fit.changed_chunks += plan_.changed_chunks;
    } else {
      manifest.fit.chunks = stats_.totals().num_chunks;
    }
    BuildReport report = MakeReport();
    report.published = true;
    RAG_ASSIGN_OR_RETURN(report.manifest,
                         writer_->Publish(std::move(manifest), options_.keep_generations));
    report.notes = writer_->notes();
    DiscardJournal(report);
    return report;
  }

  // The index is what it should be already, so a failure is only noted.
  void DiscardJournal(BuildReport& report) {
    const absl::Status status = journal_->Discard();
    if (status.ok()) return;
    report.notes.push_back(
        absl::StrCat(status.message(), "; rag-index gc removes what is left over"));
  }

  BuildReport MakeReport() {
    BuildReport report;
    report.why_full = why_full_;
    report.skipped = std::move(skipped_);
    report.cut_summaries = cut_summaries_;
    report.unchanged = plan_.unchanged;
    report.added = std::move(plan_.added);
    report.moved = std::move(plan_.moved);
    report.changed = std::move(plan_.changed);
    report.removed = std::move(plan_.removed);
    report.stale = std::move(plan_.stale);
    report.resumed = resumed_;
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
  std::unique_ptr<PreviousIndex> previous_;  // null: there is none to carry anything over from
  std::unique_ptr<storage::BundleReader> bundles_;
  bool carry_over_ = false;  // unchanged documents are
  std::string why_full_;
  CorpusStats stats_;
  RebuildPlan plan_;
  std::vector<SkippedFile> skipped_;
  std::vector<std::uint32_t> ordinal_of_file_;
  std::optional<storage::WriterLock> lock_;  // outlives what cleans up under it
  std::unique_ptr<BuildJournal> journal_;
  std::unique_ptr<storage::IndexWriter> writer_;
  std::uint64_t corpus_bytes_ = 0;
  std::uint64_t cut_summaries_ = 0;
  std::uint64_t resumed_ = 0;
};

}  // namespace

absl::StatusOr<BuildReport> BuildIndex(const BuildOptions& options) {
  if (options.threads == 0) return absl::InvalidArgumentError("threads must be at least 1");
  return Build(options).Run();
}

}  // namespace rag::indexer
