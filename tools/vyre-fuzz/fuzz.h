/* vyre-fuzz: what its files share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FUZZ_FUZZ_H
#define VYRE_FUZZ_FUZZ_H

#include "random_program.h"
#include "vyre/passmgr.h"

/* The outcome of a pipeline on a program. */
typedef enum verdict {
  VERDICT_FINE,
  VERDICT_PROGRAM,   /* the program itself is wrong: it does not verify, or not run */
  VERDICT_PASS,      /* a pass failed, left an invalid module, or reported its change wrongly */
  VERDICT_RUN,       /* what came out does not run */
  VERDICT_RESULT,    /* it computes something else */
  VERDICT_UNDEFINED, /* something undefined runs that did not run before */
  VERDICT_TEXT,      /* of its text, read again, and by the phases of GPU passes, the pipeline makes something else */
  VERDICT_SPIRV,     /* as SPIR-V, read again, it is refused or computes something else */
} verdict;

typedef struct trial {
  const vyre_registry *registry;
  uint64_t seed;                     /* of the memory */
  const char *pipeline;              /* text */
  bool text;                         /* its passes make the same of a program's text: those of the core do, others need not */
  vyre_device *device;               /* which the phases of GPU passes run on for `text` */
  const vyre_cost_model *cost_model; /* NULL: vyre's own */
  const char *where;                 /* " -load=FILE -target=NAME", or nothing */
  vyre_report *report;               /* NULL: none */
} trial;

/* check.c: runs the trial's pipeline on the program; `message` gives details (256 bytes). */
verdict check_program(const trial *t, const vyre_module *program, char message[256]);
const char *verdict_text(verdict of);

/* pipelines.c */
#define MOST_PIPELINE 512u
bool can_draw_pass(const vyre_registry *registry); /* random_pipeline requires this */
void random_pipeline(const vyre_registry *registry, uint64_t seed, char text[MOST_PIPELINE]);

/* coverage.c */
typedef struct coverage {
  uint64_t programs, strict, defined;
  uint64_t features[RANDOM_FEATURES]; /* programs that have each */
  uint64_t ops[VYRE_OP__COUNT], types[256];
  uint64_t measured, rows_before, rows_after; /* of default<O2> */
  struct {
    uint64_t ran, changed; /* programs */
  } passes[64];
} coverage;

void coverage_add_program(coverage *c, const vyre_module *program, uint32_t features);
/* Adds the passes that ran, and those that changed something, since the last report. */
void coverage_add_passes(coverage *c, const vyre_registry *registry, const vyre_report *report);
void coverage_print(const coverage *c, const vyre_registry *registry);

#endif
