#include <string>

#include "tests/e2e/harness.h"

namespace rag::e2e {
namespace {

constexpr std::string_view kPumps =
    "# Pumps\n"
    "\n"
    "The small pump feeds the greenhouse. It starts when the tank is half full and stops when the\n"
    "tank is dry. A worn seal makes the pump rattle; replace the seal before the motor overheats.\n"
    "\n"
    "## Valves\n"
    "\n"
    "A valve that leaks is closed by hand. The pump must not run against a closed valve for more\n"
    "than ten seconds.\n"
    "\n"
    "| part | interval |\n"
    "|---|---|\n"
    "| seal | two years |\n"
    "| filter | one month |\n"
    "\n"
    "```sh\n"
    "pumpctl --reset valve-3   # closes the valve first\n"
    "```\n";

constexpr std::string_view kUnicode =
    "# Größe und Μέγεθος\n"
    "\n"
    "Die Pumpe fördert zwölf Liter — mehr als genug für ein Gewächshaus. Ventil № 7 öffnet erst\n"
    "nach dem Füllen: „erst füllen, dann öffnen“.\n"
    "\n"
    "Η αντλία (pump) είναι μικρή. Насос (pump) работает тихо. Naïve façades, crème brûlée, "
    "coöperate.\n"
    "\n"
    "## Übersicht\n"
    "\n"
    "Pump → valve → bed. Every valve has a 5 µm filter; the pump’s filter is 50 µm.\n";

constexpr std::string_view kDos =
    "Shift report\r\n"
    "\r\n"
    "The night pump was noisy.\r\n"
    "Valve 4 stuck at half past two.\r\n"
    "\r\n"
    "The spare valve is in the shed, the spare pump is not.\r\n";

constexpr std::string_view kBom =
    "\xEF\xBB\xBF# Spare parts\n"
    "\n"
    "- pump seal, 12 mm\n"
    "- valve spring\n"
    "- hose clamp for the pump\n";

// Prose longer than any chunk.
std::string LongProse() {
  std::string text = "Diary of the garden.\n\n";
  for (int day = 1; day <= 60; ++day) {
    const std::string number = std::to_string(day);
    text += "On day " + number + " the pump ran for " + std::to_string(day * 7 % 50) +
            " minutes and valve " + std::to_string(day % 9) + " was checked.";
    text += day % 6 == 0 ? "\n\n" : day % 4 == 0 ? "\n" : " ";
  }
  return text;
}

}  // namespace

void WriteNotes(const std::filesystem::path& corpus) {
  WriteFile(corpus / "pumps.md", kPumps);
  WriteFile(corpus / "sub folder" / "größe.md", kUnicode);
  WriteFile(corpus / "report.txt", kDos);
  WriteFile(corpus / "parts.md", kBom);
  WriteFile(corpus / "diary.txt", LongProse());
}

void WriteManyNotes(const std::filesystem::path& corpus, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    std::string text = "# Note " + number + "\n\n";
    for (int j = 0; j < 12; ++j) {
      text += "Paragraph " + std::to_string(j) + " of note " + number + " tells of pump " +
              std::to_string(i % 37) + " and of valve " + std::to_string(j * i % 91) +
              ", which someone has to look after before the winter comes.\n\n";
    }
    WriteFile(corpus / ("note-" + number + ".md"), text);
  }
}

}  // namespace rag::e2e
