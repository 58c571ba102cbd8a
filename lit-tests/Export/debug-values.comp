// -gV: values of local variables through all passes: DebugValue, and DebugDeclare for variables in memory.
// SPDX-License-Identifier: Apache-2.0
// RUN: rm -rf %t && mkdir %t && cp %s %t/a.comp
// RUN: %passmgr -v -gV -passes='default<O2>' -verify-each -roundtrip-each=vir0 %t/a.comp -o %t/a.spv 2>%t/said && %spirv-val %t/a.spv && %spirv-dis %t/a.spv | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID <%t/said
// SAID: remark: is left out: {{.*}}some values of variables of functions of NonSemantic.Shader.DebugInfo.100{{$}}

// After -strip the module is the same as without -gV.
// RUN: %passmgr -v -gV -passes='default<O2>' -strip %t/a.comp -o %t/b.spv 2>/dev/null
// RUN: %passmgr -v -passes='default<O2>' -strip %t/a.comp -o %t/c.spv && cmp %t/b.spv %t/c.spv

// The output is the same through VIR0, clones and a batch.  It can be read again.
// RUN: %passmgr -v -gV %t/a.comp -o %t/d.vir0 && %passmgr -v -passes='default<O2>' %t/d.vir0 -o %t/d.spv && cmp %t/a.spv %t/d.spv
// RUN: %passmgr -v -gV -passes='default<O2>' -roundtrip-each=clone %t/a.comp -o %t/e.spv && cmp %t/a.spv %t/e.spv
// RUN: cp %t/a.comp %t/z.comp && %passmgr -v -gV -passes='default<O2>' -batch %t/z.comp %t/a.comp -outdir %t/out && cmp %t/a.spv %t/out/a.spv
// RUN: %passmgr -passes=no-op %t/a.spv -o %t/f.spv && %spirv-val %t/f.spv
// A second reading loses more of the values that passes moved; a third reading loses none.
// RUN: %passmgr -passes=no-op %t/f.spv -o %t/g.spv && %passmgr -passes=no-op %t/g.spv -o %t/i.spv && cmp %t/g.spv %t/i.spv
// RUN: %passmgr -passes=no-op -strip %t/a.spv -o %t/h.spv && %spirv-dis %t/h.spv | FileCheck %s --check-prefix=BARE
// BARE-NOT: Debug

// A built-in has no line of its own.
// RUN: %passmgr -v -gV -passes=no-op %t/a.comp -o %t/i.spv 2>/dev/null && %spirv-dis %t/i.spv | FileCheck %s --check-prefix=PLAIN
// PLAIN:      [[WHERE:%[0-9]+]] = OpString "where"
// PLAIN:      [[LOCAL:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugLocalVariable [[WHERE]]
// PLAIN:      [[ID:%[0-9]+]] = OpLoad %v3uint %gl_GlobalInvocationID
// PLAIN:      DebugValue [[LOCAL]] [[ID]]

// A DebugValue of a row that a pass moved out of a loop would precede the rows that stay in the loop.
// RUN: %passmgr -v -gV -passes=licm %t/a.comp -o %t/j.spv 2>/dev/null && %spirv-dis %t/j.spv | FileCheck %s --check-prefix=MOVED
// RUN: %spirv-dis %t/i.spv | FileCheck %s --check-prefix=STAYS
// MOVED:      [[NAME:%[0-9]+]] = OpString "moved"
// MOVED:      [[VAR:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugLocalVariable [[NAME]]
// MOVED-NOT:  DebugValue [[VAR]]
// STAYS:      [[NAME:%[0-9]+]] = OpString "moved"
// STAYS:      [[VAR:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugLocalVariable [[NAME]]
// STAYS:      DebugValue [[VAR]]
// STAYS:      DebugValue [[VAR]]

