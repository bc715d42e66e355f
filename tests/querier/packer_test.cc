#include "querier/packer.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace rag::querier {
namespace {

using Indices = std::vector<std::size_t>;

std::vector<PackItem> Items(const std::vector<std::uint64_t>& costs) {
  std::vector<PackItem> items;
  for (const std::uint64_t cost : costs) items.push_back({cost, 0});
  return items;
}

// What printing these items costs, by adding it up from nothing.
std::uint64_t CostOf(const std::vector<PackItem>& items, const Indices& chosen,
                     const PackOptions& options) {
  std::uint64_t cost = options.frame;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    cost += items[chosen[i]].cost + (i > 0 ? options.separator : 0);
  }
  return cost;
}

// The slow way: offers each item, prints all anew, keeps it when that is within the budget.
Packed PackNaively(const std::vector<PackItem>& items, const PackOptions& options) {
  Packed packed;
  for (std::size_t i = 0; i < items.size(); ++i) {
    Indices with = packed.included;
    with.push_back(i);
    if (CostOf(items, with, options) <= options.budget) {
      packed.included = with;
    } else {
      packed.skipped.push_back(i);
    }
  }
  packed.used = CostOf(items, packed.included, options);
  return packed;
}

struct Case {
  std::vector<PackItem> items;
  PackOptions options;
};

Case RandomCase(std::mt19937_64& random) {
  Case c;
  c.options = {.budget = random() % 600, .separator = random() % 12, .frame = random() % 40};
  const std::size_t n = random() % 20;
  for (std::size_t i = 0; i < n; ++i) c.items.push_back({random() % 200});
  return c;
}

TEST(Packer, SkipsWhatDoesNotFitAndContinues) {
  const Packed packed = Pack(Items({160, 48, 53, 47, 6}), {.budget = 100});

  EXPECT_EQ(packed.included, (Indices{1, 3}));
  EXPECT_EQ(packed.skipped, (Indices{0, 2, 4}));
  EXPECT_EQ(packed.used, 95U);
}

TEST(Packer, EqualsTheNaiveReferenceOnRandomItems) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 5000; ++round) {
    const Case c = RandomCase(random);

    const Packed packed = Pack(c.items, c.options);

    const Packed expected = PackNaively(c.items, c.options);
    ASSERT_EQ(packed.included, expected.included) << "round " << round;
    ASSERT_EQ(packed.skipped, expected.skipped) << "round " << round;
    ASSERT_EQ(packed.used, expected.used) << "round " << round;
  }
}

TEST(Packer, CountsSeparatorsBetweenIncludedItemsOnly) {
  const PackOptions options{.budget = 23, .separator = 3};

  EXPECT_EQ(Pack(Items({10, 10}), options).used, 23U);
  EXPECT_EQ(Pack(Items({99, 10, 99, 10, 99}), options).used, 23U);
  EXPECT_EQ(Pack(Items({10, 11}), options).included, (Indices{0}));
}

TEST(Packer, CountsTheFrameOnce) {
  const Packed packed = Pack(Items({10, 10}), {.budget = 27, .separator = 3, .frame = 4});

  EXPECT_EQ(packed.included, (Indices{0, 1}));
  EXPECT_EQ(packed.used, 27U);
}

TEST(Packer, AnItemThatFillsTheBudgetFits) {
  EXPECT_EQ(Pack(Items({9}), {.budget = 9}).included, (Indices{0}));
  EXPECT_EQ(Pack(Items({10}), {.budget = 9}).skipped, (Indices{0}));
}

TEST(Packer, NothingFitsBesideAFrameOverTheBudget) {
  const Packed packed = Pack(Items({0, 1}), {.budget = 5, .frame = 6});

  EXPECT_TRUE(packed.included.empty());
  EXPECT_EQ(packed.skipped, (Indices{0, 1}));
  EXPECT_EQ(packed.used, 6U);
}

TEST(Packer, NoItemsUseTheFrameAlone) {
  const Packed packed = Pack({}, {.budget = 5, .separator = 2, .frame = 3});

  EXPECT_TRUE(packed.included.empty());
  EXPECT_TRUE(packed.skipped.empty());
  EXPECT_EQ(packed.used, 3U);
}

TEST(Packer, StaysWithinTheBudgetWhenAnythingIsIncluded) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    const Case c = RandomCase(random);
    const Packed packed = Pack(c.items, c.options);
    if (!packed.included.empty()) {
      ASSERT_LE(packed.used, c.options.budget);
    }
  }
}

