/* Fuzz target: plugin descriptors.  The input is a list of edits to a valid descriptor.  An edit has 4 bytes: the place (2), the
 * bit to change or the kind of change (1), and the new value (1).  The passes of an accepted plugin appear in the list, the help
 * and a pipeline.  A refused plugin does not change the registry.
 *
 * Pointers become texts or NULL, or are not changed, because no check can recognize an invalid pointer.  Counts stay within the
 * tables.  Each struct is in a block of exactly the greatest struct_size that is accepted, so that the address sanitizer reports
 * reads beyond the struct.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#define MOST_STRUCT 4096u
#define PASSES      3u
#define PARAMS      4u

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)ctx;
  (void)module;
  *out = VYRE_UNCHANGED;
  return VYRE_OK;
}

static const char *const texts[] = {"acme",
                                    "acme.one",
                                    "acme.two",
                                    "one",
                                    "dce",
                                    "",
                                    "Acme.One",
                                    "acme.",
                                    "factor",
                                    "quiet",
                                    "mode",
                                    "no-quiet",
                                    "repeat",
                                    "fast|small",
                                    "fast||",
                                    "1.0",
                                    "acme.a-very-long-name"};

/* The phases of a pass are static tables, not blocks, because the registry does not copy them. */
enum { MEMORIES = 4, PHASES = 2, STEPS = 4 };

static uint32_t
run_phase(const vyre_c_dispatch *dispatch)
{
  (void)dispatch;
  return 0;
}

static vyre_phase_memory memory[MEMORIES];
static vyre_phase phases[PHASES];
static vyre_phase_step steps[STEPS];
static uint8_t uses[PHASES][MEMORIES], writes[PHASES][MEMORIES];
static struct {
  vyre_phases known;
  char more[MOST_STRUCT - sizeof(vyre_phases)];
} all_phases;

static void
make_good_phases(void)
{
  static const vyre_phase_memory good_memory[MEMORIES] = {{"op", NULL, VYRE_MEMORY_COLUMN, 1},
                                                          {"op_flags", NULL, VYRE_MEMORY_FACT, 1},
                                                          {"mark", NULL, VYRE_MEMORY_SIDE, 2},
                                                          {"again", "rows", VYRE_MEMORY_COUNTER, 1}};
  static const vyre_phase_step good_steps[STEPS] = {{VYRE_STEP_RUN, 0, 0, 0, 0},
                                                    {VYRE_STEP_REPEAT_WHILE, 0, 0, 3, 4},
                                                    {VYRE_STEP_LEVELS, 0, 0, 0, 4},
                                                    {VYRE_STEP_RUN, 1, 0, 0, 0}};
  memcpy(memory, good_memory, sizeof memory);
  memcpy(steps, good_steps, sizeof steps);
  for (uint32_t i = 0; i < PHASES; i++) {
    for (uint32_t k = 0; k < MEMORIES; k++) {
      uses[i][k] = (uint8_t)k;
      writes[i][k] = k > 1;
    }
    phases[i] = (vyre_phase){"phase", i, MEMORIES, uses[i], writes[i], run_phase, run_phase};
  }
  memset(&all_phases, 0, sizeof all_phases);
  all_phases.known = (vyre_phases){.struct_size = sizeof(vyre_phases),
                                   .memory_count = MEMORIES,
                                   .phase_count = PHASES,
                                   .step_count = STEPS,
                                   .memory = memory,
                                   .phases = phases,
                                   .steps = steps};
}

typedef struct blocks {
  char *plugin, *passes[PASSES], *params;
  const vyre_pass **list;
} blocks;

static const vyre_plugin *offered;

static const vyre_plugin *
query(const vyre_host *host)
{
  (void)host;
  return offered;
}

