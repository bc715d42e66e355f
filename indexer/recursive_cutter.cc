#include "indexer/recursive_cutter.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "indexer/characters.h"
#include "indexer/text_cuts.h"

namespace rag::indexer {
namespace {

using formats::Span;

class Cutter {
 public:
  Cutter(std::string_view text, const TextRuler& ruler, const CutRules& rules)
      : text_(text), ruler_(ruler), rules_(rules), packer_(text, ruler, rules.window) {}

  std::vector<Span> Cut() {
    CutSpan({ByteOrderMarkSize(text_), text_.size()}, 0);
    return packer_.Take();
  }

 private:
  void CutSpan(Span span, std::size_t level) {
    const Separator separator = rules_.separators[level];
    TextParts parts(text_, span, separator);
    for (Span part; parts.Next(part);) {
      const Span body = TrimBlank(text_, part);
      if (body.empty()) continue;
      const std::uint64_t size = ruler_.Measure(text_.substr(body.start, body.size()));
      if (size <= rules_.piece || separator == Separator::kCodePoints) {
        packer_.Add(body, size);
      } else {
        CutFurther(part, level + 1);
      }
    }
  }

  void CutFurther(Span part, std::size_t level) {
    if (rules_.cut_pieces_stay_apart) packer_.Close();
    CutSpan(part, level);
    if (rules_.cut_pieces_stay_apart) packer_.Close();
  }

  std::string_view text_;
  const TextRuler& ruler_;
  const CutRules& rules_;
  WindowPacker packer_;
};

}  // namespace

absl::Status CheckOverlap(std::uint32_t size, std::uint32_t overlap) {
  if (overlap < size) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "chunk sizes: want 0 <= overlap < size, found size ", size, ", overlap ", overlap));
}

std::vector<Span> CutRecursively(std::string_view text, const TextRuler& ruler,
                                 const CutRules& rules) {
  return Cutter(text, ruler, rules).Cut();
}

}  // namespace rag::indexer
