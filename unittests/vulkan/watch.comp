#version 450
/* Each invocation multiplies a word by a factor and adds a word of another buffer, by an atomic if the factor is 1.
 *
 * SPDX-License-Identifier: Apache-2.0 */

layout(local_size_x = 1) in;

layout(std430, set = 0, binding = 0) buffer Changed { uint changed[]; };
layout(std430, set = 0, binding = 1) readonly buffer Given { uint given[]; };

layout(push_constant) uniform Push { uint at, from, factor, is_beside; };

void
main()
{
  if (factor == 1)
    atomicAdd(changed[at], given[from]);
  else
    changed[at] = changed[at] * factor + given[from];
}
