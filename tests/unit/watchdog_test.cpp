// The watchdog: a step that takes too long is told of once, and nothing else is.
#include "runtime/train/watchdog.h"

#include <gtest/gtest.h>

#include <chrono>

namespace heddle::runtime {
namespace {

using std::chrono::milliseconds;

TEST(Watchdog, TellsOfAStepThatHangs) {
  std::atomic<int> told{0};
  Watchdog dog(0.08, [&](double seconds) {
    EXPECT_GE(seconds, 0.08);
    ++told;
  });
  const Watchdog::Watch watch(&dog);
  for (int i = 0; i < 500 && told == 0; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(told, 1);
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(told, 1);
}

// Many short steps take as long together, and between steps the process may wait for whom it likes.
TEST(Watchdog, LetsStepsComeAndGo) {
  std::atomic<int> told{0};
  {
    Watchdog dog(0.4, [&](double) { ++told; });
    for (int i = 0; i < 100; ++i) {
      const Watchdog::Watch watch(&dog);
      std::this_thread::sleep_for(milliseconds(8));
    }
    std::this_thread::sleep_for(milliseconds(800));
  }
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace heddle::runtime
