// -gV keeps functions, blocks and calls (NonSemantic.Shader.DebugInfo.100) through all passes; -gVS adds source text; -g keeps lines.
// SPDX-License-Identifier: Apache-2.0
// RUN: rm -rf %t && mkdir %t && cp %s %t/a.comp
// RUN: %passmgr -v -gV -passes='default<O2>' -verify-each -roundtrip-each=vir0 %t/a.comp -o %t/a.spv 2>%t/said && %spirv-val %t/a.spv && %spirv-dis %t/a.spv | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID <%t/said
// SAID:     remark: is left out: private variables and built-ins of NonSemantic.Shader.DebugInfo.100{{$}}
// SAID-NOT: remark

// After -strip the module is the same as without -gV.
// RUN: %passmgr -gV -passes='default<O2>' -strip %t/a.comp -o %t/b.spv 2>/dev/null
// RUN: %passmgr -passes='default<O2>' -strip %t/a.comp -o %t/c.spv && cmp %t/b.spv %t/c.spv

// The output is the same through VIR0, clones and a batch.  It can be read again.
// RUN: %passmgr -gV %t/a.comp -o %t/d.vir0 && %passmgr -passes='default<O2>' %t/d.vir0 -o %t/d.spv && cmp %t/a.spv %t/d.spv
// RUN: %passmgr -gV -passes='default<O2>' -roundtrip-each=clone %t/a.comp -o %t/e.spv && cmp %t/a.spv %t/e.spv
// RUN: cp %t/a.comp %t/z.comp && %passmgr -gV -passes='default<O2>' -batch %t/z.comp %t/a.comp -outdir %t/out && cmp %t/a.spv %t/out/a.spv
// RUN: %passmgr -passes=no-op %t/a.spv -o %t/f.spv && %spirv-val %t/f.spv
// RUN: %passmgr -passes=no-op %t/f.spv -o %t/g.spv && %passmgr -passes=no-op %t/g.spv -o %t/i.spv && cmp %t/g.spv %t/i.spv
// RUN: %spirv-dis %t/f.spv | FileCheck %s

// RUN: %passmgr -passes=no-op -gVS %t/a.comp -o %t/h.spv && %spirv-val %t/h.spv && %spirv-dis %t/h.spv | FileCheck %s --check-prefix=TEXT
// TEXT: [[FILE:%[0-9]+]] = OpString "{{.*}}a.comp"
// TEXT: [[TEXT:%[0-9]+]] = OpString "// -gV keeps functions,
// TEXT: DebugSource [[FILE]] [[TEXT]]
// RUN: %passmgr -passes=no-op -g %t/a.comp -o %t/i.spv && %spirv-dis %t/i.spv | FileCheck %s --check-prefix=LINES
// LINES-NOT: NonSemantic
// LINES:     OpLine

// CHECK:      OpExtension "SPV_KHR_non_semantic_info"
// CHECK:      [[SET:%[0-9]+]] = OpExtInstImport "NonSemantic.Shader.DebugInfo.100"
// CHECK:      [[FILE:%[0-9]+]] = OpString "{{.*}}a.comp"
// CHECK:      [[SOURCE:%[0-9]+]] = OpExtInst %void [[SET]] DebugSource [[FILE]]
// CHECK:      DebugCompilationUnit %uint_1 %uint_4 [[SOURCE]] %uint_2
// CHECK:      [[MAIN:%[0-9]+]] = OpExtInst %void [[SET]] DebugFunction
// CHECK:      [[SQUARE:%[0-9]+]] = OpExtInst %void [[SET]] DebugFunction
// CHECK:      [[SUM:%[0-9]+]] = OpExtInst %void [[SET]] DebugFunction
// CHECK:      [[BLOCK:%[0-9]+]] = OpExtInst %void [[SET]] DebugLexicalBlock [[SOURCE]] %uint_0 %uint_0 [[SUM]]
// CHECK:      [[CALL:%[0-9]+]] = OpExtInst %void [[SET]] DebugInlinedAt %uint_107 [[MAIN]]{{$}}
// CHECK:      [[INNER:%[0-9]+]] = OpExtInst %void [[SET]] DebugInlinedAt %uint_105 [[SUM]] [[CALL]]
// CHECK:      DebugGlobalVariable {{.*}} %X_0 %uint_8
// CHECK-NOT:  DebugGlobalVariable
// CHECK:      %main = OpFunction
// CHECK-NEXT: OpLabel
// CHECK-NEXT: OpExtInst %void [[SET]] DebugFunctionDefinition [[MAIN]] %main
// CHECK:      OpExtInst %void [[SET]] DebugScope [[MAIN]]{{$}}
// CHECK-NEXT: OpExtInst %void [[SET]] DebugLine [[SOURCE]] %uint_106 %uint_106 %uint_0 %uint_0
// CHECK:      OpLoad
// CHECK:      OpExtInst %void [[SET]] DebugScope [[SUM]] [[CALL]]
// CHECK:      OpExtInst %void [[SET]] DebugScope [[BLOCK]] [[CALL]]
// CHECK-NEXT: OpExtInst %void [[SET]] DebugLine [[SOURCE]] %uint_103
// CHECK-NEXT: OpFMul
// CHECK:      OpExtInst %void [[SET]] DebugScope [[SQUARE]] [[INNER]]
// CHECK:      OpExtInst %void [[SET]] DebugLine [[SOURCE]] %uint_101 %uint_101
// CHECK-NEXT: OpFMul
// CHECK:      OpExtInst %void [[SET]] DebugScope [[SUM]] [[CALL]]
// CHECK-NEXT: OpExtInst %void [[SET]] DebugLine [[SOURCE]] %uint_105
// CHECK-NEXT: OpFSub
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer X { float x[]; };
#line 101
float square(float v) { return v * v; }
float sum(float v, float w) {
  for (float i = 0.0; i < w; i += 1.0) { if (v > 3.0) { float twice = v * 2.0; v += twice; } }
  v = v + w;
  return square(v) - w; }
void main() { uint i = gl_GlobalInvocationID.x; float v = x[i]; float w = x[i + 1];
  x[i] = sum(v, w); }
