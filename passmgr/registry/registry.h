/* The internals of the registry, for the other parts of the pass manager.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_REGISTRY_REGISTRY_H
#define VYRE_PASSMGR_REGISTRY_REGISTRY_H

#include "vyre/passmgr.h"

#include <sys/types.h>

/* The source of a memory that phases use, resolved when the plugin is loaded. */
typedef struct vyre_phase_source {
  uint32_t column;    /* COLUMN: the offset of its address in vyre_view */
  uint32_t analysis;  /* COLUMN: the analysis that makes the column, or 0 for a column of the table */
  uint32_t provides;  /* COLUMN: the column's bit of VYRE_COLUMNS if this pass provides the column, otherwise 0 */
  uint32_t fact;      /* FACT: the fact's number */
  bool is_of_another; /* COLUMN: the column belongs to an analysis that this pass does not provide */
} vyre_phase_source;

/* A pass: the host's copy of the descriptor and its parameters.  Strings stay in the plugin, which is never unloaded. */
typedef struct vyre_pass_record {
  vyre_pass pass;
  vyre_param *params;         /* owned; pass.params points here */
  vyre_phase_source *sources; /* owned, by pass.phases->memory; NULL without phases */
  uint32_t phase_analyses;    /* analyses that the phases require in addition to those of the pass */
  bool phases_write;          /* the phases write columns of the row table */
  const struct vyre_plugin_record *plugin;
} vyre_pass_record;

typedef struct vyre_plugin_record {
  vyre_plugin plugin; /* the host's copy; its .passes points into the plugin */
  char *path;         /* owned */
  bool is_file;
  dev_t device;
  ino_t inode;
} vyre_plugin_record;

struct vyre_registry {
  vyre_allocator allocator;
  vyre_plugin_record **plugins; /* owned, in the order of loading */
  uint32_t plugin_count, plugin_capacity;
  vyre_pass_record **passes; /* owned, sorted by name */
  uint32_t pass_count, pass_capacity;
};

/* The analyses and columns, in the order of their computation: the bit, the name for users, and the value at a row. */
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

/* Checks and copies the descriptors of a plugin and its passes.  On success *out_passes has plugin->pass_count records, whose
 * `plugin` is not set yet. */
VYRE_MUST_USE vyre_status vyre_descriptor_read(const vyre_allocator *allocator, const vyre_plugin *theirs, const char *path,
                                               vyre_origin origin, vyre_plugin *out_plugin, vyre_pass_record ***out_passes);
void vyre_pass_record_free(const vyre_allocator *allocator, vyre_pass_record *record);

/* registry.c */
VYRE_MUST_USE vyre_status vyre_registry_add_descriptor(vyre_registry *registry, const vyre_plugin *theirs, const char *path,
                                                       vyre_origin origin);
/* Returns the pass with that name or long name, or the only pass with that name after a plugin's name.  Returns NULL if there is
 * none.  If several plugins have a pass of that name, *out_other is one of those passes. */
const vyre_pass_record *vyre_registry_find(const vyre_registry *registry, const char *name, size_t length,
                                           const vyre_pass_record **out_other);

/* Returns the pass that provides a column, one bit of VYRE_COLUMNS, or NULL. */
const vyre_pass_record *vyre_registry_provider(const vyre_registry *registry, uint32_t column);

/* Reserved names: combinators, `default`, and names for later versions. */
typedef enum vyre_reserved {
  VYRE_RESERVED_NOT,
  VYRE_RESERVED_COMBINATOR, /* repeat, fixpoint */
  VYRE_RESERVED_DEFAULT,
  VYRE_RESERVED_SCOPE, /* func, block, module */
  VYRE_RESERVED_LATER,
} vyre_reserved;

vyre_reserved vyre_reserved_name(const char *name, size_t length);
/* Returns whether a pass may have the name, such as "acme.unroll" or "dce".  *out_has_dot is whether it contains a plugin's name.
 */
bool vyre_name_is_valid(const char *name, bool *out_has_dot);

/* Returns whether an open shared object is complete, by its headers.  Returns true for other files, which the dynamic linker
 * rejects. Defined in elf.c and windows/pe.c. */
bool vyre_library_is_whole(int file, uint64_t size);

/* Sets the plugin that vyre_plugin_code_running returns in this thread while it is loaded.  NULL ends the loading. */
void vyre_plugin_code_load(const char *path);

/* host.c, builtin.c */
const vyre_host *vyre_host_table(void);
const vyre_plugin *vyre_builtin_query(const vyre_host *host);
/* Returns the analyses that the parameters of a built-in pass require in addition to those of its descriptor.  Returns 0 for other
 * passes. */
uint32_t vyre_builtin_requires(const vyre_pass_record *record, const uint64_t *values);

/* Returns the first row with an op, kind or flag that is newer than the op set, or 0 if there is none.  O(rows). */
uint32_t vyre_opset_first_newer(const vyre_view *view, uint32_t opset);

#endif
