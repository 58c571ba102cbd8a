// C = A * B by square tiles in shared memory.  The tile's edge is a specialization constant that is also the workgroup's edge.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(constant_id = 0) const uint TILE = 8;
layout(local_size_x_id = 0, local_size_y_id = 0) in;

layout(set = 0, binding = 0) readonly buffer MatrixA { float a[]; };
layout(set = 0, binding = 1) readonly buffer MatrixB { float b[]; };
layout(set = 0, binding = 2) writeonly buffer MatrixC { float c[]; };

layout(push_constant) uniform Size {
  uint rows;    // of A and C
  uint inner;   // columns of A, rows of B
  uint columns; // of B and C
};

shared float tile_a[TILE * TILE];
shared float tile_b[TILE * TILE];

float fetch_a(uint row, uint k)
{
  if (row >= rows || k >= inner)
    return 0.0;
  return a[row * inner + k];
}

float fetch_b(uint k, uint column)
{
  if (k >= inner || column >= columns)
    return 0.0;
  return b[k * columns + column];
}

void main()
{
  uint row = gl_GlobalInvocationID.y;
  uint column = gl_GlobalInvocationID.x;
  uint local_row = gl_LocalInvocationID.y;
  uint local_column = gl_LocalInvocationID.x;
  precise float sum = 0.0;

  for (uint k0 = 0; k0 < inner; k0 += TILE) {
    tile_a[local_row * TILE + local_column] = fetch_a(row, k0 + local_column);
    tile_b[local_row * TILE + local_column] = fetch_b(k0 + local_row, column);
    barrier();
    for (uint k = 0; k < TILE; k++)
      sum += tile_a[local_row * TILE + k] * tile_b[k * TILE + local_column];
    barrier();
  }
  if (row < rows && column < columns)
    c[row * columns + column] = sum;
}
