#include "ir/graph.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "ir/builder.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "ir/verify/verify.h"

namespace heddle::ir {
namespace {

const Type kVector{DType::f32, {4}};

struct Chain {  // y = neg(x), z = y + y
  Graph g;
  ValueId x, y, z;
  Chain() {
    g.name = "f";
    x = g.add_input("x", kVector, Role::input);
    Builder b(g);
    y = b("neg", {x}, {}, "y");
    z = b("add", {y, y}, {}, "z");
    g.outputs = {z};
  }
};

TEST(Graph, names_are_unique_and_stable) {
  Graph g;
  EXPECT_EQ(g[g.add_input("x", kVector, Role::input)].name, "x");
  EXPECT_EQ(g[g.add_input("x", kVector, Role::input)].name, "x.1");
  EXPECT_EQ(g[g.add_input("x", kVector, Role::input)].name, "x.2");
  EXPECT_EQ(g.find("x.1").index, 1);
  EXPECT_FALSE(g.find("y").valid());
}

TEST(Graph, replace_uses_reaches_nodes_outputs_and_updates) {
  Chain c;
  c.g.outputs.push_back(c.y);
  c.g.replace_uses(c.y, c.x);
  EXPECT_TRUE(c.g[c.y].uses.empty());
  EXPECT_EQ(c.g[c.x].uses.size(), 3u);  // neg once, add twice
  EXPECT_EQ(c.g.outputs, (std::vector<ValueId>{c.z, c.x}));
  c.g.erase(c.g[c.y].def);
  EXPECT_TRUE(verify(c.g).empty());
}

TEST(Graph, updates_know_what_they_hold) {
  const ValueId a{0}, b{1}, c{2};
  Updates updates{{a, c}, {b, c}};
  EXPECT_TRUE(updates.has_state(a) && updates.has_next(c));
  EXPECT_FALSE(updates.has_state(c) || updates.has_next(a));
  updates.set_next(0, b);
  EXPECT_TRUE(updates.has_next(b) && updates.has_next(c));
  updates.replace_next(c, a);
  EXPECT_FALSE(updates.has_next(c));
  EXPECT_EQ(updates[1], (Update{b, a}));
  updates.remove({b, c});
  EXPECT_FALSE(updates.has_state(b) || updates.has_next(a));
  ASSERT_EQ(updates.size(), 1u);
  EXPECT_EQ(updates[0], (Update{a, b}));
}

TEST(Graph, inputs_go_together_with_their_updates) {
  Chain c;
  const ValueId w = c.g.add_input("w", kVector, Role::param), v = c.g.add_input("v", kVector, Role::param);
  c.g.updates = {{w, v}, {v, c.y}};
  c.g.remove_inputs({w, v});
  EXPECT_EQ(c.g.inputs, (std::vector<ValueId>{c.x}));
  EXPECT_TRUE(c.g.updates.empty());
  EXPECT_FALSE(c.g.find("w").valid());
  EXPECT_TRUE(verify(c.g).empty());
}

TEST(Graph, insertion_keeps_order) {
  Chain c;
  Builder b(c.g);
  b.insert_at = 1;
  const ValueId first = b("exp", {c.y}), second = b("exp", {first});
  const std::vector<int> at = c.g.positions();
  EXPECT_EQ(at[static_cast<size_t>(c.g[first].def.index)], 1);
  EXPECT_EQ(at[static_cast<size_t>(c.g[second].def.index)], 2);
  EXPECT_TRUE(verify(c.g).empty());
}

TEST(Verify, names_a_use_before_its_definition) {
  Chain c;
  std::swap(c.g.order[0], c.g.order[1]);
  const auto problems = verify(c.g);
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0], "@f: add reads %y before it is defined");
}

TEST(Verify, finds_wrong_types_and_use_lists) {
  Chain c;
  c.g[c.y].type.dims = {5};
  EXPECT_FALSE(verify(c.g).empty());
  Chain d;
  d.g[d.y].uses.pop_back();
  EXPECT_FALSE(verify(d.g).empty());
}

