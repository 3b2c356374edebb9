// The laws of relations between axes, for all small sizes and all values.
#include <gtest/gtest.h>

#include "te/relations/propagate.h"
#include "tenon/interp/evaluate.h"

namespace tenon::te {
namespace {

using tir::evaluate_int;

IterVar axis(const std::string& name) {
  return IterVar(std::nullopt, Var(name), IterKind::DataParallel);
}

std::int64_t value(const Expr& e) {
  return evaluate_int(
      e, [](const Var& v) -> std::int64_t { throw std::logic_error("free variable " + v.name()); });
}

struct Box {
  std::int64_t min, extent;
  bool contains(std::int64_t v) const { return min <= v && v < min + extent; }
};

Box box(const Range& r) { return {value(r.min), value(r.extent)}; }

/// One relation whose parents have given ranges.
struct Case {
  Relation relation;
  AxisRanges ranges;

  Case(Relation r, const std::vector<Box>& parents) : relation(std::move(r)) {
    arith::Facts facts;
    std::vector<IterVar> axes = parents_of(relation);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      Range range = Range::from_min_extent(Expr(parents[i].min), Expr(parents[i].extent));
      ranges.set(axes[i], range);
      facts.bind(axes[i].var(), range);
    }
    AxisFlags none;
    pass_ranges_down(std::span(&relation, 1), ranges, facts, &none);
  }

  Box of(const IterVar& a) const { return box(ranges.at(a)); }

  std::int64_t up(const IterVar& parent,
                  const std::vector<std::pair<IterVar, std::int64_t>>& children) const {
    AxisValues values;
    for (const auto& [child, v] : children) values.set(child, Expr(v));
    pass_index_up(std::span(&relation, 1), ranges, values);
    return value(values.at(parent));
  }

