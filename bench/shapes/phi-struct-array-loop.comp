// Shape: structs with arrays that a loop exchanges (best and second best candidates).
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

struct Candidate {
  float error;
  int weights[4];
  vec3 color;
};

layout(set = 0, binding = 0) readonly buffer Colors { vec4 colors[]; };
layout(set = 0, binding = 1) writeonly buffer Result { vec4 result[]; };

layout(push_constant) uniform Count {
  uint rounds;
};

Candidate candidate_of(uint at)
{
  Candidate made;
  vec4 color = colors[at % colors.length()];
  made.color = color.rgb;
  made.error = 0.0;
  for (int i = 0; i < 4; i++) {
    made.weights[i] = int(clamp(color[i] * 7.0, 0.0, 7.0));
    float difference = color[i] - float(made.weights[i]) / 7.0;
    made.error += difference * difference;
  }
  return made;
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= result.length() || colors.length() == 0)
    return;
  Candidate best = candidate_of(at), second = best;
  for (uint i = 1u; i < (rounds & 15u) + 2u; i++) {
    Candidate other = candidate_of(at + i * 16u);
    if (other.error < best.error) {
      second = best;
      best = other;
    } else if (other.error < second.error)
      second = other;
  }
  int sum = 0;
  for (int i = 0; i < 4; i++)
    sum += best.weights[i] * 8 - second.weights[i];
  result[at] = vec4(mix(best.color, second.color, 0.25), float(sum));
}
