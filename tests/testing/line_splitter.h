// A splitter whose result is plain to see in the text:
//
//   = title            at most once, first
//   # heading path     starts a parent (text before the first one is in a parent of its own)
//   anything else      a chunk: the line without its line break
#ifndef TESTS_TESTING_LINE_SPLITTER_H_
#define TESTS_TESTING_LINE_SPLITTER_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "indexer/splitter.h"

namespace rag::testing {

class LineSplitter final : public indexer::Splitter {
 public:
  [[nodiscard]] std::string Id() const override { return "lines"; }

  [[nodiscard]] indexer::SplitDocument Split(std::string_view text,
                                             formats::MediaType /*type*/) const override {
    indexer::SplitDocument out;
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = std::min(text.find('\n', start), text.size());
      const std::string_view line = text.substr(start, end - start);
      if (line.starts_with("= ")) {
        out.title = line.substr(2);
      } else if (line.starts_with("# ")) {
        AddParent(out, line.substr(2));
      } else if (!line.empty()) {
        if (out.parents.empty()) AddParent(out, "");
        AddChunk(out, {start, end});
      }
      start = end + 1;
    }
    return out;
  }

 private:
  static void AddParent(indexer::SplitDocument& out, std::string_view heading_path) {
    formats::ParentRecord parent;
    parent.kind = formats::ParentKind::kSection;
    parent.heading_path = heading_path;
    parent.first_chunk = static_cast<std::uint32_t>(out.chunks.size());
    out.parents.push_back(parent);
  }

  static void AddChunk(indexer::SplitDocument& out, formats::Span range) {
    formats::ParentRecord& parent = out.parents.back();
    if (parent.num_chunks == 0) parent.range.start = range.start;
    parent.range.end = range.end;
    ++parent.num_chunks;
    indexer::SplitChunk chunk;
    chunk.range = range;
    chunk.parent = static_cast<std::uint32_t>(out.parents.size() - 1);
    out.chunks.push_back(chunk);
  }
};

}  // namespace rag::testing

#endif  // TESTS_TESTING_LINE_SPLITTER_H_
