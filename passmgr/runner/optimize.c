/* Optimizes a shader in one call.
 *
 * A call keeps objects for later calls: registries by their plugins, pipelines by their text, and modules that no call uses.  A
 * lock protects the lists.  No shader is processed under the lock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/optimize.h"

#include "base/options.h"
#include "vyre/c.h"
#include "vyre/cross.h"
#include "vyre/io.h"
#include "vyre/passmgr.h"
#include "vyre/ptx.h"
#include "vyre/spirv.h"
#include "vyre/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options ------------------------------------------------------------------------------------------------------------- */

/* GLSL to REFLECTION are in the order of vyre_cross_language. */
typedef enum form { SPIRV, ASSEMBLY, GLSL, HLSL, MSL, REFLECTION, VIR, C, PTX } form;

/* The options of a call, checked. */
typedef struct request {
  vyre_optimize_options options;
  form form;
  vyre_glsl_options glsl;
} request;

/* Returns USAGE if a list of texts has an element that is NULL, or is NULL itself. */
static vyre_status
check_list(const char *const *list, uint32_t count, const char *name)
{
  for (uint32_t i = 0; i < count; i++)
    if (!list || !list[i])
      return VYRE_ERROR(VYRE_CODE_USAGE, "%s has %u elements, but element %u is NULL\nFix: give as many texts as the count says",
                        name, count, i);
  return VYRE_OK;
}

static vyre_status
read_emit(const char *name, form *out)
{
  static const char *const names[] = {"spirv", "spvasm", "glsl", "hlsl", "msl", "reflection", "vir", "c", "ptx"};
  *out = SPIRV;
  for (int i = 0; name && i < (int)(sizeof names / sizeof *names); i++)
    if (strcmp(name, names[i]) == 0) {
      *out = (form)i;
      return VYRE_OK;
    }
  return name ? VYRE_ERROR(VYRE_CODE_USAGE,
                           "'%.100s' is not an output format\nFix: use spirv, spvasm, glsl, hlsl, msl, reflection, vir, c or ptx",
                           name)
              : VYRE_OK;
}

static vyre_status
read_options(const vyre_optimize_options *given, request *out)
{
  vyre_optimize_options *const o = &out->options;
  VYRE_TRY(vyre_options_read(o, sizeof *o, given, "vyre_optimize_options"));
  VYRE_TRY(check_list(o->plugins, o->plugin_count, "plugins"));
  VYRE_TRY(check_list(o->defines, o->define_count, "defines"));
  VYRE_TRY(check_list(o->include_dirs, o->include_dir_count, "include_dirs"));
  VYRE_TRY(check_list(o->specialization.values, o->specialization.count, "specialization.values"));
  VYRE_TRY(check_list(o->specialization.optional, o->specialization.optional_count, "specialization.optional"));
  VYRE_TRY(read_emit(o->emit, &out->form));
  if (!o->passes)
    o->passes = "default<O2>";
  if (!o->path)
    o->path = "shader";
  out->glsl = (vyre_glsl_options){.struct_size = sizeof(vyre_glsl_options),
                                  .include_dirs = o->include_dirs,
                                  .include_dir_count = o->include_dir_count,
                                  .defines = o->defines,
                                  .define_count = o->define_count,
                                  .debug = o->debug,
                                  .entry_point = o->entry_point};
  if (o->language)
    VYRE_TRY(vyre_glsl_language_parse(o->language, &out->glsl.language));
  if (o->target_env)
    VYRE_TRY(vyre_glsl_env_parse(o->target_env, &out->glsl.target_env));
  return o->stage ? vyre_glsl_stage_parse(o->stage, &out->glsl.stage) : VYRE_OK;
}

/* ---- registries, pipelines and modules that are kept ------------------------------------------------------------------------ */

enum { MOST_PIPELINES = 64, MOST_MODULES = 64 };
#define MOST_KEPT ((size_t)32 << 20) /* bytes of a module that is kept */

