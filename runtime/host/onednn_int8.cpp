// Products and convolutions of 8-bit integers. Sums are in i32 and exact, in any order.
#include "runtime/host/onednn_builder.h"

namespace heddle::runtime::onednn {

namespace {

constexpr auto kS8 = memory::data_type::s8, kS32 = memory::data_type::s32;

}  // namespace

bool multiplies_bytes(const codegen::Library& call) {
  return call.operands.size() == 2 && call.results.size() == 1 &&
         (call.operands[0].dtype == "u8" || call.operands[0].dtype == "i8") && call.operands[1].dtype == "i8" &&
         call.results[0].dtype == "i32";
}

memory::data_type Builder::type_of_bytes() const {
  return call_.operands[0].dtype == "u8" ? memory::data_type::u8 : kS8;
}

char* Builder::bytes_of(size_t argument, int64_t offset) const {
  char* const first = static_cast<char*>(arguments_[argument]);
  return first == nullptr ? nullptr : first + offset;
}

// The product is cut along rows, so all slices share the packed weights. Batches of matrices have no weight operand,
// and are cut along the batch.
void Builder::int8_matmul() {
  const auto &a = call_.operands[0].dims, &c = call_.results[0].dims;
  const bool ta = integers(call_, "transpose_a", {0})[0] != 0, tb = integers(call_, "transpose_b", {0})[0] != 0;
  const int64_t m = c[c.size() - 2], n = c[c.size() - 1], k = a[a.size() - (ta ? 2 : 1)];
  int64_t batch = 1;
  for (size_t i = 0; i + 2 < c.size(); ++i) batch *= c[i];
  const int64_t extent = batch > 1 ? batch : m, count = cuts(extent);
  const auto matrix = [&](int64_t matrices, int64_t rows, int64_t columns, int64_t apart, bool turned, auto type) {
    const int64_t row = turned ? 1 : columns, column = turned ? apart / columns : 1;
    if (batch == 1) return memory::desc({rows, columns}, type, Dims{row, column});
    return memory::desc({matrices, rows, columns}, type, Dims{apart, row, column});
  };
  for (int64_t i = 0; i < count; ++i) {
    const Share s = share(extent, i, count);
    const int64_t matrices = batch > 1 ? s.size() : 1, rows = batch > 1 ? m : s.size();
    const memory::desc left = matrix(matrices, rows, k, m * k, ta, type_of_bytes());
    const memory::desc right = matrix(matrices, k, n, k * n, tb, kS8);
    const memory::desc sums = matrix(matrices, rows, n, m * n, false, kS32);
    const memory::desc any = batch > 1 ? right : memory::desc({k, n}, kS8, memory::format_tag::any);
    const auto desc = describe<dnnl::matmul>(left, any, sums);
    void* const weights = batch > 1 ? bytes_of(1, s.begin * k * n) : packed(right, bytes_of(1, 0), desc.weights_desc());
    const int64_t first = batch > 1 ? s.begin * m * k : s.begin * (ta ? 1 : k);
    constexpr auto kSum = static_cast<int64_t>(sizeof(int32_t));
    add_slice(desc, dnnl::matmul(desc),
              {{DNNL_ARG_SRC, bind(left, bytes_of(0, first))},
               {DNNL_ARG_WEIGHTS, bind(desc.weights_desc(), weights)},
               {DNNL_ARG_DST, bind(sums, bytes_of(2, (batch > 1 ? s.begin * m : s.begin) * n * kSum))}});
  }
}

void Builder::int8_convolution(const Convolution& g) {
  const int64_t count = cuts(g.n);
  const memory::desc plain = weights(g, false, kS8), any = weights(g, true, kS8);
  for (int64_t i = 0; i < count; ++i) {
    const Share s = share(g.n, i, count);
    const memory::desc x = images(s.size(), g.in, g.c, type_of_bytes()), y = images(s.size(), g.out, g.o, kS32);
    const auto desc =
        describe<dnnl::convolution_forward>(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, x,
                                            any, y, g.strides, g.dilations, g.low, g.high);
    constexpr auto kSum = static_cast<int64_t>(sizeof(int32_t));
    void* const filters = packed(plain, bytes_of(1, 0), desc.weights_desc());
    add_slice(desc, dnnl::convolution_forward(desc),
              {{DNNL_ARG_SRC, bind(desc.src_desc(), bytes_of(0, s.begin * g.image()))},
               {DNNL_ARG_WEIGHTS, bind(desc.weights_desc(), filters)},
               {DNNL_ARG_DST, bind(desc.dst_desc(), bytes_of(2, s.begin * g.made() * kSum))}});
  }
}

}  // namespace heddle::runtime::onednn
