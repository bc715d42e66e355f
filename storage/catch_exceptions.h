// The border where the exceptions of an engine end.
#ifndef STORAGE_CATCH_EXCEPTIONS_H_
#define STORAGE_CATCH_EXCEPTIONS_H_

#include <exception>
#include <new>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace rag::storage {

// Runs `f`, which returns a Status or StatusOr, and turns what it throws into RESOURCE_EXHAUSTED
// (memory) or INTERNAL. `name`: what was worked on, usually a path.
template <typename F>
auto CatchExceptions(std::string_view name, F f) -> decltype(f()) {
  const absl::string_view absl_name(name.data(), name.size());
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat(absl_name, ": out of memory"));
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat(absl_name, ": ", error.what()));
  }
}

}  // namespace rag::storage

#endif  // STORAGE_CATCH_EXCEPTIONS_H_
