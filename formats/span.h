// The half-open byte range that the whole project speaks in.
#ifndef FORMATS_SPAN_H_
#define FORMATS_SPAN_H_

#include <compare>
#include <cstdint>

namespace rag::formats {

// [start, end) in bytes of the original file unless a field says otherwise.
struct Span {
  std::uint64_t start = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t size() const { return end - start; }
  [[nodiscard]] bool empty() const { return end <= start; }
  friend auto operator<=>(const Span&, const Span&) = default;
};

}  // namespace rag::formats

#endif  // FORMATS_SPAN_H_
