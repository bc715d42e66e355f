#include "indexer/ordered_pipeline.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace rag::indexer {
namespace {

using Pipeline = OrderedPipeline<int, int>;

// Gives 0, 1, ... n - 1.
Pipeline::Next CountTo(int n) {
  return [n, at = 0]() mutable -> absl::StatusOr<std::optional<int>> {
    return at < n ? std::optional<int>(at++) : std::nullopt;
  };
}

// Keeps a thread busy for a time that differs from input to input.
void Delay(int input) {
  std::mt19937 random(static_cast<unsigned>(input));
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 400));
}

class OrderedPipelineOn : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Threads, OrderedPipelineOn, ::testing::Range(1U, 9U),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(OrderedPipelineOn, ResultsComeInTheOrderOfTheInputs) {
  std::vector<int> results;

  const absl::Status status = Pipeline::Run(
      GetParam(), CountTo(300),
      [](int input) {
        Delay(input);
        return input * 10;
      },
      [&](int result) {
        results.push_back(result);
        return absl::OkStatus();
      });

  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(results.size(), 300U);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)], 10 * i);
}

TEST_P(OrderedPipelineOn, NoInputsIsNoWork) {
  const absl::Status status = Pipeline::Run(
      GetParam(), CountTo(0),
      [](int) {
        ADD_FAILURE() << "there is nothing to work on";
        return 0;
      },
      [](int) { return absl::InternalError("there is nothing to consume"); });

  EXPECT_TRUE(status.ok()) << status;
}

TEST_P(OrderedPipelineOn, FewerInputsThanThreadsEnd) {
  int consumed = 0;

  const absl::Status status = Pipeline::Run(
      GetParam(), CountTo(1), [](int input) { return input; },
      [&](int) {
        ++consumed;
        return absl::OkStatus();
      });

  EXPECT_TRUE(status.ok());
  EXPECT_EQ(consumed, 1);
}

TEST_P(OrderedPipelineOn, AtMostFourInputsAThreadAreInFlight) {
  int given = 0;
  int consumed = 0;
  int most = 0;

  const absl::Status status = Pipeline::Run(
      GetParam(),
      [&]() -> absl::StatusOr<std::optional<int>> {
        if (given == 200) return std::nullopt;
        most = std::max(most, given + 1 - consumed);
        return given++;
      },
      [](int input) {
        Delay(input);
        return input;
      },
      [&](int) {
        ++consumed;
        return absl::OkStatus();
      });

  EXPECT_TRUE(status.ok());
  EXPECT_EQ(consumed, 200);
  EXPECT_LE(most, static_cast<int>(4 * GetParam()));
}

TEST_P(OrderedPipelineOn, AnErrorOfNextStopsIt) {
  std::atomic<int> running{0};
  int given = 0;

  const absl::Status status = Pipeline::Run(
      GetParam(),
      [&]() -> absl::StatusOr<std::optional<int>> {
        if (given == 50) return absl::CancelledError("enough");
        return given++;
      },
      [&](int input) {
        ++running;
        Delay(input);
        --running;
        return input;
      },
      [](int) { return absl::OkStatus(); });

  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_EQ(running, 0) << "a thread outlived the pipeline";
}

TEST_P(OrderedPipelineOn, AnErrorOfConsumeStopsItAtOnce) {
  std::atomic<int> running{0};
  std::vector<int> results;

  const absl::Status status = Pipeline::Run(
      GetParam(), CountTo(1000),
      [&](int input) {
        ++running;
        Delay(input);
        --running;
        return input;
      },
      [&](int result) -> absl::Status {
        results.push_back(result);
        return result == 20 ? absl::ResourceExhaustedError("disk full") : absl::OkStatus();
      });

  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(results.size(), 21U);
  EXPECT_EQ(running, 0) << "a thread outlived the pipeline";
}

TEST_P(OrderedPipelineOn, WorkRunsOnItsThreadsAndTheRestOnTheCaller) {
  const std::thread::id caller = std::this_thread::get_id();

  const absl::Status status = Pipeline::Run(
      GetParam(),
      [&, at = 0]() mutable -> absl::StatusOr<std::optional<int>> {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        return at < 20 ? std::optional<int>(at++) : std::nullopt;
      },
      [&](int input) {
        EXPECT_NE(std::this_thread::get_id(), caller);
        return input;
      },
      [&](int) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        return absl::OkStatus();
      });

  EXPECT_TRUE(status.ok());
}

TEST(OrderedPipeline, ASlowFirstInputHoldsBackTheOthers) {
  std::vector<int> results;

  const absl::Status status = Pipeline::Run(
      4, CountTo(40),
      [](int input) {
        if (input == 0) std::this_thread::sleep_for(std::chrono::milliseconds(30));
        return input;
      },
      [&](int result) {
        results.push_back(result);
        return absl::OkStatus();
      });

  EXPECT_TRUE(status.ok());
  EXPECT_EQ(results.size(), 40U);
  EXPECT_TRUE(std::is_sorted(results.begin(), results.end()));
}

TEST(OrderedPipeline, SeveralThreadsWorkAtOnce) {
  std::atomic<int> running{0};
  std::atomic<bool> met{false};

  // Each input waits a while for company.
  const absl::Status status = Pipeline::Run(
      2, CountTo(2),
      [&](int input) {
        ++running;
        for (int i = 0; i < 5000 && !met; ++i) {
          if (running == 2) met = true;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return input;
      },
      [](int) { return absl::OkStatus(); });

  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(met);
}

TEST(OrderedPipeline, TakesValuesThatCanOnlyBeMoved) {
  using Moving = OrderedPipeline<std::unique_ptr<int>, std::unique_ptr<std::string>>;
  std::string all;

  const absl::Status status = Moving::Run(
      3,
      [at = 0]() mutable -> absl::StatusOr<std::optional<std::unique_ptr<int>>> {
        if (at == 5) return std::optional<std::unique_ptr<int>>();
        return std::optional(std::make_unique<int>(at++));
      },
      [](std::unique_ptr<int> input) { return std::make_unique<std::string>(1, 'a' + *input); },
      [&](std::unique_ptr<std::string> result) {
        all += *result;
        return absl::OkStatus();
      });

  EXPECT_TRUE(status.ok());
  EXPECT_EQ(all, "abcde");
}

}  // namespace
}  // namespace rag::indexer
