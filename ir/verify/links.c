/* The verifier's walk: links, the positions of rows, and jumps.
 *
 * One walk in program order over first and next gives each row its order number and each region its extent. A link is followed only
 * if its target is in range, alive, not reached before, and has this region and neighbour as its own. Otherwise the error is
 * reported and the chain ends there. So the walk ends for any contents of the columns, and the parents of the reached rows are a
 * tree. O(rows).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "base/grow.h"

/* The targets of jumps in the current region. */
typedef struct frame {
  uint32_t loop;       /* innermost loop, the target of break and continue, or 0 */
  uint32_t continuing; /* innermost continuing region, or 0 */
} frame;

typedef struct walker {
  verifier *k;
  uint32_t count;    /* order numbers assigned so far */
  uint32_t region;   /* the region whose children are walked */
  uint32_t previous; /* the child before the next one */
  bool cut;          /* an error ended the current chain */
  bool ended;        /* `previous` ends its region */
  bool direct;       /* the children of `region` are programs or region rows */
  frame *frames;     /* one for each open row below row 0 */
  uint32_t depth, capacity;
  uint32_t workgroups; /* workgroup rows of the current program */
} walker;

static bool
push_frame(walker *w, frame inner)
{
  if (!vyre_grow(vyre_module_allocator(w->k->module), &w->frames, &w->capacity, w->depth + 1, sizeof(frame))) {
    w->k->out_of_memory = true;
    return false;
  }
  w->frames[w->depth++] = inner;
  return true;
}

static frame
top_frame(const walker *w)
{
  return w->depth ? w->frames[w->depth - 1] : (frame){0, 0};
}

/* Returns the frame of the rows in `row`. */
static frame
frame_inside(const walker *w, uint32_t row)
{
  const vyre_view *v = w->k->view;
  frame inner = top_frame(w);
  uint32_t parent = v->parent[row];
  switch (op_of(w->k, row)) {
  case VYRE_OP_body:
    inner.loop = parent;
    break;
  case VYRE_OP_region:
    if (op_of(w->k, parent) != VYRE_OP_loop)
      break;
    if (v->imm[row] == VYRE_CONTINUING)
      inner = (frame){0, row};
    else
      inner.loop = parent;
    break;
  default:
    break;
  }
  return inner;
}

/* Returns whether the target of a link may be visited. */
static inline bool
is_valid_link(const walker *w, uint32_t row)
{
  const verifier *k = w->k;
  const vyre_view *v = k->view;
  return row < k->rows && v->op[row] != 0 && k->order[row] == 0 && v->parent[row] == w->region && v->prev[row] == w->previous;
}

/* Checks the link `which` of `from` again, and reports an error. Returns whether it is valid. */
VYRE_VERIFY_COLD static bool
check_link(walker *w, uint32_t row, const char *which, uint32_t from)
{
  verifier *k = w->k;
  const vyre_view *v = k->view;
  text_buffer name;
  const char *problem = NULL;
  if (row >= k->rows)
    vyre_verify_report(k, from, "link '%s' is %u, but the table has %u rows", which, row, k->rows);
  else if (v->op[row] == 0)
    vyre_verify_report(k, from, "link '%s' leads to row %u, which is dead", which, row);
  else if (k->order[row] != 0)
    vyre_verify_report(k, from, "link '%s' leads to %s, which was already reached", which, vyre_verify_name(k, row, &name));
  else if (v->parent[row] != w->region)
    problem = "parent";
  else if (v->prev[row] != w->previous)
    problem = "prev";
  else
    return true;
  if (problem)
    vyre_verify_report(k, row, "link '%s' is %u, but it was reached by '%s' of row %u", problem,
                       problem[1] == 'a' ? v->parent[row] : v->prev[row], which, from);
  k->errors->damaged = true;
  return false;
}

/* Returns the number of children in the chain that ends with `previous`: 0, 1, 2, or 3 for more. */
static uint32_t
children_so_far(const walker *w)
{
  const vyre_view *v = w->k->view;
  if (w->previous == 0)
    return 0;
  if (v->prev[w->previous] == 0)
    return 1;
  return v->prev[v->prev[w->previous]] == 0 ? 2 : 3;
}

