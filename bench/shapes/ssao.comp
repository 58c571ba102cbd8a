// Shape: ambient occlusion in screen space with a constant array of samples.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, r32f) uniform readonly image2D depths;
layout(set = 0, binding = 1) readonly buffer Normals { vec4 normals[]; };
layout(set = 0, binding = 2) writeonly buffer Occlusion { float occlusion[]; };

layout(push_constant) uniform Parameters {
  mat4 projection;
  float radius;
  float power;
};

const vec3 KERNEL[12] = vec3[12](vec3(0.04, 0.02, 0.03), vec3(-0.05, 0.04, 0.07), vec3(0.09, -0.06, 0.05), vec3(-0.08, -0.09, 0.11),
                                 vec3(0.14, 0.10, 0.09), vec3(-0.16, 0.12, 0.18), vec3(0.11, -0.22, 0.17), vec3(-0.23, -0.15, 0.24),
                                 vec3(0.31, 0.22, 0.20), vec3(-0.33, 0.29, 0.31), vec3(0.37, -0.41, 0.35), vec3(-0.48, -0.44, 0.52));

vec3 position_at(ivec2 at, ivec2 size)
{
  float depth = abs(imageLoad(depths, clamp(at, ivec2(0), size - 1)).r) + 0.1;
  return vec3((vec2(at) / 16.0 - 1.0) * depth, depth);
}

void main()
{
  ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = imageSize(depths);
  int to = at.y * 32 + at.x;
  if (at.x >= 32 || to >= min(occlusion.length(), normals.length()))
    return;
  vec3 position = position_at(at, size), normal = normals[to].xyz + vec3(0.0, 0.0, 0.001);
  vec3 tangent = cross(normal, vec3(0.7, 0.3, 0.2)), bitangent = cross(normal, tangent);
  mat3 basis = mat3(tangent, bitangent, normal);
  float sum = 0.0;
  for (int i = 0; i < 12; i++) {
    vec3 point = position + basis * KERNEL[i] * radius;
    vec4 clip = projection * vec4(point, 1.0);
    vec2 screen = clamp(clip.xy / max(abs(clip.w), 0.01), -1.0, 1.0) * 16.0 + 16.0;
    float there = position_at(ivec2(screen), size).z;
    float near = smoothstep(0.0, 1.0, abs(radius) / max(abs(position.z - there), 0.001));
    sum += (there <= point.z - 0.025 ? 1.0 : 0.0) * near;
  }
  occlusion[to] = pow(max(1.0 - sum / 12.0, 0.0), abs(power) + 1.0);
}
