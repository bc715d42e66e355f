#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "formats/coding.h"
#include "storage/family_digest.h"
#include "storage/record_reader.h"
#include "storage/record_writer.h"
#include "storage/verify_parts.h"

namespace rag::storage {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// A family in key order. Every entry that is passed counts and is digested.
class FamilyWalk {
 public:
  // `parts`: ordinals in a key; 0 for keys that are text.
  FamilyWalk(const VerifyJob& job, const RecordReader& records, std::string_view family, int parts)
      : job_(job), family_(family), parts_(parts) {
    absl::StatusOr<std::unique_ptr<RecordCursor>> cursor = records.NewCursor(family);
    if (cursor.ok()) {
      cursor_ = *std::move(cursor);
    } else {
      job_.problems.Add(job_.index, cursor.status());
    }
  }

  [[nodiscard]] bool Valid() const { return cursor_ != nullptr && cursor_->Valid(); }
  [[nodiscard]] std::string_view key() const { return cursor_->key(); }
  [[nodiscard]] std::string_view value() const { return cursor_->value(); }
  [[nodiscard]] std::uint64_t num_keys() const { return digest_.num_keys(); }
  void Next() {
    digest_.Add(key(), value());
    cursor_->Next();
  }

  void Problem(std::string_view what) const {
    job_.problems.Add(
        absl::StrCat(job_.generation, "/records: ", View(family_), ": key ", formats::ToHex(key())),
        what);
  }

  // Visits the entries of a document; names those of the documents before, which do not exist.
  template <typename Visit>
  void VisitDocument(std::uint32_t document, Visit visit) {
    for (; Valid(); Next()) {
      const absl::StatusOr<formats::KeyParts> parts = formats::ParseKey(key(), parts_);
      if (!parts.ok()) {
        Problem(std::string(parts.status().message()));
      } else if (parts->part[0] > document) {
        return;
      } else if (parts->part[0] < document) {
        Problem("belongs to no document");
      } else {
        visit(*parts, value());
      }
    }
  }

  // Passes what is left, which belongs to nothing, and compares with the manifest.
  void Finish() {
    for (; Valid(); Next()) Problem("belongs to no document");
    if (cursor_ == nullptr) return;
    const absl::Status status = cursor_->status();
    if (!status.ok()) {
      job_.problems.Add(job_.index, status);
      return;  // count and digest are of a part only
    }
    const std::string place = absl::StrCat(job_.generation, "/records: ", View(family_));
    const auto keys = job_.manifest.family_keys.find(std::string(family_));
    const auto digests = job_.manifest.family_digests.find(std::string(family_));
    if (keys == job_.manifest.family_keys.end() || digests == job_.manifest.family_digests.end()) {
      job_.problems.Add(place, "the manifest does not name the family");
      return;
    }
    if (num_keys() != keys->second) {
      job_.problems.Add(
          place, absl::StrCat("has ", num_keys(), " keys, the manifest says ", keys->second));
    }
    if (digest_.Hex() != digests->second) {
      job_.problems.Add(place, absl::StrCat("content digest is ", digest_.Hex(),
                                            ", the manifest says ", digests->second));
    }
  }

 private:
  const VerifyJob& job_;
  std::string_view family_;
  int parts_;
  std::unique_ptr<RecordCursor> cursor_;
  FamilyDigest digest_;
};

// One pass over all families side by side: their keys are in the same order of documents.
class StoreCheck {
 public:
  StoreCheck(const VerifyJob& job, const RecordReader& records)
      : job_(job),
        documents_(job, records, formats::kDocumentsFamily, 1),
        sources_(job, records, formats::kSourcesFamily, 0),
        parents_(job, records, formats::kParentsFamily, 2),
        chunks_(job, records, formats::kChunksFamily, 2),
        summaries_(job, records, formats::kSummariesFamily, 3),
        terms_(job, records, formats::kTermsFamily, 2) {}

  std::vector<DocumentShape> Run() {
    for (; documents_.Valid(); documents_.Next()) Document();
    for (FamilyWalk* family : {&documents_, &sources_, &parents_, &chunks_, &summaries_, &terms_}) {
      family->Finish();
      job_.report.records += family->num_keys();
    }
    CheckTotals();
    return std::move(shapes_);
  }