TEST(Packer, WhatWasSkippedWouldNotFitAtTheEndEither) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    const Case c = RandomCase(random);
    const Packed packed = Pack(c.items, c.options);
    for (const std::size_t i : packed.skipped) {
      Indices with = packed.included;
      with.push_back(i);
      ASSERT_GT(CostOf(c.items, with, c.options), c.options.budget);
    }
  }
}

TEST(Packer, LaterItemsDoNotChangeWhatWasChosenBefore) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 2000; ++round) {
    Case c = RandomCase(random);
    const Indices before = Pack(c.items, c.options).included;
    c.items.push_back({random() % 200});
    Indices after = Pack(c.items, c.options).included;
    if (after.size() > before.size()) after.pop_back();
    ASSERT_EQ(after, before);
  }
}

TEST(Packer, TheUsedBudgetAloneGivesTheSameItems) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    Case c = RandomCase(random);
    const Packed packed = Pack(c.items, c.options);
    if (packed.included.empty()) continue;
    c.options.budget = packed.used;
    ASSERT_EQ(Pack(c.items, c.options).included, packed.included);
  }
}

TEST(Packer, ALargerBudgetFindsItsFirstItemNoLater) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 2000; ++round) {
    Case c = RandomCase(random);
    const Indices small = Pack(c.items, c.options).included;
    c.options.budget += random() % 100;
    const Indices large = Pack(c.items, c.options).included;
    if (small.empty()) continue;
    ASSERT_FALSE(large.empty());
    ASSERT_LE(large.front(), small.front());
  }
}

TEST(Pack, OfItemsAlikeOneIsIncludedThoughThereIsRoom) {
  std::vector<PackItem> items = Items({5, 5, 5, 5});
  items[0].content = items[1].content = 7;
  items[3].content = 8;

  const Packed packed = Pack(items, {.budget = 100, .separator = 1, .frame = 0});

  EXPECT_EQ(packed.included, (Indices{0, 2, 3}));
  EXPECT_EQ(packed.skipped, Indices{1});
  EXPECT_EQ(packed.duplicates, (std::map<std::size_t, std::size_t>{{1, 0}}));
  EXPECT_EQ(packed.used, 17U);
}

TEST(Pack, OfItemsAlikeTheFirstThatFitsIsIncluded) {
  std::vector<PackItem> items = Items({50, 5});
  items[0].content = items[1].content = 7;

  const Packed packed = Pack(items, {.budget = 10, .separator = 1, .frame = 0});

  EXPECT_EQ(packed.included, Indices{1});
  EXPECT_TRUE(packed.duplicates.empty());
}

TEST(Packer, CompanionsComeAlongWhenAllOfThemFit) {
  std::vector<PackItem> items = Items({10, 10, 10, 10});
  items[0].companions = {2, 3};
  items[3].only_as_companion = true;

  EXPECT_EQ(Pack(items, {.budget = 36, .separator = 3}).included, (Indices{0, 2, 3}));
  EXPECT_EQ(Pack(items, {.budget = 36, .separator = 3}).used, 36U);
  EXPECT_EQ(Pack(items, {.budget = 36, .separator = 3}).skipped, (Indices{1}));
  // Else each that is a candidate itself stands for itself.
  EXPECT_EQ(Pack(items, {.budget = 35, .separator = 2}).included, (Indices{0, 2, 3}));
  EXPECT_EQ(Pack(items, {.budget = 35, .separator = 3}).included, (Indices{0, 1}));
  EXPECT_EQ(Pack(items, {.budget = 35, .separator = 3}).skipped, (Indices{2}));
}

TEST(Packer, WhatIsInAlreadyCostsNothingAsACompanion) {
  std::vector<PackItem> items = Items({10, 10, 10});
  items[1].companions = {0, 2};

  const Packed packed = Pack(items, {.budget = 30});

  EXPECT_EQ(packed.included, (Indices{0, 1, 2}));
  EXPECT_EQ(packed.used, 30U);
}

TEST(Packer, ACompanionThatIsSaidAlreadyStaysOut) {
  std::vector<PackItem> items = Items({10, 10, 10});
  items[0].content = 1;
  items[1].companions = {2};
  items[2].content = 1;
  items[2].only_as_companion = true;

  EXPECT_EQ(Pack(items, {.budget = 100}).included, (Indices{0, 1}));
}

TEST(Packer, NoCompanionComesWithAnItemThatIsLeftOut) {
  std::vector<PackItem> items = Items({50, 10});
  items[0].companions = {1};
  items[1].only_as_companion = true;

  const Packed packed = Pack(items, {.budget = 40});

  EXPECT_TRUE(packed.included.empty());
  EXPECT_EQ(packed.skipped, (Indices{0}));
}

}  // namespace
}  // namespace rag::querier
