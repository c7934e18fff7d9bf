#include "ir/verify/verify_memory.h"

#include <gtest/gtest.h>

#include "ir/storage/turn_places.h"
#include "ir/text/parse.h"
#include "ir/verify/verify.h"

namespace heddle::ir {
namespace {

struct Case {
  std::string name, text, problem;  // no problem: the plan is right
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class VerifyMemory : public ::testing::TestWithParam<Case> {};

TEST_P(VerifyMemory, JudgesPlans) {
  const SourceFile file{"plan.hir", GetParam().text};
  const std::vector<std::string> problems = verify(parse(file));
  if (GetParam().problem.empty()) {
    EXPECT_EQ(problems, std::vector<std::string>{});
  } else {
    ASSERT_FALSE(problems.empty()) << "expected: " << GetParam().problem;
    EXPECT_EQ(problems[0], GetParam().problem);
  }
}

const std::string kAdd = R"(kernel @k(%a: f32[4], %b: f32[4]) {domain = [4], schedule = "pointwise", split = 1} {
  %y: f32[4] at %a = add(%a, %b)
  return %y
}
)";

// Where a line says why: right plans, then each wrong one with its complaint.
const Case kPlans[] = {
    {"Views", R"(graph @f(input %x: f32[8] at 0) {arena = 512} {
  %v: f32[4] at %x + 16 = slice(%x) {starts = [4], limits = [8]}
  %y: f32[4] at 256 = neg(%v)
  return %y, %x, %v
})",
     ""},
    {"InPlaceAfterTheLastReader", R"(graph @f(input %x: f32[4] at 0) {arena = 256} {
  %y: f32[4] at %x = neg(%x)
  return %y
})",
     ""},
    {"ConcatenationInPlace", R"(graph @f(input %x: f32[4] at 0) {arena = 512} {
  %a: f32[4] at %c = neg(%x)
  %b: f32[4] at %c + 16 = exp(%x)
  %c: f32[8] at 256 = concat(%a, %b)
  return %c, %b
})",
     ""},
    {"OutputInTheStateItBecomes", R"(graph @f(param %w: f32[4]) {arena = 0} {
  %n: f32[4] at %w = neg(%w)
  %v: f32[2,2] at %n = reshape(%n) {shape = [2,2]}
  update %w <- %n
  return %n, %v
})",
     ""},
    {"OneNextValueForTwoStates", R"(graph @f(param %v: f32[4], param %w: f32[4]) {arena = 0} {
  %n: f32[4] at %v = neg(%v)
  update %v <- %n
  update %w <- %n
  return
})",
     ""},
    {"OverwrittenInput", R"(graph @f(input %x: f32[4] at 0) {arena = 512} {
  %y: f32[4] at 0 = neg(%x)
  return %y
})",
     ""},  // the same bytes, read in step: as good as in place
    {"OverlapBeforeALaterReader", R"(graph @f(input %x: f32[4] at 0) {arena = 512} {
  %y: f32[4] at 256 = neg(%x)
  %z: f32[4] at 0 = exp(%y)
  %s: f32[4] at 256 = add(%z, %x)
  return %s
})",
     "@f: %x is overwritten by %z before add reads it"},
    {"ShiftedOverlap", R"(graph @f(input %x: f32[4] at 0) {arena = 512} {
  %y: f32[4] at 8 = neg(%x)
  return %y
})",
     "@f: %y is computed over %x, which neg still reads"},
    {"ReadElsewhere", R"(graph @f(input %x: f32[4] at 0) {arena = 512} {
  %y: f32[4] at %x = reverse(%x) {axes = [0]}
  return %y
})",
     "@f: %y is computed over %x, which reverse still reads"},
    {"InPlaceUnderALiveView", R"(graph @f(input %x: f32[8] at 0) {arena = 256} {
  %v: f32[4] at %x + 16 = slice(%x) {starts = [4], limits = [8]}
  %y: f32[8] at %x = neg(%x)
  %z: f32[4] at %y = exp(%v)
  return %z, %y
})",
     "@f: %v is overwritten by %y before exp reads it"},
    {"OutputOverwritten", R"(graph @f(input %x: f32[4] at 0) {arena = 512} {
  %y: f32[4] at 256 = neg(%x)
  %z: f32[4] at %y = exp(%y)
  return %y, %z
})",
     "@f: %y is overwritten by %z before the graph returns it"},
    {"NextOverwritten", R"(graph @f(input %x: f32[4] at 0, param %w: f32[4]) {arena = 512} {
  %n: f32[4] at 256 = add(%x, %w)
  %y: f32[4] at %n = neg(%n)
  update %w <- %n
  return %y
})",
     "@f: %n is overwritten by %y before it updates %w"},
    {"OldStateReadAfterItsUpdate", R"(graph @f(param %w: f32[4]) {arena = 256} {
  %n: f32[4] at %w = neg(%w)
  %y: f32[4] at 0 = exp(%w)
  update %w <- %n
  return %y
})",
     "@f: %w is overwritten by %n before exp reads it"},
    {"OldStateReturned", R"(graph @f(param %w: f32[4]) {arena = 256} {
  %n: f32[4] at 0 = neg(%w)
  update %w <- %n
  return %w
})",
     "@f: %w is overwritten by %n before the graph returns it"},
    {"StatesExchangedInPlace", R"(graph @f(param %v: f32[4], param %w: f32[4]) {arena = 0} {
  update %v <- %w
  update %w <- %v
  return
})",
     "@f: %w lies in %w, which another update overwrites"},
    {"ViewBeyondItsBase", R"(graph @f(input %x: f32[8] at 0) {arena = 512} {
  %v: f32[4] at %x + 32 = slice(%x) {starts = [4], limits = [8]}
  return %v
})",
     "@f: %v at %x + 32 lies outside it"},
    {"ViewAtAnotherOffset", R"(graph @f(input %x: f32[8] at 0) {arena = 512} {
  %v: f32[4] at %x = slice(%x) {starts = [4], limits = [8]}
  return %v, %x
})",
     "@f: %x is overwritten by a copy before the graph returns it"},
    {"OffsetThatOverflows", R"(graph @f(input %x: f32[8] at 9223372036854775800) {arena = 512} {
  return %x
})",
     "@f: %x lies outside the arena"},
    {"CycleOfBases", R"(graph @f(input %x: f32[4] at 0) {arena = 512} {
  %a: f32[4] at %b = neg(%x)
  %b: f32[4] at %a = exp(%a)
  return %b
})",
     "@f: the places of %a form a cycle"},
    {"NoPlace", R"(graph @f(input %x: f32[4] at 0) {arena = 512} {
  %a: f32[4] = neg(%x)
  return %a
})",
     "@f: memory is planned, but %a has no place"},
    {"InputsOverlap", R"(graph @f(input %x: f32[4] at 0, input %y: f32[4] at 8) {arena = 512} {
  return %x, %y
})",
     "@f: %x and %y overlap"},
    {"MarkedKernel", kAdd + R"(graph @f(input %x: f32[4] at 0, input %y: f32[4] at 256) {arena = 512} {
  %z: f32[4] at %x = call @k(%x, %y)
  return %z
})",
     ""},
    {"UnmarkedOperand", kAdd + R"(graph @f(input %x: f32[4] at 0, input %y: f32[4] at 256) {arena = 512} {
  %z: f32[4] at %y = call @k(%x, %y)
  return %z
})",
     "@f: %z is computed over %y, which @k still reads"},
    {"OneOperandTwice", kAdd + R"(graph @f(input %x: f32[4] at 0) {arena = 512} {
  %z: f32[4] at %x = call @k(%x, %x)
  return %z
})",
     "@f: %z is computed over %x, which @k still reads"},
    {"WorkspaceOverAnOperand", R"(kernel @m(%x: f32[4,4]) {schedule = "contract", impl = "onednn", workspace = 64} {
  %y: f32[4,4] = matmul(%x, %x)
  return %y
}
graph @f(input %x: f32[4,4] at 0) {arena = 512} {
  %y: f32[4,4] at 256 = call @m(%x) {workspace_at = 32}
  return %y
})",
     "@f: the workspace of call @m overlaps %x"},
    {"WorkspaceOutside", R"(kernel @m(%x: f32[4,4]) {schedule = "contract", impl = "onednn", workspace = 64} {
  %y: f32[4,4] = matmul(%x, %x)
  return %y
}
graph @f(input %x: f32[4,4] at 0) {arena = 512} {
  %y: f32[4,4] at 256 = call @m(%x) {workspace_at = 480}
  return %y
})",
     "@f: the workspace of call @m lies outside the arena"},
    {"WorkspaceOverALiveValue", R"(kernel @m(%x: f32[4,4]) {schedule = "contract", impl = "onednn", workspace = 64} {
  %y: f32[4,4] = matmul(%x, %x)
  return %y
}
graph @f(input %x: f32[4,4] at 0) {arena = 768} {
  %a: f32[4,4] at 512 = neg(%x)
  %y: f32[4,4] at 256 = call @m(%x) {workspace_at = 512}
  %z: f32[4,4] at %y = add(%y, %a)
  return %z
})",
     "@f: %a is overwritten by scratch before add reads it"},
    {"ResultsOverlap", R"(kernel @k(%a: f32[4]) {domain = [4], schedule = "pointwise", split = 1} {
  %y: f32[4] = neg(%a)
  %z: f32[4] = exp(%a)
  return %y, %z
}
graph @f(input %x: f32[4] at 0) {arena = 512} {
  %y: f32[4] at 256, %z: f32[4] at 264 = call @k(%x)
  return
})",
     "@f: %y and %z overlap"},
    {"EndBeyondTheArena", R"(graph @f(input %x: f32[4] at 504) {arena = 512} {
  return %x
})",
     "@f: %x lies outside the arena"},
    {"KernelPlacedElsewhere", R"(kernel @k(%a: f32[4]) {domain = [4], schedule = "pointwise", split = 1} {
  %y: f32[4] at 16 = neg(%a)
  return %y
}
graph @f(input %x: f32[4]) {
  %z: f32[4] = call @k(%x)
  return %z
})",
     "@k: %y lies over no operand of its size"},
    {"StatePlaced", R"(graph @f(param %w: f32[4] at 0) {arena = 512} {
  return %w
})",
     "@f: %w is a state, and has a place"},
    {"BodyBesideTheOuterArrays", R"(body @b(carry %h: f32[4], slice %x: f32[4], slice %r: f32[3] at 0) {arena = 256} {
  %n: f32[4] at %h = add(%h, %x)
  update %h <- %n
  return %x
}
graph @f(input %h: f32[4] at 0, input %x: f32[2,4] at 256, input %r: f32[2,3] at 512) {arena = 1280} {
  %last: f32[4] at %h, %ys: f32[2,4] at 768 = scan @b(%h, %x, %r) {count = 2, workspace_at = 1024}
  return %last, %ys
})",
     ""},
    {"FixedInputWithAPlace", R"(body @b(fixed %w: f32[4] at 0) {arena = 256} {
  return %w
})",
     "@b: %w lies outside the body, and has a place"},
    {"CarryOverwrittenWhileItIsRead", R"(body @b(carry %h: f32[4]) {arena = 256} {
  %n: f32[4] at %h = neg(%h)
  %m: f32[4] at 0 = exp(%h)
  update %h <- %n
  return %m
})",
     "@b: %h is overwritten by %n before exp reads it"},
    {"CarryOverwrittenBeforeItIsStacked", R"(body @b(carry %h: f32[4]) {arena = 256} {
  %n: f32[4] at 0 = neg(%h)
  update %h <- %n
  return %h
})",
     "@b: %h is overwritten by %n before the graph returns it"},
    {"ResultOverAFixedOperand", R"(body @b(fixed %w: f32[4], carry %h: f32[4]) {arena = 0} {
  %n: f32[4] at %h = add(%h, %w)
  update %h <- %n
  return
}
graph @f(input %h: f32[4] at 0, input %w: f32[4] at 256) {arena = 512} {
  %last: f32[4] at %w = scan @b(%w, %h) {count = 2}
  return %last
})",
     "@f: %last is computed over %w, which @b still reads"},
    {"ArenaOfABodyOverAnOperand", R"(body @b(carry %h: f32[4]) {arena = 256} {
  %e: f32[4] at 0 = exp(%h)
  %n: f32[4] at %h = add(%h, %e)
  update %h <- %n
  return
}
graph @f(input %h: f32[4] at 0) {arena = 512} {
  %last: f32[4] at 256 = scan @b(%h) {count = 2, workspace_at = 0}
  return %last
})",
     "@f: the workspace of scan @b overlaps %h"},
};