static void
check_control_child(walker *w, uint32_t row, vyre_opcode control)
{
  verifier *k = w->k;
  const vyre_view *v = k->view;
  static const char *const roles[] = {"then", "else", "body", "continuing", "block"};
  uint32_t index = children_so_far(w);
  vyre_opcode op = op_of(k, row);
  uint32_t role;
  if (control == VYRE_OP_switch || control == VYRE_OP_for) {
    vyre_opcode wanted = control == VYRE_OP_switch ? VYRE_OP_case : VYRE_OP_body;
    if (op != wanted)
      vyre_verify_report(k, row, "is directly in a '%s', where only a '%s' may be", vyre_op_infos[control].text,
                         vyre_op_infos[wanted].text);
    else if (control == VYRE_OP_for && index > 0)
      vyre_verify_report(k, row, "is a second body of its 'for'");
    return;
  }
  if (op != VYRE_OP_region) {
    vyre_verify_report(k, row, "is directly in a '%s', where only region rows may be", vyre_op_infos[control].text);
    return;
  }
  if (index > (control == VYRE_OP_block ? 0u : 1u)) {
    vyre_verify_report(k, row, "is one region too many for its '%s'", vyre_op_infos[control].text);
    return;
  }
  role =
      control == VYRE_OP_block ? (uint32_t)VYRE_BLOCK : (control == VYRE_OP_if ? (uint32_t)VYRE_THEN : (uint32_t)VYRE_BODY) + index;
  if (v->imm[row] != role)
    vyre_verify_report(k, row, "has role %u, but region %u of a '%s' is its '%s' (role %u)", v->imm[row], index + 1,
                       vyre_op_infos[control].text, roles[role], role);
}

/* Checks whether a row may be a child of the current region. */
static void
check_place(walker *w, uint32_t row, vyre_opcode op)
{
  verifier *k = w->k;
  const vyre_view *v = k->view;
  uint32_t before = k->errors->count;
  vyre_opcode around = op_of(k, w->region);
  if (w->direct) {
    if (w->region != 0)
      check_control_child(w, row, around);
    else if (op != VYRE_OP_program)
      vyre_verify_report(k, row, "is outside of any program");
    k->errors->damaged = k->errors->damaged || k->errors->count != before; /* such rows cannot be printed */
    return;
  }
  switch (op) {
  case VYRE_OP_program:
    vyre_verify_report(k, row, "is inside of another program");
    break;
  case VYRE_OP_region:
  case VYRE_OP_body:
  case VYRE_OP_case:
    vyre_verify_report(k, row, "is in a '%s', but it must be directly in its control row", vyre_op_infos[around].text);
    break;
  case VYRE_OP_workgroup:
  case VYRE_OP_spec:
  case VYRE_OP_var:
  case VYRE_OP_buffer:
    if (around != VYRE_OP_program)
      vyre_verify_report(k, row, "is in a '%s', but it must be at the top of its program", vyre_op_infos[around].text);
    if (op == VYRE_OP_workgroup && ++w->workgroups > 1)
      vyre_verify_report(k, row, "is a second workgroup row of its program");
    break;
  default:
    break;
  }
  if (w->ended) {
    text_buffer name;
    vyre_verify_report(k, row, "follows %s, a '%s', which ends its region", vyre_verify_name(k, v->prev[row], &name),
                       vyre_op_infos[op_of(k, w->previous)].text);
  }
}

static void
check_leave(walker *w, uint32_t row, frame around)
{
  verifier *k = w->k;
  uint32_t target = k->view->a[row];
  text_buffer name;
  if (target == 0 || target >= k->rows || !row_is_reached(k, target))
    return; /* an operand error */
  if (op_of(k, target) != VYRE_OP_block && op_of(k, target) != VYRE_OP_switch)
    vyre_verify_report(k, row, "leaves %s, which is neither a block nor a switch", vyre_verify_show(k, target, &name));
  else if (k->extent[target] != 0) /* already closed, because extents are set when regions are closed */
    vyre_verify_report(k, row, "leaves %s, which does not enclose it", vyre_verify_show(k, target, &name));
  else if (around.continuing && k->order[target] < k->order[around.continuing])
    vyre_verify_report(k, row, "leaves %s from inside of a continuing region", vyre_verify_show(k, target, &name));
}

static void
check_jump(walker *w, uint32_t row, vyre_opcode op)
{
  verifier *k = w->k;
  const vyre_view *v = k->view;
  frame around = top_frame(w);
  uint32_t region = w->region;
  switch (op) {
  case VYRE_OP_return:
    if (around.continuing)
      vyre_verify_report(k, row, "is inside of a continuing region");
    break;
  case VYRE_OP_break:
  case VYRE_OP_continue:
    if (!around.loop)
      vyre_verify_report(k, row,
                         around.continuing ? "is in a continuing region, outside of any loop within it" : "is outside of any loop");
    break;
  case VYRE_OP_leave:
    check_leave(w, row, around);
    break;
  case VYRE_OP_fallthrough:
    if (op_of(k, region) != VYRE_OP_case)
      vyre_verify_report(k, row, "is in a '%s', but only the last row of a case falls through",
                         vyre_op_infos[op_of(k, region)].text);
    else if (v->next[region] == 0)
      vyre_verify_report(k, row, "is in the last case of its switch");
    break;
  case VYRE_OP_breakif:
    if (around.continuing != region || region == 0)
      vyre_verify_report(k, row, "may only be the last row of a continuing region");
    break;
  default:
    break;
  }
}

