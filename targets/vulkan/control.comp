#version 450
/* Decides on the device which steps run. control.c describes the control buffer.
 *
 * SPDX-License-Identifier: Apache-2.0 */

layout(local_size_x = 64) in;

const uint PREPARE = 0, STOPPED = 0, FAULT = 1, LAUNCHES = 2;

layout(std430, set = 0, binding = 0) buffer Control { uint control[]; };
layout(std430, set = 0, binding = 1) readonly buffer Source { uint source[]; };

layout(push_constant) uniform Task
{
  uint kind;
  uint from;  /* index of the first word to read in the source */
  uint state; /* index of the repeat's words: iterations, word, this kernel's groups; 0 if the step is in no such repeat */
  uint first, count; /* index and number of group words of the step or of the repeat's steps */
  uint later, later_count; /* index and number of group words of all later steps */
  uint is_last; /* 1 if this is the last recorded iteration */
  uint step; /* number of the step + 1 */
  uint most_x, most_y, most_z;
};

shared uint clear_first, clear_count;

/* Copies a step's groups from the source. Stops the sequence if they exceed the limits. Sets them to 0 if it was stopped. */
void
prepare()
{
  uvec3 groups = uvec3(source[from], source[from + 1], source[from + 2]);
  bool runs = control[STOPPED] == 0;
  if (runs && any(greaterThan(groups, uvec3(most_x, most_y, most_z)))) {
    control[STOPPED] = 1;
    control[FAULT] = step;
    runs = false;
  }
  if (!runs)
    groups = uvec3(0);
  if (groups.x != 0 && groups.y != 0 && groups.z != 0)
    control[LAUNCHES]++;
  control[first] = groups.x;
  control[first + 1] = groups.y;
  control[first + 2] = groups.z;
}

/* Ends an iteration. If the word is 0, disables the repeat's steps. Otherwise, after the last iteration, disables all later steps. */
void
end_iteration()
{
  clear_count = 0;
  if (control[STOPPED] != 0)
    return;
  uint word = source[from];
  control[state]++;
  control[state + 1] = word;
  if (word == 0) {
    control[state + 2] = 0;
    clear_first = first;
    clear_count = count;
  } else if (is_last != 0) {
    control[STOPPED] = 1;
    clear_first = later;
    clear_count = later_count;
  }
}

void
main()
{
  if (kind == PREPARE) {
    if (gl_LocalInvocationIndex == 0)
      prepare();
    return;
  }
  if (gl_LocalInvocationIndex == 0)
    end_iteration();
  barrier();
  for (uint i = gl_LocalInvocationIndex; i < clear_count; i += 64)
    control[clear_first + i] = 0;
}
