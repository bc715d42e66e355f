// Reading a file of the corpus: its text, whole and from one moment, or why it is not indexed.
#ifndef INDEXER_TEXT_FILE_H_
#define INDEXER_TEXT_FILE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "formats/checksum.h"
#include "formats/records.h"
#include "indexer/walk.h"

namespace rag::indexer {

// A file's bytes, judged: text to index, or the reason why not.
struct LoadedFile {
  bool ok = false;
  formats::Sha256 content{};  // of the whole file
  bool large = false;         // longer than LoadOptions::max_bytes: see ReadTextParts()
  std::string bytes;          // when ok and not large: the file, valid UTF-8 (a BOM stays)
  SkippedFile skipped;
};

struct LoadOptions {
  std::size_t max_bytes = static_cast<std::size_t>(-1);
  // Whether bytes with this checksum were judged before, and are text: they are not judged again.
  // May be empty.
  std::function<bool(const formats::Sha256& content)> is_known = {};
  // Called after each reading, before the file is looked at again; for tests. May be empty.
  std::function<void()> after_read = {};
};

// Reads, never maps, so that a file that is cut short meanwhile cannot end the process. A file that
// changed between the start and the end of reading is read again, three times at most, and is then
// skipped as kChanged: what is returned is never half of one version and half of another. In a file
// that is large only NUL bytes are looked for.
LoadedFile LoadTextFile(const CorpusFile& file, const LoadOptions& options = {});

// So often is a file read that changes each time, and then skipped as this says.
inline constexpr int kMaxReadings = 4;
SkippedFile ChangedEachTime(const CorpusFile& file);

// By the ending of the name: .md, .markdown, .mdown, .mkd (any case) are Markdown.
formats::MediaType MediaTypeOf(std::string_view source);

// The file's name without folders and its last extension.
std::string FileStem(std::string_view source);
// The title of a document without headings: its stem, "_" and "-" read as spaces.
std::string TitleFromName(std::string_view source);

}  // namespace rag::indexer

#endif  // INDEXER_TEXT_FILE_H_
