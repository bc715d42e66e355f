// JSON and text of results as the programs print them.
#ifndef TOOLS_JSON_TEXT_H_
#define TOOLS_JSON_TEXT_H_

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rag::tools {

// One line, without the line break; bytes that are no UTF-8 (odd file names) become U+FFFD.
std::string Dump(const nlohmann::ordered_json& json);

// Writes an object as a line to stdout, with its names made fit for JSON (tools/json_names.h).
void WriteJsonLine(nlohmann::ordered_json object);

// `text` on one line: control characters, line breaks included, become '?'.
std::string OneLine(std::string_view text);

}  // namespace rag::tools

#endif  // TOOLS_JSON_TEXT_H_