static void
make_good(blocks *b)
{
  static const char *const names[PASSES] = {"acme.one", "acme.two", "acme.three"};
  const vyre_param params[PARAMS] = {
      {sizeof(vyre_param), VYRE_PARAM_UINT, "factor", "s", 1, 8, 2, NULL},
      {sizeof(vyre_param), VYRE_PARAM_WORD, "mode", "s", 0, 0, 0, "fast|small"},
      {sizeof(vyre_param), VYRE_PARAM_FLAG, "quiet", "s", 0, 0, 0, NULL},
      {sizeof(vyre_param), VYRE_PARAM_FLAG, "loud", "s", 0, 0, 0, NULL},
  };
  make_good_phases();
  b->plugin = calloc(1, MOST_STRUCT);
  b->params = calloc(PARAMS, MOST_STRUCT);
  b->list = calloc(PASSES, sizeof(*b->list));
  memcpy(b->params, params, sizeof params);
  for (uint32_t i = 0; i < PASSES; i++) {
    const vyre_pass pass = {.struct_size = sizeof(vyre_pass),
                            .name = names[i],
                            .summary = "s",
                            .params = (const vyre_param *)(const void *)b->params,
                            .param_count = i == 1 ? PARAMS : 0,
                            .run = run,
                            .phases = i == 2 ? &all_phases.known : NULL};
    b->passes[i] = calloc(1, MOST_STRUCT);
    memcpy(b->passes[i], &pass, sizeof pass);
    b->list[i] = (const vyre_pass *)(const void *)b->passes[i];
  }
  const vyre_plugin plugin = {sizeof(vyre_plugin), VYRE_PLUGIN_ABI,    "acme",  "1.0",
                              VYRE_OPSET_VERSION,  VYRE_OPSET_VERSION, b->list, PASSES};
  memcpy(b->plugin, &plugin, sizeof plugin);
}

static bool
is_within(size_t at, size_t from, size_t bytes)
{
  return at >= from && at < from + bytes;
}

#define IN(type, field) is_within(at, offsetof(type, field), sizeof(((type *)0)->field))

/* Sets the pointer to one of `texts`, or to NULL. */
static void
put_text(char *field, uint8_t value)
{
  const char *text = value == 255 ? NULL : texts[value % (sizeof texts / sizeof texts[0])];
  memcpy(field, &text, sizeof text);
}

static void
put_bits(char *block, size_t at, uint8_t how, uint8_t value)
{
  block[at] = (char)(how & 8 ? value : (uint8_t)block[at] ^ 1u << (how & 7));
}

static void
put_count(char *field, uint8_t value, uint32_t most)
{
  uint32_t count = value % (most + 1);
  memcpy(field, &count, sizeof count);
}

/* Changes a field of the phases of a pass, or an element of one of their tables.  Counts stay within the tables. */
static void
edit_phases(size_t at, uint8_t how, uint8_t value)
{
  static uint32_t *const counts[] = {&all_phases.known.memory_count, &all_phases.known.phase_count, &all_phases.known.step_count};
  static const uint32_t most[] = {MEMORIES, PHASES, STEPS};
  static const char *const names[] = {"op", "version", "op_flags", "mark", "hash", NULL};
  const uint32_t which = (uint32_t)(at % 4);
  at /= 4;
  switch (at % 8) {
  case 0:
    put_bits((char *)&all_phases, at % sizeof(uint32_t), how, value);
    break;
  case 1:
    put_count((char *)counts[which % 3], value, most[which % 3]);
    break;
  case 2:
    memory[which].name = names[value % (sizeof names / sizeof *names)];
    break;
  case 3:
    put_bits((char *)&memory[which].kind, at % 8, how, value);
    break;
  case 4:
    put_bits((char *)&phases[which % PHASES].direction, at % sizeof(uint32_t), how, value);
    break;
  case 5:
    put_count((char *)&phases[which % PHASES].use_count, value, MEMORIES);
    break;
  case 6:
    uses[which % PHASES][value % MEMORIES] = how;
    break;
  default:
    put_bits((char *)&steps[which], at / 8 % sizeof *steps, how, value);
  }
}

