// Makes primitive descriptors from the same arguments with oneDNN 2 and oneDNN 3. No other code depends on the version.
//
//   described<dnnl::matmul>(engine, attributes, a, b, c)
//     -> 2.x: an operation descriptor of (a, b, c), and the primitive's descriptor from it; 3.x: the primitive's descriptor at once
//
// Private to the runtime's oneDNN files.
#pragma once
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>

namespace heddle::runtime {

#if DNNL_VERSION_MAJOR >= 3
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc described(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                                             Arguments&&... arguments) {
  return {engine, std::forward<Arguments>(arguments)..., attributes};
}

// A gradient's, which is told the primitive whose gradient it is.
template <class Primitive, class Forward, class... Arguments>
typename Primitive::primitive_desc described_after(const Forward& forward, const dnnl::engine& engine,
                                                   const dnnl::primitive_attr& attributes, Arguments&&... arguments) {
  return {engine, std::forward<Arguments>(arguments)..., forward, attributes};
}
#else
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc described(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                                             Arguments&&... arguments) {
  return {typename Primitive::desc(std::forward<Arguments>(arguments)...), attributes, engine};
}

// A gradient's, which is told the primitive whose gradient it is.
template <class Primitive, class Forward, class... Arguments>
typename Primitive::primitive_desc described_after(const Forward& forward, const dnnl::engine& engine,
                                                   const dnnl::primitive_attr& attributes, Arguments&&... arguments) {
  return {typename Primitive::desc(std::forward<Arguments>(arguments)...), attributes, engine, forward};
}
#endif

}  // namespace heddle::runtime