typedef struct kept_registry {
  struct kept_registry *next;
  char *plugins; /* paths of the plugins, each on a line; owned */
  vyre_registry *registry;
} kept_registry;

typedef struct kept_pipeline {
  struct kept_pipeline *next; /* the next pipeline in the order of use, the last used one first */
  const kept_registry *from;
  char *passes;
  vyre_pipeline *pipeline;
  uint32_t users; /* calls that run the pipeline */
} kept_pipeline;

static struct {
  pthread_mutex_t lock;
  kept_registry *registries;
  kept_pipeline *pipelines;
  vyre_module *modules[MOST_MODULES];
  uint32_t module_count;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void
acquire(void)
{
  pthread_mutex_lock(&kept.lock);
}

static void
release(void)
{
  pthread_mutex_unlock(&kept.lock);
}

/* Releases the lock in the child of a fork.  Otherwise a lock that another thread held would stay locked. */
__attribute__((constructor)) static void
release_in_children(void)
{
  (void)pthread_atfork(acquire, release, release); /* Windows has no fork */
}

static void
free_registry(kept_registry *r)
{
  vyre_registry_destroy(r->registry);
  free(r->plugins);
  free(r);
}

static void
free_pipeline(kept_pipeline *p)
{
  vyre_pipeline_destroy(p->pipeline);
  free(p->passes);
  free(p);
}

static vyre_status
load_plugins(const vyre_optimize_options *o, vyre_registry *registry)
{
  VYRE_TRY(vyre_registry_load_core(registry));
  for (uint32_t i = 0; i < o->plugin_count; i++)
    VYRE_TRY(vyre_registry_load(registry, o->plugins[i], VYRE_ORIGIN_OUTSIDE));
  return VYRE_OK;
}

static vyre_status
find_registry(const vyre_optimize_options *o, const kept_registry **out)
{
  vyre_bytes plugins = {0};
  VYRE_TRY(vyre_bytes_reserve(&plugins, 1));
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < o->plugin_count && !status; i++)
    status = vyre_bytes_printf(&plugins, "%s\n", o->plugins[i]);
  for (kept_registry *r = status ? NULL : kept.registries; r; r = r->next)
    if (strcmp(r->plugins, plugins.data) == 0) {
      vyre_bytes_free(&plugins);
      *out = r;
      return VYRE_OK;
    }
  kept_registry *made = status ? NULL : calloc(1, sizeof *made);
  if (!made) {
    vyre_bytes_free(&plugins);
    return status ? status : VYRE_OUT_OF_MEMORY("to keep a registry");
  }
  made->plugins = plugins.data;
  status = vyre_registry_create(NULL, &made->registry);
  if (!status)
    status = load_plugins(o, made->registry);
  if (status) {
    free_registry(made);
    return status;
  }
  made->next = kept.registries;
  kept.registries = made;
  *out = made;
  return VYRE_OK;
}

/* Frees pipelines that no call uses, the least recently used ones, if more than MOST_PIPELINES are kept. */
static void
evict_pipelines(void)
{
  uint32_t count = 0;
  for (kept_pipeline **at = &kept.pipelines; *at;) {
    kept_pipeline *p = *at;
    if (++count <= MOST_PIPELINES || p->users) {
      at = &p->next;
      continue;
    }
    *at = p->next;
    free_pipeline(p);
  }
}

static vyre_status
make_pipeline(const vyre_optimize_options *o, const kept_registry *from, kept_pipeline **out)
{
  kept_pipeline *made = calloc(1, sizeof *made);
  const size_t size = strlen(o->passes) + 1;
  if (made)
    made->passes = malloc(size);
  if (!made || !made->passes) {
    free(made);
    return VYRE_OUT_OF_MEMORY("to keep a pipeline");
  }
  memcpy(made->passes, o->passes, size);
  made->from = from;
  vyre_status status = vyre_pipeline_parse(from->registry, o->passes, size - 1, "passes", &made->pipeline);
  if (status) {
    free_pipeline(made);
    return status;
  }
  evict_pipelines();
  *out = made;
  return VYRE_OK;
}

