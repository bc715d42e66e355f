// Sentence ends in UTF-8 text, as byte ranges.
#ifndef INDEXER_SENTENCES_H_
#define INDEXER_SENTENCES_H_

#include <string>
#include <string_view>
#include <vector>

#include "formats/span.h"

namespace rag::indexer {

// Ranges, relative to `text`, of its sentences without the white space (Unicode's) around them. A
// sentence ends after . ! ? (and closing quotes or brackets) before white space, after the full
// stops of other scripts (CJK, danda, Arabic, Ethiopic, Khmer …) with or without white space, at a
// space between two letters of Thai or of Lao, and at a blank line; never inside a grapheme
// cluster. The full stop of a title (Dr. Prof. St.), of "v." and of initials in a row (J. R. Osk)
// ends none; before a lower-case letter or a digit neither does that of a usual abbreviation (Fig.
// vol. etc. Jan.) or of a dotted word (e.g. a.m. U.S.), nor an ellipsis before the former. White
// space around the whole text is in none, even with a mark on it. Blank text has none. Together the
// ranges cover everything that is not white space.
std::vector<formats::Span> SplitSentences(std::string_view text);

// White space runs become one space, and are trimmed at both ends.
std::string CollapseWhiteSpace(std::string_view text);

// The article's rule: white space collapsed, split after [.!?] before a space.
std::vector<std::string> ArticleSentences(std::string_view text);

}  // namespace rag::indexer

#endif  // INDEXER_SENTENCES_H_
