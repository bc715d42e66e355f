// The sorted walk of a corpus folder: which files are documents, and why others are not.
#ifndef INDEXER_WALK_H_
#define INDEXER_WALK_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "formats/records.h"

namespace rag::indexer {

enum class SkipReason {
  kHidden,       // name starts with "."
  kSymlink,      // links are not followed
  kSpecial,      // socket, device, pipe
  kUnreadable,   // permission, vanished, I/O error
  kBinary,       // holds a NUL byte
  kInvalidUtf8,  // text in another encoding
  kBlank,        // nothing but white space
};
std::string_view ToString(SkipReason reason);  // "hidden", "symlink", …

struct SkippedFile {
  std::string source;
  SkipReason reason = SkipReason::kHidden;
  std::string detail;  // e.g. the system's message; may be empty
};

struct CorpusFile {
  std::string source;          // relative path with "/" between parts, no prefix
  std::filesystem::path path;  // to open it
};

struct WalkResult {
  std::vector<CorpusFile> files;     // ascending by the bytes of `source`
  std::vector<SkippedFile> skipped;  // likewise
};

// Lists every regular file under `root`; hidden files and folders and symbolic links are skipped.
// NOT_FOUND when root does not exist, INVALID_ARGUMENT when it is no folder. An unreadable folder
// below it is skipped and named, never an error.
absl::StatusOr<WalkResult> WalkCorpus(const std::filesystem::path& root);

// A file's bytes, judged: text to index, or the reason why not.
struct LoadedFile {
  bool ok = false;
  std::string bytes;  // when ok: the file as it is, valid UTF-8 (a BOM stays)
  SkippedFile skipped;
};
LoadedFile LoadTextFile(const CorpusFile& file);

// By the ending of the name: .md, .markdown, .mdown, .mkd (any case) are Markdown.
formats::MediaType MediaTypeOf(std::string_view source);

// The file's name without folders and its last extension.
std::string FileStem(std::string_view source);

}  // namespace rag::indexer

#endif  // INDEXER_WALK_H_
