/* Writes modules as GLSL, HLSL or MSL, or their reflection, with SPIRV-Cross, within vyre-glsl.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compile.h"

#include <algorithm>

#include <dlfcn.h>
#include <spirv_cross/spirv_cross_c.h>

namespace
{

/* ---- the library ------------------------------------------------------------------------------------------------------------- */

/* Functions of SPIRV-Cross without their prefix. */
#define CROSS_FUNCTIONS(X)                            \
  X(context_create)                                   \
  X(context_parse_spirv)                              \
  X(context_create_compiler)                          \
  X(context_get_last_error_string)                    \
  X(compiler_create_compiler_options)                 \
  X(compiler_options_set_bool)                        \
  X(compiler_options_set_uint)                        \
  X(compiler_install_compiler_options)                \
  X(compiler_get_entry_points)                        \
  X(compiler_set_entry_point)                         \
  X(compiler_get_execution_model)                     \
  X(compiler_create_shader_resources)                 \
  X(compiler_has_decoration)                          \
  X(compiler_get_decoration)                          \
  X(compiler_set_decoration)                          \
  X(compiler_get_name)                                \
  X(compiler_set_name)                                \
  X(compiler_add_header_line)                         \
  X(compiler_require_extension)                       \
  X(compiler_build_dummy_sampler_for_combined_images) \
  X(compiler_build_combined_image_samplers)           \
  X(compiler_get_combined_image_samplers)             \
  X(compiler_hlsl_add_resource_binding)               \
  X(compiler_hlsl_remap_num_workgroups_builtin)       \
  X(hlsl_resource_binding_init)                       \
  X(compiler_msl_add_resource_binding)                \
  X(msl_resource_binding_init)                        \
  X(resources_get_resource_list_for_type)             \
  X(compiler_compile)

struct functions {
#define DECLARE(name) decltype(&spvc_##name) name;
  CROSS_FUNCTIONS(DECLARE)
#undef DECLARE
};

functions cross;
bool is_loaded;

} // namespace

