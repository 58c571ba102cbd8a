/* Prints the analyses in the view as comments beside the rows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/text/print/printer.h"
#include "vyre/view.h"

static void
put_field(text_printer *t, const char *name, uint32_t number)
{
  text_put_text(t, name);
  text_put_number(t, number);
}

/* Prints "9" for the version of row 9, "join 9" for a join at row 9. */
static void
put_version(text_printer *t, uint32_t version)
{
  put_field(t, vyre_join_of(t->view, version) ? "join " : "", vyre_version_row(t->view, version));
}

/* Prints the version that the row sees. For a join, also prints each incoming version and its edge, as in "version join 9 (4 by 5,
 * join 7 by 8)". */
static void
put_state(text_printer *t, uint32_t version)
{
  const vyre_join *join = vyre_join_of(t->view, version);
  text_put_text(t, ", version ");
  put_version(t, version);
  for (uint32_t i = 0; join && i < join->count; i++) {
    const vyre_part *part = &t->view->parts[join->first + i];
    text_put_text(t, i ? ", " : " (");
    put_version(t, part->version);
    put_field(t, " by ", part->edge);
  }
  if (join)
    text_put_text(t, ")");
}

void
text_put_analyses(text_printer *t, uint32_t row)
{
  const vyre_view *v = t->view;
  if (v->version && v->version[row])
    put_state(t, v->version[row]);
  if (v->loop && v->loop[row])
    put_field(t, ", in loop ", v->loop[row]);
  if (v->loop && vyre_row_is_loop(v, row))
    put_field(t, ", next loop ", v->loop_next[row]);
  if (v->loop && v->loop_exit[row])
    put_field(t, ", exit ", v->loop_exit[row]);
  if (v->end)
    put_field(t, ", end ", v->end[row]);
  if (v->level)
    put_field(t, ", level ", v->level[row]);
  if (v->depth)
    put_field(t, ", depth ", v->depth[row]);
  if (v->hash)
    put_field(t, ", hash ", v->hash[row]);
  if (v->canonical)
    put_field(t, ", class ", v->canonical[row]);
}
