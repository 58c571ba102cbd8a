/* The registry's inside, for the parts of the pass manager.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_REGISTRY_REGISTRY_H
#define VYRE_PASSMGR_REGISTRY_REGISTRY_H

#include "vyre/passmgr.h"

#include <sys/types.h>

/* Where the memory of phases comes from: found when the plugin is loaded. */
typedef struct vyre_phase_source {
  uint32_t column;    /* COLUMN: the offset of its address in vyre_view */
  uint32_t analysis;  /* ... of which it is; 0: the table's own */
  uint32_t provides;  /* ... of the one that the pass makes: its bit of VYRE_COLUMNS; else 0 */
  uint32_t fact;      /* FACT: which one */
  bool is_of_another; /* COLUMN: of an analysis, which the pass does not make */
} vyre_phase_source;

/* A pass: the host's copy of the descriptor, parameters too.  Strings stay the plugin's, which is never unloaded. */
typedef struct vyre_pass_record {
  vyre_pass pass;
  vyre_param *params;         /* owned; pass.params points here */
  vyre_phase_source *sources; /* owned; by pass.phases->memory; NULL: it has no phases */
  uint32_t phase_analyses;    /* that its phases require beside those that it requires itself */
  bool phases_write;          /* they write columns of the table */
  const struct vyre_plugin_record *plugin;
} vyre_pass_record;

typedef struct vyre_plugin_record {
  vyre_plugin plugin; /* the host's copy; .passes is the plugin's array */
  char *path;         /* owned */
  bool is_file;
  dev_t device;
  ino_t inode;
} vyre_plugin_record;

struct vyre_registry {
  vyre_allocator allocator;
  vyre_plugin_record **plugins; /* owned; in the order they came */
  uint32_t plugin_count, plugin_capacity;
  vyre_pass_record **passes; /* owned; sorted by name */
  uint32_t pass_count, pass_capacity;
};

/* The analyses and columns, in the order in which they are made: the bit, the name for users, and its value at a row. */
#define VYRE_ANALYSIS_TABLE(ANALYSIS)                                                 \
  ANALYSIS(VYRE_VERSIONS, "versions", "the state of memory that the row sees")        \
  ANALYSIS(VYRE_LOOPS, "loops", "the innermost loop around the row")                  \
  ANALYSIS(VYRE_DOMINANCE, "dominance", "the last row that is in the row")            \
  ANALYSIS(VYRE_LEVELS, "levels", "the level over operands and the depth of regions") \
  ANALYSIS(VYRE_HASHES, "hashes", "the hash of the row's value")                      \
  ANALYSIS(VYRE_CLASSES, "classes", "the smallest row that is equal to the row")
enum { VYRE_ANALYSIS_COUNT = 6 };
typedef struct vyre_analysis {
  uint32_t bit;
  const char *name;
} vyre_analysis;
extern const vyre_analysis vyre_analyses[VYRE_ANALYSIS_COUNT];

/* descriptor.c: the plugin's and its passes' descriptors, checked and copied.  On success *out_passes has plugin->pass_count
 * records, whose `plugin` is not yet set. */
VYRE_MUST_USE vyre_status vyre_descriptor_read(const vyre_allocator *allocator, const vyre_plugin *theirs, const char *path,
                                               vyre_origin origin, vyre_plugin *out_plugin, vyre_pass_record ***out_passes);
void vyre_pass_record_free(const vyre_allocator *allocator, vyre_pass_record *record);

/* registry.c */
VYRE_MUST_USE vyre_status vyre_registry_add_descriptor(vyre_registry *registry, const vyre_plugin *theirs, const char *path,
                                                       vyre_origin origin);
/* The pass of that name or long name, or the only one with that name after a plugin's.  NULL: none; *out_other is set
 * where two plugins have it. */
const vyre_pass_record *vyre_registry_find(const vyre_registry *registry, const char *name, size_t length,
                                           const vyre_pass_record **out_other);

/* The pass that provides the column, one bit of VYRE_COLUMNS; NULL: none. */
const vyre_pass_record *vyre_registry_provider(const vyre_registry *registry, uint32_t column);

/* Names that are no pass's: combinators, `default`, and what later versions mean by them. */
typedef enum vyre_reserved {
  VYRE_RESERVED_NOT,
  VYRE_RESERVED_COMBINATOR, /* repeat, fixpoint */
  VYRE_RESERVED_DEFAULT,
  VYRE_RESERVED_SCOPE, /* func, block, module */
  VYRE_RESERVED_LATER,
} vyre_reserved;

vyre_reserved vyre_reserved_name(const char *name, size_t length);
/* "acme.unroll", "dce": what a pass may be called; dot: with a plugin's name or not. */
bool vyre_name_is_valid(const char *name, bool *out_has_dot);

/* elf.c, windows/pe.c: whether all of an open shared object is there, as far as its headers tell; a file that is none is left to
 * who loads it. */
bool vyre_library_is_whole(int file, uint64_t size);

/* running.c: what vyre_plugin_code_running gives in this thread while a plugin is loaded; NULL: it is. */
void vyre_plugin_code_load(const char *path);

/* host.c, builtin.c */
const vyre_host *vyre_host_table(void);
const vyre_plugin *vyre_builtin_query(const vyre_host *host);
/* The analyses that the parameters of a built-in pass require, beside those of its descriptor; of another pass none. */
uint32_t vyre_builtin_requires(const vyre_pass_record *record, const uint64_t *values);

/* opset.c: the first row with something that came after that op set, which there is; 0: none.  O(rows). */
uint32_t vyre_opset_first_newer(const vyre_view *view, uint32_t opset);

#endif
