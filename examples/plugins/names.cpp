// An example of a pass in C++: names loads after their buffers, to make printed text readable.
//
// No exception may leave the pass, because the manager is written in C.
//
// Requires: nothing.  Preserves: all analyses, because names are not columns.
//
// SPDX-License-Identifier: Apache-2.0
#include <vyre/plugin.h>

#include <new>
#include <string>

namespace
{

uint64_t
name_loads(const vyre_host &host, vyre_module *module)
{
  const vyre_view &view = *host.view(module);
  uint64_t named = 0;
  for (uint32_t row = view.first[0]; row != 0; row = vyre_view_after(&view, row)) {
    if (vyre_op_of(&view, row) != VYRE_OP_load || host.name(module, row) != nullptr)
      continue;
    const char *buffer = host.name(module, vyre_buffer_of(&view, view.a[row]));
    if (buffer == nullptr)
      continue;
    host.set_name(module, row, (std::string(buffer) + "_value").c_str());
    named++;
  }
  return named;
}

vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  try {
    const uint64_t named = name_loads(*ctx->host, module);
    ctx->host->count(ctx, "loads", named);
    *out = named != 0 ? VYRE_CHANGED : VYRE_UNCHANGED;
    return nullptr;
  } catch (const std::bad_alloc &) {
    return ctx->host->out_of_memory(ctx);
  }
}

// Sets fields by name, because C++17 has no designated initializers, and later versions append fields.
constexpr vyre_pass
describe()
{
  vyre_pass pass{};
  pass.struct_size = sizeof(vyre_pass);
  pass.name = "names.loads";
  pass.summary = "name loads after their buffers";
  pass.preserves = VYRE_ANALYSES;
  pass.run = run;
  return pass;
}

constexpr vyre_pass pass = describe();

} // namespace

VYRE_PLUGIN("names", "1.0", &pass)
