#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "codegen/emit_parts.h"
#include "ir/ceil_div.h"
#include "ir/kernel/long_sums.h"

namespace heddle::codegen {

using namespace ir;        // NOLINT: this file speaks of little else
using namespace ir::loop;  // NOLINT

namespace {

constexpr size_t kKnown = kDepth + 1;  // coordinates that are known inside the loops over a side's tile

class ProductText {
 public:
  ProductText(KernelText& text, Body& body)
      : text_(text),
        k_(text.kernel),
        plan_(text.contract),
        schedule_(std::get<schedules::Product>(text.kernel.schedule->how)),
        body_(body) {
    body_.add_coordinates({"matrix", "k"});
    for (std::string* name : {&product_, &sums_, &tile_, &part_, &step_, &from_, &down_, &across_})
      *name = text_.names.fresh(*name);
    const Dims& space = plan_.space;
    sizes_ = fmt::format("{}, {}, {}", space[kProductMatrix], space[kRow], space[kColumn]);
    left_ = side("Left", "row", "top", kRow, plan_.left);
    right_ = side("Right", "column", "left", kColumn, plan_.right);
  }

  void write(const Nest& products) {
    if (text_.slice) return write_slice(products);
    std::vector<std::string> steps, results;
    for (const Statement& s : products.body) {
      const auto& nest = std::get<Nest>(s.what);
      (nest.axis == Axis::steps ? steps : results) = lines(nest);
    }
    std::vector<std::string> product;
    product.push_back(fmt::format("{}::Sums {};", product_, sums_));
    for (const Side* s : {&left_, &right_}) append(product, offsets(*s));
    append(product, block(fmt::format("HD_STEPS({}, {}, {}, {}, {}, {}, {})", text_.index_type, product_, step_, from_,
                                      part_, schedule_.split_k, plan_.space[kDepth]),
                          steps));
    if (runs_.steps > 0) product.push_back(sums_ + ".finish();");
    append(product, results);
    body_.line(fmt::format("using {} = {};", product_, product_type()));
    // The tiles may need more shared memory than a text may declare, so the launch supplies it. The right side's tile
    // follows the left side's.
    body_.line(fmt::format("HD_SIDE({}::{}, {}, 0);", product_, left_.type, left_.tile));
    body_.line(fmt::format("HD_SIDE({}::{}, {}, sizeof({}));", product_, right_.type, right_.tile, left_.tile));
    body_.lines(block(fmt::format("HD_PRODUCTS({}, {}, {}, {}, matrix, top, left, {}, {})", text_.index_type, product_,
                                  tile_, part_, schedule_.split_k, sizes_),
                      product));
  }

 private:
  struct Side {
    const ProductSide* plan = nullptr;
    std::string type, counter, first;  // "Left", "row", "top"
    int64_t extent = 1, length = 1;    // of the space and of the tile, along its counter
    std::string tile, kept, borders;   // `kept`: elements that are computed, or the offsets of those that are copied
  };
  Side side(const char* type, const char* counter, const char* first, int axis, const ProductSide& plan) {
    const auto a = static_cast<size_t>(axis);
    const std::string name = k_[plan.packet > 0 ? plan.memory : plan.value].name;
    return {&plan,
            type,
            counter,
            first,
            plan_.space[a],
            schedule_.tile[a],
            text_.names.fresh(name + "_tile"),
            text_.names.fresh(name + (plan.packet > 0 ? "_at" : "_kept")),
            plan.kept && !plan.borders.empty() ? text_.names.fresh(name + "_borders") : ""};
  }

  // A product whose right side stays in shared memory (9_resident.cuh). Its runs end at the same products as in the
  // tiled product. There a run ends as a step begins, and the step that is multiplied next is `stages - 1` steps older.
  // So the first run is shorter.
  void write_slice(const Nest& products) {
    const int64_t depth = schedule_.tile[2], steps = ceil_div(ceil_div(plan_.space[kDepth], depth), schedule_.split_k);
    const int64_t first = runs_.steps == 0 ? 0 : runs_.steps - (schedule_.stages - 1) % runs_.steps;
    body_.line(fmt::format("using {} = hd::Resident<{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}>;", product_,
                           plan_.space[kRow], text_.slice->units, plan_.space[kColumn] / text_.slice->units,
                           text_.slice->count, plan_.space[kDepth], schedule_.split_k, steps * depth, first * depth,
                           runs_.steps * depth, runs_.wide ? "hd::wide" : "hd::narrow",
                           schedule_.split_k > 1 ? plan_.gather : 1, text_.slice->threads));
    body_.line(fmt::format("auto& {} = hd::in_shared<typename {}::Sums>(0);", sums_, product_));
    body_.line(fmt::format("auto& {} = hd::in_shared<typename {}::Weights>(hd_weights);", right_.tile, product_));
    body_.line(fmt::format("{}::hold({}, {}, hd_unit, hd_held);", product_, right_.tile, pointer(right_)));
    body_.line(fmt::format("{}::multiply({}, {}, {});", product_, sums_, pointer(left_), right_.tile));
    for (const Statement& s : products.body) {
      const auto* nest = &std::get<Nest>(s.what);
      if (nest->axis == Axis::last_part) nest = &std::get<Nest>(nest->body[0].what);
      if (nest->axis == Axis::sums) body_.lines(result_lines(*nest));
    }
  }
  const std::string& pointer(const Side& s) const { return text_.inputs.at(s.plan->memory); }

