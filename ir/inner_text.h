// Names of texts that lie inside another file, such as a package's model.
//
//   inner_name("mnist.heddle", "model.json")        ->   "mnist.heddle: model.json"
//   own_place("mnist.heddle: model.json:12:5")      ->   "model.json:12:5"
//
// Messages name both: who has the file may have no such text. What is made of the text has its own name alone, so that
// equal texts in files of any name become equal programs.
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
