#include "indexer/window_packer.h"

#include <algorithm>
#include <utility>

#include "indexer/text_parts.h"

namespace rag::indexer {

using formats::Span;

void WindowPacker::Add(Span piece, std::uint64_t size) {
  std::uint64_t added = Measure(end_, piece.end);
  while (!pieces_.empty() && size_ + added > limits_.size) {
    Emit();
    added = Measure(end_, piece.end);
  }
  const bool has_tail = pieces_.empty() && start_ < end_;
  if (has_tail && size_ + added > limits_.size) {
    // Only as much of the tail as leaves room for the piece.
    SetTail({start_, end_}, limits_.size > added ? limits_.size - added : 0);
  }
  if (start_ == end_) {
    start_ = piece.start;
    size_ = size;
  } else {
    size_ += added;
  }
  end_ = piece.end;
  pieces_.push_back(piece);
}

void WindowPacker::Close() {
  while (!pieces_.empty()) Emit();
}

void WindowPacker::Emit() {
  const std::size_t count = CountFitting();
  chunks_.push_back({start_, pieces_[count - 1].end});
  pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(count));
  SetTail(chunks_.back(), limits_.overlap);
  if (pieces_.empty()) return;
  if (start_ == end_) start_ = pieces_.front().start;
  end_ = pieces_.back().end;
  size_ = Measure(start_, end_);
}

std::vector<Span> WindowPacker::Take() {
  Close();
  start_ = end_ = 0;
  return std::exchange(chunks_, {});
}

std::size_t WindowPacker::CountFitting() {
  const auto fits = [this](std::size_t count) {
    return Measure(start_, pieces_[count - 1].end) <= limits_.size;
  };
  // Code points always add up.
  if (!ruler_.counts_tokens() || fits(pieces_.size())) return pieces_.size();
  if (!fits(1)) start_ = pieces_[0].start;
  std::size_t low = 1;
  std::size_t high = pieces_.size();
  while (low < high) {
    const std::size_t middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

std::uint64_t WindowPacker::TailStart(Span range, std::uint64_t limit) const {
  if (limit == 0) return range.end;
  std::uint64_t left = Measure(range.start, range.end);
  std::uint64_t at = range.start;
  for (const Separator separator : {Separator::kWhiteSpace, Separator::kClusters}) {
    TextParts parts(text_, {at, range.end}, separator);
    for (Span part; parts.Next(part) && part.end < range.end;) {
      left -= std::min(left, Measure(at, part.end));
      at = part.end;
      if (left <= limit && Measure(at, range.end) <= limit) return at;
    }
  }
  return range.end;
}

void WindowPacker::SetTail(Span range, std::uint64_t limit) {
  start_ = TailStart(range, limit);
  end_ = range.end;
  size_ = Measure(start_, end_);
}

}  // namespace rag::indexer
