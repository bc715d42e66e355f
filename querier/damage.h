// Documents that a query does without because their records are damaged.
#ifndef QUERIER_DAMAGE_H_
#define QUERIER_DAMAGE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "querier/question.h"
#include "storage/index_reader.h"

namespace rag::querier {

struct DamagedDocument {
  std::optional<std::string> source;  // absent when that is damaged, too
  std::string problem;
};

// Threads: one thread.
class DamagedDocuments {
 public:
  // Reads all that a query may read of these documents, and takes in those of which something is
  // DATA_LOSS. False when all of them are sound.
  bool Find(const storage::IndexReader& reader, const Question& question,
            std::span<const std::uint32_t> documents);

  [[nodiscard]] const std::set<std::uint32_t>& ordinals() const { return ordinals_; }
  // In the order in which they were found.
  [[nodiscard]] const std::vector<DamagedDocument>& documents() const { return documents_; }

 private:
  std::set<std::uint32_t> ordinals_;
  std::vector<DamagedDocument> documents_;
};

}  // namespace rag::querier

#endif  // QUERIER_DAMAGE_H_
