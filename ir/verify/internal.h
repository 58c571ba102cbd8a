/* What the verifier's files share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_VERIFY_INTERNAL_H
#define VYRE_IR_VERIFY_INTERNAL_H

#include "vyre/opaque.h"
#include "vyre/verify.h"

/* Facts about an entry of the type table. */
enum {
  TYPE_BAD = 1, /* an error was reported for it or for what it is made of */
  TYPE_HAS_BOOL = 2,
  TYPE_HAS_RUNTIME = 4, /* is a runtime array, or a struct that ends with one */
  TYPE_HAS_ROW = 8,     /* a length in it is a row */
  TYPE_HAS_ACCESS = 16, /* a member in it has access bits */
  TYPE_HAS_2 = 32,      /* a scalar of 2 bytes, of 4, of 8: its offset is a multiple of the greatest */
  TYPE_HAS_4 = 64,
  TYPE_HAS_8 = 128,
};

/* A row not in any region, by vyre_row_unlink: its order number. */
#define ORDER_UNLINKED UINT32_MAX

typedef struct verifier {
  const vyre_module *module;
  const vyre_view *view;
  vyre_verify_errors *errors;
  bool out_of_memory;
  uint32_t rows;
  uint32_t *order;   /* by row: its number in program order from 1; 0: not reached */
  uint32_t *extent;  /* of a row with regions: the last order number in it; of an `at` row: its buffer, 0: it has none */
  uint8_t *constant; /* by row: what vyre_verify_is_constant knows; made when it is first asked */
  uint32_t *stack;   /* scratch of vyre_verify_is_constant and vyre_verify_type_rows */
  uint32_t stack_count, stack_capacity;
  uint32_t type_count;
  uint8_t *type_facts;  /* by type id */
  uint64_t *type_words; /* by type id: words of an initializer, a length given by a row counts 0 */
  uint32_t *type_seen;  /* by type id: the buffer that vyre_verify_type_rows last looked at it for; made when it is first asked */
} verifier;

/* Text buffers for messages. */
typedef struct text_buffer {
  char text[160];
} text_buffer;

void *vyre_verify_alloc(verifier *k, size_t bytes);
void vyre_verify_free(verifier *k, void *memory, size_t bytes);
/* Functions that report errors: kept out of the hot path, because their texts take longer than all checks of a row. */
#define VYRE_VERIFY_COLD __attribute__((cold))
VYRE_VERIFY_COLD void vyre_verify_report(verifier *k, uint32_t row, const char *format, ...) VYRE_PRINTF(3, 4);
/* "%name" or "row 12". */
VYRE_VERIFY_COLD const char *vyre_verify_name(const verifier *k, uint32_t row, text_buffer *buffer);
/* The name and the type or op: "%x (f32x2)", "row 12 (store)". */
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

/* links.c: links, regions, jumps; fills order and extent. */
void vyre_verify_links(verifier *k);
/* types.c: the type table. */
void vyre_verify_types(verifier *k);
/* The lengths in a buffer's type that are rows. */
void vyre_verify_type_rows(verifier *k, uint32_t buffer, vyre_type_id type);
/* Whether a row is made of const and spec rows alone. */
bool vyre_verify_is_constant(verifier *k, uint32_t row);
/* Words of an initializer of a sized type without length rows. */
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
/* control.c: scope and semantics of a barrier or atomic. */
void vyre_verify_semantics(verifier *k, uint32_t row, uint32_t order);

/* control.c, memory.c, values.c and subgroup.c: an op's own rules; operands are present and visible. */
void vyre_verify_memory(verifier *k, uint32_t row);
void vyre_verify_control(verifier *k, uint32_t row);
void vyre_verify_value(verifier *k, uint32_t row);
void vyre_verify_subgroup(verifier *k, uint32_t row);
/* hints.c: imm of a control row. */
void vyre_verify_hints(verifier *k, uint32_t row);
/* imm and imm_hi are 0. */
void vyre_verify_no_payload(verifier *k, uint32_t row);
/* The row's type is the result of its op on its operands, and of a tuple so is its payload. */
void vyre_verify_result(verifier *k, uint32_t row);
/* bits are a literal of that type. */
bool vyre_verify_literal_fits(vyre_type type, uint64_t bits);

#endif
