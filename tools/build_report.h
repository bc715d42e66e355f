// What rag-index build says at its end.
#ifndef TOOLS_BUILD_REPORT_H_
#define TOOLS_BUILD_REPORT_H_

#include <string>

#include "indexer/build.h"

namespace rag::tools {

struct BuildReportStyle {
  std::string index;  // as the user named it
  bool dry_run = false;
  bool quiet = false;    // no notes and no summary
  bool verbose = false;  // name every skipped file
  bool json = false;
};

// Skipped files, notes and the summary on stderr; the plan of a dry run or the JSON on stdout.
void PrintBuildReport(const indexer::BuildReport& report, double seconds,
                      const BuildReportStyle& style);

// What rules and options leave out is nothing that --strict should stop at.
bool SkippedAnythingUnexpected(const indexer::BuildReport& report);

}  // namespace rag::tools

#endif  // TOOLS_BUILD_REPORT_H_
