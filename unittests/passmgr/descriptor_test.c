/* Plugin descriptors: each wrong field has its message, and a refused plugin adds nothing to the registry.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../status.h"

#include "passmgr/registry/registry.h"
#include "vyre/passmgr.h"

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)ctx;
  (void)module;
  *out = VYRE_UNCHANGED;
  return VYRE_OK;
}

/* The descriptor that `query` returns and that each case changes: a plugin of two passes, the second with three parameters. */
static struct {
  vyre_plugin plugin;
  vyre_pass passes[2];
  const vyre_pass *list[2];
  vyre_param params[3];
} p;

static const vyre_plugin *
query(const vyre_host *host)
{
  assert_int_equal(host->struct_size, sizeof(vyre_host));
  assert_int_equal(host->abi, VYRE_PLUGIN_ABI);
  return &p.plugin;
}

static void
make_good(void)
{
  memset(&p, 0, sizeof(p));
  p.params[0] = (vyre_param){sizeof(vyre_param), VYRE_PARAM_UINT, "factor", "s", 1, 8, 2, NULL};
  p.params[1] = (vyre_param){sizeof(vyre_param), VYRE_PARAM_WORD, "mode", "s", 0, 0, 0, "fast|small"};
  p.params[2] = (vyre_param){sizeof(vyre_param), VYRE_PARAM_FLAG, "quiet", "s", 0, 0, 0, NULL};
  p.passes[0] = (vyre_pass){.struct_size = sizeof(vyre_pass), .name = "acme.one", .summary = "s", .run = run};
  p.passes[1] = (vyre_pass){.struct_size = sizeof(vyre_pass),
                            .name = "acme.two",
                            .long_name = "acme.second",
                            .summary = "s",
                            .params = p.params,
                            .param_count = 3,
                            .run = run};
  p.list[0] = &p.passes[0];
  p.list[1] = &p.passes[1];
  p.plugin = (vyre_plugin){sizeof(vyre_plugin), VYRE_PLUGIN_ABI, "acme", "2.1", VYRE_OPSET_VERSION, VYRE_OPSET_VERSION, p.list, 2};
}

static vyre_registry *registry;

static int
make_registry(void **state)
{
  (void)state;
  make_good();
  return vyre_registry_create(NULL, &registry) ? -1 : 0;
}

static int
end_registry(void **state)
{
  (void)state;
  vyre_registry_destroy(registry);
  return 0;
}

#define REGISTRY_TEST(name) TEST_WITH(name, make_registry, end_registry)

static void
refused(const char *message)
{
  uint32_t before = vyre_registry_pass_count(registry);
  vyre_status status = vyre_registry_add(registry, query, "/abs/libacme.so", VYRE_ORIGIN_OUTSIDE);
  if (strncmp(vyre_status_text(status), message, strlen(message)) != 0)
    assert_string_equal(vyre_status_text(status), message); /* prints both texts */
  assert_error(status, VYRE_CODE_USAGE, "/abs/libacme.so");
  assert_int_equal(vyre_registry_pass_count(registry), before);
  make_good();
}

/* Changes one field, and asserts that the plugin is refused with the message. */
#define SPOIL(assignment, message) \
  do {                             \
    assignment;                    \
    refused(message);              \
  } while (0)

static void
added(void)
{
  assert_ok(vyre_registry_add(registry, query, "/abs/libacme.so", VYRE_ORIGIN_OUTSIDE));
}

REGISTRY_TEST(a_valid_descriptor_is_copied)
{
  added();
  make_good();
  memset(&p.params, 0xff, sizeof(p.params)); /* the registry has copies */
  memset(&p.passes, 0xff, sizeof(p.passes));
  assert_string_equal(vyre_registry_pass(registry, 0).pass->name, "acme.one");
  vyre_pass_info info = vyre_registry_pass(registry, 1);
  assert_string_equal(info.pass->name, "acme.two");
  assert_string_equal(info.pass->params[1].words, "fast|small");
  assert_string_equal(info.plugin, "acme");
  assert_string_equal(info.version, "2.1");
  assert_string_equal(info.path, "/abs/libacme.so");
}

