// ndcg of rows that are documents: neighbours of one number are a query, however batches cut them. Against the definition,
// document by document; and by hand scikit-learn's ndcg_score of the first case.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/host_run.h"
#include "tests/unit/built_model.h"

namespace heddle::frontend {
namespace {

struct Document {
  double score, relevance;
  int64_t query;
};

double measured(const std::vector<Document>& all, int batch, const std::string& settings) {
  Training training(
      model(R"("x": {"shape": ["N"]}, "r": {"shape": ["N"]}, "q": {"shape": ["N"], "dtype": "i32"})",
            R"({"name": "s", "op": "param", "shape": [1], "init": "ones"}, {"name": "p", "op": "mul", "in": ["x", "s"]})",
            fmt::format(R"(, "train": {{"batch": {{"N": {}}}, "loss": {{"op": "mse", "in": ["p", "r"]}},
                        "metrics": [{{"op": "ndcg", "in": ["p", "r", "q"]{}}}], "optimizer": {{"op": "sgd", "lr": 0}}}})",
                        batch, settings)));
  training.states["s"].real = {1};
  for (size_t at = 0; at < all.size(); at += static_cast<size_t>(batch)) {
    ir::NamedTensors in;
    for (const char* name : {"x", "r"}) in[name] = ir::Tensor({ir::DType::f32, {batch}});
    in["q"] = ir::Tensor({ir::DType::i32, {batch}});
    in["x"].real.clear(), in["r"].real.clear(), in["q"].integer.clear();
    for (size_t i = at; i < at + static_cast<size_t>(batch); ++i) {
      in["x"].real.push_back(all[i].score), in["r"].real.push_back(all[i].relevance);
      in["q"].integer.push_back(all[i].query);
    }
    training.step(in);
  }
  return training.metrics().at(1).real.at(0);
}

// The sum of gains over log2(place + 1), those of equal scores at the mean of their places' discounts.
double gain(const std::vector<Document>& query, bool ideal, size_t k) {
  double sum = 0;
  for (const Document& d : query) {
    const auto by = [&](const Document& e) { return ideal ? e.relevance : e.score; };
    size_t above = 0, equal = 0;
    for (const Document& e : query) above += by(e) > by(d) ? 1 : 0, equal += by(e) == by(d) ? 1 : 0;
    double discount = 0;
    for (size_t place = above; place < above + equal; ++place)
      if (place < k) discount += 1 / std::log2(static_cast<double>(place) + 2);
    sum += d.relevance * discount / static_cast<double>(equal);
  }
  return sum;
}

double wanted(const std::vector<Document>& all, size_t k) {
  double sum = 0, queries = 0;
  for (size_t at = 0; at < all.size();) {
    std::vector<Document> query;
    const int64_t number = all[at].query;
    for (; at < all.size() && all[at].query == number; ++at)
      if (all[at].relevance != -100) query.push_back(all[at]);
    if (query.empty()) continue;
    const double best = gain(query, true, k);
    queries += 1, sum += best > 0 ? gain(query, false, k) / best : 0;
  }
  return sum / queries;
}

std::vector<Document> drawn(unsigned seed, size_t count, int longest) {
  std::mt19937 pick(seed);
  const auto below = [&](int n) { return static_cast<int>(pick() % static_cast<unsigned>(n)); };
  std::vector<Document> all;
  for (int64_t query = 3; all.size() < count; query = query * 7 % 101)
    for (int n = 1 + below(longest); n > 0 && all.size() < count; --n)
      all.push_back({.score = below(6) / 4.0, .relevance = below(8) == 0 ? -100.0 : double(below(4)), .query = query});
  return all;
}

TEST(Ndcg, GroupsNeighboursWhateverTheBatch) {
  for (unsigned seed = 0; seed < 12; ++seed)
    for (const int batch : {1, 4, 12}) {
      const std::vector<Document> all = drawn(seed, 24, seed % 2 == 0 ? 5 : 17);
      EXPECT_NEAR(measured(all, batch, ""), wanted(all, 1000), 1e-6) << seed << " in batches of " << batch;
      EXPECT_NEAR(measured(all, batch, R"(, "k": 2)"), wanted(all, 2), 1e-6) << seed << " in batches of " << batch;
    }
}

// ndcg_score([[3, 2, 3, 0]], [[4, 3, 2, 1]]) = 0.9777, ndcg_score([[0, 1]], [[1, 0]]) = 1 / log2(3).
TEST(Ndcg, IsScikitLearns) {
  const std::vector<Document> all = {{4, 3, 7}, {3, 2, 7}, {2, 3, 7}, {1, 0, 7}, {1, 0, 8}, {0, 1, 8}};
  EXPECT_NEAR(measured(all, 3, ""), (0.9777813616305048 + 0.6309297535714575) / 2, 1e-6);
}

TEST(Ndcg, HasNoValueOfTooLongQueriesAndNegativeRelevances) {
  std::vector<Document> all(12, {1, 1, 5});
  EXPECT_EQ(measured(all, 4, R"(, "documents": 12)"), 1);
  EXPECT_TRUE(std::isnan(measured(all, 4, R"(, "documents": 11)")));
  all[7].relevance = -1;
  EXPECT_TRUE(std::isnan(measured(all, 4, "")));
}

}  // namespace
}  // namespace heddle::frontend
