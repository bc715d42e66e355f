// Documents that are the same but for their names.
#ifndef INDEXER_RELABEL_H_
#define INDEXER_RELABEL_H_

#include <string>

#include "absl/status/status.h"
#include "models/token_counter.h"
#include "storage/document_bundle.h"

namespace rag::indexer {

// Makes the whole bundle of a document that of another with the same text and title. Only what the
// headers of printed chunks cost depends on the names. DATA_LOSS when a record is damaged.
absl::Status Relabel(std::string source, std::string doc_id, const models::TokenCounter& counter,
                     storage::DocumentBundle& bundle);

}  // namespace rag::indexer

#endif  // INDEXER_RELABEL_H_
