// What a splitter returns that knows no sections: one parent, the document.
#ifndef INDEXER_FLAT_DOCUMENT_H_
#define INDEXER_FLAT_DOCUMENT_H_

#include <string_view>
#include <vector>

#include "formats/records.h"
#include "formats/span.h"
#include "indexer/splitter.h"

namespace rag::indexer {

// All chunks are prose; the title is the first heading of Markdown.
SplitDocument FlatDocument(std::string_view text, formats::MediaType type,
                           const std::vector<formats::Span>& chunks);

}  // namespace rag::indexer

#endif  // INDEXER_FLAT_DOCUMENT_H_
