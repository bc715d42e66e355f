#include "querier/context.h"

#include "absl/strings/str_cat.h"
#include "formats/chunk_header.h"

namespace rag::querier {
namespace {

// The answer step of the source article.
constexpr std::string_view kAnswerRules =
    "Answer the question from the raw chunks below.\n"
    "\n"
    "Rules:\n"
    "- Answer only from the raw chunks.\n"
    "- If the raw chunks hold several relevant reasons, include all of them.\n"
    "- Prefer a concise bullet list for answers of several parts.\n"
    "- If the evidence is insufficient, say so.\n"
    "\n"
    "Raw chunks:\n"
    "\n";

}  // namespace

std::string JoinChunks(std::span<const PrintedChunk> chunks, formats::HeaderStyle header) {
  std::string out;
  for (const PrintedChunk& chunk : chunks) {
    if (!out.empty()) out += formats::kChunkSeparator;
    out += formats::ChunkHeader(header, {.source = chunk.source,
                                         .doc_id = chunk.doc_id,
                                         .chunk = chunk.chunk,
                                         .line_start = chunk.record->line_start,
                                         .line_end = chunk.record->line_end});
    out += chunk.record->text;
  }
  return out;
}

Frame MakeFrame(OutputFormat format, std::string_view question) {
  if (format == OutputFormat::kContext) return {"", "\n"};
  return {std::string(kAnswerRules),
          absl::StrCat("\n\nQuestion: ", std::string(question), "\n\nAnswer:\n")};
}

}  // namespace rag::querier
