// A small index made by the real build, whose files are damaged and put right again, and what must
// hold for each damage: it is refused, or it changes nothing, and verify notices it in any case.
#ifndef TESTS_DAMAGE_DAMAGED_INDEX_H_
#define TESTS_DAMAGE_DAMAGED_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace rag::testing {

// How an index is taken as it is now.
enum class Reaction {
  kRefused,  // by opening it or by the query
  kSame,     // the answer is that of the sound index
  kChanged,  // an answer, but another one
};

// Threads: one thread.
class DamagedIndex {
 public:
  // Builds the index, of four documents, in `folder`/index. Ends the process when it cannot.
  explicit DamagedIndex(const std::filesystem::path& folder);

  // The files of the index and their bytes, without LOCK, which readers do not need; ascending.
  [[nodiscard]] const std::map<std::string, std::string>& files() const { return files_; }
  [[nodiscard]] const std::filesystem::path& path() const { return index_; }

  void Write(const std::string& name, std::string_view bytes);
  // Puts all files right.
  void Restore();
  // Makes the checksums of the manifest and of the term table fit the files as they are now, as
  // somebody does who damages an index on purpose.
  void Reseal();

  struct Judgement {
    Reaction reaction = Reaction::kSame;
    std::string complaint;  // what does not hold; empty when all is well
  };
  // Opens, queries and verifies, and compares with what FORMAT.md, "What is checked when", promises
  // for the places that differ. Nothing of that holds after Reseal().
  [[nodiscard]] Judgement Judge() const;

  // Context and scores of one question. Errors as querier::Query.
  [[nodiscard]] absl::StatusOr<std::string> Answer(bool skip_damaged = false) const;
  // The codes for which rag-query exits with 3: the index cannot be used.
  static bool IsBadIndex(const absl::Status& status);

 private:
  // What must hold of a damage, by the place where it is; the first is the strongest.
  enum class Claim {
    kRefused,          // what opening checks whole
    kRefusedOrSame,    // what is checked when it is read
    kNoticedByVerify,  // arrays that readers do not check: the answer may change
    kNone,             // nothing differs
  };
  void ResealTermTable();
  void ResealManifest();
  static Claim Both(Claim a, Claim b);
  [[nodiscard]] Claim ClaimOf(const std::string& name, std::uint64_t offset) const;
  [[nodiscard]] Claim ClaimOf(const std::string& name, std::string_view bytes) const;
  [[nodiscard]] Claim ClaimOfAll() const;
  [[nodiscard]] std::string VerifyMisses() const;

  std::filesystem::path index_;
  std::filesystem::path generation_;
  std::map<std::string, std::string> files_;
  std::map<std::string, std::uint64_t> header_bytes_;
  std::map<std::string, std::string> written_;
  std::string answer_;
};

}  // namespace rag::testing

#endif  // TESTS_DAMAGE_DAMAGED_INDEX_H_
