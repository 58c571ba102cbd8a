/* The settings of a compilation (vyre/glsl_settings.def), parsed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_LANGUAGES_SETTINGS_H
#define VYRE_LANGUAGES_SETTINGS_H

#include "glslang_api.h"
#include "vyre/glsl.h"

#include <string>
#include <utility>
#include <vector>

/* The defaults of a program that compiles shaders with glslang. */
struct front_end {
  const char *name;
  const char *limits; /* the limits that differ from those of glslang */
  int default_version;
  unsigned generator;   /* the number of the program in the header of a module, 0 for glslang's */
  bool is_vyre;         /* resources of HLSL get bindings, and macros without a value are 1 */
  bool enables_include; /* #include needs no #extension */
  bool needs_stage;     /* the stage has no default */
};

struct binding_shift {
  glslang::TResourceType kind;
  int stage; /* an EShLanguage, or EShLangCount for all stages */
  unsigned base;
  int set; /* -1 for all sets */
};

struct settings {
  const front_end *like;
  TBuiltInResource limits;
  std::string limit_text; /* names and numbers of the limits that differ from glslang's; a later number overrides an earlier one */
  int spirv = -1;         /* the minor version, -1 for the default */
  int version = 0, override_version = 0, default_version = 0;              /* 0 for none */
  EProfile profile = ENoProfile;                                           /* of `version` */
  std::vector<std::string> undefines;                                      /* names of macros */
  std::string preamble;                                                    /* whole lines */
  const char *source_entry_point = nullptr;                                /* borrowed */
  std::vector<binding_shift> shifts;                                       /* a later shift overrides an earlier one */
  std::vector<std::pair<int, std::vector<std::string>>> resource_bindings; /* by stage, like binding_shift */
  std::vector<std::pair<std::string, int>> uniform_locations;
  std::vector<std::pair<std::string, glslang::TBlockStorageClass>> block_storages;
  std::vector<std::string> atomic_counter_block, default_uniform_block; /* the words of their values */
  int uniform_base = 0;
  int reflection = 0;                                                   /* of EShReflectionOptions */
#define VYRE_GLSL_SETTING(id, name, value, help) bool has_##id = false; /* whether the setting is given */
#include "vyre/glsl_settings.def"
};

/* Parses the settings.  If a setting is wrong, returns false and stores the message in *wrong. */
bool settings_parse(const vyre_glsl_options *options, settings *out, std::string *wrong);

/* Returns all limits, a line for each. */
std::string settings_limits(const settings &set);

/* Returns the versions of glslang and its languages, a line for each. */
std::string settings_versions();

/* Returns glslang's stage, EShLangCount for VYRE_STAGE_AUTO. */
EShLanguage settings_stage(vyre_glsl_stage stage);
/* Finds a stage by one of its names.  Returns VYRE_STAGE_AUTO for another text. */
vyre_glsl_stage settings_find_stage(const std::string &name);

#endif