  static void append(std::vector<std::string>& to, const std::vector<std::string>& lines) {
    to.insert(to.end(), lines.begin(), lines.end());
  }
  static const char* order(const ProductSide& s) { return s.along_k ? "hd::along_k" : "hd::across_k"; }

  std::string product_type() const {
    std::string type =
        fmt::format("hd::{}<{}, {}, {}, {}, {}, {}, {}, {}>", plan_.tensor_cores ? "TensorProduct" : "FmaProduct",
                    storage_type(plan_.multiplied), schedule_.tile[0], schedule_.tile[1], schedule_.tile[2],
                    schedule_.threads, schedule_.stages, order(plan_.left), order(plan_.right));
    if (runs_.steps == 0) return type;
    return fmt::format("hd::ProductInRuns<{}, {}>", type, runs_.wide ? "hd::wide" : "hd::narrow");
  }

  std::vector<std::string> lines(const Nest& nest) {
    if (nest.axis == Axis::steps) return step_lines(nest);
    if (nest.axis == Axis::sums) return result_lines(nest);
    return block(
        fmt::format("if (hd::add_parts<{}>({}, hd::partials_at<float>(scratch, 0), counter, {}, (int){}, {}, {}))",
                    product_, sums_, tile_, part_, schedule_.split_k, plan_.gather),
        lines(std::get<Nest>(nest.body[0].what)));
  }

  // --- the steps ---

  std::vector<std::string> step_lines(const Nest& steps) {
    std::vector<std::string> lines, fills;
    for (const Statement& statement : steps.body) {
      const auto* fill = std::get_if<Fill>(&statement.what);
      if (fill == nullptr) continue;
      const Side* s = fill->left ? &left_ : &right_;
      if (s->plan->packet == 0) lines.push_back(fmt::format("auto {} = {}.keep({});", s->kept, s->tile, step_));
      append(fills, s->plan->packet > 0 ? copied(*s) : computed(*s));
    }
    append(lines, block(fmt::format("HD_FILLS({})", step_), fills));
    // A run ends when the next one begins, not after the products of its last step. There ptxas would overlap the
    // additions of doubles with the remaining products, order the loads for that, and spill (sm_120: 572 bytes).
    if (runs_.steps == 1) lines.push_back(sums_ + ".flush();");
    if (runs_.steps > 1) lines.push_back(fmt::format("if ({} % {} == 0) {}.flush();", step_, runs_.steps, sums_));
    lines.push_back(fmt::format("hd::multiply<{}>({}, {}, {}, {});", product_, sums_, left_.tile, right_.tile, step_));
    for (const Side* s : {&left_, &right_})
      if (s->plan->packet == 0)
        lines.push_back(fmt::format("HD_FILLS({0}) {1}.take({0}, {2});", step_, s->tile, s->kept));
    return lines;
  }

  std::vector<std::string> fill_loop(const Side& s, const std::string& loop, const std::string& from,
                                     const std::vector<std::string>& lines) const {
    return block(fmt::format("{}({}, {}::{}, slot, {}, k, {}, {}, {})", loop, text_.index_type, product_, s.type,
                             s.counter, s.first, from, std::max<int64_t>(s.plan->packet, 1)),
                 lines);
  }
  std::string place(const Side& s) const { return fmt::format("{} - {}, k - {}", s.counter, s.first, from_); }

  // The condition that an element of the tile lies inside the product; elements outside are zeros.
  std::string inside(const Side& s) const {
    std::vector<std::string> conditions;
    if (s.extent % s.length != 0) conditions.push_back(fmt::format("{} < {}", s.counter, s.extent));
    if (plan_.space[kDepth] % schedule_.tile[2] != 0) conditions.push_back(fmt::format("k < {}", plan_.space[kDepth]));
    return joined(conditions, " && ");
  }
  std::string both(const std::string& a, const std::string& b) const {
    return a.empty() || b.empty() ? a + b : a + " && " + b;
  }

  std::vector<std::string> offsets(const Side& s) const {
    if (!s.plan->kept) return {};
    const std::string from = index_text(s.plan->from_row, plan_.space, names_);
    std::vector<std::string> lines = {
        fmt::format("hd::Offsets<{}, {}::{}, {}> {};", text_.index_type, product_, s.type, s.plan->packet, s.kept)};
    std::vector<std::string> each = {fmt::format("{}.item[slot] = {};", s.kept, from)};
    if (!s.borders.empty()) {
      lines.push_back(fmt::format("hd::Offsets<hd::u32, {}::{}, {}> {};", product_, s.type, s.plan->packet, s.borders));
      each.push_back(fmt::format("{}.item[slot] = {};", s.borders,
                                 pair_of(s, [](const Border& b) { return b.from_row - IndexExpr(b.low); })));
    }
    append(lines, fill_loop(s, "HD_FILL", "0", each));
    return lines;
  }

