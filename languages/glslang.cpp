/* Compiles GLSL and HLSL to SPIR-V with the C++ interface of glslang.  Its C interface supports neither file names nor an includer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compilation.h"
#include "glslang_api.h"
#include "includer.h"
#include "source_texts.h"
#include "text_file.h"

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

const char include_directive[] = "#extension GL_GOOGLE_include_directive : enable\n";

spirv_target
compilation_target(const compilation &c)
{
  static const glslang::EShTargetLanguageVersion versions[] = {
      glslang::EShTargetSpv_1_0, glslang::EShTargetSpv_1_1, glslang::EShTargetSpv_1_2, glslang::EShTargetSpv_1_3,
      glslang::EShTargetSpv_1_4, glslang::EShTargetSpv_1_5, glslang::EShTargetSpv_1_6};
  spirv_target target = {glslang::EShClientVulkan, glslang::EShTargetVulkan_1_2, glslang::EShTargetSpv_1_5};
  switch (c.options->target_env) {
  case VYRE_GLSL_VULKAN_1_0:
    target = {glslang::EShClientVulkan, glslang::EShTargetVulkan_1_0, glslang::EShTargetSpv_1_0};
    break;
  case VYRE_GLSL_VULKAN_1_1:
    target = {glslang::EShClientVulkan, glslang::EShTargetVulkan_1_1, glslang::EShTargetSpv_1_3};
    break;
  case VYRE_GLSL_VULKAN_1_3:
    target = {glslang::EShClientVulkan, glslang::EShTargetVulkan_1_3, glslang::EShTargetSpv_1_6};
    break;
  case VYRE_GLSL_OPENGL_4_5:
    target = {glslang::EShClientOpenGL, glslang::EShTargetOpenGL_450, glslang::EShTargetSpv_1_0};
    break;
  default:
    break;
  }
  if (c.set.has_target_spv)
    target.spirv = versions[c.set.spirv];
  return target;
}

include_rule
compilation_include_rule(const compilation &c)
{
  return c.set.like->is_vyre ? INCLUDE_BESIDE : c.set.like->generator != 0 ? INCLUDE_AS_GLSLC : INCLUDE_AS_GLSLANG;
}

EShMessages
compilation_messages(const compilation &c)
{
  const settings &set = c.set;
  const bool is_vulkan = compilation_target(c).client == glslang::EShClientVulkan;
  const std::pair<bool, EShMessages> rules[] = {
      {is_vulkan && !set.has_no_spirv, EShMsgVulkanRules},
      {set.has_ast, EShMsgAST},
      {set.has_suppress_warnings, EShMsgSuppressWarnings},
      {c.is_hlsl(), EShMsgReadHlsl},
      {set.has_hlsl_offsets, EShMsgHlslOffsets},
      {set.has_hlsl_16bit_types, EShMsgHlslEnable16BitTypes},
      {set.has_hlsl_dx9, EShMsgHlslDX9Compatible},
      {set.has_no_legalize, EShMsgHlslLegalization},
      {set.has_relaxed_errors, EShMsgRelaxedErrors},
      {set.has_cascading_errors || set.like->generator != 0, EShMsgCascadingErrors},
      {set.has_keep_uncalled, EShMsgKeepUncalled},
      {set.has_enhanced_messages, EShMsgEnhanced},
      /* vyre sets the source file itself, because with this rule glslang makes invalid modules of some shaders. */
      {c.options->debug && !set.like->is_vyre, EShMsgDebugInfo},
  };
  int messages = c.set.has_no_spirv ? EShMsgDefault : EShMsgSpvRules;
  for (const auto &rule : rules)
    messages |= rule.first ? static_cast<int>(rule.second) : 0;
  return static_cast<EShMessages>(messages);
}

