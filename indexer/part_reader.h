// Reading a file that is too large to be held, part by part.
#ifndef INDEXER_PART_READER_H_
#define INDEXER_PART_READER_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "indexer/walk.h"

namespace rag::indexer {

struct PartSizes {
  std::size_t usual = 0;  // bytes
  std::size_t max = 0;    // a part is never longer
};

// Takes a part off the start of the text that follows the parts before, and returns its size in
// bytes: all of it if `all`, and 0 when it needs more.
using TextSink = std::function<absl::StatusOr<std::size_t>(std::string_view text, bool all)>;

// Reads valid UTF-8 from the start of the file to its end. The sink gets the usual number of bytes,
// or what is left (`all`), and more when it needs more; of the maximum it has to take all, up to a
// place where a cut hurts little: a line end, white space, the edge of a grapheme cluster. Returns
// nothing, or why the file is not to be indexed; errors of the sink. The file may change meanwhile:
// compare the checksum of what was taken.
absl::StatusOr<std::optional<SkippedFile>> ReadTextParts(const CorpusFile& file,
                                                         const PartSizes& sizes,
                                                         const TextSink& sink);

}  // namespace rag::indexer

#endif  // INDEXER_PART_READER_H_
