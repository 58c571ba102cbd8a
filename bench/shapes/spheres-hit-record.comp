// Shape: spheres that rays hit, with a struct HitRecord as an out parameter, in a loop of reflections.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

struct Ray {
  vec3 origin;
  vec3 direction;
};
struct HitRecord {
  vec3 point;
  vec3 normal;
  float distance_along;
  bool is_front;
  uint material;
};

layout(set = 0, binding = 0) uniform Scene {
  vec4 spheres[8];
  vec4 colors[8];
};
layout(set = 0, binding = 1) readonly buffer Rays { vec4 rays[]; };
layout(set = 0, binding = 2) writeonly buffer Image { vec4 image[]; };

bool hit_sphere(Ray ray, vec4 sphere, float nearest, float farthest, out HitRecord record)
{
  vec3 away = ray.origin - sphere.xyz;
  float a = dot(ray.direction, ray.direction), b = dot(away, ray.direction), c = dot(away, away) - sphere.w * sphere.w;
  float discriminant = b * b - a * c;
  if (discriminant <= 0.0)
    return false;
  float root = sqrt(discriminant), along = (-b - root) / a;
  if (along <= nearest || along >= farthest) {
    along = (-b + root) / a;
    if (along <= nearest || along >= farthest)
      return false;
  }
  record.distance_along = along;
  record.point = ray.origin + ray.direction * along;
  vec3 outward = (record.point - sphere.xyz) / sphere.w;
  record.is_front = dot(ray.direction, outward) < 0.0;
  record.normal = record.is_front ? outward : -outward;
  record.material = 0u;
  return true;
}

bool hit_scene(Ray ray, out HitRecord record)
{
  HitRecord found;
  bool is_hit = false;
  float nearest = 100.0;
  for (uint i = 0u; i < 8u; i++) {
    if (hit_sphere(ray, spheres[i], 0.001, nearest, found)) {
      is_hit = true;
      nearest = found.distance_along;
      found.material = i;
      record = found;
    }
  }
  return is_hit;
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at * 2u + 1u >= rays.length() || at >= image.length())
    return;
  Ray ray = Ray(rays[at * 2u].xyz, rays[at * 2u + 1u].xyz + vec3(0.0, 0.0, 1.5));
  vec3 color = vec3(1.0);
  int bounces = 0;
  while (bounces < 4) {
    HitRecord record;
    if (!hit_scene(ray, record)) {
      color *= 0.5 + 0.25 * ray.direction.y;
      break;
    }
    color *= colors[record.material].rgb * (record.is_front ? 1.0 : 0.5);
    ray = Ray(record.point, reflect(ray.direction, record.normal));
    bounces++;
  }
  image[at] = vec4(color, float(bounces));
}