/* The rows that an older plugin does not know are searched for when it runs. */
REGISTRY_TEST(a_plugin_for_an_older_op_set_is_added)
{
  p.plugin.opset_min = VYRE_OPSET_VERSION - 1;
  p.plugin.opset_max = VYRE_OPSET_VERSION - 1;
  added();
}

/* The descriptor is VYRE_PLUGIN's of a newer header.  Its additional fields are 0, so the plugin does not need the newer host. */
REGISTRY_TEST(a_plugin_with_a_newer_header_is_added)
{
  static struct {
    vyre_plugin known;
    uint64_t more[2];
  } larger;
  larger.known = p.plugin;
  larger.known.struct_size = sizeof larger;
  larger.known.opset_max = VYRE_OPSET_VERSION + 3;
  assert_null(vyre_registry_add_descriptor(registry, &larger.known, "/abs/libacme.so", VYRE_ORIGIN_OUTSIDE));
  larger.more[1] = 1;
  assert_error(vyre_registry_add_descriptor(registry, &larger.known, "/abs/libnewer.so", VYRE_ORIGIN_OUTSIDE), VYRE_CODE_USAGE,
               "the plugin's descriptor: the descriptor uses 16 bytes that this host does not know\n"
               "  while loading plugin '/abs/libnewer.so'\nFix: update vyre");
}

/* A row is newer by its op, by its kind, or by a flag. */
REGISTRY_TEST(newer_rows_are_found)
{
  const vyre_op_info infos[] = {{.text = "null", .opset = 1}, {.text = "old", .opset = 1}, {.text = "new", .opset = 2}};
  uint32_t op[] = {0, VYRE_ROW(1, VYRE_TYPE(VYRE_OPAQUE, 4), 0x7f), VYRE_ROW(1, 0, 0), VYRE_ROW(1, 0, 0)};
  const vyre_view view = {.rows = 4, .op = op, .op_infos = infos, .op_count = 3, .op_info_stride = sizeof *infos};
  assert_int_equal(vyre_opset_first_newer(&view, 1), 0);
  assert_int_equal(vyre_opset_first_newer(&view, 0), 1);
  op[2] = VYRE_ROW(2, 0, 0);
  assert_int_equal(vyre_opset_first_newer(&view, 1), 2);
  op[2] = VYRE_ROW(0, 0, 0);
  op[3] = VYRE_ROW(1, VYRE_TYPE(VYRE_OPAQUE + 1, 1), 0);
  assert_int_equal(vyre_opset_first_newer(&view, 1), 3);
  op[3] = VYRE_ROW(1, 0, 0x80);
  assert_int_equal(vyre_opset_first_newer(&view, 1), 3);
  op[1] = VYRE_ROW(0, 0, 0); /* dead rows are ignored */
  assert_int_equal(vyre_opset_first_newer(&view, 0), 3);
}

/* The view contains the stride of the op infos. */
REGISTRY_TEST(op_infos_have_a_stride)
{
  const struct {
    vyre_op_info known;
    uint64_t newer;
  } infos[] = {{{.text = "null"}, 1}, {{.text = "first", .flags = VYRE_OP_PURE}, 2}, {{.text = "second"}, 3}};
  const uint32_t op[] = {0, VYRE_ROW(2, 0, 0), VYRE_ROW(1, 0, 0)};
  const vyre_view view = {.rows = 3, .op = op, .op_infos = &infos[0].known, .op_count = 3, .op_info_stride = sizeof *infos};
  assert_string_equal(vyre_op_info_of(&view, 2)->text, "second");
  assert_int_equal(vyre_op_flags_of(&view, 2), VYRE_OP_PURE);
  assert_false(vyre_row_is_pure(&view, 1));
}

