// Names of files in JSON, which is UTF-8, while names need not be.
#ifndef TOOLS_JSON_NAMES_H_
#define TOOLS_JSON_NAMES_H_

#include <nlohmann/json.hpp>

namespace rag::tools {

// When one of the members "source", "doc_id", "chunk_id" and "moved_from" is no valid UTF-8, all of
// them become formats::EscapeName of what they were and "escaped": true is added. Otherwise nothing
// changes: JSON has escapes of its own for control characters. REQUIRES: an object.
void EscapeNames(nlohmann::ordered_json& object);

}  // namespace rag::tools

#endif  // TOOLS_JSON_NAMES_H_
