// fuzz-seeds FOLDER: writes FOLDER/TARGET/seed-… with inputs that the decoders accept: records,
// segments and files of a small index, as the encoders of today make them. tests/fuzz/corpus has
// those of the day when a target was added, and tools/fuzz.sh starts from both, so that a change of
// format leaves no target without a way in.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/chunk_group.h"
#include "formats/coding.h"
#include "formats/keys.h"
#include "storage/generation.h"
#include "storage/index_reader.h"
#include "tests/damage/damaged_index.h"
#include "tests/fuzz/scratch_folder.h"

namespace rag::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int kPerKind = 4;

class SeedFolder {
 public:
  explicit SeedFolder(fs::path root) : root_(std::move(root)) {}

  void Add(const std::string& target, std::string_view head, std::string_view bytes) {
    fs::create_directories(root_ / target);
    const std::string name = "seed-" + std::to_string(counts_[target]++);
    std::ofstream out(root_ / target / name, std::ios::binary);
    out << head << bytes;
    out.close();
    Require(out.good(), "seeds can be written");
  }

 private:
  fs::path root_;
  std::map<std::string, int> counts_;
};

// The first entries of a family, by what `add` makes of their keys and values.
template <typename Add>
void ForFirst(const storage::IndexReader& reader, std::string_view family, const Add& add) {
  int left = kPerKind;
  const absl::Status status = reader.records().Scan(
      family, "", [&](std::string_view key, std::string_view value) -> absl::Status {
        add(key, value);
        return --left > 0 ? absl::OkStatus() : absl::CancelledError();
      });
  Require(status.ok() || absl::IsCancelled(status), status.ToString());
}

// The records of a group, alone and as its content.
void AddChunks(std::string_view group, SeedFolder& seeds) {
  const absl::StatusOr<std::vector<formats::ChunkRecord>> chunks = formats::DecodeChunkGroup(group);
  RequireOk(chunks.status());
  formats::ByteWriter content;
  content.Varint(chunks->size());
  for (const formats::ChunkRecord& chunk : *chunks) content.LengthPrefixed(formats::Encode(chunk));
  seeds.Add("chunk_group", "\1", content.view());
  seeds.Add("records", "\2", formats::Encode(chunks->front()));
  seeds.Add("records", "\2", formats::Encode(chunks->back()));
}

// `kind` is byte 0 of the target "records".
void AddRecords(const storage::IndexReader& reader, SeedFolder& seeds) {
  const std::pair<std::string_view, char> families[] = {{formats::kDocumentsFamily, '\0'},
                                                        {formats::kParentsFamily, '\1'},
                                                        {formats::kSummariesFamily, '\3'},
                                                        {formats::kSourcesFamily, '\4'}};
  for (const auto& family : families) {
    ForFirst(reader, family.first, [&](std::string_view key, std::string_view value) {
      seeds.Add("records", std::string(1, family.second), value);
      seeds.Add("records", "\5", key);
    });
  }
  ForFirst(reader, formats::kChunksFamily, [&](std::string_view, std::string_view value) {
    seeds.Add("chunk_group", std::string(1, '\0'), value);
    AddChunks(value, seeds);
  });
  ForFirst(reader, formats::kTermsFamily, [&](std::string_view, std::string_view value) {
    seeds.Add("forward_segment", std::string(1, '\0'), value);
  });
}

void AddFiles(const testing::DamagedIndex& index, SeedFolder& seeds) {
  for (const auto& [name, bytes] : index.files()) {
    if (name.ends_with("CURRENT") && name.find('/') == name.npos) {
      seeds.Add("current_file", "", bytes);
    } else if (name.ends_with("MANIFEST.json")) {
      constexpr std::size_t kTailBytes = 35;  // the checksum, which byte 0 = 1 makes fit
      seeds.Add("manifest", "\1", std::string_view(bytes).substr(0, bytes.size() - kTailBytes));
      seeds.Add("manifest", std::string(1, '\0'), bytes);
    } else if (name.ends_with("terms.bin")) {
      seeds.Add("term_table", "\1", bytes);
    } else if (name.ends_with(".faiss")) {
      seeds.Add("vector_file", "", bytes);
    }
  }
}

// One flipped byte near the front, and one near the end, of each file; plain and forged.
void AddEdits(const testing::DamagedIndex& index, SeedFolder& seeds) {
  for (std::size_t file = 0; file < index.files().size(); ++file) {
    for (const char forge : {'\0', '\1'}) {
      std::string edits;
      for (const char kind : {'\0', '\1'}) {
        edits += {static_cast<char>(file), kind, '\x28', '\0', '\x10'};
      }
      seeds.Add("index_folder", std::string(1, forge), edits);
    }
  }
}

void WriteSeeds(const fs::path& folder) {
  const ScratchFolder scratch;
  const testing::DamagedIndex index(scratch.path());
  const auto reader = storage::IndexReader::Open(index.path());
  RequireOk(reader.status());
  SeedFolder seeds(folder);
  AddRecords(**reader, seeds);
  AddFiles(index, seeds);
  AddEdits(index, seeds);
}

}  // namespace
}  // namespace rag::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz-seeds FOLDER\n");
    return 2;
  }
  rag::fuzz::WriteSeeds(argv[1]);
  return 0;
}