/* Finds or makes the pipeline of the options.  The caller must release the pipeline by end_pipeline. */
static vyre_status
begin_pipeline(const vyre_optimize_options *o, kept_pipeline **out)
{
  const kept_registry *from = NULL;
  acquire();
  vyre_status status = find_registry(o, &from);
  kept_pipeline **at = &kept.pipelines, *found = NULL;
  while (!status && *at && !((*at)->from == from && strcmp((*at)->passes, o->passes) == 0))
    at = &(*at)->next;
  if (!status && *at) {
    found = *at;
    *at = found->next;
  } else if (!status) {
    status = make_pipeline(o, from, &found);
  }
  if (found) { /* the list begins with the last used pipeline */
    found->next = kept.pipelines;
    kept.pipelines = found;
    found->users++;
  }
  release();
  *out = found;
  return status;
}

static void
end_pipeline(kept_pipeline *p)
{
  acquire();
  p->users--;
  release();
}

static vyre_status
begin_module(const vyre_optimize_options *o, vyre_module **out)
{
  *out = NULL;
  acquire();
  if (!o->allocator && kept.module_count)
    *out = kept.modules[--kept.module_count];
  release();
  if (!*out)
    VYRE_TRY(vyre_module_create(o->allocator, 0, out));
  vyre_module_set_growth(*out, o->max_growth ? o->max_growth : VYRE_MODULE_GROWTH);
  vyre_module_set_keeps_vectors(*out, o->keep_vectors);
  return VYRE_OK;
}

static void
end_module(const vyre_optimize_options *o, vyre_module *module)
{
  if (!o->allocator) {
    vyre_module_clear(module);
    const bool is_small = vyre_module_bytes(module) <= MOST_KEPT;
    acquire();
    if (is_small && kept.module_count < MOST_MODULES) {
      kept.modules[kept.module_count++] = module;
      module = NULL;
    }
    release();
  }
  vyre_module_destroy(module);
}

void
vyre_optimize_end(void)
{
  acquire();
  for (kept_pipeline *p = kept.pipelines, *next; p; p = next) {
    next = p->next;
    free_pipeline(p);
  }
  for (kept_registry *r = kept.registries, *next; r; r = next) {
    next = r->next;
    free_registry(r);
  }
  for (uint32_t i = 0; i < kept.module_count; i++)
    vyre_module_destroy(kept.modules[i]);
  kept.pipelines = NULL;
  kept.registries = NULL;
  kept.module_count = 0;
  release();
}

/* ---- one shader ---------------------------------------------------------------------------------------------------------- */

static vyre_status
write_spirv(const request *r, const vyre_module *module, const vyre_source *source, vyre_bytes *out)
{
  const vyre_specialization *s = &r->options.specialization;
  const vyre_spirv_options options = {.struct_size = sizeof options, .strip = r->options.strip};
  const bool is_changed = r->options.passes[0] || options.strip || s->count || s->optional_count || s->freeze;
  if (!is_changed && source->kind != VYRE_INPUT_VIR && source->kind != VYRE_INPUT_VIR0)
    return vyre_source_copy(source, out);
  return vyre_source_write(module, 0, &options, source, out);
}

/* Writes the module as assembly, or in a language of SPIRV-Cross. */
static vyre_status
write_text(const request *r, const vyre_module *module, const vyre_source *source, vyre_bytes *out)
{
  const vyre_cross_options options = {.struct_size = sizeof options,
                                      .language = (vyre_cross_language)(VYRE_CROSS_GLSL + (r->form - GLSL)),
                                      .entry_point = r->options.entry_point};
  vyre_bytes words = {.allocator = r->options.allocator};
  vyre_status status = write_spirv(r, module, source, &words);
  if (!status && r->form == ASSEMBLY)
    status = vyre_assembly_write(words.data, words.size, source->path, false, source->diagnostics, out);
  else if (!status)
    status = vyre_cross_write(words.data, words.size, source->path, &options, out);
  vyre_bytes_free(&words);
  return status;
}

