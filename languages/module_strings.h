/* Strings of a module with characters outside of ASCII.
 *
 * glslang sign-extends the bytes of a string before it packs them into words, so that a byte beyond ASCII overwrites those after
 * it. A string cannot be recovered from such words.  But each string of a module is the name of a file or a literal of its text. So
 * the words of all these strings are computed as glslang computes them, and compared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FRONTENDS_GLSL_MODULE_STRINGS_H
#define VYRE_FRONTENDS_GLSL_MODULE_STRINGS_H

#include <map>
#include <set>
#include <string>
#include <vector>

class module_strings
{
public:
  /* Adds a string that the module may contain.  A string of ASCII characters needs no repair. */
  void add(const std::string &text);
  /* Adds all texts between quotation marks: file names of #line, and formats. */
  void add_literals(const std::string &source);
  /* Returns the file names of #line among the added literals. */
  const std::set<std::string> &
  line_names() const
  {
    return line_names_;
  }
  /* Repairs the added strings in a module. */
  void repair(std::vector<unsigned int> *words) const;

private:
  std::set<std::string> line_names_;
  std::map<std::vector<unsigned int>, std::vector<unsigned int>> by_words_; /* from glslang's words to the right ones */
};

#endif
