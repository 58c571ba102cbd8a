/* Docs at settings.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include "text_file.h"

#include <glslang/SPIRV/GlslangToSpv.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace
{

/* ---- front ends ---------------------------------------------------------------------------------------------------------- */

/* glslc's limits, where they differ from those of glslangValidator. */
const char glslc_limits[] =
    "MaxAtomicCounterBufferSize 32 MaxComputeUniformComponents 512 MaxDrawBuffers 8 MaxFragmentAtomicCounterBuffers 0 "
    "MaxFragmentUniformComponents 1024 MaxFragmentUniformVectors 256 MaxGeometryUniformComponents 512 "
    "MaxGeometryVaryingComponents 60 MaxLights 8 MaxTextureCoords 8 MaxTextureImageUnits 16 MaxTextureUnits 2 MaxVaryingFloats 60 "
    "MaxVaryingVectors 15 MaxVertexAttribs 16 MaxVertexTextureImageUnits 16 MaxVertexUniformVectors 256";

const front_end front_ends[] = {
    {"vyre", "", 460, 0, true, true, false},
    {"glslc", glslc_limits, 110, 13, false, true, true},
    {"glslang", "", 100, 0, false, false, true},
};

/* ---- values -------------------------------------------------------------------------------------------------------------- */

std::vector<std::string>
split(const std::string &text)
{
  std::istringstream from(text);
  std::vector<std::string> words;
  for (std::string word; from >> word;)
    words.push_back(word);
  return words;
}

/* Returns whether the whole text is a number without a sign. */
bool
parse_number(const std::string &text, int *out)
{
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos)
    return false;
  *out = std::atoi(text.c_str());
  return true;
}

bool
parse_versions(const std::string &text, int *out_version, EProfile *out_profile)
{
  static const std::set<int> versions = {100, 110, 120, 130, 140, 150, 300, 310, 320, 330, 400, 410, 420, 430, 440, 450, 460};
  static const std::pair<const char *, EProfile> profiles[] = {
      {"", ENoProfile}, {"es", EEsProfile}, {"core", ECoreProfile}, {"compatibility", ECompatibilityProfile}};
  const std::string::size_type digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (!parse_number(text.substr(0, digits), out_version) || versions.count(*out_version) == 0)
    return false;
  for (const auto &profile : profiles)
    if (text.substr(digits) == profile.first) {
      *out_profile = profile.second;
      return true;
    }
  return false;
}

/* Accepts "1.3" and "spv1.3". */
bool
parse_spirv(const std::string &text, int *out)
{
  const std::string::size_type from = text.compare(0, 3, "spv") == 0 ? 3 : 0;
  if (text.size() != from + 3 || text.compare(from, 2, "1.") != 0 || text[from + 2] < '0' || text[from + 2] > '6')
    return false;
  *out = text[from + 2] - '0';
  return true;
}

/* Sets limits by their names, which must be known. */
bool
parse_limits(const std::string &text, settings *out, std::string *wrong)
{
  static std::set<std::string> names;
  const std::vector<std::string> words = split(text);
  if (names.empty())
    for (const std::string &word : split(GetDefaultTBuiltInResourceString()))
      names.insert(word);
  for (size_t i = 0; i < words.size(); i += 2) {
    int value;
    const std::string digits = i + 1 < words.size() ? words[i + 1].substr(words[i + 1][0] == '-') : "";
    if (names.count(words[i]) == 0 || parse_number(words[i], &value))
      *wrong = "'" + words[i] + "' is not a limit";
    else if (!parse_number(digits, &value))
      *wrong = "the limit " + words[i] + " has no number";
    if (!wrong->empty())
      return false;
  }
  std::string config = text;
  const TLimits language = out->limits.limits;
  DecodeResourceLimits(&out->limits, &config[0]);
  if (out->like->generator != 0) /* glslc ignores the limits of the language */
    out->limits.limits = language;
  out->limit_text += text + "\n";
  return true;
}

bool
read_limits(const std::string &value, settings *out, std::string *wrong)
{
  if (value[0] != '@')
    return parse_limits(value, out, wrong);
  std::string text;
  if (!text_file_read(value.c_str() + 1, &text)) {
    *wrong = "cannot read the file '" + value.substr(1) + "'";
    return false;
  }
  return parse_limits(text, out, wrong);
}

/* Removes the stage at the start of the words, if there is one, and returns the stage. */
int
cut_stage(std::vector<std::string> *words)
{
  const vyre_glsl_stage stage = words->empty() ? VYRE_STAGE_AUTO : settings_find_stage(words->front());
  if (stage != VYRE_STAGE_AUTO)
    words->erase(words->begin());
  return settings_stage(stage);
}

