/* The texts of a shader and of its includes, in the debug information of its module.
 *
 * glslang sign-extends bytes beyond ASCII, and writes an OpString with more words than an instruction may have.  So glslang
 * gets a placeholder for each text.  DebugSource gets the text afterwards, with a DebugSourceContinued for each further piece.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FRONTENDS_GLSL_SOURCE_TEXTS_H
#define VYRE_FRONTENDS_GLSL_SOURCE_TEXTS_H

#include <string>
#include <vector>

class source_texts
{
public:
  /* Keeps the text and returns its placeholder. */
  std::string add(const std::string &text);
  /* Puts the texts of a module's placeholders in their places. */
  void put(std::vector<unsigned int> *words) const;

private:
  std::vector<std::string> texts_;
};

#endif