// Variables are found by the strings of their names:
// CHECK-DAG: [[N_MAIN:%[0-9]+]] = OpString "main"
// CHECK-DAG: [[N_HALF:%[0-9]+]] = OpString "halved"
// CHECK-DAG: [[N_P:%[0-9]+]] = OpString "p"
// CHECK-DAG: [[N_ONCE:%[0-9]+]] = OpString "once"
// CHECK-DAG: [[N_SAME:%[0-9]+]] = OpString "same"
// CHECK-DAG: [[N_SUM:%[0-9]+]] = OpString "sum"
// CHECK-DAG: [[N_COLOR:%[0-9]+]] = OpString "color"
// CHECK-DAG: [[N_TABLE:%[0-9]+]] = OpString "table"
// CHECK-DAG: [[N_PAIR:%[0-9]+]] = OpString "pair"
// CHECK-DAG: [[N_LEFT:%[0-9]+]] = OpString "left"
// CHECK-DAG: [[N_EITHER:%[0-9]+]] = OpString "either"
// CHECK-DAG: [[P:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugLocalVariable [[N_P]] {{.*}} %uint_1{{$}}
// CHECK-DAG: [[ONCE:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugLocalVariable [[N_ONCE]]
// CHECK-DAG: [[SAME:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugLocalVariable [[N_SAME]]
// CHECK-DAG: [[SUM:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugLocalVariable [[N_SUM]]
// CHECK-DAG: [[COLOR:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugLocalVariable [[N_COLOR]]
// CHECK-DAG: [[TABLE:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugLocalVariable [[N_TABLE]]
// CHECK-DAG: [[PAIR:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugLocalVariable [[N_PAIR]]
// CHECK-DAG: [[LEFT:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugLocalVariable [[N_LEFT]]
// CHECK-DAG: [[EITHER:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugLocalVariable [[N_EITHER]]
// CHECK-DAG: [[HALF:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugFunction [[N_HALF]]
// CHECK-DAG: [[MAIN:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugFunction [[N_MAIN]]
// CHECK-DAG: [[ALL:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugExpression{{$}}
// CHECK-DAG: [[CALL:%[0-9]+]] = OpExtInst %void {{%[0-9]+}} DebugInlinedAt %uint_112 [[MAIN]]

// An array with a dynamic index is in memory.
// CHECK:      %main = OpFunction
// CHECK:      %table = OpVariable
// CHECK:      DebugScope [[MAIN]]
// CHECK-NEXT: DebugDeclare [[TABLE]] %table [[ALL]]{{$}}

// A variable with one value has its DebugValue; a member of a struct is a part.
// CHECK:      [[V:%[0-9]+]] = OpFMul %float {{.*}} %float_3
// CHECK-NEXT: DebugValue [[ONCE]] [[V]] [[ALL]]{{$}}
// CHECK-NEXT: DebugValue [[SAME]] [[V]] [[ALL]]{{$}}
// CHECK:      DebugValue [[PAIR]] {{%[0-9]+}} [[ALL]] %uint_1{{$}}

// A variable that a loop carries: its first value, its value at the head, and the value that the body sets.  Lanes are parts.
// CHECK-NOT:  DebugValue [[LEFT]]
// CHECK:      DebugValue [[SUM]] %float_0 [[ALL]]{{$}}
// CHECK:      OpPhi
// CHECK-DAG:  DebugValue [[SUM]] [[AROUND:%[0-9]+]] [[ALL]]{{$}}
// CHECK-DAG:  DebugValue [[COLOR]] {{%[0-9]+}} [[ALL]] %uint_2{{$}}
// CHECK:      OpLoopMerge
// CHECK:      DebugValue [[COLOR]] {{%[0-9]+}} [[ALL]]{{$}}
// An argument, in the scope of the inlined function.
// CHECK:      DebugScope [[HALF]] [[CALL]]
// CHECK-NEXT: DebugValue [[P]] {{%[0-9]+}} [[ALL]]{{$}}
// CHECK:      [[NEXT:%[0-9]+]] = OpFAdd %float {{.*}}[[AROUND]]
// CHECK-NEXT: DebugValue [[SUM]] [[NEXT]] [[ALL]]{{$}}

// A variable at the join of two arms.
// CHECK:      DebugValue [[EITHER]] [[YES:%[0-9]+]]
// CHECK:      DebugValue [[EITHER]] [[NO:%[0-9]+]]
// CHECK:      [[BOTH:%[0-9]+]] = OpPhi %float [[YES]] {{%[0-9]+}} [[NO]]
// CHECK:      DebugValue [[EITHER]] [[BOTH]] [[ALL]]{{$}}

// Two swapped variables have values from before the swap: no instruction is at the position of the assignment.
// CHECK-NOT:  DebugValue [[LEFT]]
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Y { vec4 y[]; };
struct Pair { int a; float b; };
#line 101
float halved(float p) { float q = p * 0.5; return q + x[0]; }

void main() { uvec3 where = gl_GlobalInvocationID; uint i = where.x;
  float once = x[i] * 3.0; float same = once;
  Pair pair; pair.a = int(i); pair.b = once + 1.0;
  float left = x[1]; float right = x[2]; { float other = left; left = right; right = other; }
  float table[4]; for (int k = 0; k < 4; k++) table[k] = once + k;
  float sum = 0.0;
  vec3 color = vec3(0);
  for (int j = 0; j < 10; j++) {
    color += y[j].xyz;
    sum += halved(x[j + 5]);
  }
  float all = 0.0; for (int n = 0; n < 9; n++) { float moved = x[n]; all += moved;
    moved = once * once; all = max(all, moved); }
  float either; if (once > 1.0) either = sum * 2.0; else either = same - 1.0;
  x[i] = either + table[i & 3] + pair.b * pair.a + left / right + all + dot(vec3(where), color);
  y[i] = vec4(color, sum); }
