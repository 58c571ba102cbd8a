// Escape times of the Mandelbrot set: a loop with a data-dependent exit, two dimensions, a uniform block.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, std140) uniform View {
  vec2 centre;
  float pixel; // edge of a pixel in the plane
  uint width;
  uint height;
  int limit; // iterations after which a point counts as inside
} view;

layout(set = 0, binding = 1) writeonly buffer Image { int escape[]; };

int escape_time(vec2 c)
{
  precise vec2 z = vec2(0.0);
  int n = 0;
  while (n < view.limit) {
    precise float xx = z.x * z.x;
    precise float yy = z.y * z.y;
    if (xx + yy > 4.0)
      break;
    precise float xy = z.x * z.y;
    z = vec2(xx - yy + c.x, xy + xy + c.y);
    n++;
  }
  return n;
}

void main()
{
  uvec2 at = gl_GlobalInvocationID.xy;
  if (at.x >= view.width || at.y >= view.height)
    return;
  precise vec2 offset = vec2(at) - 0.5 * vec2(view.width, view.height);
  precise vec2 scaled = offset * view.pixel;
  precise vec2 c = view.centre + scaled;
  escape[at.y * view.width + at.x] = escape_time(c);
}