  std::int64_t down(const IterVar& child,
                    const std::vector<std::pair<IterVar, std::int64_t>>& parents) const {
    AxisValues values;
    for (const auto& [parent, v] : parents) values.set(parent, Expr(v));
    pass_index_down(std::span(&relation, 1), ranges, values);
    return value(values.at(child));
  }
};

struct SplitAxes {
  IterVar parent = axis("i"), outer = axis("i.outer"), inner = axis("i.inner");
};

std::vector<std::pair<SplitAxes, Case>> all_splits() {
  std::vector<std::pair<SplitAxes, Case>> cases;
  for (int min : {0, 3, -2}) {
    for (int extent = 1; extent <= 9; ++extent) {
      for (int size = 1; size <= 10; ++size) {
        SplitAxes a, b;
        cases.emplace_back(a, Case(Split{a.parent, a.outer, a.inner, size}, {{min, extent}}));
        cases.emplace_back(b, Case(Split{b.parent, b.outer, b.inner, size, true}, {{min, extent}}));
      }
    }
  }
  return cases;
}

TEST(Split, EveryValueOfTheParentComesBackFromItsChildren) {
  for (const auto& [axes, c] : all_splits()) {
    Box parent = c.of(axes.parent);
    for (std::int64_t v = parent.min; parent.contains(v); ++v) {
      std::int64_t outer = c.down(axes.outer, {{axes.parent, v}});
      std::int64_t inner = c.down(axes.inner, {{axes.parent, v}});
      ASSERT_TRUE(c.of(axes.outer).contains(outer));
      ASSERT_TRUE(c.of(axes.inner).contains(inner));
      ASSERT_EQ(c.up(axes.parent, {{axes.outer, outer}, {axes.inner, inner}}), v);
    }
  }
}

TEST(Split, NoOuterIterationLiesWhollyOutsideTheParentWhenSplitByFactor) {
  for (const auto& [axes, c] : all_splits()) {
    if (std::get<Split>(c.relation).is_by_parts) continue;
    Box parent = c.of(axes.parent), outer = c.of(axes.outer), inner = c.of(axes.inner);
    ASSERT_LT((outer.extent - 1) * inner.extent, parent.extent);
  }
}

TEST(Split, InnerExtentIsTheLessOfFactorAndParent) {
  for (const auto& [axes, c] : all_splits()) {
    const Split& split = std::get<Split>(c.relation);
    if (split.is_by_parts) continue;
    ASSERT_EQ(c.of(axes.inner).extent, std::min(c.of(axes.parent).extent, value(split.count)));
  }
}

TEST(Split, OuterExtentIsTheLessOfPartsAndParent) {
  for (const auto& [axes, c] : all_splits()) {
    const Split& split = std::get<Split>(c.relation);
    if (!split.is_by_parts) continue;
    ASSERT_EQ(c.of(axes.outer).extent, std::min(c.of(axes.parent).extent, value(split.count)));
  }
}

TEST(Split, IsGuardedExactlyWhenItsChildrenCountFurtherThanTheParent) {
  for (const auto& [axes, c] : all_splits()) {
    AxisFlags guarded;
    guards_up(std::get<Split>(c.relation), c.ranges, arith::Facts(), guarded);
    std::int64_t reached = c.of(axes.outer).extent * c.of(axes.inner).extent;
    ASSERT_EQ(guarded.at(axes.parent), reached != c.of(axes.parent).extent);
  }
}

TEST(Split, DomainOfTheParentIsTheHullOfWhatTheChildrenReach) {
  SplitAxes axes;
  Case c(Split{axes.parent, axes.outer, axes.inner, 4}, {{3, 20}});
  for (int o = 0; o < 5; ++o) {
    for (int o_end = o; o_end < 5; ++o_end) {
      for (int i = 0; i < 4; ++i) {
        for (int i_end = i; i_end < 4; ++i_end) {
          AxisDomains domains;
          domains.set(axes.outer, Interval::of(o, o_end));
          domains.set(axes.inner, Interval::of(i, i_end));
          pass_domains_up(std::span(&c.relation, 1), c.ranges, domains);
          ASSERT_EQ(value(*domains.at(axes.parent).min()), 3 + o * 4 + i);
          ASSERT_EQ(value(*domains.at(axes.parent).max()), 3 + o_end * 4 + i_end);
        }
      }
    }
  }
}

TEST(Split, WholeChildrenNeedTheWholeParentAndNoMore) {
  for (const auto& [axes, c] : all_splits()) {
    AxisDomains domains;
    domains.set(axes.outer, Interval::from_range(c.ranges.at(axes.outer)));
    domains.set(axes.inner, Interval::from_range(c.ranges.at(axes.inner)));
    pass_domains_up(std::span(&c.relation, 1), c.ranges, domains);
    ASSERT_TRUE(covers(domains.at(axes.parent), c.ranges.at(axes.parent)));
  }
}

TEST(Split, BelowAThreadKeepsTheExtentThatWasAskedFor) {
  SplitAxes axes;
  Relation split = Split{axes.parent, axes.outer, axes.inner, 32};
  AxisRanges ranges;
  arith::Facts facts;
  ranges.set(axes.parent, Range(0, 8));
  AxisFlags keeps;
  keeps.set(axes.inner, true);
  pass_ranges_down(std::span(&split, 1), ranges, facts, &keeps);
  EXPECT_EQ(box(ranges.at(axes.inner)).extent, 32);
  EXPECT_EQ(box(ranges.at(axes.outer)).extent, 1);
}

struct FuseAxes {
  IterVar outer = axis("i"), inner = axis("j"), fused = axis("i.j.fused");
};

std::vector<std::pair<FuseAxes, Case>> all_fusions() {
  std::vector<std::pair<FuseAxes, Case>> cases;
  for (int outer_min : {0, 2}) {
    for (int inner_min : {0, -3}) {
      for (int m = 1; m <= 5; ++m) {
        for (int n = 1; n <= 5; ++n) {
          FuseAxes a;
          cases.emplace_back(
              a, Case(Fuse{a.outer, a.inner, a.fused}, {{outer_min, m}, {inner_min, n}}));
        }
      }
    }
  }
  return cases;
}

TEST(Fuse, IsOneToOne) {
  for (const auto& [axes, c] : all_fusions()) {
    Box outer = c.of(axes.outer), inner = c.of(axes.inner), fused = c.of(axes.fused);
    ASSERT_EQ(fused.extent, outer.extent * inner.extent);
    for (std::int64_t i = outer.min; outer.contains(i); ++i) {
      for (std::int64_t j = inner.min; inner.contains(j); ++j) {
        std::int64_t f = c.down(axes.fused, {{axes.outer, i}, {axes.inner, j}});
        ASSERT_TRUE(fused.contains(f));
        ASSERT_EQ(c.up(axes.outer, {{axes.fused, f}}), i);
        ASSERT_EQ(c.up(axes.inner, {{axes.fused, f}}), j);
      }
    }
  }
}

TEST(Fuse, DomainsOfTheParentsContainEveryPointOfTheFusedDomain) {
  for (const auto& [axes, c] : all_fusions()) {
    Box fused = c.of(axes.fused);
    for (std::int64_t first = 0; first < fused.extent; ++first) {
      for (std::int64_t last = first; last < fused.extent; ++last) {
        AxisDomains domains;
        domains.set(axes.fused, Interval::of(Expr(first), Expr(last)));
        pass_domains_up(std::span(&c.relation, 1), c.ranges, domains);
        for (std::int64_t f = first; f <= last; ++f) {
          for (const IterVar& parent : {axes.outer, axes.inner}) {
            std::int64_t v = c.up(parent, {{axes.fused, f}});
            ASSERT_LE(value(*domains.at(parent).min()), v);
            ASSERT_GE(value(*domains.at(parent).max()), v);
          }
        }
      }
    }
  }
}

TEST(Fuse, AStretchWithinARowNeedsOnlyItsOwnColumns) {
  FuseAxes axes;
  Case c(Fuse{axes.outer, axes.inner, axes.fused}, {{0, 12}, {0, 6}});
  AxisDomains domains;
  domains.set(axes.fused, Interval::of(15, 17));
  pass_domains_up(std::span(&c.relation, 1), c.ranges, domains);
  EXPECT_EQ(value(*domains.at(axes.outer).min()), 2);
  EXPECT_EQ(value(*domains.at(axes.outer).max()), 2);
  EXPECT_EQ(value(*domains.at(axes.inner).min()), 3);
  EXPECT_EQ(value(*domains.at(axes.inner).max()), 5);
}

TEST(Rebase, CountsFromZeroAndComesBack) {
  for (int min : {0, 1, 7, -4}) {
    for (int extent = 1; extent <= 5; ++extent) {
      IterVar parent = axis("i"), rebased = axis("i");
      Case c(Rebase{parent, rebased}, {{min, extent}});
      ASSERT_EQ(c.of(rebased).min, 0);
      ASSERT_EQ(c.of(rebased).extent, extent);
      for (int v = min; v < min + extent; ++v) {
        std::int64_t r = c.down(rebased, {{parent, v}});
        ASSERT_EQ(r, v - min);
        ASSERT_EQ(c.up(parent, {{rebased, r}}), v);
      }
    }
  }
}

TEST(Singleton, HasTheOneValueZero) {
  IterVar one = axis("singleton");
  Case c(Singleton{one}, {});
  EXPECT_EQ(c.of(one).extent, 1);
  EXPECT_EQ(c.down(one, {}), 0);
}

TEST(Transform, EveryPointComesBack) {
  IterVar i = axis("i"), j = axis("j"), a = axis("axis0"), b = axis("axis1"), c = axis("axis2");
  Var pi("i"), pj("j"), pa("a"), pb("b"), pc("c");
  Transform t{{i, j},
              {a, b, c},
              {{pi, pj}, {floordiv(pj, 8), pi, floormod(pj, 8)}},
              {{pa, pb, pc}, {pb, pa * 8 + pc}}};
  Case tiles(t, {{0, 3}, {0, 16}});
  EXPECT_EQ(tiles.of(a).extent, 2);
  EXPECT_EQ(tiles.of(b).extent, 3);
  EXPECT_EQ(tiles.of(c).extent, 8);
  for (int v = 0; v < 3; ++v) {
    for (int w = 0; w < 16; ++w) {
      std::vector<std::pair<IterVar, std::int64_t>> point;
      for (const IterVar& child : {a, b, c})
        point.emplace_back(child, tiles.down(child, {{i, v}, {j, w}}));
      ASSERT_EQ(tiles.up(i, point), v);
      ASSERT_EQ(tiles.up(j, point), w);
    }
  }
}

TEST(DerivedFrom, AnAxisDerivesFromEachOfItsSources) {
  FuseAxes f;
  SplitAxes s;
  s.parent = f.fused;
  std::vector<Relation> relations{Fuse{f.outer, f.inner, f.fused},
                                  Split{s.parent, s.outer, s.inner, 4}};
  for (const IterVar& source : {f.outer, f.inner}) {
    const AxisFlags derived = derived_from({&source, 1}, relations);
    EXPECT_TRUE(derived.contains(s.inner));
    EXPECT_TRUE(derived.contains(s.outer));
  }
}

TEST(SourcesOf, AParentIsASourceAndASiblingIsNot) {
  SplitAxes s;
  std::vector<Relation> relations{Split{s.parent, s.outer, s.inner, 4}};
  const AxisFlags sources = sources_of({&s.inner, 1}, relations);
  EXPECT_TRUE(sources.contains(s.parent));
  EXPECT_FALSE(sources.contains(s.outer));
}

}  // namespace
}  // namespace tenon::te
