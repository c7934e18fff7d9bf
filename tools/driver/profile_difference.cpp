#include "tools/driver/profile_difference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace heddle::driver {
namespace {

// What two kernels have to share, the strictest first: what was moved in the model's file, or has other sizes, is still
// the same kernel where nothing fits better.
using Key = std::function<std::string(const ProfiledKernel&)>;

std::string ops_of(const ProfiledKernel& k) { return fmt::format("{}", fmt::join(k.ops, " ")); }

std::vector<Key> keys() {
  return {[](const ProfiledKernel& k) {
            return fmt::format("{}|{}|{}|{}", ops_of(k), k.results, fmt::join(k.lines, " "), k.loop);
          },
          [](const ProfiledKernel& k) { return fmt::format("{}|{}", ops_of(k), k.results); },
          [](const ProfiledKernel& k) { return fmt::format("{}|{}", ops_of(k), fmt::join(k.lines, " ")); },
          [](const ProfiledKernel& k) { return ops_of(k); }};
}

}  // namespace

std::vector<KernelChange> difference(const Profile& before, const Profile& after) {
  std::vector<KernelChange> changes;
  std::vector<char> taken(before.kernels.size(), 0);
  std::vector<const ProfiledKernel*> left;
  for (const ProfiledKernel& k : after.kernels) left.push_back(&k);
  for (const Key& key : keys()) {
    std::multimap<std::string, size_t> known;  // of equal ones the first that runs comes first
    for (size_t i = 0; i < before.kernels.size(); ++i)
      if (!taken[i]) known.emplace(key(before.kernels[i]), i);
    std::erase_if(left, [&](const ProfiledKernel* k) {
      const auto found = known.lower_bound(key(*k));
      if (found == known.end() || found->first != key(*k)) return false;
      changes.push_back({&before.kernels[found->second], k});
      taken[found->second] = 1;
      known.erase(found);
      return true;
    });
  }
  for (const ProfiledKernel* k : left) changes.push_back({nullptr, k});
  for (size_t i = 0; i < before.kernels.size(); ++i)
    if (!taken[i]) changes.push_back({&before.kernels[i], nullptr});
  std::stable_sort(changes.begin(), changes.end(), [](const KernelChange& a, const KernelChange& b) {
    return std::abs(a.seconds()) > std::abs(b.seconds());
  });
  return changes;
}

}  // namespace heddle::driver