namespace
{

/* Returns whether a later -D defines the macro of this one. */
bool
is_defined_later(const compilation &c, uint32_t index)
{
  const auto name = [&](uint32_t i) { return std::string(c.options->defines[i], std::strcspn(c.options->defines[i], "=")); };
  for (uint32_t i = index + 1; i < c.options->define_count; i++)
    if (name(i) == name(index))
      return true;
  return false;
}

/* Returns the lines before the shader: macros and the directive for #include, in the order of the front end. */
std::string
preamble_of(const compilation &c)
{
  const bool is_vyre = c.set.like->is_vyre, enables_include = c.set.like->enables_include && !(is_vyre && c.is_hlsl());
  std::string preamble = enables_include && is_vyre ? include_directive : "";
  for (uint32_t i = 0; i < c.options->define_count; i++) {
    std::string define = c.options->defines[i];
    if (c.set.like->generator != 0 && is_defined_later(c, i))
      continue; /* in glslc the last definition of a macro overrides the earlier ones */
    const std::string::size_type equals = define.find('=');
    if (equals != std::string::npos)
      define[equals] = ' ';
    else if (is_vyre)
      define += " 1";
    preamble += "#define " + define + "\n";
  }
  for (const std::string &name : c.set.undefines)
    preamble += "#undef " + name + "\n";
  preamble += c.set.preamble;
  return preamble + (enables_include && !is_vyre ? include_directive : "");
}

void
set_up_automatic(const compilation &c, glslang::TShader *shader)
{
  shader->setAutoMapBindings(c.set.has_auto_map_bindings || (c.set.like->is_vyre && c.is_hlsl()));
  shader->setAutoMapLocations(c.set.has_auto_map_locations);
}

void
set_up_shifts(const compilation &c, std::initializer_list<glslang::TResourceType> kinds, glslang::TShader *shader)
{
  for (const glslang::TResourceType kind : kinds)
    for (const binding_shift &shift : c.set.shifts) {
      if (shift.kind != kind || (shift.stage != EShLangCount && shift.stage != c.stage))
        continue;
      if (shift.set >= 0)
        shader->setShiftBindingForSet(kind, shift.base, static_cast<unsigned>(shift.set));
      else
        shader->setShiftBinding(kind, shift.base);
    }
}

void
set_up_resources(const compilation &c, glslang::TShader *shader)
{
  std::vector<std::string> resources;
  for (const auto &bindings : c.set.resource_bindings)
    if (bindings.first == EShLangCount || bindings.first == c.stage)
      resources.insert(resources.end(), bindings.second.begin(), bindings.second.end());
  if (!resources.empty())
    shader->setResourceSetBinding(resources);
}

void
set_up_sampled_textures(const compilation &c, glslang::TShader *shader)
{
  if (c.set.has_auto_sampled_textures)
    shader->setTextureSamplerTransformMode(EShTexSampTransUpgradeTextureRemoveSampler);
}

/* Adds the processes that glslang records in debug information, in glslangValidator's order. */
void
set_up_as_glslang(const compilation &c, glslang::TShader *shader)
{
  const settings &set = c.set;
  set_up_shifts(
      c, {glslang::EResSampler, glslang::EResTexture, glslang::EResImage, glslang::EResUbo, glslang::EResSsbo, glslang::EResUav},
      shader);
  shader->setNoStorageFormat(set.has_no_storage_format);
  set_up_resources(c, shader);
  set_up_sampled_textures(c, shader);
  set_up_automatic(c, shader);
  for (const auto &location : set.uniform_locations)
    shader->addUniformLocationOverride(location.first.c_str(), location.second);
  shader->setUniformLocationBase(set.uniform_base);
  shader->setNanMinMaxClamp(set.has_nan_clamp);
  shader->setFlattenUniformArrays(set.has_hlsl_flatten_arrays);
  shader->setHlslIoMapping(set.has_hlsl_iomap);
  shader->setInvertY(set.has_invert_y);
}

/* Adds the processes in the order of glslc, which has fewer settings. */
void
set_up_as_glslc(const compilation &c, glslang::TShader *shader)
{
  set_up_sampled_textures(c, shader);
  set_up_automatic(c, shader);
  set_up_shifts(
      c, {glslang::EResImage, glslang::EResSampler, glslang::EResTexture, glslang::EResUbo, glslang::EResSsbo, glslang::EResUav},
      shader);
  shader->setHlslIoMapping(c.set.has_hlsl_iomap);
  set_up_resources(c, shader);
  shader->setInvertY(c.set.has_invert_y);
  shader->setNanMinMaxClamp(c.set.has_nan_clamp);
}

void
set_up_relaxed_vulkan(const settings &set, glslang::TShader *shader)
{
  shader->setEnvInputVulkanRulesRelaxed();
  for (const auto &storage : set.block_storages)
    shader->addBlockStorageOverride(storage.first.c_str(), storage.second);
  if (!set.atomic_counter_block.empty()) {
    shader->setAtomicCounterBlockName(set.atomic_counter_block[0].c_str());
    shader->setAtomicCounterBlockSet(static_cast<unsigned>(std::stoi(set.atomic_counter_block[1])));
  }
  if (!set.default_uniform_block.empty()) {
    shader->setGlobalUniformBlockName(set.default_uniform_block[0].c_str());
    shader->setGlobalUniformSet(static_cast<unsigned>(std::stoi(set.default_uniform_block[1])));
    shader->setGlobalUniformBinding(static_cast<unsigned>(std::stoi(set.default_uniform_block[2])));
  }
}

void
set_up_entry_point(const compilation &c, glslang::TShader *shader)
{
  const bool is_vyre = c.set.like->is_vyre;
  if (is_vyre && c.is_hlsl()) {
    const char *name = c.options->entry_point ? c.options->entry_point : "main";
    shader->setEntryPoint(name);
    shader->setSourceEntryPoint(name);
  } else if (!is_vyre && c.options->entry_point)
    shader->setEntryPoint(c.options->entry_point);
  if (c.set.source_entry_point)
    shader->setSourceEntryPoint(c.set.source_entry_point);
}

/* glslang records the processes of the command line in debug information. */
std::vector<std::string>
processes_of(const compilation &c)
{
  std::vector<std::string> processes;
  for (uint32_t i = 0; i < c.options->define_count; i++)
    processes.push_back(std::string("define-macro ") + c.options->defines[i]);
  for (const std::string &name : c.set.undefines)
    processes.push_back("undef-macro " + name);
  return processes;
}

} // namespace

