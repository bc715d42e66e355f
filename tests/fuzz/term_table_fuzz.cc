// The table of terms, opened in place. Byte 0, odd: the checksum of the header is made to fit, so
// that what lies behind it is reached. Then the file.
#include <cstring>
#include <string>
#include <vector>

#include "formats/checksum.h"
#include "formats/term_table.h"
#include "tests/fuzz/fuzz.h"

namespace rag::fuzz {
namespace {

using formats::RareTerm;
using formats::TermRow;
using formats::TermTableView;

constexpr std::size_t kHeaderBytes = 128;

// The file in memory that is aligned as a mapping is, and ends where the file does.
class AlignedFile {
 public:
  explicit AlignedFile(std::string_view bytes)
      : words_((bytes.size() + 7) / 8), size_(bytes.size()) {
    if (size_ > 0) std::memcpy(words_.data(), bytes.data(), size_);
  }
  void FixChecksum() {
    if (size_ < kHeaderBytes) return;
    const std::uint64_t checksum = formats::Xxh3(bytes().substr(0, kHeaderBytes - 8));
    words_[kHeaderBytes / 8 - 1] = checksum;
  }
  [[nodiscard]] std::string_view bytes() const {
    return {reinterpret_cast<const char*>(words_.data()), size_};
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_;
};

// The rows and the lists of rare documents; false when a list is damaged or rows do not ascend.
bool ReadAll(const TermTableView& table, std::vector<TermRow>& rows, std::vector<RareTerm>& rare) {
  bool sound = true;
  for (std::uint64_t i = 0; i < table.size(); ++i) {
    const TermRow row = table.row(i);
    if (i > 0 && rows.back().hash >= row.hash) sound = false;
    rows.push_back(row);
    const auto documents = table.RareDocuments(row.hash);
    if (!documents.ok()) {
      RequireDamage(documents.status());
      sound = false;
      continue;
    }
    for (const std::uint32_t document : *documents) {
      Require(document < table.totals().num_documents, "rare documents are there");
      rare.push_back({.hash = row.hash, .document = document});
      if (rare.size() > 1 && rare[rare.size() - 2] >= rare.back()) sound = false;
    }
  }
  return sound;
}

void CheckSound(const TermTableView& table, const std::vector<TermRow>& rows,
                const std::vector<RareTerm>& rare) {
  for (const TermRow& row : rows) {
    const auto found = table.Find(row.hash);
    Require(found.has_value() && found->hash == row.hash &&
                found->chunk_frequency == row.chunk_frequency &&
                found->document_frequency == row.document_frequency,
            "a row is found");
  }
  const AlignedFile file(formats::EncodeTermTable(table.totals(), rows, rare));
  const auto again = TermTableView::Open(file.bytes(), "again");
  RequireOk(again.status());
  Require(again->totals() == table.totals(), "encoding keeps the totals");
  std::vector<TermRow> rows_again;
  std::vector<RareTerm> rare_again;
  Require(ReadAll(*again, rows_again, rare_again), "what was encoded is sound");
  Require(rare_again == rare && rows_again.size() == rows.size(), "encoding keeps the lists");
}

}  // namespace
}  // namespace rag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rag;
  fuzz::Input input(data, size);
  const bool fix_checksum = input.Byte() % 2 == 1;
  fuzz::AlignedFile file(input.Rest());
  if (fix_checksum) file.FixChecksum();
  const auto table = formats::TermTableView::Open(file.bytes(), "table");
  if (!table.ok()) {
    fuzz::RequireDamage(table.status());
    return 0;
  }
  for (const std::uint64_t absent : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 40}) {
    const auto found = table->Find(absent);
    fuzz::Require(!found.has_value() || found->hash == absent, "what is found was looked for");
    const auto documents = table->RareDocuments(absent);
    if (!documents.ok()) fuzz::RequireDamage(documents.status());
  }
  std::vector<formats::TermRow> rows;
  std::vector<formats::RareTerm> rare;
  if (fuzz::ReadAll(*table, rows, rare)) fuzz::CheckSound(*table, rows, rare);
  return 0;
}
