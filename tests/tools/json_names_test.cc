#include "tools/json_names.h"

#include <gtest/gtest.h>

namespace rag::tools {
namespace {

using nlohmann::ordered_json;

TEST(EscapeNames, LeavesObjectsWithUtf8NamesAlone) {
  const ordered_json before = {{"doc_id", "100%"}, {"source", "new\nline é"}, {"index", 1}};
  ordered_json after = before;

  EscapeNames(after);

  EXPECT_EQ(after, before);
}

TEST(EscapeNames, EscapesAllNamesOfAnObjectAndSaysSo) {
  ordered_json json = {{"chunk_id", "100%-chunk-001"}, {"source", "caf\xE9\n"}, {"reason", "%"}};

  EscapeNames(json);

  EXPECT_EQ(json, ordered_json::parse(R"({"chunk_id": "100%25-chunk-001", "source": "caf%E9%0A",
                                          "reason": "%", "escaped": true})"));
}

}  // namespace
}  // namespace rag::tools