void
compilation_set_up(const compilation &c, glslang::TShader *shader)
{
  const settings &set = c.set;
  const spirv_target target = compilation_target(c);
  if (set.has_no_spirv && !set.has_link && !set.like->is_vyre) /* as in glslangValidator, messages then have no name */
    shader->setStringsWithLengths(&c.text, &c.length, 1);
  else
    shader->setStringsWithLengthsAndNames(&c.text, &c.length, &c.path, 1);
  shader->setPreamble(c.preamble.c_str());
  if (set.like->generator == 0 && !set.like->is_vyre)
    shader->addProcesses(processes_of(c));
  set_up_entry_point(c, shader);
  if (set.has_override_version)
    shader->setOverrideVersion(set.override_version);
  (set.like->generator != 0 ? set_up_as_glslc : set_up_as_glslang)(c, shader);
  shader->setDxPositionW(set.has_hlsl_dx_position_w);
  if (set.has_enhanced_messages)
    shader->setEnhancedMsgs();
  const auto source = c.is_hlsl() ? glslang::EShSourceHlsl : glslang::EShSourceGlsl;
  if (set.has_no_spirv) {
    shader->setEnvInput(source, c.stage, glslang::EShClientNone, 0);
    shader->setEnvClient(glslang::EShClientNone, static_cast<glslang::EShTargetClientVersion>(0));
    shader->setEnvTarget(glslang::EShTargetNone, static_cast<glslang::EShTargetLanguageVersion>(0));
    return;
  }
  shader->setEnvInput(source, c.stage, target.client, 100);
  shader->setEnvClient(target.client, target.version);
  shader->setEnvTarget(glslang::EShTargetSpv, target.spirv);
  if (set.has_hlsl_functionality1)
    shader->setEnvTargetHlslFunctionality1();
  if (set.has_relaxed_vulkan)
    set_up_relaxed_vulkan(set, shader);
}

void
send_log(const compilation &c, const glsl_sink &sink, const char *log, const char *debug_log)
{
  if (!c.set.has_raw_log) {
    log_lines(sink, log);
    return;
  }
  for (const char *text : {log, debug_log})
    if (text && text[0])
      sink.text((std::string(text) + "\n").c_str());
}

void
log_lines(const glsl_sink &sink, const char *text)
{
  const std::string all = text ? text : "";
  for (std::string::size_type at = 0; at < all.size();) {
    std::string::size_type end = all.find('\n', at);
    if (end == std::string::npos)
      end = all.size();
    if (end > at)
      sink.log(all.substr(at, end - at).c_str());
    at = end + 1;
  }
}

