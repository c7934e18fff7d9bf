// Form opaque: a library's call.
#include "ir/kernel/form_def.h"

namespace heddle::ir {
namespace {

const RegisterForm opaque({.kind = KernelForm::Kind::opaque, .name = "opaque"});

}  // namespace
}  // namespace heddle::ir
