// Matrix products and convolutions compute what they state of themselves: which sums of products over which operands.
#include <cmath>

#include "ir/ops/loops.h"
#include "tests/numeric/applied.h"

namespace heddle::testing {
namespace {

using namespace ir;

int64_t at(const Dims& dims, const Dims& coordinates) { return position(dims, coordinates); }

TEST(OpTraits, MatrixProducts) {
  for (const Case& c : stating(&Traits::matrix_product)) {
    SCOPED_TRACE(to_string(c));
    Applied a = applied(c, count_elements);
    const Signature s = signature(a.one.graph(), a.node());
    const Dims &x = a.operands[0].type.dims, &y = a.results[0].type.dims;
    const size_t row = x.size() - 2, column = x.size() - 1;
    const int64_t inner = x[s.flag("transpose_a") ? row : column];
    int64_t i = 0;
    for_each_point(y, [&](const Dims& to) {
      double sum = 0;
      for (int64_t k = 0; k < inner; ++k) {
        Dims left = to, right = to;
        left[row] = s.flag("transpose_a") ? k : to[row], left[column] = s.flag("transpose_a") ? to[row] : k;
        right[row] = s.flag("transpose_b") ? to[column] : k, right[column] = s.flag("transpose_b") ? k : to[column];
        sum += a.operands[0].at(at(x, left)) * a.operands[1].at(at(a.operands[1].type.dims, right));
      }
      EXPECT_NEAR(a.results[0].at(i++), sum, 1e-9 * std::abs(sum));
    });
  }
}

double dot(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (int64_t i = 0; i < a.elements(); ++i) sum += a.at(i) * b.at(i);
  return sum;
}

// The image, the filter and the result of each are of a convolution: <conv(image, filter), result>
// whichever of them is made of the other two, over as many products as there are.
TEST(OpTraits, ConvolutionsMakeOneOfThreeArrays) {
  std::vector<int> made(3, 0);
  for (const Case& c : stating(&Traits::convolution)) {
    SCOPED_TRACE(to_string(c));
    Applied a = applied(c, [&](std::vector<Tensor>& operands) {
      for (size_t i = 0; i < operands.size(); ++i)
        operands[i] = random_tensor(operands[i].type, -1, 1, 4, hash_text(to_string(c)) + i);
    });
    const ConvolutionRoles& roles = *c.op->traits.convolution;
    const Tensor given = random_tensor(a.results[0].type, -1, 1, 4, 5);
    const auto of = [&](int role) -> const Tensor& {
      return role == ConvolutionRoles::kMade ? given : a.operands[static_cast<size_t>(role)];
    };
    made[0] += roles.image < 0 ? 1 : 0, made[1] += roles.filter < 0 ? 1 : 0, made[2] += roles.result < 0 ? 1 : 0;
    EXPECT_EQ((roles.image < 0) + (roles.filter < 0) + (roles.result < 0), 1);
    Graph g;
    Builder b(g);
    const std::string family = a.results[0].type.dims.size() == 4 ? "conv2d" : "conv3d";
    Attrs attrs;  // those of the family
    for (const Key& attr : op_def(family).attrs)
      if (const auto it = a.node().attrs.find(attr.name); it != a.node().attrs.end()) attrs.insert(*it);
    const ValueId y =
        b(family,
          {g.add_input("x", of(roles.image).type, Role::input), g.add_input("w", of(roles.filter).type, Role::input)},
          attrs);
    ASSERT_EQ(g[y].type.dims, of(roles.result).type.dims);
    const Tensor forward = results_of(g, *g.def(y), {of(roles.image), of(roles.filter)})[0];
    EXPECT_NEAR(dot(forward, of(roles.result)), dot(a.results[0], given), 1e-9);
  }
  for (const int times : made) EXPECT_GT(times, 0);
}

}  // namespace
}  // namespace heddle::testing
