// rag-inspect tree: the summaries of a document, from its own down to those of its chunks.
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "formats/chunk_header.h"
#include "formats/status_macros.h"
#include "tools/cli.h"
#include "tools/inspect_commands.h"
#include "tools/inspect_document.h"
#include "tools/json_text.h"

namespace rag::tools {
namespace {

using nlohmann::ordered_json;
using Levels = std::vector<std::vector<formats::SummaryNode>>;

class Tree {
 public:
  Tree(const StoredDocument& document, const Levels& levels)
      : document_(document), levels_(levels) {}

  [[nodiscard]] ordered_json Json() const {
    ordered_json json;
    json["source"] = document_.record.source;
    json["doc_id"] = document_.record.doc_id;
    json["summary"] = SummaryText(document_, document_.record.summary);
    json["children"] = ordered_json::array();
    for (std::uint32_t i = 0; i < TopSize(); ++i)
      json["children"].push_back(Json(levels_.size(), i));
    return json;
  }

  // Top down, two spaces a level.
  [[nodiscard]] std::string Text() const {
    std::string out = absl::StrCat(OneLine(document_.record.doc_id), ": ",
                                   SummaryText(document_, document_.record.summary), "\n");
    for (std::uint32_t i = 0; i < TopSize(); ++i) AppendText(levels_.size(), i, out);
    return out;
  }

 private:
  [[nodiscard]] std::size_t TopSize() const {
    return levels_.empty() ? document_.chunks.size() : levels_.back().size();
  }

  // `height` 0: chunks; h: nodes of level h - 1.
  [[nodiscard]] ordered_json Json(std::size_t height, std::uint32_t at) const {
    ordered_json json;
    if (height == 0) {
      json["chunk_id"] = formats::ChunkId(document_.record.doc_id, at);
      json["index"] = at + 1;
      json["summary"] = SummaryText(document_, document_.chunks[at].summary);
      return json;
    }
    const formats::SummaryNode& node = levels_[height - 1][at];
    json["level"] = height - 1;
    json["node"] = at;
    json["input_tokens"] = node.input_tokens;
    json["summary"] = SummaryText(document_, node.summary);
    json["children"] = ordered_json::array();
    for (std::uint32_t i = 0; i < node.num_children; ++i) {
      json["children"].push_back(Json(height - 1, node.first_child + i));
    }
    return json;
  }

  void AppendText(std::size_t height, std::uint32_t at, std::string& out) const {
    out.append(2 * (levels_.size() + 1 - height), ' ');
    if (height == 0) {
      absl::StrAppend(&out, "chunk ", at + 1, ": ",
                      SummaryText(document_, document_.chunks[at].summary), "\n");
      return;
    }
    const formats::SummaryNode& node = levels_[height - 1][at];
    absl::StrAppend(&out, "level ", height - 1, " node ", at, ", from ", node.input_tokens,
                    " tokens: ", SummaryText(document_, node.summary), "\n");
    for (std::uint32_t i = 0; i < node.num_children; ++i) {
      AppendText(height - 1, node.first_child + i, out);
    }
  }

  const StoredDocument& document_;
  const Levels& levels_;
};

}  // namespace

absl::Status InspectTree(const storage::IndexReader& reader, const std::string& name, bool json) {
  RAG_ASSIGN_OR_RETURN(const Found found, Find(reader, name));
  RAG_ASSIGN_OR_RETURN(const Levels levels, LoadTree(reader, found.document));
  const Tree tree(found.document, levels);
  json ? Write(Dump(tree.Json()) + "\n") : WriteDocumentText(tree.Text());
  return absl::OkStatus();
}

}  // namespace rag::tools
