/* Kernels for nvcc: expressions (nvcc_kernels.def), and cooperation of threads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
template <typename T, T (*f)(T, T, T)>
static __device__ void
each(T *out, const T *in)
{
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = f(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
}

#define EACH(name, type, bound, expression)                               \
  static __device__ type f_##name(type x, type y, type z) { return expression; } \
  extern "C" __global__ void name(type *out, const type *in) { each<type, f_##name>(out, in); }
#include "nvcc_kernels.def"

template <typename T>
static __device__ T
warp_sum(T value)
{
  for (int distance = 16; distance; distance /= 2)
    value += __shfl_down_sync(0xffffffffu, value, distance);
  return value;
}

template <typename T, unsigned threads>
static __device__ T
block_sum(T value)
{
  __shared__ T sums[threads / 32];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < threads / 32 ? sums[threadIdx.x] : T(0);
  return warp_sum(value);
}

extern "C" __global__ void
sum_block(unsigned *out, const unsigned *in)
{
  const unsigned sum = block_sum<unsigned, 64>(in[blockIdx.x * 64 + threadIdx.x]);
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}

extern "C" __global__ void
sum_block_wide(unsigned long long *out, const unsigned *in)
{
  const unsigned long long sum = block_sum<unsigned long long, 64>(in[blockIdx.x * 64 + threadIdx.x]);
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}

extern "C" __global__ void
sum_atomic(unsigned *out, const unsigned *in)
{
  const unsigned value = in[blockIdx.x * 64 + threadIdx.x];
  atomicAdd(&out[0], value);
  atomicMax(&out[1], value);
  atomicXor(&out[2], value);
  unsigned seen = out[3], wanted;
  do {
    wanted = seen;
    seen = atomicCAS(&out[3], wanted, wanted + (value & 7));
  } while (seen != wanted);
}

extern "C" __global__ void
turn_shared(unsigned *out, const unsigned *in)
{
  __shared__ unsigned tile[8][9];
  const unsigned x = threadIdx.x % 8, y = threadIdx.x / 8, first = blockIdx.x * 64;
  tile[y][x] = in[first + threadIdx.x];
  __syncthreads();
  out[first + threadIdx.x] = tile[x][y];
}

extern "C" __global__ void
vote_warp(unsigned *out, const unsigned *in)
{
  const unsigned i = blockIdx.x * 64 + threadIdx.x, odd = __ballot_sync(0xffffffffu, in[i] & 1);
  out[i] = __popc(odd & ((1u << threadIdx.x % 32) - 1)) + (__any_sync(0xffffffffu, in[i] == 7) ? 1000 : 0);
}

/* Each block reads the word of the next block after all have written.  The launch is cooperative, so that all blocks run at once. */
extern "C" __global__ void
meet_grid(unsigned *out, unsigned *)
{
  if (threadIdx.x != 0)
    return;
  out[blockIdx.x] = blockIdx.x * blockIdx.x + 1;
  __threadfence();
  atomicAdd(&out[gridDim.x], 1);
  while (*(volatile unsigned *)&out[gridDim.x] < gridDim.x)
    ;
  __threadfence();
  out[gridDim.x + 1 + blockIdx.x] = *(volatile unsigned *)&out[(blockIdx.x + 1) % gridDim.x];
}
