// Text of loads and of packets: elements of neighbouring columns that a thread loads, computes and stores together.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codegen/emit_body.h"

namespace heddle::codegen {

using namespace ir;  // NOLINT: this file speaks of little else

namespace {

std::string parenthesized(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

}  // namespace

Operand Body::load(ValueId v, const IndexMap& at) {
  const IndexExpr linear = linear_offset(at, k_[v].type.dims);
  if (std::optional<Operand> packet = load_packet(v, at, linear)) return *packet;
  const std::string offset = index(linear, at.extents), guard = guard_text(at, coordinates_);
  // If the value is overwritten, load it in the innermost scope. With a single point, all threads could load it before
  // the loop, but one of them overwrites it.
  const size_t scope =
      is_overwritten(k_, v) ? scopes_.size() - 1 : std::max(scope_of(linear), guard.empty() ? 0 : scope_of(at));
  if (is_mask(at) && !is_overwritten(k_, v)) {
    const Coefficient along = coefficient(linear, kColumn);
    if (along.affine && along.value == 1 && product(k_[v].type.dims) >= at.extents[kColumn]) {
      const std::string row = index(linear - IndexExpr::dim(kColumn), at.extents);
      return named(v, fmt::format("{}[({} & ({})) + column]", text_.inputs.at(v), mask_text(at), row), scope, {});
    }
  }
  return named(v, element(v, offset, guard), scope, {});
}

// Whether the guards of a window become a mask in the host's text. They must hold for all columns of a row, or for
// none; then the mask has all bits set, or none. The load is always made; where the guards fail, it reads the first
// row. So g++ vectorises the loop over columns. With branches it did not: max pooling of 3 x 3 with a border took 50
// times as long.
bool Body::is_mask(const IndexMap& at) const {
  if (generated(*k_.schedule).threads > 1 || text_.vector_width > 1 || first_bound_ != SIZE_MAX) return false;
  const auto of_columns = [](const Scope& s) { return s.covers == kColumn + 1; };
  if (!around_columns_ && std::ranges::none_of(scopes_, of_columns)) return false;
  const auto depends = [&](size_t from, size_t to) {
    return std::ranges::any_of(at.guards, [&](const Guard& g) {
      for (size_t c = from; c < to; ++c)
        if (depends_on(g.expr, static_cast<int>(c))) return true;
      return false;
    });
  };
  return !depends(kColumn, kColumn + 1) && depends(kColumn + 1, at.extents.size());
}

std::string Body::mask_text(const IndexMap& at) const {
  std::vector<std::string> conditions = guard_conditions(at, coordinates_);
  for (std::string& condition : conditions) condition = fmt::format("({})", condition);
  return fmt::format("-{}({})", text_.index_type, joined(conditions, " & "));
}

std::string Body::condition_text(const IndexMap& at) const {
  if (around_columns_ || !is_mask(at)) return guard_text(at, coordinates_);
  // A comparison with the column, because g++ 12 does not vectorise a selection by a condition of the whole row.
  return fmt::format("column < ({} & {})", mask_text(at), at.extents[kColumn]);
}

// The element, or 0 where the guard fails; the value does not matter there.
std::string Body::element(ValueId v, const std::string& offset, const std::string& guard) const {
  const std::string &from = text_.inputs.at(v), type = compute_type(k_[v].type.dtype);
  if (guard.empty()) return fmt::format("{}[{}]", from, offset);
  return fmt::format("{} ? {}({}[{}]) : {}(0)", guard, type, from, offset, type);
}

// Loads a packet in the outermost packet scope that has the coordinates.
std::optional<Operand> Body::load_packet(ValueId v, const IndexMap& at, const IndexExpr& linear) {
  if (!loads_packet(packets(), at, linear)) return std::nullopt;
  size_t bound = 0, covers = loops_covered(linear, bound);
  for (const Guard& g : at.guards) covers = std::max(covers, loops_covered(g.expr, bound));
  const auto knows = [&](const Scope& s) { return s.packet && std::max<size_t>(s.covers, kColumn + 1) >= covers; };
  const auto holder = std::find_if(scopes_.begin(), scopes_.end(), knows);
  if (holder == scopes_.end() || holder < scopes_.begin() + static_cast<std::ptrdiff_t>(bound)) return std::nullopt;
  const std::string packet = text_.names.fresh(k_[v].name + "_packet");
  const std::string address = parenthesized(index_text(linear, at.extents, at_packet()));
  std::string loaded = fmt::format("hd::{}<{}>({} + {}{})", text_.groups ? "load_group" : "load", text_.vector_width,
                                   text_.inputs.at(v), address, rest_text());
  if (const std::string guard = guard_text(at, at_packet()); !guard.empty())
    loaded = fmt::format("{} ? {} : hd::Packet<{}, {}>{{}}", guard, loaded, storage_type(k_[v].type.dtype),
                         text_.vector_width);
  const auto elements = std::find_if(holder, scopes_.end(), [](const Scope& s) { return !s.packet; });
  const auto scope = static_cast<size_t>(elements - scopes_.begin());
  if (text_.prefetch_distance > 1 && holder->covers == 1) {
    ahead_.arrays.push_back(fmt::format("hd::Batch<{}, {}, {}, {}> {};", storage_type(k_[v].type.dtype),
                                        text_.plan.columns, text_.vector_width, text_.prefetch_distance, packet));
    ahead_.loads.push_back(fmt::format("{}.at(HD_TURN, column) = {};", packet, loaded));
    return named(v, packet + ".at(HD_TURN, column)[k]", scope, {});
  }
  holder->lines.push_back(fmt::format("const auto {} = {};", packet, loaded));
  return named(v, packet + "[k]", scope, {});
}

Packets Body::packets(bool here) const {
  return {here ? text_.vector_width : 1, text_.groups, [this](ValueId v) { return defined_.contains(v); }};
}

std::vector<std::string> Body::at_packet() const {
  std::vector<std::string> names = coordinates_;
  names[kColumn] = "column";
  return names;
}

std::string Body::rest_text() const {
  const int64_t columns = text_.plan.columns;
  return columns % text_.vector_width == 0 ? "" : fmt::format(", {} - column", columns);
}

std::string Body::each_of_packet() const {
  const std::string rest = rest_text();
  const std::string each = text_.groups ? "HD_EACH_OF_GROUP" : rest.empty() ? "HD_EACH" : "HD_EACH_OF";
  return fmt::format("{}(k, {}{})", each, text_.vector_width, rest);
}

void Body::open_columns(bool behind_row) {
  behind_row_ = behind_row;
  if (text_.vector_width > 1) {
    open(/*covers=*/1, /*packet=*/true);
    coordinates_[kColumn] = "column + k";
  }
  open(/*covers=*/2);
}

std::vector<std::string> Body::close_columns() {
  std::vector<std::string> elements = close();
  const std::vector<std::string> stores = take_stores();
  if (text_.vector_width == 1) {
    elements.insert(elements.end(), stores.begin(), stores.end());
    return elements;
  }
  coordinates_[kColumn] = "column";
  std::vector<std::string> all = close(), inner = block(each_of_packet(), elements);
  all.insert(all.end(), inner.begin(), inner.end());
  all.insert(all.end(), stores.begin(), stores.end());
  return all;
}

std::vector<std::string> Body::take_stores() { return std::exchange(stores_, {}); }

void Body::store_packet(ValueId v, const Operand& operand, const IndexExpr& linear, const IndexMap& at) {
  const std::string packet = text_.names.fresh(k_[v].name + "_result");
  const auto holder = std::find_if(scopes_.begin(), scopes_.end(), [](const Scope& s) { return s.packet; });
  holder->lines.push_back(fmt::format("hd::{}<{}, {}> {};", text_.groups ? "Elements" : "Packet",
                                      storage_type(k_[v].type.dtype), text_.vector_width, packet));
  line(fmt::format("{}[k] = {};", packet, operand.text));
  for (const std::string& pointer : text_.outputs.at(v))
    stores_.push_back(fmt::format("hd::store({} + {}, {}{});", pointer,
                                  parenthesized(index_text(linear, at.extents, at_packet())), packet, rest_text()));
}

}  // namespace heddle::codegen
