# SPDX-License-Identifier: Apache-2.0
# large-shader.sh FOLDER: writes wide.comp, with many statements, and deep.comp, with one expression too deep for recursion.
head='#version 450\nlayout(local_size_x = 1) in;\nlayout(set = 0, binding = 0) buffer B { uint x; };\nvoid main() {\n'
{
  printf "$head"
  yes 'x += x * x;' | head -n 40000
  echo '}'
} > $1/wide.comp
{
  printf "$head x = x"
  yes '+x' | head -n 400000
  echo '; }'
} > $1/deep.comp