/* Closes the current region after all its children were visited. */
static void
close_region(walker *w)
{
  verifier *k = w->k;
  const vyre_view *v = k->view;
  uint32_t region = w->region;
  uint32_t count = children_so_far(w);
  vyre_opcode op = op_of(k, region);
  if (!w->cut && v->last[region] != w->previous) {
    vyre_verify_report(k, region, "link 'last' is %u, but the last row in it is %u", v->last[region], w->previous);
    k->errors->damaged = true;
  }
  k->extent[region] = region ? w->count : UINT32_MAX;
  if (region == 0 || w->cut)
    return;
  if ((op == VYRE_OP_if || op == VYRE_OP_loop) && count < 2)
    vyre_verify_report(k, region, "has %u regions instead of 2", count);
  else if ((op == VYRE_OP_block || op == VYRE_OP_for) && count < 1)
    vyre_verify_report(k, region, "has no %s", op == VYRE_OP_for ? "body" : "region");
  else if (op == VYRE_OP_program && w->workgroups == 0)
    vyre_verify_report(k, region, "has no workgroup row");
  else if (op == VYRE_OP_program && w->count - k->order[region] >= k->limits.rows)
    vyre_verify_report(k, region, "has %u rows; the limit is %u (split the program)", w->count - k->order[region] + 1,
                       k->limits.rows);
}

static void
remember_buffer(verifier *k, uint32_t row)
{
  uint32_t path = k->view->a[row];
  k->extent[row] = 0;
  if (path < k->rows && row_is_reached(k, path))
    k->extent[row] = op_of(k, path) == VYRE_OP_buffer ? path : op_of(k, path) == VYRE_OP_at ? k->extent[path] : 0;
}

/* Checks one row at its position. Returns true if its children must be visited. */
static bool
enter_row(walker *w, uint32_t row)
{
  verifier *k = w->k;
  const vyre_view *v = k->view;
  vyre_opcode op = op_of(k, row);
  uint16_t flags;
  k->order[row] = ++w->count;
  if ((uint32_t)op >= VYRE_OP__COUNT || !vyre_op_infos[op].text) {
    vyre_verify_report(k, row, "has opcode %u, which is not an op of this version", (unsigned)op);
    k->errors->damaged = true;
    k->order[row] = ORDER_UNLINKED; /* Nothing more is reported about it, and as an operand it is in no program. */
    w->ended = false;
    return false;
  }
  if (w->direct || w->ended || op <= VYRE_OP_case)
    check_place(w, row, op);
  flags = vyre_op_infos[op].flags;
  w->ended = (flags & VYRE_OP_ENDS) != 0;
  if (flags & (VYRE_OP_REGION | VYRE_OP_REGIONS)) {
    if (op == VYRE_OP_program)
      w->workgroups = 0;
    if (w->depth == 2 * k->limits.nesting + 1 && (flags & VYRE_OP_REGIONS) != 0)
      vyre_verify_report(k, row, "is nested in %u constructs (if, loop, for, switch, block); the limit is %u", k->limits.nesting,
                         k->limits.nesting);
    return true;
  }
  if (v->first[row] || v->last[row]) {
    vyre_verify_report(k, row, "has rows in it (first %u, last %u), but a '%s' has no regions", v->first[row], v->last[row],
                       vyre_op_infos[op].text);
    k->errors->damaged = true;
  }
  if (flags & VYRE_OP_ENDS)
    check_jump(w, row, op);
  else if (op == VYRE_OP_at)
    remember_buffer(k, row);
  return false;
}

/* Sets the current region and its last child. A row that contains rows does not end a region. */
static void
set_region(walker *w, uint32_t region, uint32_t previous)
{
  w->region = region;
  w->previous = previous;
  w->ended = false;
  w->direct = region == 0 || (vyre_op_infos[op_of(w->k, region)].flags & VYRE_OP_REGIONS) != 0;
}

