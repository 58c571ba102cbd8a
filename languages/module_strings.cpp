/* Strings of a module with characters outside of ASCII.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "module_strings.h"

#include <algorithm>
#include <cstring>

namespace
{

constexpr unsigned int op_string = 7;
constexpr size_t header_words = 5;

std::vector<unsigned int>
words_of(const std::string &text, bool sign_extends)
{
  std::vector<unsigned int> words(text.size() / 4 + 1, 0);
  for (size_t i = 0; i < text.size(); i++) {
    const unsigned int byte = static_cast<unsigned char>(text[i]);
    words[i / 4] |= (sign_extends && byte > 0x7f ? 0xffffff00u | byte : byte) << 8 * (i % 4);
  }
  return words;
}

/* Replaces the escapes of a format, as glslang does. */
std::string
without_escapes(const std::string &literal)
{
  constexpr const char names[] = "nrtabfv", values[] = "\n\r\t\a\b\f\v";
  std::string text;
  for (size_t i = 0; i < literal.size(); i++) {
    const bool is_escape = literal[i] == '\\' && i + 1 < literal.size();
    i += is_escape;
    const char *name = is_escape ? std::strchr(names, literal[i]) : nullptr;
    text += name ? values[name - names] : literal[i];
  }
  return text;
}

/* Returns whether a literal is in a #line directive. */
bool
follows_line(const std::string &source, size_t literal)
{
  const size_t before = source.find_last_of('\n', literal), first = source.find_first_not_of(" \t", before + 1);
  return source[first] == '#' && source.compare(source.find_first_not_of(" \t", first + 1), 4, "line") == 0;
}

} // namespace

void
module_strings::add(const std::string &text)
{
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) > 0x7f; }))
    by_words_.emplace(words_of(text, true), words_of(text, false));
}

void
module_strings::add_literals(const std::string &source)
{
  for (size_t at = source.find('"'); at != std::string::npos; at = source.find('"', at)) {
    const size_t end = source.find_first_of("\"\n", at + 1);
    if (end == std::string::npos)
      return;
    const std::string literal = source.substr(at + 1, end - at - 1);
    add(literal);
    add(without_escapes(literal));
    if (follows_line(source, at))
      line_names_.insert(literal);
    at = source[end] == '"' ? end : end + 1; /* a mark in a comment shifts the pairs, so this mark may open a literal */
  }
}

void
module_strings::repair(std::vector<unsigned int> *words) const
{
  for (size_t at = header_words, count; at < words->size() && !by_words_.empty(); at += count) {
    count = (*words)[at] >> 16;
    const unsigned int op = (*words)[at] & 0xffff;
    if (count == 0 || count > words->size() - at)
      return;
    const size_t first = op == op_string ? at + 2 : at + count;
    const auto text = words->begin() + static_cast<std::ptrdiff_t>(first);
    const auto found = by_words_.find(std::vector<unsigned int>(text, words->begin() + static_cast<std::ptrdiff_t>(at + count)));
    if (found != by_words_.end())
      std::copy(found->second.begin(), found->second.end(), text);
  }
}
