// rag-inspect: shows what an index holds. docs/cli.md.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "formats/checksum.h"
#include "formats/keys.h"
#include "formats/status_macros.h"
#include "storage/index_reader.h"
#include "tools/cli.h"
#include "tools/json_names.h"

namespace rag::tools {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kProgram = "rag-inspect";

ordered_json NeighborIndex(bool exists, std::uint32_t index) {
  return exists ? ordered_json(index) : ordered_json();
}

// One JSON line a chunk, in order of source and index.
absl::Status DumpChunks(const storage::IndexReader& reader) {
  return reader.records().Scan(
      formats::kDocumentsFamily, "", [&](std::string_view key, std::string_view value) {
        RAG_ASSIGN_OR_RETURN(const formats::KeyParts document, formats::ParseKey(key, 1));
        RAG_ASSIGN_OR_RETURN(const formats::DocumentRecord record, formats::DecodeDocument(value));
        std::uint32_t ordinal = 0;
        return reader.records().Scan(
            formats::kChunksFamily, formats::DocumentKey(document.part[0]),
            [&](std::string_view, std::string_view bytes) -> absl::Status {
              RAG_ASSIGN_OR_RETURN(const formats::ChunkRecord chunk, formats::DecodeChunk(bytes));
              const std::uint32_t index = ++ordinal;
              ordered_json json;
              json["source"] = record.source;
              json["index"] = index;
              json["start"] = chunk.range.start;
              json["end"] = chunk.range.end;
              json["prev"] = NeighborIndex(index > 1, index - 1);
              json["next"] = NeighborIndex(index < record.num_chunks, index + 1);
              json["text_sha256"] = formats::ToHex(formats::ComputeSha256(chunk.text));
              EscapeNames(json);
              Write(json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
              return absl::OkStatus();
            });
      });
}

int Main(int argc, char** argv) {
  OpenClosedStandardStreams();
  CLI::App app("Shows what an index holds.");
  app.name(std::string(kProgram));
  app.set_version_flag("--version",
                       absl::StrCat(std::string(kProgram), " ", std::string(kVersion)));
  app.require_subcommand(1);
  std::string index;
  CLI::App* chunks = app.add_subcommand(
      "chunks", "a JSON line a chunk: source, index, start, end, prev, next, text_sha256");
  chunks->add_option("index", index, "index folder")->required();
  int code = kDone;
  if (!ParseOrExit(app, argc, argv, kProgram, &code)) return code;
  const absl::StatusOr<std::unique_ptr<storage::IndexReader>> reader =
      storage::IndexReader::Open(index);
  const absl::Status status = reader.ok() ? DumpChunks(**reader) : reader.status();
  if (!status.ok()) {
    PrintError(kProgram, status);
    return ExitCodeOf(status);
  }
  return FinishStdout(kProgram) ? kDone : kFailed;
}

}  // namespace
}  // namespace rag::tools

int main(int argc, char** argv) { return rag::tools::Main(argc, argv); }
