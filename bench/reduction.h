/* Compares the sizes of shaders: as given, after vyre, and after each peer.  Prints them by shader, in sum, and by instruction.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BENCH_REDUCTION_H
#define VYRE_BENCH_REDUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The measured forms of a shader. */
typedef enum reduction_form {
  REDUCTION_BEFORE,
  REDUCTION_VYRE,
  REDUCTION_LIKE, /* output of the peer's PEER_LIKE */
  REDUCTION_O,    /* output of the peer's PEER_O */
  REDUCTION_FORMS,
} reduction_form;

typedef struct reduction_size {
  size_t instructions; /* in function bodies, without labels and function frames */
  size_t lanes;        /* operations times the lanes of their results; composites and structure are free */
} reduction_size;

typedef struct reduction_entry {
  const char *path;
  reduction_size sizes[REDUCTION_FORMS];
  bool refused[REDUCTION_FORMS]; /* by vyre or by that peer; not compared */
} reduction_entry;

typedef struct reduction {
  reduction_entry *entries; /* borrowed */
  size_t count;
  size_t by_op[REDUCTION_FORMS][1 << 16]; /* lanes by instruction, summed over all entries */
} reduction;

/* Measures a module as `form` of entry `at`. */
void reduction_measure(reduction *r, size_t at, reduction_form form, const uint32_t *words, size_t count);
/* Prints the sums, and the numbers of shaders that vyre makes smaller, as small or larger than each peer.  Then prints the ten
 * worst of each peer by name.  `each` prints a line for each shader before that, `ops` the lanes by instruction after it. */
void reduction_print(const reduction *r, bool each, bool ops);

#endif
