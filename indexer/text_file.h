// Reading a file of the corpus: its text, whole and from one moment, or why it is not indexed.
#ifndef INDEXER_TEXT_FILE_H_
#define INDEXER_TEXT_FILE_H_

#include <functional>
#include <string>
#include <string_view>

#include "formats/records.h"
#include "indexer/walk.h"

namespace rag::indexer {

// A file's bytes, judged: text to index, or the reason why not.
struct LoadedFile {
  bool ok = false;
  std::string bytes;  // when ok: the file as it is, valid UTF-8 (a BOM stays)
  SkippedFile skipped;
};

// Reads, never maps, so that a file that is cut short meanwhile cannot end the process. A file that
// changed between the start and the end of reading is read again, three times at most, and is then
// skipped as kChanged: what is returned is never half of one version and half of another.
struct LoadOptions {
  // Whether these bytes were judged before, and are text: they are not judged again. May be empty.
  std::function<bool(std::string_view bytes)> is_known;
  // Called after each reading, before the file is looked at again; for tests. May be empty.
  std::function<void()> after_read;
};
LoadedFile LoadTextFile(const CorpusFile& file, const LoadOptions& options = {});

// By the ending of the name: .md, .markdown, .mdown, .mkd (any case) are Markdown.
formats::MediaType MediaTypeOf(std::string_view source);

// The file's name without folders and its last extension.
std::string FileStem(std::string_view source);

}  // namespace rag::indexer

#endif  // INDEXER_TEXT_FILE_H_
