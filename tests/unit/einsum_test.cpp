// einsum against its definition: the sum over all places of the axes that the result does not name.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>

#include "ir/ops/loops.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

using ir::Dims;

struct Case {
  std::string equation;  // as the model has it
  std::vector<std::string> operands;
  std::string result;
};

const std::map<char, int64_t> kSizes = {{'i', 3}, {'j', 4}, {'k', 2}, {'b', 2}, {'l', 5}};

Dims shape_of(const std::string& axes) {
  Dims dims;
  for (const char axis : axes) dims.push_back(kSizes.at(axis));
  return dims;
}

// Small whole numbers: every sum is exact.
double element(size_t operand, int64_t i) {
  return static_cast<double>((i * 7 + static_cast<int64_t>(operand) * 3) % 5 - 2);
}

std::vector<double> by_definition(const Case& c) {
  std::string axes = c.result;
  for (const std::string& operand : c.operands)
    for (const char axis : operand)
      if (axes.find(axis) == std::string::npos) axes += axis;
  const Dims result = shape_of(c.result);
  std::vector<double> y(static_cast<size_t>(ir::product(result)), 0.0);
  ir::for_each_point(shape_of(axes), [&](const Dims& at) {
    const auto place = [&](const std::string& names) {
      Dims coordinates;
      for (const char axis : names) coordinates.push_back(at[axes.find(axis)]);
      return ir::position(shape_of(names), coordinates);
    };
    double term = 1;
    for (size_t k = 0; k < c.operands.size(); ++k) term *= element(k, place(c.operands[k]));
    y[static_cast<size_t>(place(c.result))] += term;
  });
  return y;
}

std::vector<double> by_the_layer(const Case& c) {
  ir::NamedTensors values;
  std::string nodes, in;
  for (size_t k = 0; k < c.operands.size(); ++k) {
    const std::string name = fmt::format("p{}", k);
    const Dims dims = shape_of(c.operands[k]);
    nodes += fmt::format(R"({{"name": "{}", "op": "param", "shape": [{}]}}, )", name, fmt::join(dims, ", "));
    in += fmt::format(R"({}"{}")", k == 0 ? "" : ", ", name);
    values[name] = tensor({ir::DType::f32, dims}, [&](int64_t i) { return element(k, i); });
  }
  values["x"] = tensor({ir::DType::f32, {1, 1}}, [](int64_t) { return 0.0; });
  nodes += fmt::format(R"({{"name": "e", "op": "einsum", "in": [{}], "equation": "{}"}}, )", in, c.equation);
  nodes += R"({"name": "s", "op": "sum", "in": "x"}, {"name": "y", "op": "add", "in": ["e", "s"]})";
  return predict(model(R"("x": {"shape": ["N", 1]})", nodes, R"(, "outputs": {"y": "y"})"), values);
}

TEST(Einsum, AgreesWithItsDefinition) {
  const std::vector<Case> cases = {{"ij,jk->ik", {"ij", "jk"}, "ik"},
                                   {"ij,jk", {"ij", "jk"}, "ik"},
                                   {"bij,bkj->bki", {"bij", "bkj"}, "bki"},
                                   {"ij->ji", {"ij"}, "ji"},
                                   {"ij->", {"ij"}, ""},
                                   {"ijk->j", {"ijk"}, "j"},
                                   {"ii->i", {"ii"}, "i"},
                                   {"ii", {"ii"}, ""},
                                   {"bii->b", {"bii"}, "b"},
                                   {"iji->j", {"iji"}, "j"},
                                   {"i,j->ij", {"i", "j"}, "ij"},
                                   {"i,j->ji", {"i", "j"}, "ji"},
                                   {"i,i->i", {"i", "i"}, "i"},
                                   {"i,i", {"i", "i"}, ""},
                                   {"ij,ij->i", {"ij", "ij"}, "i"},
                                   {"bij,bj->bi", {"bij", "bj"}, "bi"},
                                   {"ijk,l->i", {"ijk", "l"}, "i"},
                                   {"ij,jk,kl->il", {"ij", "jk", "kl"}, "il"},
                                   {"ij,jk,ik->i", {"ij", "jk", "ik"}, "i"},
                                   {"bi,bij,bj->b", {"bi", "bij", "bj"}, "b"},
                                   {"... i j, ...jk -> ...ik", {"bij", "bjk"}, "bik"},
                                   {"...ij->...", {"bij"}, "b"},
                                   {"...ij", {"bij"}, "bij"},
                                   {"...i,i->...", {"bji", "i"}, "bj"},
                                   {"i...->...i", {"ibk"}, "bki"}};
  for (const Case& c : cases) EXPECT_EQ(by_the_layer(c), by_definition(c)) << c.equation;
}

}  // namespace
}  // namespace heddle::frontend
