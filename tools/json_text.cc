#include "tools/json_text.h"

#include <algorithm>

#include "tools/cli.h"
#include "tools/json_names.h"

namespace rag::tools {

std::string Dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void WriteJsonLine(nlohmann::ordered_json object) {
  EscapeNames(object);
  Write(Dump(object) + "\n");
}

std::string OneLine(std::string_view text) {
  std::string line = WithoutControlCharacters(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, '?');
  return line;
}

}  // namespace rag::tools