namespace
{

/* Returns whether a string used by an extended instruction, such as debugPrintf, is still broken after its repair
 * (module_strings.h).  glslang sign-extends bytes outside of ASCII, so that the rest of their word is ones, which UTF-8 never
 * contains. */
bool
has_broken_text(const std::vector<unsigned int> &words)
{
  constexpr unsigned int op_string = 7, op_ext_inst = 12;
  std::set<unsigned int> broken;
  for (size_t at = 5, count; at < words.size() && (count = words[at] >> 16) != 0 && count <= words.size() - at; at += count) {
    const unsigned int op = words[at] & 0xffff;
    for (size_t i = at + 2; i < at + count; i++)
      if (op == op_string && words[i] >> 24 == 0xff)
        broken.insert(words[at + 1]);
      else if (op == op_ext_inst && i > at + 4 && broken.count(words[i]) != 0)
        return true;
  }
  return false;
}

/* Gives glslang placeholders for the texts of the shader and of its includes.  Files that #line names get an empty text, because
 * glslang fails without a text. */
void
add_texts(glslang::TIntermediate *intermediate, const glsl_source &source, const module_strings &strings, source_texts *texts)
{
  const std::string own = texts->add(std::string(source.text, source.length));
  const std::map<std::string, std::string> included = intermediate->getIncludeText();
  intermediate->addSourceText(own.data(), own.size());
  for (const auto &file : included) {
    const std::string placeholder = texts->add(file.second);
    intermediate->addIncludeText(file.first.c_str(), placeholder.data(), placeholder.size());
  }
  for (const std::string &name : strings.line_names())
    if (included.count(name) == 0)
      intermediate->addIncludeText(name.c_str(), "", 0);
}

/* Finds the stage: by the options, otherwise by the text, otherwise by the file's name.  Checks the size of the preprocessed text.
 */
glsl_result
find_stage(compilation *c, const glsl_sink &sink)
{
  std::string text, log;
  bool has_included;
  glsl_result result = GLSL_OK;
  c->stage = settings_stage(c->options->stage);
  if (c->options->most_expansion) {
    result = preprocess(*c, &text, &log, &has_included);
    if (result == GLSL_TOO_LARGE)
      return result; /* other errors are reported when the text is parsed */
  }
  if (c->stage == EShLangCount && !find_stage_pragma(*c, text, sink, &c->stage))
    return GLSL_REJECTED;
  if (c->stage == EShLangCount)
    c->stage = settings_stage(c->source->stage_of_name);
  if (c->stage == EShLangCount && c->set.like->needs_stage && result == GLSL_REJECTED) {
    log_lines(sink, log.c_str()); /* without the errors, the text might have named the stage */
    return result;
  }
  if (c->stage == EShLangCount && c->set.like->needs_stage) {
    sink.log("ERROR: the stage of the shader is not known\nFix: name it in the file's extension (.comp, .vert, .frag), in "
             "-fshader-stage or -S before the file, or in #pragma shader_stage");
    return GLSL_REJECTED;
  }
  if (c->stage == EShLangCount)
    c->stage = EShLangCompute;
  return GLSL_OK;
}

bool
maps_io(const compilation &c)
{
  const settings &set = c.set;
  if (set.has_no_spirv)
    return false;
  return !set.like->is_vyre || c.is_hlsl() || set.has_auto_map_bindings || set.has_auto_map_locations || !set.shifts.empty() ||
         !set.resource_bindings.empty() || !set.uniform_locations.empty();
}

/* Sends the messages of the generator.  Messages of the validator are errors.  Returns whether there are no errors. */
bool
send_messages(const compilation &c, const std::string &messages, const glsl_sink &sink)
{
  const bool is_valid = !c.set.has_validate || messages.empty();
  log_lines(sink, ((is_valid ? "" : "ERROR: ") + messages).c_str());
  return is_valid;
}

/* Returns false if the validator refuses the module. */
bool
generate(const compilation &c, glslang::TIntermediate *intermediate, const glsl_sink &sink, std::vector<unsigned int> *words)
{
  const vyre_glsl_options *options = c.options;
  const bool has_own_legalizer = c.set.like->generator != 0;
  spv::SpvBuildLogger logger;
  glslang::SpvOptions spv_options;
  spv_options.generateDebugInfo = options->debug;
  spv_options.emitNonSemanticShaderDebugInfo = options->debug_info;
  spv_options.emitNonSemanticShaderDebugSource = options->debug_source;
  spv_options.validate = c.set.has_validate;
  spv_options.stripDebugInfo = c.set.has_strip_debug && !options->debug;
  /* Modules of HLSL may be invalid without it. */
  spv_options.disableOptimizer = !c.is_hlsl() || c.set.has_no_legalize || has_own_legalizer;
  glslang::GlslangToSpv(*intermediate, *words, &logger, &spv_options);
  if (has_own_legalizer && words->size() > 2)
    (*words)[2] = ((*words)[2] & 0xffff) | c.set.like->generator << 16;
  return send_messages(c, logger.getAllMessages(), sink);
}

/* glslang prints the reflection to standard output, which is /dev/null in this process. */
void
send_reflection(const compilation &c, glslang::TProgram *program, const glsl_sink &sink)
{
  const int file = memfd_create("reflection", MFD_CLOEXEC);
  std::string text;
  program->buildReflection(c.set.reflection);
  if (file < 0 || dup2(file, STDOUT_FILENO) < 0)
    return;
  program->dumpReflection();
  std::fflush(stdout);
  if (lseek(file, 0, SEEK_SET) == 0 && text_file_append(file, &text))
    sink.text(text.c_str());
  close(file);
}

/* Parses, links and generates.  `strings` is empty before. */
glsl_result
make_module(const compilation &c, const glsl_sink &sink, module_strings *strings, source_texts *texts,
            std::vector<unsigned int> *words)
{
  glslang::TShader shader(c.stage);
  compilation_set_up(c, &shader);
  shader.setDebugInfo(c.options->debug_info); /* for blocks */
  strings->add(c.path);
  strings->add_literals(std::string(c.source->text, c.source->length));
  strings->add_literals(c.preamble);
  folder_includer includer(c.path, c.options, compilation_include_rule(c), strings);
  const EShMessages messages = compilation_messages(c);
  const bool parsed = shader.parse(&c.set.limits, c.set.has_std ? c.set.version : c.set.default_version, c.set.profile,
                                   c.set.has_std, false, messages, includer);
  send_log(c, sink, shader.getInfoLog(), shader.getInfoDebugLog());
  if (!parsed && !c.set.has_raw_log)
    return GLSL_REJECTED;
  if (c.set.has_no_spirv && !c.set.has_link)
    return parsed ? GLSL_OK : GLSL_REJECTED;

  glslang::TProgram program;
  program.addShader(&shader);
  const bool linked = program.link(messages) && (!maps_io(c) || program.mapIO());
  send_log(c, sink, program.getInfoLog(), program.getInfoDebugLog());
  if ((!parsed || !linked) && c.set.has_raw_log && !c.set.has_no_spirv)
    sink.text("SPIR-V is not generated for failed compile or link\n");
  if (!parsed || !linked)
    return GLSL_REJECTED;
  if (c.set.has_reflection)
    send_reflection(c, &program, sink);
  if (c.set.has_no_spirv)
    return GLSL_OK;

  glslang::TIntermediate *intermediate = program.getIntermediate(c.stage);
  /* TShader::setDebugInfo would do this too, but makes invalid modules of some shaders, where they have no debug instructions. */
  if (c.options->debug && c.set.like->is_vyre)
    intermediate->setSourceFile(c.path);
  if (c.options->debug_source && c.set.like->is_vyre) /* with EShMsgDebugInfo glslang has the texts */
    add_texts(intermediate, *c.source, *strings, texts);
  /* Otherwise glslang decorates buffers of HLSL with BufferBlock, which SPIR-V 1.4 removed. */
  if (c.set.like->is_vyre && compilation_target(c).spirv >= glslang::EShTargetSpv_1_4)
    intermediate->setUseStorageBuffer();
  return generate(c, intermediate, sink, words) && !words->empty() ? GLSL_OK : GLSL_REJECTED;
}

} // namespace

