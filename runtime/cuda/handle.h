// Handle: owns one object of the driver and destroys it at the end.
//
//   Handle<cuda::Event, &Driver::EventDestroy> event(driver); driver.check(driver.EventCreate(event.put(), 0), "cuEventCreate");
#pragma once
#include <utility>

#include "runtime/cuda/driver.h"

namespace heddle::runtime {

template <class T, auto destroy>
class Handle {
 public:
  explicit Handle(const Driver& driver) : driver_(&driver) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : driver_(other.driver_), value_(std::exchange(other.value_, T{})) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(value_, other.value_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  T get() const { return value_; }
  T* put() {  // for a call that makes the object
    reset();
    return &value_;
  }

 private:
  void reset() {
    if (value_ != T{}) (driver_->*destroy)(value_);
    value_ = T{};
  }
  const Driver* driver_;
  T value_{};
};

using ModuleHandle = Handle<cuda::Module, &Driver::ModuleUnload>;
using StreamHandle = Handle<cuda::Stream, &Driver::StreamDestroy>;
using EventHandle = Handle<cuda::Event, &Driver::EventDestroy>;
using GraphHandle = Handle<cuda::Graph, &Driver::GraphDestroy>;
using GraphExecHandle = Handle<cuda::GraphExec, &Driver::GraphExecDestroy>;

}  // namespace heddle::runtime