const Case kStates[] = {
    {"OneTypeInAllGraphs", R"(graph @f(param %w: f32[4]) {
  return %w
}
graph @g(param %w: f32[5]) {
  return %w
})",
     "@g: state %w has another type in another graph"},
    {"OneRoleInAllGraphs", R"(graph @f(param %w: f32[4]) {
  return %w
}
graph @g(state %w: f32[4]) {
  return %w
})",
     "@g: %w is a param in one graph, a state in another"},
    {"OneLayoutInAllGraphs", R"(graph @f(param %w: f32[4,2] layout [1,0]) {
  return %w
}
graph @g(param %w: f32[4,2]) {
  return %w
})",
     "@g: state %w has another layout in another graph"},
    {"GroupWithoutState", R"(group @p {
  param %w: f32[4] at 0
}
graph @f(input %x: f32[4]) {
  return %x
})",
     "group %p: no graph has this state"},
    {"MemberOutside", R"(group @p {
  param %w: f32[4] at 6
}
graph @f(param %p: f32[8]) {
  return %p
})",
     "%w lies outside %p"},
    {"MembersOverlap", R"(group @p {
  param %w: f32[4] at 0
  param %b: f32[4] at 3
}
graph @f(param %p: f32[8]) {
  return %p
})",
     "%b overlaps another member of %p"},
    {"MemberTwice", R"(group @p {
  param %w: f32[4] at 0
  param %w: f32[4] at 4
}
graph @f(param %p: f32[8]) {
  return %p
})",
     "state %w is listed twice"},
    {"MemberAndState", R"(group @p {
  param %w: f32[4] at 0
}
graph @f(param %p: f32[8], param %w: f32[4]) {
  return %p, %w
})",
     "%w is a member of a flat state and a state of its own"},
};