glsl_result
glsl_compile(const glsl_source &source, const vyre_glsl_options *options, glsl_task task, const glsl_sink &sink)
{
  compilation c = {&source, options, {}, EShLangCount, "", source.text, static_cast<int>(source.length), source.path};
  std::string wrong;
  if (!settings_parse(options, &c.set, &wrong)) {
    sink.log(("SETTING: " + wrong).c_str());
    return GLSL_MISUSED;
  }
  if (!c.set.has_default_version)
    c.set.default_version = c.set.like->default_version;
  c.preamble = preamble_of(c);
  if (task == GLSL_LIMITS || task == GLSL_VERSIONS) {
    const std::string text = task == GLSL_LIMITS ? settings_limits(c.set) : settings_versions();
    sink.output(text.data(), text.size());
    return GLSL_OK;
  }
  if (task == GLSL_PREPROCESS)
    return preprocess_and_send(c, sink);
  glsl_result result = find_stage(&c, sink);
  module_strings strings;
  source_texts texts;
  std::vector<unsigned int> words;
  if (result == GLSL_OK)
    result = make_module(c, sink, &strings, &texts, &words);
  if (result != GLSL_OK || c.set.has_no_spirv)
    return result;
  strings.repair(&words);
  if (has_broken_text(words)) {
    sink.log("ERROR: a string has characters outside of ASCII, which glslang cannot write\nFix: write the string without "
             "hexadecimal and octal escapes");
    return GLSL_REJECTED;
  }
  if (options->debug_source && c.set.like->is_vyre)
    texts.put(&words);
  if (c.is_hlsl() && c.set.like->generator != 0 && !c.set.has_no_legalize && !legalize(c, sink, &words))
    return GLSL_REJECTED;
  sink.output(words.data(), words.size() * sizeof words[0]);
  return GLSL_OK;
}
