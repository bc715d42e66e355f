// The generation that a build starts from: what it knows of each file, and whether its documents
// may be carried over.
#ifndef INDEXER_PREVIOUS_INDEX_H_
#define INDEXER_PREVIOUS_INDEX_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/checksum.h"
#include "formats/manifest.h"
#include "storage/bundle_reader.h"
#include "storage/index_reader.h"

namespace rag::indexer {

// Kept in DocumentRecord::metadata of a document whose file could not be read any more.
inline constexpr std::string_view kStaleKey = "stale";

// Threads: const methods may run concurrently.
class PreviousIndex {
 public:
  struct Document {
    std::string source;  // with its prefix
    std::string doc_id;
    std::string title;
    formats::MediaType media_type = formats::MediaType::kPlainText;
    formats::Sha256 content{};
    std::uint64_t size_bytes = 0;
    std::uint32_t num_chunks = 0;
    bool stale = false;
  };

  // NOT_FOUND: there is no index yet. FAILED_PRECONDITION: its documents cannot be carried over
  // into one with these parameters; the message says what differs. DATA_LOSS: it is damaged.
  static absl::StatusOr<std::unique_ptr<PreviousIndex>> Open(const std::filesystem::path& index,
                                                             const formats::BuildParams& build);

  [[nodiscard]] const formats::Manifest& manifest() const { return reader_->manifest(); }
  [[nodiscard]] const storage::IndexReader& reader() const { return *reader_; }
  // By ordinal, and so ascending by source.
  [[nodiscard]] const std::vector<Document>& documents() const { return documents_; }
  // The ordinal of a source; documents().size() when it has none.
  [[nodiscard]] std::uint32_t Find(std::string_view source) const;
  // The ordinals, ascending, of documents with this content.
  [[nodiscard]] std::span<const std::uint32_t> FindContent(const formats::Sha256& content) const;
  // Those of them that a file of this name gives, too, but for its source and id; without those
  // that were indexed in parts.
  [[nodiscard]] std::vector<std::uint32_t> FindTwins(const formats::Sha256& content,
                                                     std::string_view source) const;

 private:
  PreviousIndex() = default;
  absl::Status ReadDocuments();

  std::unique_ptr<storage::IndexReader> reader_;
  std::vector<Document> documents_;
  std::vector<std::uint32_t> by_content_;  // all ordinals, ascending by content, then themselves
};

}  // namespace rag::indexer

#endif  // INDEXER_PREVIOUS_INDEX_H_
