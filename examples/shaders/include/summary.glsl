// What reduce.comp computes of a set of numbers.
// SPDX-License-Identifier: Apache-2.0
struct Summary {
  uint sum;
  uint smallest;
  uint greatest;
};

Summary summary_empty()
{
  return Summary(0u, 0xffffffffu, 0u);
}

Summary summary_of(uint value)
{
  return Summary(value, value, value);
}

Summary summary_join(Summary a, Summary b)
{
  return Summary(a.sum + b.sum, min(a.smallest, b.smallest), max(a.greatest, b.greatest));
}
