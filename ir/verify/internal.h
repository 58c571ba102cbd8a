/* Shared declarations of the verifier.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_VERIFY_INTERNAL_H
#define VYRE_IR_VERIFY_INTERNAL_H

#include "vyre/opaque.h"
#include "vyre/verify.h"

/* Facts about an entry of the type table. */
enum {
  TYPE_BAD = 1, /* an error was reported for the type or a part of it */
  TYPE_HAS_BOOL = 2,
  TYPE_HAS_RUNTIME = 4, /* a runtime array, or a struct that ends with one */
  TYPE_HAS_ROW = 8,     /* a row gives a length in it */
  TYPE_HAS_ACCESS = 16, /* a member in it has access bits */
  TYPE_HAS_2 = 32,      /* a scalar of 2, 4 or 8 bytes; the type's offset is a multiple of the greatest */
  TYPE_HAS_4 = 64,
  TYPE_HAS_8 = 128,
};

/* The order number of an unlinked row (vyre_row_unlink). */
#define ORDER_UNLINKED UINT32_MAX

/* Limits of a program: VYRE_MOST_ROWS, VYRE_MOST_DEPTH, VYRE_MOST_NESTING.  Tests have lower ones. */
typedef struct verify_limits {
  uint32_t rows, depth, nesting;
} verify_limits;

typedef struct verifier {
  const vyre_module *module;
  const vyre_view *view;
  vyre_verify_errors *errors;
  verify_limits limits;
  bool out_of_memory;
  uint32_t rows;
  uint32_t *order;   /* by row: number in program order from 1, or 0 if not reached */
  uint32_t *extent;  /* of a row with regions, the last order number in it; of an `at` row, its buffer or 0 */
  uint8_t *constant; /* by row: results of vyre_verify_is_constant; allocated on first use */
  uint32_t *stack;   /* scratch of vyre_verify_is_constant and vyre_verify_type_rows */
  uint32_t stack_count, stack_capacity;
  uint32_t type_count;
  uint8_t *type_facts;  /* by type id: bits from TYPE_BAD on */
  uint64_t *type_words; /* by type id: words of an initializer; a length given by a row counts as 0 */
  uint32_t *type_seen;  /* by type id: the last buffer for which vyre_verify_type_rows visited the type; allocated on first use */
} verifier;

/* Text buffers for messages. */
typedef struct text_buffer {
  char text[160];
} text_buffer;

void *vyre_verify_alloc(verifier *k, size_t bytes);
void vyre_verify_free(verifier *k, void *memory, size_t bytes);
/* Marks functions that report errors. They are kept out of the hot path, because formatting a text costs more than all checks of a
 * row. */
#define VYRE_VERIFY_COLD __attribute__((cold))
VYRE_VERIFY_COLD void vyre_verify_report(verifier *k, uint32_t row, const char *format, ...) VYRE_PRINTF(3, 4);
/* Returns "%name" or "row 12". */
VYRE_VERIFY_COLD const char *vyre_verify_name(const verifier *k, uint32_t row, text_buffer *buffer);
/* Returns the name and the type or op: "%x (f32x2)", "row 12 (store)". */
VYRE_VERIFY_COLD const char *vyre_verify_show(const verifier *k, uint32_t row, text_buffer *buffer);
VYRE_VERIFY_COLD const char *vyre_verify_type_text(vyre_type type, text_buffer *buffer);
const char *vyre_verify_class_text(vyre_class klass);
VYRE_VERIFY_COLD const char *vyre_verify_memory_type_text(const verifier *k, vyre_type_id type, text_buffer *buffer);

static inline bool
type_is_value(vyre_type type)
{
  return vyre_kind_is_scalar(VYRE_TYPE_KIND(type));
}

static inline bool
type_id_is_valid(const verifier *k, vyre_type_id type)
{
  return type < 256 ? type_is_value((vyre_type)type) : type < k->type_count;
}

static inline vyre_opcode
op_of(const verifier *k, uint32_t row)
{
  return (vyre_opcode)VYRE_ROW_OP(k->view->op[row]);
}

static inline vyre_type
type_of(const verifier *k, uint32_t row)
{
  return VYRE_ROW_TYPE(k->view->op[row]);
}

static inline uint64_t
bits_of(const verifier *k, uint32_t row)
{
  return (uint64_t)k->view->imm_hi[row] << 32 | k->view->imm[row];
}

static inline bool
row_is_reached(const verifier *k, uint32_t row)
{
  return row < k->rows && k->order[row] != 0 && k->order[row] != ORDER_UNLINKED;
}

/* Verifies the module like vyre_verify, with other limits. */
vyre_status vyre_verify_within(const vyre_module *module, verify_limits limits, vyre_verify_errors *errors);

/* links.c: checks links, regions, jumps, and the limits of rows and nesting.  Fills order and extent. */
void vyre_verify_links(verifier *k);
/* types.c: checks the type table. */
void vyre_verify_types(verifier *k);
/* Checks the rows that give lengths in a buffer's type. */
void vyre_verify_type_rows(verifier *k, uint32_t buffer, vyre_type_id type);
/* Returns whether a row is computed only from const and spec rows. */
bool vyre_verify_is_constant(verifier *k, uint32_t row);
/* Returns the words of an initializer of a sized type without length rows. */
uint64_t vyre_verify_words(verifier *k, vyre_type_id type);
/* dot.c */
void vyre_verify_int_dot(verifier *k, uint32_t row);
/* opaque.c */
uint8_t vyre_verify_words_type(verifier *k, vyre_type_id type, const vyre_type_info *info);
void vyre_verify_opaque(verifier *k, uint32_t row);
void vyre_verify_opaque_var(verifier *k, uint32_t row);
void vyre_verify_opaque_stored(verifier *k, uint32_t row, uint32_t x, vyre_type_id wanted);
static inline bool
vyre_verify_is_bad(const verifier *k, vyre_type_id type)
{
  return type >= 256 && (k->type_facts[type] & TYPE_BAD) != 0;
}
/* control.c: checks scope and semantics of a barrier or atomic. */
void vyre_verify_semantics(verifier *k, uint32_t row, uint32_t order);

/* control.c, memory.c, values.c and subgroup.c: check an op's own rules. Operands are present and visible. */
void vyre_verify_memory(verifier *k, uint32_t row);
void vyre_verify_control(verifier *k, uint32_t row);
void vyre_verify_value(verifier *k, uint32_t row);
void vyre_verify_subgroup(verifier *k, uint32_t row);
/* hints.c: checks imm of a control row. */
void vyre_verify_hints(verifier *k, uint32_t row);
/* Checks that imm and imm_hi are 0. */
void vyre_verify_no_payload(verifier *k, uint32_t row);
/* Checks that the row's type is the result type of its op and operands, and for a tuple also the payload. */
void vyre_verify_result(verifier *k, uint32_t row);
/* Returns whether the bits are a literal of the type. */
bool vyre_verify_literal_fits(vyre_type type, uint64_t bits);

#endif
