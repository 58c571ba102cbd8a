// Shape: variables that one arm sets and that are read under the same condition later.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Normals { vec4 normals[]; };
layout(set = 0, binding = 1) buffer Output { vec4 lit[]; };

layout(push_constant) uniform Light {
  vec4 direction;
  vec4 color;
  float roughness;
};

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= min(normals.length(), lit.length()))
    return;
  vec3 normal = normals[at].xyz;
  float cosine = dot(normal, direction.xyz);
  bool faces = cosine > 0.0;
  vec3 half_way;
  float power, scale;
  if (faces) {
    half_way = direction.xyz + vec3(0.0, 0.0, 1.0);
    power = 2.0 / max(roughness * roughness, 0.01);
    scale = (power + 2.0) * 0.125;
  }
  vec3 sum = lit[at].xyz * 0.5;
  bool shines = faces && normals[at].w > 0.0;
  if (shines) {
    float shine = max(dot(normal, half_way), 0.0);
    sum += color.rgb * (scale * shine / (power - power * shine + 1.0));
  }
  if (faces)
    sum += color.rgb * cosine;
  lit[at] = vec4(sum, cosine);
}
