#include "runtime/data/picture_keys.h"

#include "ir/diagnostic.h"

namespace heddle::runtime::data {
namespace {

std::string word(const ReaderSetting& setting) { return std::get<std::vector<std::string>>(setting.value).at(0); }

}  // namespace

const std::vector<Key>& picture_keys() {
  static const std::vector<Key> keys = {
      {.name = "resize",
       .type = KeyType::text,
       .doc = "how pictures get the input's size: in a black border, cut, or with other proportions",
       .words = {"fit", "cover", "stretch"}},
      {.name = "filter",
       .type = KeyType::text,
       .doc = "of resizing, bilinear where it is not said",
       .words = {"bilinear", "bicubic"}},
  };
  return keys;
}

Resizing resizing_of(const std::vector<ReaderSetting>& settings) {
  const ReaderSetting* resize = find_setting(settings, "resize");
  const ReaderSetting* filter = find_setting(settings, "filter");
  if (resize == nullptr && filter != nullptr)
    throw UserError(filter->where, "'filter' is that of 'resize', which is not given",
                    "\"resize\" is \"fit\", \"cover\" or \"stretch\"");
  if (resize == nullptr) return {};
  const std::string how = word(*resize);
  return {.how = how == "fit"     ? ResizeKind::fit
                 : how == "cover" ? ResizeKind::cover
                                  : ResizeKind::stretch,
          .bicubic = filter != nullptr && word(*filter) == "bicubic"};
}

}  // namespace heddle::runtime::data