static vyre_status
write_output(const request *r, const vyre_module *module, const vyre_source *source, vyre_bytes *out)
{
  switch (r->form) {
  case VIR:
    return vyre_text_print(module, NULL, out);
  case C:
    return vyre_c_write(module, VYRE_NONE, NULL, out);
  case PTX:
    return vyre_ptx_write(module, VYRE_NONE, NULL, out);
  case SPIRV:
    return write_spirv(r, module, source, out);
  default:
    return write_text(r, module, source, out);
  }
}

static vyre_status
process(const request *r, const vyre_pipeline *pipeline, vyre_module *module, vyre_source *source, vyre_bytes *words,
        vyre_bytes *out)
{
  vyre_glsl_options glsl = r->glsl;
  const vyre_pipeline_options options = {.struct_size = sizeof options, .diagnostics = source->diagnostics};
  const size_t before = out->size;
  glsl.words = words;
  source->glsl = &r->glsl;
  VYRE_TRY(vyre_input_parse(module, source->path, source->data, source->size, &glsl, source->diagnostics, &source->kind));
  source->words = source->kind == VYRE_INPUT_SPIRV ? NULL : words;
  if (source->kind == VYRE_INPUT_VIR) /* other kinds are verified when they are read */
    VYRE_TRY(vyre_source_check(source, module, NULL));
  VYRE_TRY(vyre_module_specialize(module, &r->options.specialization, source->path));
  if (pipeline) {
    VYRE_TRY(vyre_status_note(vyre_pipeline_run(pipeline, module, &options), "in '%s'", source->path));
    VYRE_TRY(vyre_status_note(vyre_module_check(module, NULL), "in '%s', after the last pass", source->path));
  }
  return vyre_bytes_undo(out, before, write_output(r, module, source, out));
}

enum { MESSAGE_SIZE = 1024 };

/* Writes the first error of a shader to `user`, a text of MESSAGE_SIZE bytes that is empty before. */
static void
keep_first_error(void *user, const vyre_diagnostic *diagnostic)
{
  char *first = user;
  if (diagnostic->severity != VYRE_SEVERE || first[0])
    return;
  (void)vyre_diagnostic_format(diagnostic, first, MESSAGE_SIZE);
  const size_t length = strlen(first);
  if (length && first[length - 1] == '\n')
    first[length - 1] = '\0';
}

static vyre_status
optimize(const request *r, const vyre_pipeline *pipeline, const char *path, const void *data, size_t size,
         vyre_diagnostics diagnostics, vyre_bytes *out)
{
  char first[MESSAGE_SIZE] = ""; /* the first error, for callers that receive no diagnostics */
  if (!out || (!data && size))
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s: %s is NULL\nFix: give the address of %s", path, out ? "data" : "out",
                      out ? "the shader" : "a vyre_bytes");
  if (!diagnostics.emit)
    diagnostics = (vyre_diagnostics){keep_first_error, first};
  vyre_source source = {.path = path, .data = data ? data : "", .size = size, .diagnostics = diagnostics};
  vyre_bytes words = {.allocator = r->options.allocator};
  vyre_module *module;
  VYRE_TRY(begin_module(&r->options, &module));
  vyre_status status = process(r, pipeline, module, &source, &words, out);
  if (first[0])
    status = vyre_status_note(status, "%s", first);
  vyre_bytes_free(&words);
  end_module(&r->options, module);
  return status;
}

vyre_status
vyre_optimize(const vyre_optimize_options *options, const void *data, size_t size, vyre_bytes *out)
{
  request r;
  kept_pipeline *pipeline = NULL;
  VYRE_TRY(read_options(options, &r));
  if (r.options.passes[0])
    VYRE_TRY(begin_pipeline(&r.options, &pipeline));
  vyre_status status = optimize(&r, pipeline ? pipeline->pipeline : NULL, r.options.path, data, size, r.options.diagnostics, out);
  if (pipeline)
    end_pipeline(pipeline);
  return status;
}

