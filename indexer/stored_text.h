// The text of a document that an index holds.
#ifndef INDEXER_STORED_TEXT_H_
#define INDEXER_STORED_TEXT_H_

#include "absl/status/statusor.h"
#include "indexer/analyzed_document.h"
#include "storage/document_bundle.h"

namespace rag::indexer {

// What CountTerms needs. DATA_LOSS when a record is damaged.
absl::StatusOr<StoredText> ReadStoredText(const storage::DocumentBundle& bundle);

}  // namespace rag::indexer

#endif  // INDEXER_STORED_TEXT_H_