REGISTRY_TEST(wrong_plugin_fields_are_refused)
{
  SPOIL(p.plugin.struct_size = 0, "the plugin's descriptor: struct_size is 0, but plugin API 1.2 needs at least 44");
  SPOIL(p.plugin.struct_size = 43, "the plugin's descriptor: struct_size is 43, but plugin API 1.2 needs at least 44");
  SPOIL(p.plugin.struct_size = UINT32_MAX, "the plugin's descriptor: struct_size is 4294967295");
  SPOIL(p.plugin.struct_size = 46, "the plugin's descriptor: struct_size is 46, which is not a size of a struct with pointers");
  SPOIL(p.plugin.abi = VYRE_PLUGIN_ABI + 6, "plugin 'acme' 2.1 (/abs/libacme.so) needs plugin API 1.8, but this host has 1.2\nFix: "
                                            "update vyre, or build the plugin for 1.2");
  SPOIL(p.plugin.abi = VYRE_ABI(2, 0), "plugin 'acme' 2.1 (/abs/libacme.so) needs plugin API 2.0, but this host has 1.2\nFix: "
                                       "update vyre, or build the plugin for 1.2");
  SPOIL(p.plugin.abi = VYRE_ABI(0, 2), "plugin 'acme' 2.1 (/abs/libacme.so) was built for plugin API 0.2, but this host has 1.2");
  SPOIL(p.plugin.name = NULL, "the plugin has no name");
  SPOIL(p.plugin.name = "Acme", "the plugin has no name, or a name with other characters");
  SPOIL(p.plugin.name = "ac.me", "the plugin has no name, or a name with other characters");
  SPOIL(p.plugin.version = NULL, "plugin 'acme' has no version");
  p.plugin.opset_min = VYRE_OPSET_VERSION + 1;
  SPOIL(p.plugin.opset_max = VYRE_OPSET_ANY, "plugin 'acme' 2.1 needs op set ");
  SPOIL(p.plugin.opset_max = p.plugin.opset_min - 1, "plugin 'acme' 2.1 has 2 as its first and 1 as its last op set");
  SPOIL(p.plugin.passes = NULL, "plugin 'acme' has 0 passes");
  SPOIL(p.plugin.pass_count = 0, "plugin 'acme' has 0 passes");
  SPOIL(p.plugin.pass_count = 4097, "plugin 'acme' has 4097 passes, but a plugin must have 1 to 4096");
  SPOIL(p.list[1] = NULL, "pass 1 of the plugin is NULL");
}

REGISTRY_TEST(wrong_pass_fields_are_refused)
{
  SPOIL(p.passes[1].struct_size = 8, "pass 1 of the plugin: struct_size is 8, but plugin API 1.2 needs at least 72");
  SPOIL(p.passes[1].name = NULL, "pass 1 of the plugin has no name");
  static const char *const names[] = {"",          "acme.",   ".two",     "acme.Two", "acme.two-",
                                      "acme.t--o", "acme.2o", "acme.t.o", "acme.t_o", "-a"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    p.passes[1].name = names[i];
    char message[64];
    snprintf(message, sizeof(message), "'%s' is not a valid name of a pass", names[i]);
    refused(message);
  }
  SPOIL(p.passes[1].name = "repeat", "pass name 'repeat' is reserved");
  SPOIL(p.passes[1].long_name = "default", "pass name 'default' is reserved");
  SPOIL(p.passes[1].name = "beta.two", "pass 'beta.two' must have the plugin's name 'acme' before the dot");
  SPOIL(p.passes[1].name = "acmeister.two", "pass 'acmeister.two' must have the plugin's name 'acme' before the dot");
  SPOIL(p.passes[1].name = "two", "pass 'two' must have the name 'acme.two'");
  SPOIL(p.passes[1].run = NULL, "pass 'acme.two' has no run function");
  SPOIL(p.passes[1].summary = NULL, "pass 'acme.two' has no summary");
  SPOIL(p.passes[1].flags = 4 | 16, "pass 'acme.two' has flags 0x10 that this host does not know");
  SPOIL(p.passes[1].requires_ = 1u << 30 | VYRE_VERSIONS,
        "pass 'acme.two' requires analyses 0x40000000 that this host does not know");
  SPOIL(p.passes[1].params = NULL, "pass 'acme.two': 3 parameters, but no table of them");
  SPOIL(p.passes[1].param_count = 257, "pass 'acme.two': 257 parameters are too many");
}

