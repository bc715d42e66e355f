#include "tools/json_names.h"

#include <algorithm>
#include <array>
#include <string>

#include "formats/names.h"
#include "formats/utf8.h"

namespace rag::tools {

void EscapeNames(nlohmann::ordered_json& object) {
  static constexpr std::array<const char*, 4> kNames = {"source", "doc_id", "chunk_id",
                                                        "moved_from"};
  const auto is_invalid = [&object](const char* member) {
    if (!object.contains(member)) return false;
    const auto& name = object[member].get_ref<const std::string&>();
    return formats::ValidPrefix(name) < name.size();
  };
  if (std::none_of(kNames.begin(), kNames.end(), is_invalid)) return;
  for (const char* member : kNames) {
    if (object.contains(member)) {
      object[member] = formats::EscapeName(object[member].get_ref<const std::string&>());
    }
  }
  object["escaped"] = true;
}

}  // namespace rag::tools
