/* The includer of glslang, which finds the files of #include.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FRONTENDS_GLSL_INCLUDER_H
#define VYRE_FRONTENDS_GLSL_INCLUDER_H

#include <string>
#include <vector>

#include "module_strings.h"
#include "glslang_api.h"
#include "vyre/glsl.h"

/* Where "x.glsl" is searched before the folders of -I: beside the including file, and how it is named. */
enum include_rule {
  INCLUDE_BESIDE,     /* a file in the working folder has a name that begins with "./" */
  INCLUDE_AS_GLSLC,   /* a file in the working folder has its name as it is written */
  INCLUDE_AS_GLSLANG, /* as glslang: also beside the files that include the including file, from the innermost one */
};

/* Searches "x.glsl" beside the including file, then in the folders of -I, and <x.glsl> only in the folders of -I.  Backslashes may
 * be separators.  With an include root, an absolute path without links, only files in it are found.  A device or a FIFO ends the
 * search, because reading it may not end. */
class folder_includer : public glslang::TShader::Includer
{
public:
  /* `strings` gets the names of the files and their literals.  Copies `path`, and borrows `options` and `strings`. */
  folder_includer(const char *path, const vyre_glsl_options *options, include_rule rule, module_strings *strings)
      : path_(path), options_(options), strings_(strings), rule_(rule)
  {
  }

  IncludeResult *includeLocal(const char *header, const char *includer, size_t depth) override;
  IncludeResult *includeSystem(const char *header, const char *includer, size_t depth) override;
  void releaseInclude(IncludeResult *result) override;
  /* Returns whether a file was included. */
  bool
  has_included() const
  {
    return has_included_;
  }

private:
  void leave_folders(const std::string &includer, size_t depth);
  IncludeResult *load(const std::string &path);
  IncludeResult *load_from(const std::string &folder, std::string header);

  std::string path_;
  const vyre_glsl_options *options_;
  module_strings *strings_;
  include_rule rule_;
  std::vector<std::string> folders_; /* of the shader and of the files that are being included, for INCLUDE_AS_GLSLANG */
  bool has_included_ = false;
  const char *refused_ = nullptr; /* the reason for which a found file is refused and the search ends */
};

#endif
