/* The declarations of vyre-fuzz.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FUZZ_FUZZ_H
#define VYRE_FUZZ_FUZZ_H

#include "random_program.h"
#include "vyre/passmgr.h"

/* The outcome of a pipeline on a program. */
typedef enum verdict {
  VERDICT_FINE,
  VERDICT_PROGRAM,   /* the program itself is invalid: it does not verify or does not run */
  VERDICT_PASS,      /* a pass failed, left an invalid module, or reported its change wrongly */
  VERDICT_RUN,       /* the output does not run */
  VERDICT_RESULT,    /* the output computes other results */
  VERDICT_UNDEFINED, /* the output has undefined behavior that the program does not have */
  VERDICT_TEXT,      /* the output differs if the program is read from its text and the phases of GPU passes run */
  VERDICT_SPIRV,     /* the output is refused after SPIR-V export and import, or computes other results */
} verdict;

typedef struct trial {
  const vyre_registry *registry;
  uint64_t seed;                     /* of the memory */
  const char *pipeline;              /* text */
  bool text;                         /* check VERDICT_TEXT, which only passes of the core guarantee */
  vyre_device *device;               /* runs the phases of GPU passes for `text` */
  const vyre_cost_model *cost_model; /* NULL for the default model */
  const char *where;                 /* options that reproduce the failure, such as " -load=FILE -target=NAME", or "" */
  vyre_report *report;               /* or NULL */
} trial;

/* check.c: runs the trial's pipeline on the program.  `message` has room for 256 bytes of details. */
verdict check_program(const trial *t, const vyre_module *program, char message[256]);
const char *verdict_text(verdict of);

/* pipelines.c */
#define MOST_PIPELINE 512u
/* Returns whether the registry has a pass for random_pipeline, which requires one. */
bool can_draw_pass(const vyre_registry *registry);
void random_pipeline(const vyre_registry *registry, uint64_t seed, char text[MOST_PIPELINE]);

/* coverage.c */
typedef struct coverage {
  uint64_t programs, strict, defined;
  uint64_t features[RANDOM_FEATURES]; /* programs with each feature */
  uint64_t ops[VYRE_OP__COUNT], types[256];
  uint64_t measured, rows_before, rows_after; /* programs and rows of measurements of default<O2> */
  struct {
    uint64_t ran, changed; /* programs */
  } passes[64];
} coverage;

void coverage_add_program(coverage *c, const vyre_module *program, uint32_t features);
/* Adds the passes that ran, and those that changed something, since the last report. */
void coverage_add_passes(coverage *c, const vyre_registry *registry, const vyre_report *report);
void coverage_print(const coverage *c, const vyre_registry *registry);

#endif
