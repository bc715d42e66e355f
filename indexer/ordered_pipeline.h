// A bounded pipeline whose results come back in the order of its inputs, whatever the number of
// threads.
#ifndef INDEXER_ORDERED_PIPELINE_H_
#define INDEXER_ORDERED_PIPELINE_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "formats/status_macros.h"

namespace rag::indexer {

// Runs `work` on every input that `next` gives (until nullopt) on `threads` threads, and hands the
// results to `consume` in input order. `next` and `consume` run on the calling thread; `work` must
// allow concurrent calls and must not throw. At most 4 x threads inputs are in flight, which bounds
// memory. Stops at the first error of `next` or `consume` and returns it.
template <typename In, typename Out>
class OrderedPipeline {
 public:
  using Next = std::function<absl::StatusOr<std::optional<In>>()>;
  using Work = std::function<Out(In)>;
  using Consume = std::function<absl::Status(Out)>;

  static absl::Status Run(unsigned threads, const Next& next, const Work& work,
                          const Consume& consume) {
    OrderedPipeline pipeline(threads, work);
    absl::Status status = pipeline.Drive(next, consume);
    pipeline.Stop();
    return status;
  }

 private:
  struct Slot {
    std::optional<In> in;
    std::optional<Out> out;
    bool taken = false;
  };

  OrderedPipeline(unsigned threads, const Work& work) : work_(work), window_(4 * threads) {
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { RunWorker(); });
  }

  absl::Status Drive(const Next& next, const Consume& consume) {
    bool more = true;
    while (true) {
      while (more && in_flight() < window_) {
        RAG_ASSIGN_OR_RETURN(std::optional<In> in, next());
        more = in.has_value();
        if (more) Push(*std::move(in));
      }
      if (in_flight() == 0) return absl::OkStatus();
      RAG_RETURN_IF_ERROR(consume(PopFront()));
    }
  }

  std::size_t in_flight() {
    std::lock_guard<std::mutex> lock(mutex_);
    return slots_.size();
  }

  void Push(In in) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      slots_.emplace_back();
      slots_.back().in = std::move(in);
    }
    work_ready_.notify_one();
  }

  Out PopFront() {
    std::unique_lock<std::mutex> lock(mutex_);
    result_ready_.wait(lock, [this] { return slots_.front().out.has_value(); });
    Out out = *std::move(slots_.front().out);
    slots_.pop_front();
    return out;
  }

  // Deque elements stay where they are when others are pushed at the back or popped at the front.
  Slot* FirstFree() {
    for (Slot& slot : slots_) {
      if (!slot.taken) return &slot;
    }
    return nullptr;
  }

  void RunWorker() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      Slot* slot = nullptr;
      work_ready_.wait(lock, [&] { return stop_ || (slot = FirstFree()) != nullptr; });
      if (stop_) return;
      slot->taken = true;
      In in = *std::move(slot->in);
      lock.unlock();
      Out out = work_(std::move(in));
      lock.lock();
      slot->out = std::move(out);
      result_ready_.notify_one();
    }
  }

  void Stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    work_ready_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  const Work& work_;
  std::size_t window_;
  std::mutex mutex_;
  std::condition_variable work_ready_;
  std::condition_variable result_ready_;
  std::deque<Slot> slots_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace rag::indexer

#endif  // INDEXER_ORDERED_PIPELINE_H_
