#version 450
/* Each invocation sets a word to itself times a factor plus a term, by an atomic if the factor is 1.
 *
 * SPDX-License-Identifier: Apache-2.0 */

layout(local_size_x = 1) in;

layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };

layout(push_constant) uniform Push { uint at, factor, term; };

void
main()
{
  if (factor == 1)
    atomicAdd(words[at], term);
  else
    words[at] = words[at] * factor + term;
}
