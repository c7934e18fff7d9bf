#include <fmt/format.h>

#include <cmath>

#include "frontend/initializers/parts.h"

namespace heddle::frontend {

using ir::Builder;
using ir::Type;
using ir::ValueId;

namespace {

// random * factor + offset
ValueId affine(Builder& b, ValueId random, double factor, double offset) {
  const ValueId scaled = factor == 1 ? random : b("mul", {random, b.like(factor, random)});
  return offset == 0 ? scaled : b("add", {scaled, b.like(offset, random)});
}

}  // namespace

ValueId between(Builder& b, const Random& random, double low, double high) {
  return affine(b, random("random_uniform"), high - low, low);
}
ValueId around(Builder& b, const Random& random, double mean, double deviation) {
  return affine(b, random("random_normal"), deviation, mean);
}

namespace {

// Glorot and Bengio 2010: variance 2 / (in + out).
double glorot(const Type& type) { return 2 / (fans(type.dims).in + fans(type.dims).out); }
// He et al. 2015 (arXiv:1502.01852): variance 2 / in.
double he(const Type& type) { return 2 / fans(type.dims).in; }

using Variance = double (*)(const Type&);

InitializerDef uniform_of(const std::string& name, const std::string& doc, Variance variance) {
  return {.name = name,
          .doc = doc,
          .build = [variance](Builder& b, const Type& type, const Initializer&, const Random& random) {
            const double limit = std::sqrt(3 * variance(type));
            return between(b, random, -limit, limit);
          }};
}
InitializerDef normal_of(const std::string& name, const std::string& doc, Variance variance) {
  return {.name = name,
          .doc = doc,
          .build = [variance](Builder& b, const Type& type, const Initializer&, const Random& random) {
            return around(b, random, 0, std::sqrt(variance(type)));
          }};
}
InitializerDef filled(const std::string& name, const std::string& doc, double value) {
  return {.name = name, .doc = doc, .build = [value](Builder& b, const Type& type, const Initializer&, const Random&) {
            return b.constant(value, type);
          }};
}

const RegisterInitializer glorot_uniform(uniform_of("glorot_uniform", "uniform with variance 2 / (in + out)", glorot));
const RegisterInitializer glorot_normal(normal_of("glorot_normal", "normal with variance 2 / (in + out)", glorot));
const RegisterInitializer he_uniform(uniform_of("he_uniform", "uniform with variance 2 / in", he));
const RegisterInitializer he_normal(normal_of("he_normal", "normal with variance 2 / in", he));
const RegisterInitializer kaiming_uniform(uniform_of("kaiming_uniform", "he_uniform under PyTorch's name", he));
const RegisterInitializer kaiming_normal(normal_of("kaiming_normal", "he_normal under PyTorch's name", he));
const RegisterInitializer zeros(filled("zeros", "0 everywhere", 0));
const RegisterInitializer ones(filled("ones", "1 everywhere", 1));

const RegisterInitializer constant({
    .name = "constant",
    .doc = "one number everywhere",
    .settings = {{.name = "value", .type = KeyType::real, .doc = "the number", .required = true}},
    .build = [](Builder& b, const Type& type, const Initializer& init,
                const Random&) { return b.constant(init.values.at("value"), type); },
});
const RegisterInitializer normal({
    .name = "normal",
    .doc = "normal distribution",
    .settings = {{.name = "mean", .type = KeyType::real, .doc = "its mean", .fallback = 0.0},
                 {.name = "std", .type = KeyType::real, .doc = "its standard deviation", .fallback = 1.0}},
    .build = [](Builder& b, const Type&, const Initializer& init,
                const Random& random) { return around(b, random, init.values.at("mean"), init.values.at("std")); },
    .check =
        [](const Settings& s) {
          if (!(s.real("std") >= 0)) s.fail("std", fmt::format("'std' must not be negative, is {}", s.real("std")));
        },
});
const RegisterInitializer uniform({
    .name = "uniform",
    .doc = "uniform distribution on [low, high)",
    .settings = {{.name = "low", .type = KeyType::real, .doc = "lower end", .fallback = 0.0},
                 {.name = "high", .type = KeyType::real, .doc = "upper end", .fallback = 1.0}},
    .build = [](Builder& b, const Type&, const Initializer& init,
                const Random& random) { return between(b, random, init.values.at("low"), init.values.at("high")); },
    .check =
        [](const Settings& s) {
          if (!(s.real("low") <= s.real("high")))
            s.fail("low", fmt::format("'low' is {}, above 'high', which is {}", s.real("low"), s.real("high")));
        },
});

}  // namespace
}  // namespace heddle::frontend
