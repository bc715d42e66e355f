// Names of files as text. A name is any bytes but NUL and "/": it need not be UTF-8, and may hold
// line breaks and other control characters. The index keeps the bytes; what is shown goes through
// here.
#ifndef FORMATS_NAMES_H_
#define FORMATS_NAMES_H_

#include <string>
#include <string_view>

namespace rag::formats {

// Valid UTF-8 on one line, from which the bytes can be had back by percent-decoding: "%E9" for each
// byte that belongs to no valid sequence, to a control character (C0, DEL, C1) or to U+2028 or
// U+2029, and "%25" for "%".
std::string EscapeName(std::string_view name);

// For people: the name itself, or escaped when it holds anything but "%" that EscapeName escapes.
std::string PrintableName(std::string_view name);

}  // namespace rag::formats

#endif  // FORMATS_NAMES_H_