/* ---- many shaders -------------------------------------------------------------------------------------------------------- */

typedef struct many {
  request request;
  const vyre_pipeline *pipeline;
  vyre_optimize_item *items;
  size_t item_size;
  uint32_t count, next; /* `lock` protects `next`, and calls of diagnostics.emit */
  vyre_diagnostics diagnostics;
  pthread_mutex_t lock;
} many;

static vyre_optimize_item *
item_at(const many *m, uint32_t index)
{
  return (vyre_optimize_item *)(void *)((char *)m->items + index * m->item_size);
}

static void
emit_alone(void *user, const vyre_diagnostic *diagnostic)
{
  many *m = user;
  pthread_mutex_lock(&m->lock);
  m->diagnostics.emit(m->diagnostics.user, diagnostic);
  pthread_mutex_unlock(&m->lock);
}

static void *
work(void *user)
{
  many *m = user;
  for (;;) {
    pthread_mutex_lock(&m->lock);
    const uint32_t i = m->next;
    m->next += i < m->count;
    pthread_mutex_unlock(&m->lock);
    if (i >= m->count)
      return NULL;
    vyre_optimize_item *item = item_at(m, i);
    item->status = optimize(&m->request, m->pipeline, item->path ? item->path : m->request.options.path, item->data, item->size,
                            item->diagnostics.emit ? item->diagnostics : m->request.options.diagnostics, &item->out);
  }
}

/* Runs work() on the caller's thread and on at most `threads` - 1 others.  Uses fewer threads if a thread cannot be started. */
static void
work_together(many *m, uint32_t threads)
{
  pthread_t *others = threads > 1 ? calloc(threads - 1, sizeof *others) : NULL;
  uint32_t started = 0;
  while (others && started < threads - 1 && pthread_create(&others[started], NULL, work, m) == 0)
    started++;
  work(m);
  for (uint32_t i = 0; i < started; i++)
    pthread_join(others[i], NULL);
  free(others);
}

vyre_status
vyre_optimize_many(const vyre_optimize_options *options, vyre_optimize_item *items, size_t item_size, uint32_t count,
                   uint32_t threads)
{
  many m = {.items = items, .item_size = item_size, .count = count};
  kept_pipeline *pipeline = NULL;
  const long processors = threads ? 0 : sysconf(_SC_NPROCESSORS_ONLN);
  const uint32_t most = threads ? threads : processors < 1 ? 1 : (uint32_t)processors;
  if (item_size < sizeof *items || item_size % _Alignof(vyre_optimize_item) != 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "item_size is %zu, not the size of vyre_optimize_item\nFix: use sizeof(vyre_optimize_item)",
                      item_size);
  if (!items && count)
    return VYRE_ERROR(VYRE_CODE_USAGE, "items is NULL, but count is %u\nFix: give the address of the items", count);
  for (uint32_t i = 0; i < count; i++)
    item_at(&m, i)->status = VYRE_OK;
  VYRE_TRY(read_options(options, &m.request));
  if (m.request.options.passes[0])
    VYRE_TRY(begin_pipeline(&m.request.options, &pipeline));
  m.pipeline = pipeline ? pipeline->pipeline : NULL;
  m.diagnostics = m.request.options.diagnostics;
  if (m.diagnostics.emit)
    m.request.options.diagnostics = (vyre_diagnostics){emit_alone, &m};
  pthread_mutex_init(&m.lock, NULL);
  work_together(&m, most < count ? most : count);
  pthread_mutex_destroy(&m.lock);
  if (pipeline)
    end_pipeline(pipeline);
  uint32_t failed = 0, first = 0;
  for (uint32_t i = count; i-- > 0;)
    if (item_at(&m, i)->status) {
      failed++;
      first = i;
    }
  return failed
             ? VYRE_ERROR(VYRE_CODE_INPUT, "%u of %u shaders failed, the first one at index %u\nFix: see the status of each item",
                          failed, count, first)
             : VYRE_OK;
}