/* Returns whether rows of the op only need their links checked, unless they follow the end of a region. */
static inline bool
has_free_position(vyre_opcode op)
{
  const uint32_t special = VYRE_OP_REGION | VYRE_OP_REGIONS | VYRE_OP_ENDS;
  return (uint32_t)op < VYRE_OP__COUNT && (op > VYRE_OP_case || op == VYRE_OP_const) && vyre_op_infos[op].text &&
         (vyre_op_infos[op].flags & special) == 0;
}

/* Walks from `row`, a child of the current region, past all valid rows of such ops. Most rows are. Returns the row after them. */
static uint32_t
walk_plain(walker *w, uint32_t row)
{
  verifier *const k = w->k;
  const vyre_view *const v = k->view;
  const uint32_t *const op = v->op, *const parent = v->parent, *const prev = v->prev, *const next = v->next;
  const uint32_t *const first = v->first, *const last = v->last, rows = k->rows, region = w->region;
  uint32_t *const order = k->order;
  uint32_t previous = w->previous, count = w->count;
  while (row && row < rows && order[row] == 0 && parent[row] == region && prev[row] == previous) {
    const vyre_opcode code = (vyre_opcode)VYRE_ROW_OP(op[row]);
    if (!has_free_position(code) || first[row] || last[row])
      break;
    order[row] = ++count;
    if (code == VYRE_OP_at)
      remember_buffer(k, row);
    previous = row;
    row = next[row];
  }
  w->previous = previous;
  w->count = count;
  return row;
}

static void
walk(walker *w)
{
  verifier *k = w->k;
  const vyre_view *v = k->view;
  uint32_t row = v->first[0];
  const char *which = "first";
  set_region(w, 0, 0);
  for (;;) {
    if (row && !is_valid_link(w, row) && !check_link(w, row, which, w->previous ? w->previous : w->region)) {
      w->cut = true;
      row = 0;
    }
    if (row == 0) {
      close_region(w);
      if (w->region == 0)
        return;
      set_region(w, v->parent[w->region], w->region);
      w->depth--;
      w->cut = false;
      row = v->next[w->previous];
      which = "next";
      continue;
    }
    which = "next";
    if (enter_row(w, row)) {
      if (!push_frame(w, frame_inside(w, row)))
        return;
      set_region(w, row, 0);
      row = v->first[row];
      which = "first";
    } else {
      w->previous = row;
      row = v->next[row];
    }
    if (!w->direct && !w->ended)
      row = walk_plain(w, row);
    if (w->previous)
      which = "next";
  }
}

static uint32_t
unlinked_child(const verifier *k, uint32_t row, uint32_t parent)
{
  const vyre_view *v = k->view;
  return row && row < k->rows && k->order[row] == 0 && v->op[row] != 0 && v->parent[row] == parent ? row : 0;
}

/* Marks everything below a row that was unlinked as a whole: it is in no program. Only rows with the right parent are entered, so
 * that the way up is the reverse of the way down. */
static void
mark_unlinked(verifier *k, uint32_t root)
{
  const vyre_view *v = k->view;
  uint32_t row = root;
  k->order[root] = ORDER_UNLINKED;
  for (;;) {
    uint32_t next = unlinked_child(k, v->first[row], row);
    while (!next) {
      if (row == root)
        return;
      next = unlinked_child(k, v->next[row], v->parent[row]);
      if (!next)
        row = v->parent[row];
    }
    k->order[next] = ORDER_UNLINKED;
    row = next;
  }
}

void
vyre_verify_links(verifier *k)
{
  const vyre_view *v = k->view;
  const vyre_allocator *allocator = vyre_module_allocator(k->module);
  walker w = {.k = k};
  if (v->op[0] || v->parent[0] || v->prev[0] || v->next[0]) {
    vyre_verify_report(k, 0, "the null row has an opcode or a position");
    k->errors->damaged = true;
  }
  if (v->imm[0] || v->imm_hi[0] || v->a[0] || v->b[0] || v->c[0])
    vyre_verify_report(k, 0, "the null row has a payload or operands");
  walk(&w);
  if (w.frames)
    allocator->resize(allocator->user, w.frames, w.capacity * sizeof(frame), 0);
  if (w.count == k->rows - 1) /* every row was reached once */
    return;
  for (uint32_t row = 1; row < k->rows; row++)
    if (k->order[row] == 0 && v->op[row] != 0 && v->parent[row] == 0 && v->prev[row] == 0 && v->next[row] == 0)
      mark_unlinked(k, row);
  for (uint32_t row = 1; row < k->rows; row++) {
    if (k->order[row] != 0 || v->op[row] == 0)
      continue;
    vyre_verify_report(k, row, "is not reached from row %u, which it names as its parent", v->parent[row]);
    k->errors->damaged = true;
  }
}