// --- scans: some turns are executed in the memory around them ---

// %e is stacked where it is made, %n over the carry, %o is copied to its row.
const std::string kBody = R"(body @sum(fixed %w: f32[4], carry %h: f32[4], slice %x: f32[4]) {arena = 512} {
  %e: f32[4] = exp(%x)
  %p: f32[4] at 0 = mul(%e, %w)
  %o: f32[4] at 256 = neg(%h)
  %n: f32[4] at %h = add(%h, %p)
  update %h <- %n
  return %e, %o
}
)";

std::string scan_of(int64_t count, const std::string& attrs = "") {
  const std::string rows = std::to_string(count) + ",4";
  return kBody + "graph @f(input %w: f32[4] at 0, input %h: f32[4] at 256, input %xs: f32[" + rows +
         "] at 512) {arena = 2048} {\n  %last: f32[4] at %h, %es: f32[" + rows + "] at 768, %os: f32[" + rows +
         "] at 1024 = scan @sum(%w, %h, %xs) {count = " + std::to_string(count) + attrs +
         ", workspace_at = 1280}\n  return %last, %es, %os, %w, %xs\n}";
}

const Case kScans[] = {
    {"Rows", scan_of(5), ""},
    {"OneTurn", scan_of(1), ""},
    {"Reversed", scan_of(4, ", reverse = true"), ""},
    {"CarriesInOneBuffer", R"(body @two(carry %a: f32[4], carry %b: f32[4]) {arena = 0} {
  %c: f32[4] at %a = exp(%a)
  %d: f32[4] at %b = exp(%b)
  update %a <- %c
  update %b <- %d
  return
}
graph @f(input %x: f32[4] at 0) {arena = 1024} {
  %y: f32[4] at 256, %z: f32[4] at 256 = scan @two(%x, %x) {count = 3}
  return %y, %z
})",
     "@f: %y and %z overlap"},
    {"CarryOverASlice", R"(body @sum(carry %h: f32[4], slice %x: f32[4]) {arena = 0} {
  %n: f32[4] at %h = add(%h, %x)
  update %h <- %n
  return
}
graph @f(input %h: f32[4] at 0, input %xs: f32[3,4] at 256) {arena = 512} {
  %last: f32[4] at 272 = scan @sum(%h, %xs) {count = 3}
  return %last
})",
     "@f: %last is computed over %xs, which @sum still reads"},
    {"CarryThatIsReadAgain", R"(body @sum(carry %h: f32[4], slice %x: f32[4]) {arena = 0} {
  %n: f32[4] at %h = add(%h, %x)
  update %h <- %n
  return
}
graph @f(input %h: f32[4] at 0, input %xs: f32[3,4] at 256) {arena = 512} {
  %last: f32[4] at %h = scan @sum(%h, %xs) {count = 3}
  return %last, %h
})",
     "@f: %h is overwritten by %last before the graph returns it"},
    {"ArenaOverAResult", R"(body @b(carry %h: f32[4]) {arena = 256} {
  %e: f32[4] at 0 = exp(%h)
  %n: f32[4] at %h = neg(%e)
  update %h <- %n
  return
}
graph @f(input %h: f32[4] at 0) {arena = 512} {
  %last: f32[4] at 256 = scan @b(%h) {count = 3, workspace_at = 256}
  return %last
})",
     "@f: the workspace of scan @b overlaps %last"},
    {"CarriesExchangedWithoutACopy", R"(body @two(carry %a: f32[4], carry %b: f32[4]) {arena = 0} {
  update %a <- %b
  update %b <- %a
  return
}
graph @f(input %x: f32[4] at 0, input %y: f32[4] at 256) {arena = 512} {
  %u: f32[4] at %x, %v: f32[4] at %y = scan @two(%x, %y) {count = 2}
  return %u, %v
})",
     "@two: %b lies in %b, which another update overwrites"},
    {"ScanInAScan", R"(body @in(carry %h: f32[4]) {arena = 256} {
  %e: f32[4] at 0 = exp(%h)
  %n: f32[4] at %h = neg(%e)
  update %h <- %n
  return %e
}
body @out(carry %g: f32[4]) {arena = 1024} {
  %i: f32[4] at %g, %es: f32[2,4] = scan @in(%g) {count = 2, workspace_at = 512}
  update %g <- %i
  return %es
}
graph @f(input %h: f32[4] at 0) {arena = 2048} {
  %last: f32[4] at %h, %all: f32[5,2,4] at 256 = scan @out(%h) {count = 5, workspace_at = 768}
  return %last, %all
})",
     ""},
};

