// Whether our table of a library's function has the type that its header says: Alike<decltype(ours), decltype(&theirs)>.
#pragma once
#include <type_traits>

namespace heddle::testing {

// Pointers for pointers, and numbers of one size: what a call passes lies in the same places.
template <class A, class B>
constexpr bool alike = [] {
  if constexpr (std::is_void_v<A> || std::is_void_v<B>)
    return std::is_void_v<A> && std::is_void_v<B>;
  else
    return std::is_pointer_v<A> == std::is_pointer_v<B> && sizeof(A) == sizeof(B);
}();
template <class A, class B>
struct Alike : std::false_type {};
template <class R, class... A, class S, class... B>
struct Alike<R (*)(A...), S (*)(B...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(A) != sizeof...(B))
      return false;
    else
      return alike<R, S> && (alike<A, B> && ...);
  }();
};

}  // namespace heddle::testing
