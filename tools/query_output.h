// A query's result as JSON for programs and as a trace for people. docs/json.md documents every
// field.
#ifndef TOOLS_QUERY_OUTPUT_H_
#define TOOLS_QUERY_OUTPUT_H_

#include <string>

#include <nlohmann/json.hpp>

#include "querier/query.h"

namespace rag::tools {

nlohmann::ordered_json ToJson(const querier::QueryResult& result);

// Hits, included and skipped chunks, budget and times, as lines.
std::string FormatTrace(const querier::QueryResult& result);

}  // namespace rag::tools

#endif  // TOOLS_QUERY_OUTPUT_H_