 private:
  void Document() {
    const absl::StatusOr<formats::KeyParts> key = formats::ParseKey(documents_.key(), 1);
    if (!key.ok()) {
      documents_.Problem(std::string(key.status().message()));
      return;
    }
    const std::uint32_t document = key->part[0];
    if (document != shapes_.size()) {
      documents_.Problem(absl::StrCat("is document ", document, ", expected ", shapes_.size()));
      // A damaged key must not make a long list; those behind a gap have unknown shapes.
      if (document < shapes_.size() || document >= job_.manifest.counts.documents) return;
      shapes_.resize(document);
    }
    job_.Progress("checking documents", shapes_.size() + 1, job_.manifest.counts.documents,
                  "documents");
    absl::StatusOr<formats::DocumentRecord> record = formats::DecodeDocument(documents_.value());
    if (!record.ok()) documents_.Problem(std::string(record.status().message()));
    shapes_.push_back(record.ok() ? ShapeOf(*record) : DocumentShape());
    if (record.ok()) {
      corpus_bytes_ += record->size_bytes;
      CheckSource(document, *record);
    } else if (sources_.Valid()) {
      sources_.Next();
    }
    CheckItems(document, record.ok() ? &*record : nullptr);
  }

  // FORMAT.md, "FAISS files": the summary, then each node of level 0, or the only chunk.
  static DocumentShape ShapeOf(const formats::DocumentRecord& record) {
    const std::uint32_t windows =
        record.level_sizes.empty() ? (record.num_chunks > 0 ? 1 : 0) : record.level_sizes.front();
    return {record.num_chunks, windows + 1};
  }

  // Documents are numbered in the order of their sources, so both families go in step.
  void CheckSource(std::uint32_t document, const formats::DocumentRecord& record) {
    for (; sources_.Valid() && sources_.key() < record.source; sources_.Next()) {
      sources_.Problem("belongs to no document");
    }
    if (!sources_.Valid() || sources_.key() != record.source) {
      job_.problems.Add(absl::StrCat(job_.generation, "/records: sources"),
                        absl::StrCat("document ", document, ", ", record.source, ", is not there"));
      return;
    }
    formats::ByteReader in(sources_.value(), "source");
    const std::uint64_t found = in.Varint();
    if (!in.Finish().ok()) {
      sources_.Problem(std::string(in.Finish().message()));
    } else if (found != document) {
      sources_.Problem(
          absl::StrCat("names document ", found, ", but that source is of ", document));
    }
    sources_.Next();
  }

  void CheckItems(std::uint32_t document, const formats::DocumentRecord* record) {
    DocumentCheck check(job_, document, record);
    using formats::KeyParts;
    parents_.VisitDocument(document, [&](const KeyParts& key, std::string_view value) {
      ++counts_.parents;
      check.Parent(key.part[1], value);
    });
    chunks_.VisitDocument(document, [&](const KeyParts& key, std::string_view value) {
      counts_.chunks += check.ChunkGroup(key.part[1], value);
    });
    summaries_.VisitDocument(document, [&](const KeyParts& key, std::string_view value) {
      ++counts_.summary_nodes;
      check.Node(key.part[1], key.part[2], value);
    });
    terms_.VisitDocument(document, [&](const KeyParts& key, std::string_view value) {
      ++counts_.segments;
      check.Segment(key.part[1], value);
    });
    check.Finish();
  }

  void CheckTotals() {
    const formats::Counts& said = job_.manifest.counts;
    CheckTotal("documents", shapes_.size(), said.documents);
    CheckTotal("chunks", counts_.chunks, said.chunks);
    CheckTotal("parents", counts_.parents, said.parents);
    CheckTotal("summary_nodes", counts_.summary_nodes, said.summary_nodes);
    CheckTotal("segments", counts_.segments, said.segments);
    CheckTotal("corpus_bytes", corpus_bytes_, said.corpus_bytes);
    job_.report.documents = shapes_.size();
  }

  void CheckTotal(const char* name, std::uint64_t found, std::uint64_t said) const {
    if (found == said) return;
    job_.problems.Add(absl::StrCat(job_.generation, "/MANIFEST.json: counts.", name),
                      absl::StrCat("says ", said, ", found ", found));
  }

  const VerifyJob& job_;
  FamilyWalk documents_;
  FamilyWalk sources_;
  FamilyWalk parents_;
  FamilyWalk chunks_;
  FamilyWalk summaries_;
  FamilyWalk terms_;
  std::vector<DocumentShape> shapes_;
  formats::Counts counts_;
  std::uint64_t corpus_bytes_ = 0;
};

}  // namespace

std::vector<DocumentShape> VerifyRecords(const VerifyJob& job, const IndexReader& reader) {
  return StoreCheck(job, reader.records()).Run();
}

}  // namespace rag::storage