REGISTRY_TEST(wrong_parameters_are_refused)
{
  SPOIL(p.params[0].struct_size = 0, "pass 'acme.two', parameter 0: struct_size is 0, but plugin API 1.2 needs at least 56");
  SPOIL(p.params[1].struct_size = 48, "pass 'acme.two': parameter 1 has struct_size 48, the first one 56");
  SPOIL(p.params[1].name = NULL, "pass 'acme.two': parameter 1 has no name");
  SPOIL(p.params[1].name = "a b", "pass 'acme.two': parameter 1 has no name, or a name that is invalid in pipelines");
  SPOIL(p.params[1].name = "factor", "pass 'acme.two': two parameters have the name 'factor'");
  SPOIL(p.params[1].summary = NULL, "pass 'acme.two': parameter 'mode' has no summary");
  SPOIL(p.params[1].type = 99, "pass 'acme.two': parameter 'mode' has type 99, which this host does not know");
  static const char *const words[] = {NULL, "", "fast|", "|fast", "fa st", "a||b", "3d"};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
    p.params[1].words = words[i];
    refused("pass 'acme.two': the words of parameter 'mode' must have the form \"fast|small\"");
  }
  SPOIL(p.params[0].minimum = 9, "pass 'acme.two': the default of parameter 'factor' is not within its range");
  SPOIL(p.params[0].fallback = 9, "pass 'acme.two': the default of parameter 'factor' is not within its range");
  SPOIL(p.params[2].fallback = 2, "pass 'acme.two': the default of flag 'quiet' is neither 0 nor 1");
}

REGISTRY_TEST(a_column_has_one_provider)
{
  SPOIL(p.passes[0].provides = 1u << 30 | VYRE_HASHES, "pass 'acme.one' provides columns 0x40000000 that this host does not know\n"
                                                       "  while loading plugin '/abs/libacme.so'\nFix: update vyre");
  SPOIL(p.passes[0].provides = VYRE_VERSIONS, "pass 'acme.one' provides columns 0x1 that this host does not know");
  SPOIL(p.passes[1].provides = VYRE_HASHES, "pass 'acme.two' provides a column, so it cannot have parameters");
  p.passes[0].provides = VYRE_HASHES;
  SPOIL(p.passes[0].requires_ = VYRE_HASHES,
        "pass 'acme.one' provides column 0x10 but requires 0x10, which is not computed before it");
  p.passes[0].provides = VYRE_HASHES;
  SPOIL(p.passes[0].requires_ = VYRE_CLASSES | VYRE_LEVELS,
        "pass 'acme.one' provides column 0x10 but requires 0x20, which is not computed before it");
  p.passes[0].provides = p.passes[1].provides = VYRE_CLASSES;
  SPOIL(p.passes[1].param_count = 0, "pass 'acme.two' provides a column that pass 'acme.one' (/abs/libacme.so) already "
                                     "provides");
  p.passes[0].provides = VYRE_CLASSES;
  p.passes[0].requires_ = VYRE_HASHES | VYRE_LEVELS;
  added();
  assert_int_equal(vyre_registry_pass(registry, 0).pass->provides, VYRE_CLASSES);
  make_good();
  p.plugin.name = "beta";
  p.passes[0].name = "beta.one";
  p.passes[1].name = "beta.two";
  p.passes[1].long_name = NULL;
  SPOIL(p.passes[0].provides = VYRE_CLASSES, "pass 'beta.one' provides a column that pass 'acme.one' (/abs/libacme.so) already "
                                             "provides\n"
                                             "  while loading plugin '/abs/libacme.so'");
}