bool
parse_shift(const std::string &value, std::vector<binding_shift> *out)
{
  static const std::pair<const char *, glslang::TResourceType> kinds[] = {
      {"sampler", glslang::EResSampler}, {"texture", glslang::EResTexture}, {"image", glslang::EResImage},
      {"ubo", glslang::EResUbo},         {"ssbo", glslang::EResSsbo},       {"uav", glslang::EResUav}};
  std::vector<std::string> words = split(value);
  for (const auto &kind : kinds) {
    if (words.empty() || words[0] != kind.first)
      continue;
    words.erase(words.begin());
    const int stage = cut_stage(&words);
    for (size_t i = 0; i < words.size(); i += 2) {
      int base, set = -1;
      if (!parse_number(words[i], &base) || (words.size() > 1 && (i + 1 == words.size() || !parse_number(words[i + 1], &set))))
        return false;
      out->push_back({kind.second, stage, static_cast<unsigned>(base), set});
    }
    return !words.empty();
  }
  return false;
}

bool
parse_resources(const std::string &value, settings *out)
{
  std::vector<std::string> words = split(value);
  const int stage = cut_stage(&words);
  int number;
  if (words.size() != 1 && (words.empty() || words.size() % 3 != 0))
    return false;
  for (size_t i = 0; i < words.size(); i++)
    if ((words.size() == 1 || i % 3 != 0) && !parse_number(words[i], &number))
      return false;
  out->resource_bindings.emplace_back(stage, words);
  return true;
}

bool
parse_location(const std::string &value, settings *out)
{
  const std::string::size_type colon = value.find(':');
  int location;
  if (colon == 0 || colon == std::string::npos || !parse_number(value.substr(colon + 1), &location))
    return false;
  out->uniform_locations.emplace_back(value.substr(0, colon), location);
  return true;
}

bool
parse_storage(const std::string &value, settings *out)
{
  static const std::pair<const char *, glslang::TBlockStorageClass> storages[] = {
      {"uniform", glslang::EbsUniform}, {"buffer", glslang::EbsStorageBuffer}, {"push_constant", glslang::EbsPushConstant}};
  const std::vector<std::string> words = split(value);
  for (const auto &storage : storages)
    if (words.size() == 2 && words[1] == storage.first) {
      out->block_storages.emplace_back(words[0], storage.second);
      return true;
    }
  return false;
}

/* Parses a name and `count` numbers. */
bool
parse_block(const std::string &value, size_t count, std::vector<std::string> *out)
{
  int number;
  *out = split(value);
  for (size_t i = 1; i < out->size(); i++)
    if (!parse_number((*out)[i], &number))
      return false;
  return out->size() == count + 1;
}

bool
parse_reflection(const std::string &value, int *out)
{
  static const std::pair<const char *, int> forms[] = {
      {"default", EShReflectionDefault},
      {"strict-array-suffix", EShReflectionStrictArraySuffix},
      {"basic-array-suffix", EShReflectionBasicArraySuffix},
      {"intermediate-io", EShReflectionIntermediateIO},
      {"separate-buffers", EShReflectionSeparateBuffers},
      {"all-block-variables", EShReflectionAllBlockVariables},
      {"unwrap-io-blocks", EShReflectionUnwrapIOBlocks},
      {"all-io-variables", EShReflectionAllIOVariables},
      {"shared-std140-ubo", EShReflectionSharedStd140UBO},
      {"shared-std140-ssbo", EShReflectionSharedStd140SSBO},
  };
  for (const std::string &word : split(value)) {
    const auto *form = std::begin(forms);
    while (form != std::end(forms) && word != form->first)
      form++;
    if (form == std::end(forms))
      return false;
    *out |= form->second;
  }
  return true;
}

bool
parse_front_end(const std::string &value, settings *out)
{
  for (const front_end &known : front_ends)
    if (value == known.name)
      out->like = &known;
  return value == out->like->name;
}

/* ---- settings ------------------------------------------------------------------------------------------------------------ */

enum setting_id {
#define VYRE_GLSL_SETTING(id, name, value, help) SETTING_##id,
#include "vyre/glsl_settings.def"
  SETTING__COUNT
};

const struct {
  const char *name, *value;
} rows[] = {
#define VYRE_GLSL_SETTING(id, name, value, help) {name, value},
#include "vyre/glsl_settings.def"
};

void
mark(setting_id id, settings *out)
{
  switch (id) {
#define VYRE_GLSL_SETTING(id, name, value, help) \
  case SETTING_##id:                             \
    out->has_##id = true;                        \
    break;
#include "vyre/glsl_settings.def"
  default:
    break;
  }
}

