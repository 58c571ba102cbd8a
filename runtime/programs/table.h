/* Tables of programs in the data buffer, which the kernel interprets (runtime/kernel/programs.vir).
 *
 * The data buffer, in 32-bit words:
 *
 *     header | entry of each program | contexts | memory of the host: code, pools, bindings, buffers of items
 *
 * An entry describes a registered program.  Its code is a list of instructions of PROGRAM_INSTRUCTION words each.  Its pool has the
 * constants, constant tables, and the descriptors of its buffers.  A workgroup of the kernel has one context, with the state of the
 * item that it interprets, and scratch.  The scratch has four parts: a word for each lane of the program's workgroup, the
 * registers, private memory, workgroup memory.  The word of a lane is 0 if the lane is active.  Otherwise it is the instruction at
 * which the lane becomes active again.
 *
 *     register r of lane l: word r * lanes + l;    word w of private memory: w * lanes + l
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_TABLE_H
#define VYRE_RUNTIME_TABLE_H

#include "vyre/types.h"

/* Words of the header. */
enum {
  PROGRAM_HEAD_WORDS,         /* words of the data buffer */
  PROGRAM_HEAD_ENTRIES,       /* the first entry */
  PROGRAM_HEAD_COUNT,         /* number of entries */
  PROGRAM_HEAD_CONTEXTS,      /* the first context */
  PROGRAM_HEAD_CONTEXT_COUNT, /* number of contexts */
  PROGRAM_HEAD_CONTEXT_WORDS, /* words of a context */
  PROGRAM_HEAD_HOST,          /* the first word of the host's memory */
  PROGRAM_HEAD_ITEMS,         /* counts interpreted items that ended DONE */
  PROGRAM_HEAD_FAULTS,        /* counts interpreted items that ended FAULT */
  PROGRAM_HEAD_STEPS,         /* counts interpreted instructions of workgroups; two words */
  PROGRAM_HEAD_STEPS_HIGH,
  PROGRAM_HEAD_SIZE = 16
};

/* Words of an entry. */
enum {
  PROGRAM_ENTRY_GENERATION, /* 0 if the entry is free; changes with each registration */
  PROGRAM_ENTRY_CODE,       /* the first word of the code */
  PROGRAM_ENTRY_LENGTH,     /* number of instructions */
  PROGRAM_ENTRY_POOL,       /* the first word of the pool */
  PROGRAM_ENTRY_POOL_WORDS,
  PROGRAM_ENTRY_REGISTERS,
  PROGRAM_ENTRY_LANES,    /* invocations of a workgroup */
  PROGRAM_ENTRY_PRIVATES, /* words of private memory of a lane */
  PROGRAM_ENTRY_SHARED,   /* words of workgroup memory */
  PROGRAM_ENTRY_BUFFERS,  /* number of buffers that an item binds */
  PROGRAM_ENTRY_SIZE = 16
};

/* Words of a context.  The item's arguments are a copy. */
enum {
  PROGRAM_CONTEXT_OWNER, /* the first word of the item's slot, plus 1; 0 if the context is free */
  PROGRAM_CONTEXT_STATE,
  PROGRAM_CONTEXT_RESULT, /* of a context that ended: 0, or the reason of a fault */
  PROGRAM_CONTEXT_PC,     /* number of the next instruction */
  PROGRAM_CONTEXT_GROUP,  /* the workgroup that is interpreted, numbered with x fastest */
  PROGRAM_CONTEXT_STEPS,  /* instructions of this item so far */
  PROGRAM_CONTEXT_BUSY,   /* 1 while the kernel changes the context: after a loss, its contents are unknown */
  PROGRAM_CONTEXT_PROGRAM,
  PROGRAM_CONTEXT_ARGS = 8, /* the item's arguments from PROGRAM_ARG_GENERATION on */
  PROGRAM_CONTEXT_SIZE = 16 /* the scratch follows */
};
enum { PROGRAM_FREE, PROGRAM_RUNS, PROGRAM_ENDED }; /* states of a context */

/* Arguments of an item. */
enum {
  PROGRAM_ARG_PROGRAM,
  PROGRAM_ARG_GENERATION,
  PROGRAM_ARG_BINDINGS, /* the first word of the bindings: the first word and the bytes of each buffer */
  PROGRAM_ARG_FIRST,    /* the first invocation, and the number of invocations, numbered workgroup by workgroup */
  PROGRAM_ARG_COUNT,
  PROGRAM_ARG_GROUPS_X,
  PROGRAM_ARG_GROUPS_Y,
  PROGRAM_ARG_GROUPS_Z,
  PROGRAM_ARG_STEPS, /* instructions after which the item is a fault */
  PROGRAM_ARG__COUNT
};

/* Words of an instruction.  Operands are registers, or with the high bit words of the pool.  A value of 64 bits has two consecutive
 * registers or words, the low one first. */