REGISTRY_TEST(names_are_unique)
{
  SPOIL(p.passes[1].name = "acme.one", "pass 'acme.one' is already provided by '/abs/libacme.so'");
  SPOIL(p.passes[1].long_name = "acme.one", "pass 'acme.one' is already provided by '/abs/libacme.so'");
  SPOIL(p.passes[1].long_name = "acme.two", "pass 'acme.two' is already provided by '/abs/libacme.so'");
  assert_ok(vyre_registry_add(registry, query, "/abs/libacme_old.so", VYRE_ORIGIN_OUTSIDE));
  refused("pass 'acme.one' is already provided by '/abs/libacme_old.so'\n  "
          "while loading plugin '/abs/libacme.so'");
  SPOIL(p.passes[0].name = "acme.new", "pass 'acme.two' is already provided by '/abs/libacme_old.so'");
}

REGISTRY_TEST(core_passes_need_no_plugin_name)
{
  p.passes[0].name = "one";
  p.passes[1].long_name = NULL;
  assert_ok(vyre_registry_add(registry, query, "core", VYRE_ORIGIN_CORE));
  make_good();
  p.passes[0].name = "verify"; /* built into the manager */
  assert_error(vyre_registry_add(registry, query, "core", VYRE_ORIGIN_CORE), VYRE_CODE_USAGE,
               "pass 'verify' is already provided by '(built in)'\n  while "
               "loading plugin 'core'");
}

/* Fields that a newer header has appended are accepted if they are zero. */
REGISTRY_TEST(larger_structs_are_accepted_if_zero)
{
  static struct {
    vyre_param known;
    uint64_t more;
  } params[2];
  static struct {
    vyre_pass known;
    uint64_t more;
  } pass;
  params[0].known = p.params[0];
  params[1].known = p.params[2];
  params[0].known.struct_size = params[1].known.struct_size = sizeof(params[0]);
  pass.known = p.passes[1];
  pass.known.struct_size = sizeof(pass);
  pass.known.params = &params[0].known;
  pass.known.param_count = 2;
  p.list[1] = &pass.known;
  added();
  assert_string_equal(vyre_registry_pass(registry, 1).pass->params[1].name, "quiet");
  params[1].more = 1;
  pass.known.name = "acme.three";
  pass.known.long_name = NULL;
  p.plugin.pass_count = 1;
  SPOIL(p.list[0] = &pass.known, "pass 'acme.three', parameter 1: the descriptor uses 8 bytes that this host does not know");
  params[1].more = 0;
  pass.more = 1;
  p.plugin.pass_count = 1;
  SPOIL(p.list[0] = &pass.known, "pass 0 of the plugin: the descriptor uses 8 bytes that this host does not know");
}

/* Phases with fields that this host does not know are refused, also if another struct of the phases is larger. */
REGISTRY_TEST(larger_phases_are_refused)
{
  static const vyre_phase_memory memory = {"op", NULL, VYRE_MEMORY_COLUMN, 1};
  static struct {
    vyre_phases known;
    uint64_t newer;
  } phases = {{.struct_size = sizeof phases, .memory_count = 1, .memory = &memory}, 7};
  SPOIL(p.passes[0].phases = &phases.known, "the phases of pass 'acme.one' use 8 bytes that this host does not know\n"
                                            "  while loading plugin '/abs/libacme.so'\nFix: update vyre");
  phases.newer = 0;
  SPOIL(p.passes[0].phases = &phases.known,
        "the phases of pass 'acme.one' cannot be run: they are not as vyre-kernelc of this version makes them");
  phases.known.struct_size = 4104;
  SPOIL(p.passes[0].phases = &phases.known, "the phases of pass 'acme.one' use 4104 bytes that this host does not know");
}

static const vyre_plugin *
query_nothing(const vyre_host *host)
{
  (void)host;
  return NULL;
}

REGISTRY_TEST(a_query_that_returns_null_is_an_error)
{
  assert_error(vyre_registry_add(registry, query_nothing, "/abs/no.so", VYRE_ORIGIN_OUTSIDE), VYRE_CODE_USAGE,
               "plugin '/abs/no.so' refused to load: 'vyre_plugin_query_v1' returned NULL");
}