  // hd::pair of one number from each border.
  std::string pair_of(const Side& s, const std::function<IndexExpr(const Border&)>& part) const {
    std::vector<std::string> numbers;
    for (const Border& b : s.plan->borders) numbers.push_back(index_text(part(b), plan_.space, names_));
    if (numbers.size() == 1) numbers.emplace_back("0");
    return fmt::format("hd::pair({})", joined(numbers, ", "));
  }

  // The condition that the element exists, as far as the guards decide.
  std::string exists(const Side& s) const {
    if (s.borders.empty()) return guard_text(s.plan->memory_at, names_);
    std::vector<std::string> extents;
    for (const Border& b : s.plan->borders) extents.push_back(std::to_string(b.high - b.low));
    if (extents.size() == 1) extents.emplace_back("1");
    const std::string of_k = pair_of(s, [](const Border& b) { return b.from_k; });
    return fmt::format("hd::within<{}>({}.item[slot] + {})", joined(extents, ", "), s.borders, of_k);
  }

  std::vector<std::string> copied(const Side& s) const {
    const IndexMap& at = s.plan->memory_at;
    std::string offset = index_text(linear_offset(at, k_[s.plan->memory].type.dims), at.extents, names_);
    if (s.plan->kept)
      offset = fmt::format("{}.item[slot] + ({})", s.kept, index_text(s.plan->from_k, at.extents, names_));
    std::string there = both(inside(s), exists(s));
    // `&` instead of `&&`: behind a branch, the parts of the borders that depend on k would be computed for each
    // packet.
    if (!s.borders.empty() && !inside(s).empty()) there = fmt::format("({}) & {}", inside(s), exists(s));
    const std::string copy = fmt::format("{}.copy<{}>({}, {}, {} + ({}), {});", s.tile, s.plan->packet, step_, place(s),
                                         text_.inputs.at(s.plan->memory), offset, there.empty() ? "true" : there);
    return fill_loop(s, s.plan->kept ? "HD_FILL" : "HD_COPIES", from_, {copy});
  }

  std::vector<std::string> computed(const Side& s) {
    body_.open(kKnown);
    const std::string value = body_.value(s.plan->value, s.plan->at).text;
    const std::string guard = guard_text(s.plan->at, names_);
    body_.line(fmt::format("{}.put(slot, {}, {});", s.kept, place(s),
                           guard.empty() ? value : fmt::format("{} ? {} : 0.0f", guard, value)));
    std::vector<std::string> element = body_.close();
    const std::string condition = inside(s);
    if (condition.empty()) return fill_loop(s, "HD_FILL", from_, element);
    std::vector<std::string> lines = {fmt::format("{}.put(slot, {}, 0.0f);", s.kept, place(s))};
    append(lines, block("if (" + condition + ")", element));
    return fill_loop(s, "HD_FILL", from_, lines);
  }

  // --- the results ---

  std::vector<std::string> result_lines(const Nest& nest) {
    body_.open(/*covers=*/1);
    body_.open_columns();
    const Node& n = k_[plan_.contraction];
    const std::string sum = text_.names.fresh(k_[n.results[0]].name);
    const std::string get = text_.slice ? fmt::format("{}::result({}, row, {}", product_, sums_, across_)
                                        : fmt::format("{}.get({}, {}", sums_, down_, across_);
    body_.line(
        fmt::format("const float {} = {}{});{}", sum, get, text_.vector_width > 1 ? " + k" : "", place_comment(n.loc)));
    body_.define(n.results[0], sum);
    for (const Statement& s : nest.body) body_.store(std::get<Store>(s.what), {});
    const std::vector<std::string> columns = body_.close_columns();
    std::vector<std::string> lines = body_.close();
    append(lines, columns);
    if (text_.slice)
      return block(fmt::format("HD_SUMS_OF_SLICE({}, row, column, {}, {})", product_, across_, text_.vector_width),
                   lines);
    return block(fmt::format("HD_SUMS({}, {}, {}, {}, row, column, top, left, {}, {}, {})", text_.index_type, product_,
                             down_, across_, plan_.space[kRow], plan_.space[kColumn], text_.vector_width),
                 lines);
  }

  const std::vector<std::string> names_ = {"row", "column", "matrix", "k"};
  KernelText& text_;
  const Graph& k_;
  const ContractPlan& plan_;
  const schedules::Product& schedule_;
  Body& body_;
  std::string product_ = "Product", sums_ = "sums", tile_ = "tile", part_ = "part", step_ = "step", from_ = "from",
              down_ = "i", across_ = "j", sizes_;
  Side left_, right_;
  const ProductRuns runs_ = product_runs(schedule_, plan_);
};

}  // namespace

void emit_products(KernelText& text, Body& body, const Nest& products) { ProductText(text, body).write(products); }

}  // namespace heddle::codegen