bool
cross_load()
{
  if (is_loaded)
    return true;
  void *library = dlopen("libspirv-cross-c-shared.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return false;
#define RESOLVE(name)                                                                 \
  cross.name = reinterpret_cast<decltype(cross.name)>(dlsym(library, "spvc_" #name)); \
  if (!cross.name)                                                                    \
    return false;
  CROSS_FUNCTIONS(RESOLVE)
#undef RESOLVE
  is_loaded = true;
  return true;
}

namespace
{

/* ---- one module -------------------------------------------------------------------------------------------------------------- */

/* A reason to refuse the module. */
struct refusal {
  std::string reason;
};

/* Writes one module as text.  Throws a failure as a refusal. */
class writer
{
public:
  explicit writer(const cross_request &from) : request(from), options(from.options)
  {
  }

  const char *
  write()
  {
    static const spvc_backend backends[] = {SPVC_BACKEND_GLSL, SPVC_BACKEND_HLSL, SPVC_BACKEND_MSL, SPVC_BACKEND_JSON};
    spvc_parsed_ir parsed = nullptr;
    if (cross.context_create(&context) != SPVC_SUCCESS)
      throw refusal{"SPIRV-Cross cannot be started"};
    cross_changes changes;
    const bool is_reflection = options.language == VYRE_CROSS_REFLECTION;
    const std::string reason = is_reflection ? "" : cross_prepare(request, &changes);
    if (!reason.empty())
      throw refusal{reason};
    const bool is_same = changes.words.empty();
    check(cross.context_parse_spirv(context, is_same ? request.words : changes.words.data(),
                                    is_same ? request.count : changes.words.size(), &parsed));
    check(cross.context_create_compiler(context, backends[options.language], parsed, SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &compiler));
    choose_entry_point();
    if (!is_reflection)
      set_options();
    add(changes);
    if (options.platform == VYRE_CROSS_OPENGL || options.platform == VYRE_CROSS_ES)
      combine_samplers();
    if (options.language == VYRE_CROSS_HLSL)
      cross.compiler_hlsl_remap_num_workgroups_builtin(compiler);
    if (options.binding_count && !is_reflection)
      bind();
    const char *text = nullptr;
    check(cross.compiler_compile(compiler, &text));
    return text;
  }

private:
  void
  check(spvc_result result)
  {
    if (result != SPVC_SUCCESS)
      throw refusal{"SPIRV-Cross reports: " + std::string(cross.context_get_last_error_string(context))};
  }

  void
  choose_entry_point()
  {
    const spvc_entry_point *points = nullptr, *chosen = nullptr;
    size_t count = 0, fitting = 0;
    std::set<std::string> names; /* sorted, because SPIRV-Cross returns the names in no particular order */
    check(cross.compiler_get_entry_points(compiler, &points, &count));
    for (size_t i = 0; i < count; i++) {
      names.insert(points[i].name);
      if (count > 1 && options.entry_point[0] && points[i].name != std::string(options.entry_point))
        continue;
      chosen = &points[i];
      fitting++;
    }
    if (count == 0)
      throw refusal{"the module has no entry point\nFix: give a module that is a shader"};
    std::string list;
    for (const std::string &name : names)
      list += (list.empty() ? "" : ", ") + name;
    if (fitting != 1)
      throw refusal{"a text holds one entry point, and the module has " + list + "\nFix: name one of them as the entry point"};
    check(cross.compiler_set_entry_point(compiler, chosen->name, chosen->execution_model));
  }

  void
  set_options()
  {
    spvc_compiler_options all = nullptr;
    check(cross.compiler_create_compiler_options(compiler, &all));
    const auto set_uint = [&](spvc_compiler_option option, unsigned value) {
      check(cross.compiler_options_set_uint(all, option, value));
    };
    const auto set_bool = [&](spvc_compiler_option option, bool value) {
      check(cross.compiler_options_set_bool(all, option, value));
    };
    switch (options.language) {
    case VYRE_CROSS_GLSL:
      set_uint(SPVC_COMPILER_OPTION_GLSL_VERSION, options.version);
      set_bool(SPVC_COMPILER_OPTION_GLSL_ES, options.platform == VYRE_CROSS_ES);
      set_bool(SPVC_COMPILER_OPTION_GLSL_VULKAN_SEMANTICS, options.platform == VYRE_CROSS_DEFAULT);
      break;
    case VYRE_CROSS_HLSL:
      set_uint(SPVC_COMPILER_OPTION_HLSL_SHADER_MODEL, options.version);
      set_bool(SPVC_COMPILER_OPTION_HLSL_ENABLE_16BIT_TYPES, options.version >= 62);
      break;
    default:
      set_uint(SPVC_COMPILER_OPTION_MSL_VERSION, options.version / 10 * 10000 + options.version % 10 * 100);
      set_uint(SPVC_COMPILER_OPTION_MSL_PLATFORM,
               options.platform == VYRE_CROSS_IOS ? SPVC_MSL_PLATFORM_IOS : SPVC_MSL_PLATFORM_MACOS);
    }
    check(cross.compiler_install_compiler_options(compiler, all));
  }

  void
  add(const cross_changes &changes)
  {
    for (const std::string &extension : changes.extensions)
      check(cross.compiler_require_extension(compiler, extension.c_str()));
    for (const std::string &line : changes.head)
      check(cross.compiler_add_header_line(compiler, line.c_str()));
    for (const auto &decoration : changes.decorations)
      cross.compiler_set_decoration(compiler, decoration.first, static_cast<SpvDecoration>(decoration.second), 0);
  }

  /* Makes pairs of images and samplers, which OpenGL does not separate, and names each by both. */
  void
  combine_samplers()
  {
    spvc_variable_id dummy = 0;
    const spvc_combined_image_sampler *pairs = nullptr;
    size_t count = 0;
    check(cross.compiler_build_dummy_sampler_for_combined_images(compiler, &dummy));
    if (dummy)
      cross.compiler_set_name(compiler, dummy, "no_sampler");
    check(cross.compiler_build_combined_image_samplers(compiler));
    check(cross.compiler_get_combined_image_samplers(compiler, &pairs, &count));
    for (size_t i = 0; i < count; i++) {
      const std::string image = cross.compiler_get_name(compiler, pairs[i].image_id);
      const std::string sampler = cross.compiler_get_name(compiler, pairs[i].sampler_id);
      cross.compiler_set_name(compiler, pairs[i].combined_id, (image + "_" + sampler).c_str());
    }
  }

  const vyre_cross_binding *
  find_binding(unsigned set, unsigned binding) const
  {
    const vyre_cross_binding *end = options.bindings + options.binding_count;
    const vyre_cross_binding *found =
        std::find_if(options.bindings, end, [&](const vyre_cross_binding &b) { return b.set == set && b.binding == binding; });
    return found == end ? nullptr : found;
  }

  void
  bind()
  {
    static const spvc_resource_type types[] = {SPVC_RESOURCE_TYPE_UNIFORM_BUFFER,    SPVC_RESOURCE_TYPE_STORAGE_BUFFER,
                                               SPVC_RESOURCE_TYPE_SUBPASS_INPUT,     SPVC_RESOURCE_TYPE_STORAGE_IMAGE,
                                               SPVC_RESOURCE_TYPE_SAMPLED_IMAGE,     SPVC_RESOURCE_TYPE_ATOMIC_COUNTER,
                                               SPVC_RESOURCE_TYPE_PUSH_CONSTANT,     SPVC_RESOURCE_TYPE_SEPARATE_IMAGE,
                                               SPVC_RESOURCE_TYPE_SEPARATE_SAMPLERS, SPVC_RESOURCE_TYPE_ACCELERATION_STRUCTURE};
    spvc_resources resources = nullptr;
    check(cross.compiler_create_shader_resources(compiler, &resources));
    for (const spvc_resource_type type : types) {
      const spvc_reflected_resource *list = nullptr;
      size_t count = 0;
      check(cross.resources_get_resource_list_for_type(resources, type, &list, &count));
      for (size_t i = 0; i < count; i++)
        bind_one(list[i], type == SPVC_RESOURCE_TYPE_PUSH_CONSTANT);
    }
  }

  void
  bind_one(const spvc_reflected_resource &resource, bool is_push)
  {
    if (!is_push && !cross.compiler_has_decoration(compiler, resource.id, SpvDecorationBinding))
      return; /* a pair that combine_samplers made */
    const unsigned set =
        is_push ? VYRE_CROSS_PUSH : cross.compiler_get_decoration(compiler, resource.id, SpvDecorationDescriptorSet);
    const unsigned binding = is_push ? 0 : cross.compiler_get_decoration(compiler, resource.id, SpvDecorationBinding);
    const vyre_cross_binding *to = find_binding(set, binding);
    if (options.language == VYRE_CROSS_MSL && !to)
      throw refusal{(is_push ? "the push constants '" : "the resource '") + std::string(resource.name) + "'" +
                    (is_push ? "" : " (set " + std::to_string(set) + ", binding " + std::to_string(binding) + ")") +
                    " would get an index that another resource has\nFix: bind " +
                    (is_push ? "push" : std::to_string(set) + "." + std::to_string(binding)) +
                    " to another index, or bind no resource"};
    if (!to)
      return;
    const unsigned space = to->space != VYRE_CROSS_SAME_SET ? to->space : is_push ? 0 : set;
    if (options.language == VYRE_CROSS_MSL)
      bind_msl(set, binding, to->index);
    else if (options.language == VYRE_CROSS_HLSL)
      bind_hlsl(set, binding, space, to->index);
    else if (!is_push) {
      cross.compiler_set_decoration(compiler, resource.id, SpvDecorationDescriptorSet, space);
      cross.compiler_set_decoration(compiler, resource.id, SpvDecorationBinding, to->index);
    }
  }

  void
  bind_msl(unsigned set, unsigned binding, unsigned index)
  {
    spvc_msl_resource_binding all;
    cross.msl_resource_binding_init(&all);
    all.stage = cross.compiler_get_execution_model(compiler);
    all.desc_set = set;
    all.binding = binding;
    all.msl_buffer = all.msl_texture = all.msl_sampler = index;
    check(cross.compiler_msl_add_resource_binding(compiler, &all));
  }

  void
  bind_hlsl(unsigned set, unsigned binding, unsigned space, unsigned index)
  {
    spvc_hlsl_resource_binding all;
    cross.hlsl_resource_binding_init(&all);
    all.stage = cross.compiler_get_execution_model(compiler);
    all.desc_set = set;
    all.binding = binding;
    all.cbv = all.uav = all.srv = all.sampler = {space, index};
    check(cross.compiler_hlsl_add_resource_binding(compiler, &all));
  }

  const cross_request &request;
  const vyre_cross_options &options;
  spvc_context context = nullptr;
  spvc_compiler compiler = nullptr;
};

} // namespace

glsl_result
cross_write(const cross_request &request, const glsl_sink &sink)
{
  if (!is_loaded)
    return GLSL_NO_LIBRARY;
  try {
    const std::string text = writer(request).write();
    sink.output(text.data(), text.size());
  } catch (const refusal &refused) {
    sink.log(refused.reason.c_str());
    return GLSL_REJECTED;
  }
  return GLSL_OK; /* the memory is not freed, because the process ends */
}