enum {
  PROGRAM_OP, /* an op below, or PROGRAM_NATIVE plus the number of a native op; then flags */
  PROGRAM_TO, /* the register of the result */
  PROGRAM_X,
  PROGRAM_Y,
  PROGRAM_Z,
  PROGRAM_I, /* three numbers */
  PROGRAM_J,
  PROGRAM_K,
  PROGRAM_INSTRUCTION /* words */
};
#define PROGRAM_HAS_RESULT 0x80000000u
#define PROGRAM_IS_WIDE    0x40000000u /* the result has 64 bits */
#define PROGRAM_IS_FLOAT   0x10000000u /* the result is an f32, whose NaN gets the canonical bits */
#define PROGRAM_CHOOSES    0x20000000u /* an access to an array of buffers: operand z, of an atomic J, is the element */
#define PROGRAM_OP_MASK    0xffffu
#define PROGRAM_IN_POOL    0x80000000u /* in an operand */
#define PROGRAM_NEVER      0xfffffffeu /* in a lane's word: the lane has returned, or is not in the item */
#define PROGRAM_NOWHERE    0xffffffffu /* an address out of bounds */

/* Control.  TARGET is a number of an instruction.  "None" means that no lane is active after the instruction. */
enum {
  PROGRAM_DAMAGED,   /* not an instruction: the fault PROGRAM */
  PROGRAM_BEGIN,     /* the first instruction: activates the lanes of the item */
  PROGRAM_ZERO,      /* makes J words of memory zero from I on: private memory, or with K = 1 workgroup memory, J for each lane */
  PROGRAM_END,       /* ends the workgroup */
  PROGRAM_JUMP,      /* active lanes wait for I; then to J if none */
  PROGRAM_JUMP_IF,   /* the same for active lanes in which (x != 0) equals K */
  PROGRAM_JOIN,      /* activates lanes that wait for this instruction; then to J if none */
  PROGRAM_LOOP,      /* to I unless none */
  PROGRAM_TRAP,      /* the fault TRAP unless none */
  PROGRAM_BARRIER,   /* the fault BARRIER if some lanes are active and others wait.  Orders memory of the workgroup */
  PROGRAM_SYNC,      /* orders registers of lanes before and after it */
  PROGRAM_LANE = 16, /* ops from here on only concern active lanes, one by one */
  PROGRAM_MOVE = 16, /* x */
  PROGRAM_SELECT,    /* y if x is not 0, otherwise z */
  PROGRAM_AT,        /* the address x + y * I if y < z, otherwise NOWHERE */
  PROGRAM_LENGTH,    /* the number of elements of J bytes from byte K of buffer I on */
  PROGRAM_BOUND,     /* the address x if J bytes from it on are in buffer I, otherwise NOWHERE */
  PROGRAM_LOAD,      /* the scalar of K bytes at address x + J of buffer I; 0 out of bounds */
  PROGRAM_STORE,     /* the same place = y */
  PROGRAM_ATOMIC,    /* the old word there; K is the op, y the value, z the comparator */
  PROGRAM_BUILTIN,   /* PROGRAM_BUILTIN_ number I */
  PROGRAM_READ_LANE, /* the register x of the lane y of the workgroup */
  PROGRAM_IS_ACTIVE, /* whether the lane x of the workgroup is active */
  PROGRAM_EVAL,      /* op I of ops.def on a kind (J), with a result of another kind (J >> 8); K has its class and comparison, or
                      * the last operand of a bfi */
  PROGRAM_NATIVE = 32
};
#define PROGRAM_COHERENT      256u     /* in K of a load */
#define PROGRAM_WIDE_OPERANDS 0x10000u /* in J of EVAL: the operands have 64 bits */

enum { PROGRAM_STEPS = 1024 }; /* most instructions of a context between two rounds over the ring */

enum { PROGRAM_BUILTIN_LINDEX, PROGRAM_BUILTIN_WID /* x, y, z */, PROGRAM_BUILTIN_GROUPS = 4 /* x, y, z */ };

/* Words of a buffer's descriptor in the pool. */
enum {
  PROGRAM_BUFFER_SPACE,
  PROGRAM_BUFFER_BASE,  /* the number of the binding, or the first word in its space */
  PROGRAM_BUFFER_BYTES, /* except for bindings */
  PROGRAM_BUFFER_COUNT, /* of bindings: elements of an array of buffers */
  PROGRAM_BUFFER_WORDS
};
enum { PROGRAM_BOUND_SPACE, PROGRAM_SHARED_SPACE, PROGRAM_PRIVATE_SPACE, PROGRAM_CONSTANT_SPACE };

/* ---- natives.c ----------------------------------------------------------------------------------------------------------- */

/* A native op is a case of the kernel that is one row of the op itself, so that its meaning is that of the row. */
typedef struct program_native {
  uint32_t op;
  vyre_kind from, to;
  uint32_t part; /* of an op with several results, or the lane of a vector result */
} program_native;

/* Returns the number of native ops, which depends on nothing. */
uint32_t program_native_count(void);
program_native program_native_at(uint32_t number);
/* Returns the number of a native op, or UINT32_MAX if the kernel has no such case. */
uint32_t program_native_find(uint32_t op, vyre_kind from, vyre_kind to, uint32_t part);
/* Returns whether the kernel computes the op on one lane of the kind by the evaluator of passes/cf. */
bool program_evaluates(uint32_t op, vyre_kind from, vyre_kind to);

#endif
