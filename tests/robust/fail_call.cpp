// Loaded before the C library (LD_PRELOAD): the HEDDLE_FAIL_AT-th call of HEDDLE_FAIL_CALL on a
// path below HEDDLE_FAIL_IN fails with the error HEDDLE_FAIL_ERRNO; with HEDDLE_FAIL_REST all after
// it, too. How many there were is appended to the file HEDDLE_FAIL_COUNT at the end.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<int> calls{0};

const char* setting(const char* name) {
  const char* value = getenv(name);
  return value != nullptr ? value : "";
}

bool is_meant(const char* call, const char* path) {
  const char* folder = setting("HEDDLE_FAIL_IN");
  return strcmp(setting("HEDDLE_FAIL_CALL"), call) == 0 && *folder != '\0' &&
         strncmp(path, folder, strlen(folder)) == 0;
}

bool fails(const char* call, const char* path) {
  if (!is_meant(call, path)) return false;
  const int number = ++calls, at = atoi(setting("HEDDLE_FAIL_AT"));
  if (at == 0 || number < at || (number > at && *setting("HEDDLE_FAIL_REST") == '\0')) return false;
  errno = atoi(setting("HEDDLE_FAIL_ERRNO"));
  return true;
}

bool fails(const char* call, int fd) {
  char link[64], path[PATH_MAX + 1] = {};
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return readlink(link, path, PATH_MAX) > 0 && fails(call, path);
}

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

struct Count {
  ~Count() {
    const char* path = setting("HEDDLE_FAIL_COUNT");
    FILE* file = *path != '\0' && calls > 0 ? fopen(path, "a") : nullptr;
    if (file == nullptr) return;
    fprintf(file, "%d\n", calls.load());
    fclose(file);
  }
} const count;

int opened(const char* name, const char* path, int flags, va_list arguments) {
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  if (fails("open", path)) return -1;
  return next<int (*)(const char*, int, ...)>(name)(path, flags, mode);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int fd = opened("open", path, flags, arguments);
  va_end(arguments);
  return fd;
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int fd = opened("open64", path, flags, arguments);
  va_end(arguments);
  return fd;
}

ssize_t write(int fd, const void* from, size_t bytes) {
  return fails("write", fd) ? -1 : next<ssize_t (*)(int, const void*, size_t)>("write")(fd, from, bytes);
}

int fsync(int fd) { return fails("fsync", fd) ? -1 : next<int (*)(int)>("fsync")(fd); }

int rename(const char* from, const char* to) noexcept {
  return fails("rename", to) ? -1 : next<int (*)(const char*, const char*)>("rename")(from, to);
}

int unlink(const char* path) noexcept {
  return fails("unlink", path) ? -1 : next<int (*)(const char*)>("unlink")(path);
}

int ftruncate(int fd, off_t bytes) noexcept {
  return fails("ftruncate", fd) ? -1 : next<int (*)(int, off_t)>("ftruncate")(fd, bytes);
}

}  // extern "C"