TEST(Verify, finds_wrong_updates) {
  Graph g;
  g.name = "f";
  const ValueId w = g.add_input("w", kVector, Role::param), x = g.add_input("x", kVector, Role::input);
  const ValueId s = g.add_input("s", {DType::f32, {2}}, Role::state);
  g.updates = {{w, x}};
  EXPECT_EQ(verify(g), std::vector<std::string>{});
  g.updates = {{w, x}, {w, x}};
  EXPECT_EQ(verify(g), std::vector<std::string>{"@f: %w is updated twice"});
  g.updates = {{s, x}};
  EXPECT_EQ(verify(g), std::vector<std::string>{"@f: update of %s by another type"});
  g.updates = {{x, w}};
  EXPECT_EQ(verify(g), std::vector<std::string>{"@f: update of %x, which is no state"});
}
TEST(Verify, finds_overlapping_places) {
  Chain c;
  c.g.arena_bytes = 1024;
  c.g[c.x].place.offset = 0;
  c.g[c.y].place.offset = 256;
  c.g[c.z].place.offset = 512;
  EXPECT_TRUE(verify(c.g).empty());
  c.g[c.y].place.offset = 8;  // x occupies [0, 16) while y is written
  const auto problems = verify(c.g);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0], "@f: %y is computed over %x, which neg still reads");
  c.g[c.y].place = {0, c.x};  // in place: x is not read again
  EXPECT_TRUE(verify(c.g).empty());
  c.g[c.z].place.offset = 1020;
  EXPECT_FALSE(verify(c.g).empty()) << "z ends beyond the arena";
}

TEST(StructurallyEqual, sees_every_difference) {
  const Chain c;
  Chain other;
  EXPECT_TRUE(structurally_equal(c.g, other.g));
  other.g.rename(other.y, "q");
  EXPECT_FALSE(structurally_equal(c.g, other.g));
  Chain placed;
  placed.g[placed.y].place.offset = 0;
  EXPECT_FALSE(structurally_equal(c.g, placed.g));
  Chain turned;
  turned.g[turned.x].layout = {0};
  EXPECT_FALSE(structurally_equal(c.g, turned.g));
  Chain outputs;
  outputs.g.outputs = {outputs.y};
  EXPECT_FALSE(structurally_equal(c.g, outputs.g));
}

TEST(Builder, broadcasts_as_numpy_does) {
  Graph g;
  const ValueId x = g.add_input("x", {DType::f32, {3, 1}}, Role::input);
  Builder b(g);
  const ValueId y = b.broadcast_to(x, {2, 3, 4});
  EXPECT_EQ(g[y].type.dims, (Dims{2, 3, 4}));
  EXPECT_EQ(b.broadcast_to(y, {2, 3, 4}), y);
  EXPECT_THROW(b.broadcast_to(x, {2, 4, 4}), UserError);
  EXPECT_TRUE(verify(g).empty());
}

// Names come and go by the thousand, equal hashes among them: the table agrees with a map.
TEST(NameTable, HoldsWhatAMapHolds) {
  std::mt19937 random(3);
  NameTable table;
  std::map<std::string, int32_t> expected;
  std::vector<std::string> names;
  const auto hash = [](const std::string& name) { return NameTable::hash_of(name) % 64; };  // many are equal
  const auto is = [&](const std::string& name) {
    return [&](int32_t i) { return names[static_cast<size_t>(i)] == name; };
  };
  for (int step = 0; step < 20000; ++step) {
    const std::string name = fmt::format("n{}", random() % 300);
    if (const auto known = expected.find(name); known != expected.end()) {
      ASSERT_EQ(table.find(hash(name), is(name)), known->second);
      table.erase(hash(name), is(name));
      expected.erase(known);
    } else {
      ASSERT_EQ(table.find(hash(name), is(name)), NameTable::kNone);
      expected[name] = static_cast<int32_t>(names.size());
      names.push_back(name);
      table.insert(hash(name), expected[name]);
    }
  }
  EXPECT_GT(expected.size(), 50U);
  for (const auto& [name, number] : expected) EXPECT_EQ(table.find(hash(name), is(name)), number);
}

// Chains of updates with one next value: replaced, set and removed one after another.
TEST(Updates, KnowTheirNextValues) {
  const auto v = [](int32_t i) { return ValueId{i}; };
  Updates updates{{v(0), v(10)}, {v(1), v(10)}, {v(2), v(11)}, {v(3), v(10)}};
  updates.set_next(0, v(12));
  EXPECT_TRUE(updates.has_next(v(10)) && updates.has_next(v(12)));
  updates.replace_next(v(10), v(13));
  EXPECT_FALSE(updates.has_next(v(10)));
  EXPECT_EQ(std::vector<Update>(updates.begin(), updates.end()),
            (std::vector<Update>{{v(0), v(12)}, {v(1), v(13)}, {v(2), v(11)}, {v(3), v(13)}}));
  updates.remove({v(1), v(2)});
  EXPECT_FALSE(updates.has_next(v(11)) || updates.has_state(v(1)));
  EXPECT_TRUE(updates.has_next(v(13)));
  updates.replace_next(v(13), v(12));
  EXPECT_EQ(std::vector<Update>(updates.begin(), updates.end()), (std::vector<Update>{{v(0), v(12)}, {v(3), v(12)}}));
  updates.remove({v(3)});
  EXPECT_TRUE(updates.has_next(v(12)));
  updates.remove({v(0)});
  EXPECT_FALSE(updates.has_next(v(12)));
}

}  // namespace
}  // namespace heddle::ir
