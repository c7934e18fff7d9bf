#include "ir/kernel/kernel_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ir/kernel/form_def.h"
#include "ir/op_def.h"

namespace heddle::ir {
namespace {

using Kind = KernelForm::Kind;

// The integer fields, in one place for printing and parsing; between `least` and `most` lies what makes sense. Sizes in
// bytes that follow from fields at their most fit in 64 bits.
struct Field {
  const char* name;
  int64_t KernelForm::*member;
  int64_t least, most;
};
constexpr int64_t kMostThreads = 1024, kMostAtOnce = 65535, kMostScratch = int64_t{1} << 48;
constexpr int64_t kMostPoints = int64_t{1} << 40;
constexpr std::array<Field, 11> kFields = {{{"split", &KernelForm::split, 0, 64},
                                            {"threads", &KernelForm::threads, 1, kMostThreads},
                                            {"team", &KernelForm::team, 1, kMostThreads},
                                            {"packet", &KernelForm::packet, 1, kMostThreads},
                                            {"ahead", &KernelForm::ahead, 1, 16},
                                            {"index", &KernelForm::index, 32, 64},
                                            {"blocks", &KernelForm::blocks, 0, kMostAtOnce},
                                            {"stages", &KernelForm::stages, 1, 8},
                                            {"parts", &KernelForm::parts, 1, kMostAtOnce},
                                            {"slices", &KernelForm::slices, 1, kMostAtOnce},
                                            {"workspace", &KernelForm::workspace, 0, kMostScratch}}};

template <class T>
const T& expect(const std::string& name, const Attr& value) {
  if (const T* v = std::get_if<T>(&value)) return *v;
  throw InferError(fmt::format("kernel form: {} = {} is of the wrong type", name, to_string(value)));
}

Kind parse_kind(const std::string& text) {
  std::vector<std::string> names;
  for (const FormDef& form : all_forms()) {
    if (text == form.name) return form.kind;
    names.emplace_back(form.name);
  }
  const std::string hint = did_you_mean(text, names);
  throw InferError(fmt::format("kernel form '{}' is unknown{}", text, hint.empty() ? "" : "; " + hint));
}

constexpr std::array<const char*, 4> kPrecisions = {"f32", "tf32", "bf16", "f16"};

}  // namespace

std::string to_string(ProductPrecision precision) { return kPrecisions.at(static_cast<size_t>(precision)); }

ProductPrecision parse_precision(const std::string& text) {
  const auto* const found = std::find(kPrecisions.begin(), kPrecisions.end(), text);
  if (found == kPrecisions.end())
    throw InferError(fmt::format("kernel form: precision is {}, expected f32, tf32, bf16 or f16", text));
  return static_cast<ProductPrecision>(found - kPrecisions.begin());
}

namespace {

void set_field(KernelForm& form, const std::string& name, const Attr& value) {
  if (name == "form") {
    form.kind = parse_kind(expect<std::string>(name, value));
  } else if (name == "impl") {
    form.impl = expect<std::string>(name, value);
  } else if (name == "cached") {
    form.cached = expect<bool>(name, value);
  } else if (name == "precision") {
    form.precision = parse_precision(expect<std::string>(name, value));
  } else if (name == "tile") {
    form.tile = expect<std::vector<int64_t>>(name, value);
  } else if (name == "domain") {
    form.domain = expect<std::vector<int64_t>>(name, value);
  } else {
    for (const Field& f : kFields) {
      if (name != f.name) continue;
      form.*f.member = expect<int64_t>(name, value);
      if (form.*f.member < f.least)
        throw InferError(fmt::format("kernel form: {} is {}, expected at least {}", name, form.*f.member, f.least));
      if (form.*f.member > f.most)
        throw InferError(fmt::format("kernel form: {} is {}, expected at most {}", name, form.*f.member, f.most));
      return;
    }
    throw InferError(fmt::format("kernel form has no field '{}'", name));
  }
}

}  // namespace

int64_t KernelForm::rows() const {
  return product({domain.begin(), domain.begin() + std::min(split, static_cast<int64_t>(domain.size()))});
}

int64_t KernelForm::columns() const {
  return product({domain.begin() + std::min(split, static_cast<int64_t>(domain.size())), domain.end()});
}

std::string to_string(KernelForm::Kind kind) { return form_def(kind).name; }

Attrs to_attrs(const KernelForm& form) {
  const KernelForm defaults;
  Attrs attrs{{"form", to_string(form.kind)}};
  if (form.domain != defaults.domain) attrs["domain"] = form.domain;
  if (form.cached) attrs["cached"] = true;
  if (form.is_library()) attrs["impl"] = form.impl;
  if (form.precision != defaults.precision) attrs["precision"] = to_string(form.precision);
  if (!form.tile.empty()) attrs["tile"] = form.tile;
  for (const Field& f : kFields)
    if (form.*f.member != defaults.*f.member) attrs[f.name] = form.*f.member;
  return attrs;
}

KernelForm form_from_attrs(const Attrs& attrs) {
  KernelForm form;
  if (!attrs.contains("form")) throw InferError("a kernel needs a form");
  for (const auto& [name, value] : attrs) set_field(form, name, value);
  if (form.index != 32 && form.index != 64)
    throw InferError(fmt::format("kernel form: index is {}, expected 32 or 64 bits", form.index));
  int64_t points = 1;
  for (const int64_t extent : form.domain) {
    if (extent < 0)
      throw InferError(fmt::format("kernel form: domain {} has a negative extent", to_string(form.domain)));
    if (__builtin_mul_overflow(points, std::max<int64_t>(extent, 1), &points) || points > kMostPoints)
      throw InferError(fmt::format("kernel form: domain {} has more than 2^40 points", to_string(form.domain)));
  }
  constexpr int64_t kMostSide = 1024;
  const bool sides = std::all_of(form.tile.begin(), form.tile.end(), [](int64_t s) { return s > 0 && s <= kMostSide; });
  if (!form.tile.empty() && (form.tile.size() != 3 || !sides))
    throw InferError(fmt::format("kernel form: tile is {}, expected rows, columns and depth, each of 1 to {}",
                                 to_string(form.tile), kMostSide));
  if (form.split > static_cast<int64_t>(form.domain.size()))
    throw InferError(fmt::format("kernel form: split {} is beyond the domain {}", form.split, to_string(form.domain)));
  return form;
}

}  // namespace heddle::ir