/* Parses the value of a setting.  `text` is the value in the options, which outlive the settings. */
bool
parse_value(setting_id id, const char *text, settings *out, std::string *wrong)
{
  const std::string value = text;
  EProfile any;
  switch (id) {
  case SETTING_front_end:
    return out->like->name == value || parse_front_end(value, out);
  case SETTING_target_spv:
    return parse_spirv(value, &out->spirv);
  case SETTING_std:
    return parse_versions(value, &out->version, &out->profile);
  case SETTING_override_version:
    return parse_versions(value, &out->override_version, &any);
  case SETTING_default_version:
    return parse_versions(value, &out->default_version, &any) && any == ENoProfile;
  case SETTING_undefine:
    out->undefines.push_back(value);
    return value.find_first_of(" \t\r\n") == std::string::npos;
  case SETTING_preamble:
    out->preamble += value + "\n";
    return true;
  case SETTING_source_entry_point:
    out->source_entry_point = text;
    return true;
  case SETTING_limits:
    return read_limits(value, out, wrong);
  case SETTING_shift_binding:
    return parse_shift(value, &out->shifts);
  case SETTING_resource_set_binding:
    return parse_resources(value, out);
  case SETTING_uniform_location:
    return parse_location(value, out);
  case SETTING_reflection:
    return parse_reflection(value, &out->reflection);
  case SETTING_uniform_base:
    return parse_number(value, &out->uniform_base);
  case SETTING_block_storage:
    return parse_storage(value, out);
  case SETTING_atomic_counter_block:
    return parse_block(value, 1, &out->atomic_counter_block);
  case SETTING_default_uniform_block:
    return parse_block(value, 2, &out->default_uniform_block);
  default:
    return true;
  }
}

/* Finds the row of a text NAME or NAME=VALUE.  Returns SETTING__COUNT if there is none. */
int
find_row(const char *text, const char **out_value)
{
  const size_t length = std::strcspn(text, "=");
  *out_value = text[length] == '=' ? text + length + 1 : nullptr;
  for (int id = 0; id < SETTING__COUNT; id++)
    if (std::strlen(rows[id].name) == length && std::memcmp(rows[id].name, text, length) == 0)
      return id;
  return SETTING__COUNT;
}

} // namespace

bool
settings_parse(const vyre_glsl_options *options, settings *out, std::string *wrong)
{
  *out = settings();
  out->like = &front_ends[0];
  out->limits = *GetDefaultResources();
  const char *value;
  /* The front end is known first, because its limits precede those of the options. */
  for (uint32_t i = 0; i < options->setting_count; i++)
    if (find_row(options->settings[i], &value) == SETTING_front_end && value)
      parse_front_end(value, out);
  if (out->like->limits[0] && !parse_limits(out->like->limits, out, wrong))
    return false;
  for (uint32_t i = 0; i < options->setting_count; i++) {
    const int id = find_row(options->settings[i], &value);
    if (id == SETTING__COUNT) {
      *wrong = std::string("there is no setting '") + options->settings[i] + "'";
      return false;
    }
    if ((rows[id].value == nullptr) != (value == nullptr)) {
      *wrong = std::string("-") + rows[id].name + (value ? " takes no value" : " needs a value");
      return false;
    }
    mark(static_cast<setting_id>(id), out);
    if (value && !parse_value(static_cast<setting_id>(id), value, out, wrong)) {
      *wrong = std::string("-") + rows[id].name + " is not '" + value + "'" + (wrong->empty() ? "" : ": " + *wrong) +
               "\nFix: write -" + rows[id].name + "=" + rows[id].value;
      return false;
    }
  }
  return true;
}

std::string
settings_limits(const settings &set)
{
  const std::vector<std::string> words = split(GetDefaultTBuiltInResourceString()), given = split(set.limit_text);
  std::map<std::string, std::string> values;
  std::string out;
  for (size_t i = 0; i + 1 < given.size(); i += 2)
    values[given[i]] = given[i + 1];
  for (size_t i = 0; i + 1 < words.size(); i += 2)
    out += words[i] + " " + (values.count(words[i]) != 0 ? values[words[i]] : words[i + 1]) + "\n";
  return out;
}

std::string
settings_versions()
{
  std::string spirv;
  glslang::GetSpirvVersion(spirv);
  const auto generator = std::to_string(glslang::GetSpirvGeneratorVersion());
  const glslang::Version version = glslang::GetVersion();
  return "Glslang Version: " + generator + ":" + std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch) + version.flavor + "\nESSL Version: " + glslang::GetEsslVersionString() +
         "\nGLSL Version: " + glslang::GetGlslVersionString() + "\nSPIR-V Version " + spirv + "\nSPIR-V Generator Version " +
         generator + "\n";
}

EShLanguage
settings_stage(vyre_glsl_stage stage)
{
  switch (stage) {
#define GLSL_STAGE(id, name, extension, constant) \
  case VYRE_STAGE_##id:                           \
    return constant;
#include "stages.def"
  default:
    return EShLangCount;
  }
}

vyre_glsl_stage
settings_find_stage(const std::string &name)
{
#define GLSL_STAGE(id, long_name, extension, constant) \
  if (name == long_name || name == extension)          \
    return VYRE_STAGE_##id;
#include "stages.def"
  return VYRE_STAGE_AUTO;
}
