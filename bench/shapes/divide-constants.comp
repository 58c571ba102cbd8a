// Shape: integer divisions and remainders by constants, signed and unsigned.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Seconds { uint seconds[]; };
layout(set = 0, binding = 1) readonly buffer Offsets { int offsets[]; };
layout(set = 0, binding = 2) writeonly buffer Dates { ivec4 dates[]; };

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= min(min(seconds.length(), offsets.length()), dates.length()))
    return;
  uint all = seconds[at] * 16777213u;
  uint second = all % 60u, minute = all / 60u % 60u, hour = all / 3600u % 24u, day = all / 86400u;
  uint era = (day + 719468u) / 146097u, in_era = (day + 719468u) % 146097u;
  uint year = (in_era - in_era / 1460u + in_era / 36524u - in_era / 146096u) / 365u;
  uint in_year = in_era - (365u * year + year / 4u - year / 100u), month = (5u * in_year + 2u) / 153u;
  int shift = offsets[at], quarter = shift / 4, rest = shift - quarter * 4, third = shift / 3;
  int eighth = (shift + 1000) / 8 * 8, sevenths = (shift + 1000) % 7;
  dates[at] = ivec4(int(hour * 10000u + minute * 100u + second) + rest, int(year + era * 400u) + third,
                    int(month * 100u + in_year - (153u * month + 2u) / 5u + 1u) + quarter, eighth + sevenths);
}
