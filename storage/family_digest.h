// The content digest of a record family: XXH3-128 over (varint key length, key, varint value
// length, value) of every entry in key order. FORMAT.md, "records/".
#ifndef STORAGE_FAMILY_DIGEST_H_
#define STORAGE_FAMILY_DIGEST_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/checksum.h"
#include "formats/coding.h"

namespace rag::storage {

// Threads: one thread.
class FamilyDigest {
 public:
  void Add(std::string_view key, std::string_view value) {
    ++num_keys_;
    AddText(key);
    AddText(value);
  }
  [[nodiscard]] std::uint64_t num_keys() const { return num_keys_; }
  [[nodiscard]] std::string Hex() const { return stream_.Hex(); }

 private:
  void AddText(std::string_view text) {
    formats::ByteWriter length;
    length.Varint(text.size());
    stream_.Update(length.view());
    stream_.Update(text);
  }

  std::uint64_t num_keys_ = 0;
  formats::Xxh128Stream stream_;
};

}  // namespace rag::storage

#endif  // STORAGE_FAMILY_DIGEST_H_
