// faiss-hits INDEX NUM_DOCUMENTS: asks a real index for the top 4 chunks inside that many
// documents, and prints queries and answers as JSON, for check_faiss_files.py to repeat with
// Python's FAISS.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "querier/question.h"
#include "storage/index_reader.h"

namespace {

// Questions whose words any documentation has some of.
constexpr const char* kQuestions[] = {
    "how do I install and configure it", "what happens when an error is raised",
    "read and write a file line by line", "which options does the command have"};

int Run(const std::string& index, std::uint64_t num_lists) {
  const auto reader = rag::storage::IndexReader::Open(index);
  if (!reader.ok()) {
    std::fprintf(stderr, "faiss-hits: %s\n", std::string(reader.status().message()).c_str());
    return 1;
  }
  const auto shard = (*reader)->ChunkShard(0);
  if (!shard.ok()) return 1;
  nlohmann::json hits = nlohmann::json::array();
  for (const char* text : kQuestions) {
    const auto question =
        rag::querier::AnalyzeQuestion(text, (*reader)->manifest().build, (*reader)->terms());
    if (!question.ok()) return 1;
    for (std::uint64_t list = 0; list < std::min(num_lists, (*shard)->num_lists()); ++list) {
      const auto best = (*shard)->SearchList(list, question->chunk_vector, 4);
      if (!best.ok()) return 1;
      nlohmann::json entry = {{"list", list}, {"query", question->chunk_vector}};
      entry["ids"] = nlohmann::json::array();
      entry["scores"] = nlohmann::json::array();
      for (const rag::storage::VectorHit& hit : *best) {
        entry["ids"].push_back(hit.id);
        entry["scores"].push_back(hit.score);
      }
      hits.push_back(std::move(entry));
    }
  }
  std::printf("%s\n", hits.dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t num_lists = 0;
  if (argc != 3 || !absl::SimpleAtoi(argv[2], &num_lists)) {
    std::fputs("usage: faiss-hits INDEX NUM_DOCUMENTS\n", stderr);
    return 2;
  }
  return Run(argv[1], num_lists);
}
