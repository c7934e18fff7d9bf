// Names of texts inside another file, such as the model inside a package.
//
//   inner_name("mnist.heddle", "model.json")        ->   "mnist.heddle: model.json"
//   own_place("mnist.heddle: model.json:12:5")      ->   "model.json:12:5"
//
// Messages name both, because a user may have only the outer file. Programs hold the inner name alone, so that equal
// texts become equal programs, whatever the outer file is called.
#pragma once
#include <string>
#include <string_view>

namespace heddle {

inline constexpr std::string_view kInnerText = ": ";

inline std::string inner_name(const std::string& file, const std::string& name) {
  return file.empty() ? name : file + std::string(kInnerText) + name;
}
inline std::string own_place(std::string place) {
  if (const size_t end = place.rfind(kInnerText); end != std::string::npos) place.erase(0, end + kInnerText.size());
  return place;
}

}  // namespace heddle
