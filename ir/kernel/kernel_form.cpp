#include "ir/kernel/kernel_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ir/check.h"
#include "ir/kernel/form_def.h"
#include "ir/visit.h"

namespace heddle::ir {
namespace {

constexpr std::array<const char*, 4> kPrecisions = {"f32", "tf32", "bf16", "f16"};

}  // namespace

std::string to_string(ProductPrecision precision) { return kPrecisions.at(static_cast<size_t>(precision)); }

ProductPrecision parse_precision(const std::string& text) {
  const auto* const found = std::find(kPrecisions.begin(), kPrecisions.end(), text);
  if (found == kPrecisions.end())
    throw InferError(fmt::format("kernel form: precision is {}, expected f32, tf32, bf16 or f16", text));
  return static_cast<ProductPrecision>(found - kPrecisions.begin());
}

int64_t forms::OverDomain::rows() const {
  return product({domain.begin(), domain.begin() + std::min(split, static_cast<int64_t>(domain.size()))});
}

int64_t forms::OverDomain::columns() const {
  return product({domain.begin() + std::min(split, static_cast<int64_t>(domain.size())), domain.end()});
}

const forms::Generated& generated(const KernelForm& form) {
  const forms::Generated* found = visit_form(
      form, [](const forms::LibraryCall&) -> const forms::Generated* { return nullptr; },
      [](const forms::Generated& f) { return &f; });
  HEDDLE_CHECK(found != nullptr, "a library's call has no text");
  return *found;
}

const forms::OverDomain* over_domain(const KernelForm& form) {
  return visit_form(
      form, [](const forms::OverDomain& f) { return &f; },
      [](const OneOf<forms::Primitive, forms::LibraryCall> auto&) -> const forms::OverDomain* { return nullptr; });
}

ThreadWork thread_work(const KernelForm& form) {
  return visit_form(
      form,
      [](const forms::Rows& f) {
        return ThreadWork{f.team, f.packet, f.ahead};
      },
      [](const OneOf<forms::Pointwise, forms::Product> auto& f) { return ThreadWork{.packet = f.packet}; },
      [](const OneOf<forms::Tile, forms::Primitive, forms::LibraryCall> auto&) { return ThreadWork{}; });
}

std::string to_string(const KernelForm& form) {
  return visit_form(
      form, [](const forms::LibraryCall& call) { return std::string(call.contraction ? "contract" : "opaque"); },
      [](const auto& f) { return std::string(form_def(f).name); });
}

namespace {

template <class T>
const T& expect(const std::string& name, const Attr& value) {
  if (const T* v = std::get_if<T>(&value)) return *v;
  throw InferError(fmt::format("kernel form: {} = {} is of the wrong type", name, to_string(value)));
}

// --- one attribute ---

template <class Form, class T>
void read(const Attribute<Form>& a, const Attr& value, T& to) {
  to = expect<T>(a.name, value);
}
template <class Form>
void read(const Attribute<Form>& a, const Attr& value, ProductPrecision& to) {
  to = parse_precision(expect<std::string>(a.name, value));
}
template <class Form>
void read(const Attribute<Form>& a, const Attr& value, int64_t& to) {
  to = expect<int64_t>(a.name, value);
  if (to < a.least) throw InferError(fmt::format("kernel form: {} is {}, expected at least {}", a.name, to, a.least));
  if (to > a.most) throw InferError(fmt::format("kernel form: {} is {}, expected at most {}", a.name, to, a.most));
}

template <class T>
Attr attr(const T& value) {
  return value;
}
Attr attr(ProductPrecision value) { return to_string(value); }

// --- all of them ---

const Attributes<KernelForm>& of_every_form() {
  constexpr int64_t kMostScratch = int64_t{1} << 48;
  static const Attributes<KernelForm> all = {{"workspace", &KernelForm::workspace, 0, kMostScratch}};
  return all;
}

// Sets the attribute where the form has it.
template <class Form>
bool set(Form& form, const Attributes<Form>& all, const std::string& name, const Attr& value) {
  const auto a = std::find_if(all.begin(), all.end(), [&](const Attribute<Form>& known) { return name == known.name; });
  if (a == all.end()) return false;
  std::visit([&](auto member) { read(*a, value, form.*member); }, a->member);
  return true;
}
bool set(KernelForm& form, const std::string& name, const Attr& value) {
  return set(form, of_every_form(), name, value) ||
         std::visit([&](auto& f) { return set(f, form_def(f).attributes, name, value); }, form.how);
}

template <class Form>
void print(const Form& form, const Attributes<Form>& all, Attrs& to) {
  static const Form defaults;
  for (const Attribute<Form>& a : all)
    std::visit(
        [&](auto member) {
          if (form.*member != defaults.*member) to[a.name] = attr(form.*member);
        },
        a.member);
}

using How = decltype(KernelForm::how);
template <size_t... I>
std::vector<KernelForm> each_form(std::index_sequence<I...>) {
  return {KernelForm{.how = std::variant_alternative_t<I, How>{}}...};
}
std::vector<KernelForm> each_form() { return each_form(std::make_index_sequence<std::variant_size_v<How>>()); }

KernelForm form_named(const std::string& text) {
  std::vector<std::string> names;
  for (const KernelForm& form : each_form()) {
    if (text == to_string(form)) return form;
    names.push_back(to_string(form));
  }
  const std::string hint = did_you_mean(text, names);
  throw InferError(fmt::format("kernel form '{}' is unknown{}", text, hint.empty() ? "" : "; " + hint));
}

// The first form that has the attribute, with this value.
KernelForm form_with(const std::string& name, const Attr& value) {
  for (KernelForm form : each_form())
    if (set(form, name, value)) return form;
  throw InferError(fmt::format("kernel form has no field '{}'", name));
}

void check_domain(const Dims& domain) {
  constexpr int64_t kMostPoints = int64_t{1} << 40;
  int64_t points = 1;
  for (const int64_t extent : domain) {
    if (extent < 0) throw InferError(fmt::format("kernel form: domain {} has a negative extent", to_string(domain)));
    if (__builtin_mul_overflow(points, std::max<int64_t>(extent, 1), &points) || points > kMostPoints)
      throw InferError(fmt::format("kernel form: domain {} has more than 2^40 points", to_string(domain)));
  }
}

void check_tile(const Dims& tile) {
  constexpr int64_t kMostSide = 1024;
  const bool sides = std::all_of(tile.begin(), tile.end(), [](int64_t s) { return s > 0 && s <= kMostSide; });
  if (!tile.empty() && (tile.size() != 3 || !sides))
    throw InferError(fmt::format("kernel form: tile is {}, expected rows, columns and depth, each of 1 to {}",
                                 to_string(tile), kMostSide));
}

// Whatever the form: what it does not have is refused later, but makes sense.
void check_attributes(const Attrs& attrs) {
  for (const auto& [name, value] : attrs)
    if (name == "form")
      form_named(expect<std::string>(name, value));
    else
      form_with(name, value);
  const auto index = value_or<int64_t>(attrs, "index", 32), split = value_or<int64_t>(attrs, "split", 0);
  if (index != 32 && index != 64)
    throw InferError(fmt::format("kernel form: index is {}, expected 32 or 64 bits", index));
  const auto domain = value_or<Dims>(attrs, "domain", {});
  check_domain(domain);
  check_tile(value_or<Dims>(attrs, "tile", {}));
  if (split > std::ssize(domain))
    throw InferError(fmt::format("kernel form: split {} is beyond the domain {}", split, to_string(domain)));
}

}  // namespace

Attrs to_attrs(const KernelForm& form) {
  Attrs attrs = form.misplaced;
  attrs["form"] = to_string(form);
  print(form, of_every_form(), attrs);
  std::visit([&](const auto& f) { print(f, form_def(f).attributes, attrs); }, form.how);
  return attrs;
}

KernelForm form_from_attrs(const Attrs& attrs) {
  if (!attrs.contains("form")) throw InferError("a kernel needs a form");
  check_attributes(attrs);
  KernelForm form = form_named(std::get<std::string>(attrs.at("form")));
  // A library's product has the name of one through tiles.
  if (std::holds_alternative<forms::Product>(form.how) && !value_or<std::string>(attrs, "impl", "").empty())
    form.how = forms::LibraryCall{.contraction = true, .impl = ""};
  for (const auto& [name, value] : attrs) {
    if (name == "form" || set(form, name, value)) continue;
    const Attrs others = to_attrs(form_with(name, value));  // without the attribute where it says what is so anyway
    if (others.contains(name)) form.misplaced[name] = value;
  }
  return form;
}

}  // namespace heddle::ir