// Places that turns are said to have, and what is wrong with them.
struct WrongPlaces {
  std::string name, value;  // of the body
  TurnPlace place;
  std::string problem;
};
void PrintTo(const WrongPlaces& c, std::ostream* out) { *out << c.name; }

class VerifyTurns : public ::testing::TestWithParam<WrongPlaces> {};

TEST_P(VerifyTurns, FindWrongPlaces) {
  const SourceFile file{"plan.hir", scan_of(5)};
  const Module m = parse(file);
  const WrongPlaces& c = GetParam();
  const auto places = [&](const Graph& body, const Node& scan) {
    TurnPlaces found = turn_places(body, scan);
    EXPECT_NE(found.at(body.find(c.value)), c.place) << "as it is";
    found.at(body.find(c.value)) = c.place;
    return found;
  };
  const std::vector<std::string> problems = verify_memory(m.graphs[0], &m, places);
  ASSERT_FALSE(problems.empty()) << "expected: " << c.problem;
  EXPECT_EQ(problems[0], c.problem);
}

const WrongPlaces kWrong[] = {
    {"SliceThatStays", "x", {false, 2, {0, 0}}, "in turn 1 of @sum, slice %x is not found where it lies"},
    {"SliceOfTwoTurns", "x", {false, 2, {0, 32}}, "in turn 1 of @sum, slice %x is not found where it lies"},
    {"SliceOfTheNextTurn", "x", {false, 2, {16, 16}}, "in turn 0 of @sum, slice %x is not found where it lies"},
    {"SliceOfAnotherOperand", "x", {false, 0, {0, 0}}, "in turn 0 of @sum, slice %x is not found where it lies"},
    {"FixedThatMoves", "w", {false, 0, {0, 16}}, "in turn 1 of @sum, %w lies outside %w"},
    {"CarryInARow", "h", {true, 1, {0, 0}}, "in turn 0 of @sum, carry %h is not found where it lies"},
    {"CarryWhereItStarted", "h", {false, 0, {0, 0}}, "in turn 0 of @sum, carry %h is not found where it lies"},
    {"RowsOverOneAnother", "e", {true, 1, {0, 8}}, "the row of turn 0 of %es is overwritten by a later turn of @sum"},
    {"RowsBeyondTheResult", "e", {true, 1, {16, 16}}, "in turn 4 of @sum, %e lies outside %es"},
    {"RowsOfAnotherResult",
     "e",
     {true, 2, {0, 16}},
     "in turn 0 of @sum, %e is overwritten by %o before the turn leaves it"},
};

std::string wrong_name_of(const ::testing::TestParamInfo<WrongPlaces>& info) { return info.param.name; }

std::string name_of(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Plans, VerifyMemory, ::testing::ValuesIn(kPlans), name_of);
INSTANTIATE_TEST_SUITE_P(Scans, VerifyMemory, ::testing::ValuesIn(kScans), name_of);
INSTANTIATE_TEST_SUITE_P(Places, VerifyTurns, ::testing::ValuesIn(kWrong), wrong_name_of);
INSTANTIATE_TEST_SUITE_P(States, VerifyMemory, ::testing::ValuesIn(kStates), name_of);

}  // namespace
}  // namespace heddle::ir