/* Makes an edit in the plugin, a pass, the list of passes, the phases or the parameters. */
static void
edit(blocks *b, const uint8_t bytes[4])
{
  size_t at = ((size_t)bytes[0] | (size_t)(bytes[1] & 0x1f) << 8) % MOST_STRUCT;
  uint32_t which = bytes[1] >> 5;
  if (which == 0) {
    if (IN(vyre_plugin, name))
      put_text(b->plugin + offsetof(vyre_plugin, name), bytes[3]);
    else if (IN(vyre_plugin, version))
      put_text(b->plugin + offsetof(vyre_plugin, version), bytes[3]);
    else if (IN(vyre_plugin, passes))
      memset(b->plugin + offsetof(vyre_plugin, passes), 0, bytes[3] == 255 ? sizeof(void *) : 0);
    else if (IN(vyre_plugin, pass_count))
      put_count(b->plugin + offsetof(vyre_plugin, pass_count), bytes[3], PASSES);
    else
      put_bits(b->plugin, at, bytes[2], bytes[3]);
  } else if (which <= PASSES) {
    char *pass = b->passes[which - 1];
    if (IN(vyre_pass, name) || IN(vyre_pass, long_name) || IN(vyre_pass, summary) || IN(vyre_pass, help))
      put_text(pass + at / sizeof(void *) * sizeof(void *), bytes[3]);
    else if (IN(vyre_pass, params) || IN(vyre_pass, run) || IN(vyre_pass, phases) || IN(vyre_pass, prepare) ||
             IN(vyre_pass, finish))
      memset(pass + at / sizeof(void *) * sizeof(void *), 0, bytes[3] == 255 ? sizeof(void *) : 0);
    else if (IN(vyre_pass, param_count))
      put_count(pass + offsetof(vyre_pass, param_count), bytes[3], PARAMS);
    else
      put_bits(pass, at, bytes[2], bytes[3]);
  } else if (which == 4) {
    b->list[bytes[2] % PASSES] = bytes[3] == 255 ? NULL : (const vyre_pass *)(const void *)b->passes[bytes[3] % PASSES];
  } else if (which == 5) {
    edit_phases(at, bytes[2], bytes[3]);
  } else {
    char *param = b->params + bytes[2] / 16 % PARAMS * sizeof(vyre_param);
    at %= sizeof(vyre_param);
    if (IN(vyre_param, name) || IN(vyre_param, summary) || IN(vyre_param, words))
      put_text(param + at / sizeof(void *) * sizeof(void *), bytes[3]);
    else
      put_bits(param, at, bytes[2], bytes[3]);
  }
}

/* Moves the parameters to the edited stride.  Otherwise the registry would read a pointer from the middle of a parameter. */
static void
spread_params(blocks *b)
{
  uint32_t stride;
  memcpy(&stride, b->params, sizeof stride);
  if (stride <= sizeof(vyre_param) || stride > MOST_STRUCT)
    return;
  for (uint32_t i = PARAMS - 1; i > 0; i--) {
    vyre_param param;
    memcpy(&param, b->params + i * sizeof(vyre_param), sizeof param);
    memset(b->params + i * sizeof(vyre_param), 0, sizeof param);
    memcpy(b->params + (size_t)i * stride, &param, sizeof param);
  }
}

/* Calls the functions that read a registry.  Each registered pass must have help and parse as a pipeline. */
static void
use(const vyre_registry *registry)
{
  for (uint32_t i = 0; i < vyre_registry_pass_count(registry); i++) {
    const vyre_pass *pass = vyre_registry_pass(registry, i).pass;
    const char *name = pass->name;
    vyre_bytes help = {0}, printed = {0};
    vyre_pipeline *pipeline;
    fuzz_require(vyre_registry_help(registry, name, &help), name);
    vyre_status parsed = vyre_pipeline_parse(registry, name, strlen(name), "name", &pipeline);
    if (pass->requires_ & VYRE_COLUMNS ? fuzz_allow(parsed, name) : (fuzz_require(parsed, name), true)) {
      fuzz_require(vyre_pipeline_print(pipeline, &printed), name);
      vyre_pipeline_destroy(pipeline);
    }
    vyre_bytes_free(&help);
    vyre_bytes_free(&printed);
  }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  vyre_registry *registry;
  vyre_bytes before = {0}, after = {0};
  blocks b;
  make_good(&b);
  for (size_t i = 0; i + 5 <= size && i < 160; i += 4)
    edit(&b, data + i + 1);
  spread_params(&b);
  offered = size && data[0] == 255 ? NULL : (const vyre_plugin *)(const void *)b.plugin;
  fuzz_require(vyre_registry_create(NULL, &registry), "a registry");
  fuzz_require(vyre_registry_list(registry, &before), "the list");
  vyre_origin origin = size && data[0] & 1 ? VYRE_ORIGIN_CORE : VYRE_ORIGIN_OUTSIDE;
  bool added = fuzz_allow(vyre_registry_add(registry, query, "fuzzed", origin), "adding");
  for (uint32_t i = 0; i < PASSES; i++) /* the registry keeps copies of the structs */
    free(b.passes[i]);
  free(b.plugin);
  free(b.params);
  free(b.list);
  fuzz_require(vyre_registry_list(registry, &after), "the list");
  if (!added && (before.size != after.size || memcmp(before.data, after.data, after.size) != 0))
    fuzz_fail("a refused plugin changed the list:\n%s", after.data);
  use(registry);
  vyre_registry_destroy(registry);
  vyre_bytes_free(&before);
  vyre_bytes_free(&after);
  return 0;
}
