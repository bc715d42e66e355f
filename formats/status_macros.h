// Two macros that pass a failed absl::Status up, and nothing else.
#ifndef FORMATS_STATUS_MACROS_H_
#define FORMATS_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the enclosing function when `expr` (an absl::Status) is not OK.
#define RAG_RETURN_IF_ERROR(expr)            \
  do {                                       \
    absl::Status rag_status = (expr);        \
    if (!rag_status.ok()) return rag_status; \
  } while (false)

#define RAG_CONCAT_INNER(a, b) a##b
#define RAG_CONCAT(a, b) RAG_CONCAT_INNER(a, b)

// RAG_ASSIGN_OR_RETURN(auto x, F()): x takes the value of the StatusOr, or its status is returned.
#define RAG_ASSIGN_OR_RETURN(lhs, expr) \
  RAG_ASSIGN_OR_RETURN_INNER(RAG_CONCAT(rag_statusor_, __LINE__), lhs, expr)
#define RAG_ASSIGN_OR_RETURN_INNER(var, lhs, expr) \
  auto var = (expr);                               \
  if (!var.ok()) return std::move(var).status();   \
  lhs = *std::move(var)

#endif  // FORMATS_STATUS_MACROS_H_
