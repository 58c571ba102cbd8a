// SPDX-License-Identifier: Apache-2.0
// Written by generate.py from vyre's headers, which document all of it.
use std::os::raw::{c_char, c_void};

pub type vyre_code = u32;
pub const VYRE_CODE_OK: u32 = 0;
pub const VYRE_CODE_INPUT: u32 = 1;
pub const VYRE_CODE_USAGE: u32 = 2;
pub const VYRE_CODE_DEVICE: u32 = 3;
pub const VYRE_CODE_INTERNAL: u32 = 70;

#[repr(C)]
pub struct vyre_status_data {
    _private: [u8; 0],
}

pub type vyre_status = *mut vyre_status_data;

pub type vyre_failure = u32;
pub const VYRE_FAILURE_NONE: u32 = 0;
pub const VYRE_FAILURE_REJECTED: u32 = 1;
pub const VYRE_FAILURE_BAD_INPUT: u32 = 2;
pub const VYRE_FAILURE_OUT_OF_MEMORY: u32 = 3;
pub const VYRE_FAILURE_BACKEND: u32 = 4;

pub type vyre_severity = u32;
pub const VYRE_NOTE: u32 = 0;
pub const VYRE_REMARK: u32 = 1;
pub const VYRE_WARNING: u32 = 2;
pub const VYRE_SEVERE: u32 = 3;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_diagnostic {
    pub severity: vyre_severity,
    pub file: *const c_char,
    pub line: u32,
    pub column: u32,
    pub length: u32,
    pub message: *const c_char,
    pub source: *const c_char,
    pub source_length: usize,
    pub fix: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_diagnostics {
    pub emit: Option<unsafe extern "C" fn(*mut c_void, *const vyre_diagnostic)>,
    pub user: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_allocator {
    pub resize: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize, usize) -> *mut c_void>,
    pub reserve: Option<unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void>,
    pub commit: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize, usize) -> bool>,
    pub release: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize)>,
    pub user: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_bytes {
    pub data: *mut c_char,
    pub size: usize,
    pub capacity: usize,
    pub allocator: *const vyre_allocator,
}
pub const VYRE_OPSET_VERSION: u32 = 2;
pub const VYRE_OPSET_ANY: u32 = 0xffffffff;
pub const VYRE_OP__ROOM: u32 = 0x400;
pub const VYRE_MOST_ROWS: u32 = 0x1000000;
pub const VYRE_MOST_DEPTH: u32 = 0x100000;
pub const VYRE_MOST_NESTING: u32 = 1023;

pub type vyre_opcode = u32;
pub const VYRE_OP_null: u32 = 0;
pub const VYRE_OP_program: u32 = 1;
pub const VYRE_OP_workgroup: u32 = 2;
pub const VYRE_OP_spec: u32 = 3;
pub const VYRE_OP_const: u32 = 4;
pub const VYRE_OP_var: u32 = 5;
pub const VYRE_OP_buffer: u32 = 6;
pub const VYRE_OP_region: u32 = 7;
pub const VYRE_OP_body: u32 = 8;
pub const VYRE_OP_case: u32 = 9;
pub const VYRE_OP_if: u32 = 10;
pub const VYRE_OP_for: u32 = 11;
pub const VYRE_OP_loop: u32 = 12;
pub const VYRE_OP_switch: u32 = 13;
pub const VYRE_OP_block: u32 = 14;
pub const VYRE_OP_return: u32 = 15;
pub const VYRE_OP_break: u32 = 16;
pub const VYRE_OP_continue: u32 = 17;
pub const VYRE_OP_leave: u32 = 18;
pub const VYRE_OP_fallthrough: u32 = 19;
pub const VYRE_OP_breakif: u32 = 20;
pub const VYRE_OP_trap: u32 = 21;
pub const VYRE_OP_barrier: u32 = 22;
pub const VYRE_OP_at: u32 = 32;
pub const VYRE_OP_load: u32 = 33;
pub const VYRE_OP_store: u32 = 34;
pub const VYRE_OP_copy: u32 = 35;
pub const VYRE_OP_length: u32 = 36;
pub const VYRE_OP_get: u32 = 37;
pub const VYRE_OP_set: u32 = 38;
pub const VYRE_OP_atomic_load: u32 = 40;
pub const VYRE_OP_atomic_store: u32 = 41;
pub const VYRE_OP_atomic_exchange: u32 = 42;
pub const VYRE_OP_atomic_compare_exchange: u32 = 43;
pub const VYRE_OP_atomic_add: u32 = 44;
pub const VYRE_OP_atomic_sub: u32 = 45;
pub const VYRE_OP_atomic_umin: u32 = 46;
pub const VYRE_OP_atomic_umax: u32 = 47;
pub const VYRE_OP_atomic_smin: u32 = 48;
pub const VYRE_OP_atomic_smax: u32 = 49;
pub const VYRE_OP_atomic_and: u32 = 50;
pub const VYRE_OP_atomic_or: u32 = 51;
pub const VYRE_OP_atomic_xor: u32 = 52;
pub const VYRE_OP_atomic_fadd: u32 = 53;
pub const VYRE_OP_atomic_fmin: u32 = 54;
pub const VYRE_OP_atomic_fmax: u32 = 55;
pub const VYRE_OP_async_copy: u32 = 56;
pub const VYRE_OP_async_wait: u32 = 57;
pub const VYRE_OP_gid: u32 = 64;
pub const VYRE_OP_lid: u32 = 65;
pub const VYRE_OP_wid: u32 = 66;
pub const VYRE_OP_groups: u32 = 67;
pub const VYRE_OP_lindex: u32 = 68;
pub const VYRE_OP_subgroup_lane: u32 = 69;
pub const VYRE_OP_subgroup_id: u32 = 70;
pub const VYRE_OP_subgroup_size: u32 = 71;
pub const VYRE_OP_subgroups: u32 = 72;
pub const VYRE_OP_subgroup_eq_mask: u32 = 73;
pub const VYRE_OP_subgroup_ge_mask: u32 = 74;
pub const VYRE_OP_subgroup_gt_mask: u32 = 75;
pub const VYRE_OP_subgroup_le_mask: u32 = 76;
pub const VYRE_OP_subgroup_lt_mask: u32 = 77;
pub const VYRE_OP_tuple: u32 = 80;
pub const VYRE_OP_part: u32 = 81;
pub const VYRE_OP_join: u32 = 82;
pub const VYRE_OP_splat: u32 = 83;
pub const VYRE_OP_lane: u32 = 84;
pub const VYRE_OP_insert: u32 = 85;
pub const VYRE_OP_shuffle: u32 = 86;
pub const VYRE_OP_select: u32 = 87;
pub const VYRE_OP_add: u32 = 96;
pub const VYRE_OP_sub: u32 = 97;
pub const VYRE_OP_mul: u32 = 98;
pub const VYRE_OP_neg: u32 = 99;
pub const VYRE_OP_udiv: u32 = 100;
pub const VYRE_OP_sdiv: u32 = 101;
pub const VYRE_OP_fdiv: u32 = 102;
pub const VYRE_OP_umod: u32 = 103;
pub const VYRE_OP_srem: u32 = 104;
pub const VYRE_OP_smod: u32 = 105;
pub const VYRE_OP_frem: u32 = 106;
pub const VYRE_OP_fmod: u32 = 107;
pub const VYRE_OP_fma: u32 = 108;
pub const VYRE_OP_uaddc: u32 = 109;
pub const VYRE_OP_usubb: u32 = 110;
pub const VYRE_OP_umulx: u32 = 111;
pub const VYRE_OP_smulx: u32 = 112;
pub const VYRE_OP_sabs: u32 = 113;
pub const VYRE_OP_fabs: u32 = 114;
pub const VYRE_OP_ssign: u32 = 115;
pub const VYRE_OP_fsign: u32 = 116;
pub const VYRE_OP_umin: u32 = 117;
pub const VYRE_OP_umax: u32 = 118;
pub const VYRE_OP_smin: u32 = 119;
pub const VYRE_OP_smax: u32 = 120;
pub const VYRE_OP_fmin: u32 = 121;
pub const VYRE_OP_fmax: u32 = 122;
pub const VYRE_OP_nmin: u32 = 123;
pub const VYRE_OP_nmax: u32 = 124;
pub const VYRE_OP_uclamp: u32 = 125;
pub const VYRE_OP_sclamp: u32 = 126;
pub const VYRE_OP_fclamp: u32 = 127;
pub const VYRE_OP_nclamp: u32 = 128;
pub const VYRE_OP_umulhi: u32 = 129;
pub const VYRE_OP_smulhi: u32 = 130;
pub const VYRE_OP_uaddsat: u32 = 131;
pub const VYRE_OP_saddsat: u32 = 132;
pub const VYRE_OP_usubsat: u32 = 133;
pub const VYRE_OP_ssubsat: u32 = 134;
pub const VYRE_OP_umulsat: u32 = 135;
pub const VYRE_OP_smulsat: u32 = 136;
pub const VYRE_OP_uabsdiff: u32 = 137;
pub const VYRE_OP_sabsdiff: u32 = 138;
pub const VYRE_OP_and: u32 = 144;
pub const VYRE_OP_or: u32 = 145;
pub const VYRE_OP_xor: u32 = 146;
pub const VYRE_OP_not: u32 = 147;
pub const VYRE_OP_shl: u32 = 148;
pub const VYRE_OP_ushr: u32 = 149;
pub const VYRE_OP_sshr: u32 = 150;
pub const VYRE_OP_bitcount: u32 = 151;
pub const VYRE_OP_bitrev: u32 = 152;
pub const VYRE_OP_findlsb: u32 = 153;
pub const VYRE_OP_findumsb: u32 = 154;
pub const VYRE_OP_findsmsb: u32 = 155;
pub const VYRE_OP_ubfe: u32 = 156;
pub const VYRE_OP_sbfe: u32 = 157;
pub const VYRE_OP_bfi: u32 = 158;
pub const VYRE_OP_any: u32 = 159;
pub const VYRE_OP_all: u32 = 160;
pub const VYRE_OP_rotl: u32 = 161;
pub const VYRE_OP_rotr: u32 = 162;
pub const VYRE_OP_eq: u32 = 176;
pub const VYRE_OP_ne: u32 = 177;
pub const VYRE_OP_ult: u32 = 178;
pub const VYRE_OP_ule: u32 = 179;
pub const VYRE_OP_ugt: u32 = 180;
pub const VYRE_OP_uge: u32 = 181;
pub const VYRE_OP_slt: u32 = 182;
pub const VYRE_OP_sle: u32 = 183;
pub const VYRE_OP_sgt: u32 = 184;
pub const VYRE_OP_sge: u32 = 185;
pub const VYRE_OP_feq: u32 = 186;
pub const VYRE_OP_fne: u32 = 187;
pub const VYRE_OP_flt: u32 = 188;
pub const VYRE_OP_fle: u32 = 189;
pub const VYRE_OP_fgt: u32 = 190;
pub const VYRE_OP_fge: u32 = 191;
pub const VYRE_OP_fone: u32 = 192;
pub const VYRE_OP_fueq: u32 = 193;
pub const VYRE_OP_fult: u32 = 194;
pub const VYRE_OP_fule: u32 = 195;
pub const VYRE_OP_fugt: u32 = 196;
pub const VYRE_OP_fuge: u32 = 197;
pub const VYRE_OP_isnan: u32 = 198;
pub const VYRE_OP_isinf: u32 = 199;
pub const VYRE_OP_convert: u32 = 208;
pub const VYRE_OP_bitcast: u32 = 209;
pub const VYRE_OP_quantize16: u32 = 210;
pub const VYRE_OP_packsnorm4x8: u32 = 211;
pub const VYRE_OP_packunorm4x8: u32 = 212;
pub const VYRE_OP_packsnorm2x16: u32 = 213;
pub const VYRE_OP_packunorm2x16: u32 = 214;
pub const VYRE_OP_packhalf2x16: u32 = 215;
pub const VYRE_OP_unpacksnorm4x8: u32 = 216;
pub const VYRE_OP_unpackunorm4x8: u32 = 217;
pub const VYRE_OP_unpacksnorm2x16: u32 = 218;
pub const VYRE_OP_unpackunorm2x16: u32 = 219;
pub const VYRE_OP_unpackhalf2x16: u32 = 220;
pub const VYRE_OP_round: u32 = 224;
pub const VYRE_OP_roundeven: u32 = 225;
pub const VYRE_OP_trunc: u32 = 226;
pub const VYRE_OP_floor: u32 = 227;
pub const VYRE_OP_ceil: u32 = 228;
pub const VYRE_OP_fract: u32 = 229;
pub const VYRE_OP_sqrt: u32 = 230;
pub const VYRE_OP_rsqrt: u32 = 231;
pub const VYRE_OP_radians: u32 = 232;
pub const VYRE_OP_degrees: u32 = 233;
pub const VYRE_OP_sin: u32 = 234;
pub const VYRE_OP_cos: u32 = 235;
pub const VYRE_OP_tan: u32 = 236;
pub const VYRE_OP_asin: u32 = 237;
pub const VYRE_OP_acos: u32 = 238;
pub const VYRE_OP_atan: u32 = 239;
pub const VYRE_OP_sinh: u32 = 240;
pub const VYRE_OP_cosh: u32 = 241;
pub const VYRE_OP_tanh: u32 = 242;
pub const VYRE_OP_asinh: u32 = 243;
pub const VYRE_OP_acosh: u32 = 244;
pub const VYRE_OP_atanh: u32 = 245;
pub const VYRE_OP_exp: u32 = 246;
pub const VYRE_OP_exp2: u32 = 247;
pub const VYRE_OP_log: u32 = 248;
pub const VYRE_OP_log2: u32 = 249;
pub const VYRE_OP_atan2: u32 = 250;
pub const VYRE_OP_pow: u32 = 251;
pub const VYRE_OP_step: u32 = 252;
pub const VYRE_OP_fmix: u32 = 253;
pub const VYRE_OP_smoothstep: u32 = 254;
pub const VYRE_OP_ldexp: u32 = 255;
pub const VYRE_OP_frexp: u32 = 256;
pub const VYRE_OP_modf: u32 = 257;
pub const VYRE_OP_dot: u32 = 272;
pub const VYRE_OP_norm: u32 = 273;
pub const VYRE_OP_distance: u32 = 274;
pub const VYRE_OP_cross: u32 = 275;
pub const VYRE_OP_normalize: u32 = 276;
pub const VYRE_OP_faceforward: u32 = 277;
pub const VYRE_OP_reflect: u32 = 278;
pub const VYRE_OP_refract: u32 = 279;
pub const VYRE_OP_matvec: u32 = 280;
pub const VYRE_OP_vecmat: u32 = 281;
pub const VYRE_OP_matmat: u32 = 282;
pub const VYRE_OP_transpose: u32 = 283;
pub const VYRE_OP_outer: u32 = 284;
pub const VYRE_OP_determinant: u32 = 285;
pub const VYRE_OP_inverse: u32 = 286;
pub const VYRE_OP_subgroup_elect: u32 = 288;
pub const VYRE_OP_subgroup_all: u32 = 289;
pub const VYRE_OP_subgroup_any: u32 = 290;
pub const VYRE_OP_subgroup_alleq: u32 = 291;
pub const VYRE_OP_subgroup_broadcast: u32 = 292;
pub const VYRE_OP_subgroup_first: u32 = 293;
pub const VYRE_OP_subgroup_ballot: u32 = 294;
pub const VYRE_OP_subgroup_inverse_ballot: u32 = 295;
pub const VYRE_OP_subgroup_ballot_bit: u32 = 296;
pub const VYRE_OP_subgroup_ballot_count: u32 = 297;
pub const VYRE_OP_subgroup_ballot_findlsb: u32 = 298;
pub const VYRE_OP_subgroup_ballot_findmsb: u32 = 299;
pub const VYRE_OP_subgroup_shuffle: u32 = 300;
pub const VYRE_OP_subgroup_shuffle_xor: u32 = 301;
pub const VYRE_OP_subgroup_shuffle_up: u32 = 302;
pub const VYRE_OP_subgroup_shuffle_down: u32 = 303;
pub const VYRE_OP_subgroup_rotate: u32 = 304;
pub const VYRE_OP_subgroup_quad_broadcast: u32 = 305;
pub const VYRE_OP_subgroup_quad_swap: u32 = 306;
pub const VYRE_OP_subgroup_add: u32 = 307;
pub const VYRE_OP_subgroup_mul: u32 = 308;
pub const VYRE_OP_subgroup_umin: u32 = 309;
pub const VYRE_OP_subgroup_umax: u32 = 310;
pub const VYRE_OP_subgroup_smin: u32 = 311;
pub const VYRE_OP_subgroup_smax: u32 = 312;
pub const VYRE_OP_subgroup_fmin: u32 = 313;
pub const VYRE_OP_subgroup_fmax: u32 = 314;
pub const VYRE_OP_subgroup_and: u32 = 315;
pub const VYRE_OP_subgroup_or: u32 = 316;
pub const VYRE_OP_subgroup_xor: u32 = 317;
pub const VYRE_OP_verbatim: u32 = 336;
pub const VYRE_OP_opaque: u32 = 337;
pub const VYRE_OP_opaque_pure: u32 = 338;
pub const VYRE_OP_opaque_read: u32 = 339;
pub const VYRE_OP_opaque_write: u32 = 340;
pub const VYRE_OP_sdot: u32 = 341;
pub const VYRE_OP_udot: u32 = 342;
pub const VYRE_OP_sudot: u32 = 343;

pub type vyre_kind = u32;
pub const VYRE_VOID: u32 = 0;
pub const VYRE_BOOL: u32 = 1;
pub const VYRE_I8: u32 = 2;
pub const VYRE_U8: u32 = 3;
pub const VYRE_I16: u32 = 4;
pub const VYRE_U16: u32 = 5;
pub const VYRE_I32: u32 = 6;
pub const VYRE_U32: u32 = 7;
pub const VYRE_I64: u32 = 8;
pub const VYRE_U64: u32 = 9;
pub const VYRE_F16: u32 = 10;
pub const VYRE_F32: u32 = 11;
pub const VYRE_F64: u32 = 12;
pub const VYRE_TUPLE: u32 = 13;
pub const VYRE_PATH: u32 = 14;
pub const VYRE_OPAQUE: u32 = 15;
pub const VYRE_KIND__COUNT: u32 = 16;
pub const VYRE_KIND__ROOM: u32 = 64;

pub type vyre_type = u8;

pub type vyre_row_flag = u32;
pub const VYRE_ROW_IMM: u32 = 1;
pub const VYRE_ROW_DECO: u32 = 2;
pub const VYRE_ROW_EXACT: u32 = 4;
pub const VYRE_ROW_RELAXED: u32 = 8;
pub const VYRE_ROW_VOLATILE: u32 = 16;
pub const VYRE_ROW_COHERENT: u32 = 32;
pub const VYRE_ROW_NONUNIFORM: u32 = 64;

pub type vyre_op_flag = u32;
pub const VYRE_OP_PURE: u32 = 1;
pub const VYRE_OP_COMMUTES: u32 = 2;
pub const VYRE_OP_ASSOC: u32 = 4;
pub const VYRE_OP_TAKES_IMM: u32 = 8;
pub const VYRE_OP_READS: u32 = 16;
pub const VYRE_OP_WRITES: u32 = 32;
pub const VYRE_OP_EFFECT: u32 = 64;
pub const VYRE_OP_CONVERGENT: u32 = 128;
pub const VYRE_OP_IDENTITY: u32 = 256;
pub const VYRE_OP_REGIONS: u32 = 512;
pub const VYRE_OP_REGION: u32 = 0x400;
pub const VYRE_OP_ENDS: u32 = 0x800;
pub const VYRE_OP_INTERFACE: u32 = 0x1000;

pub type vyre_class = u32;
pub const VYRE_CLASS_NONE: u32 = 0;
pub const VYRE_CLASS_ANY: u32 = 1;
pub const VYRE_CLASS_BOOL: u32 = 2;
pub const VYRE_CLASS_UINT: u32 = 3;
pub const VYRE_CLASS_SINT: u32 = 4;
pub const VYRE_CLASS_INT: u32 = 5;
pub const VYRE_CLASS_FLOAT: u32 = 6;
pub const VYRE_CLASS_NUM: u32 = 7;
pub const VYRE_CLASS_BITS: u32 = 8;

pub type vyre_rule = u32;
pub const VYRE_RULE_VOID: u32 = 0;
pub const VYRE_RULE_SAME: u32 = 1;
pub const VYRE_RULE_BOOL: u32 = 2;
pub const VYRE_RULE_FREE: u32 = 3;
pub const VYRE_RULE_OWN: u32 = 4;

pub type vyre_undefined = u32;
pub const VYRE_UNDEFINED_NEVER: u32 = 0;
pub const VYRE_UNDEFINED_OUT_OF_BOUNDS: u32 = 1;
pub const VYRE_UNDEFINED_DIV_BY_0: u32 = 2;
pub const VYRE_UNDEFINED_DIV_OVERFLOW: u32 = 3;
pub const VYRE_UNDEFINED_SHIFT_RANGE: u32 = 4;
pub const VYRE_UNDEFINED_BITFIELD_RANGE: u32 = 5;
pub const VYRE_UNDEFINED_LANE_RANGE: u32 = 6;
pub const VYRE_UNDEFINED_NAN_OPERAND: u32 = 7;
pub const VYRE_UNDEFINED_CLAMP_RANGE: u32 = 8;
pub const VYRE_UNDEFINED_FLOAT_RANGE: u32 = 9;
pub const VYRE_UNDEFINED_DOMAIN: u32 = 10;
pub const VYRE_UNDEFINED_LANES: u32 = 11;
pub const VYRE_UNDEFINED_DOT_OVERFLOW: u32 = 12;

pub type vyre_fold = u32;
pub const VYRE_FOLD_NONE: u32 = 0;
pub const VYRE_FOLD_LIBM: u32 = 1;
pub const VYRE_FOLD_EXACT: u32 = 2;

pub type vyre_self = u32;
pub const VYRE_SELF_NONE: u32 = 0;
pub const VYRE_SELF_ZERO: u32 = 1;
pub const VYRE_SELF_ONE: u32 = 2;
pub const VYRE_SELF_LEFT: u32 = 3;

pub type vyre_absorbs = u32;
pub const VYRE_ABSORBS_NONE: u32 = 0;
pub const VYRE_ABSORBS_ZERO: u32 = 1;
pub const VYRE_ABSORBS_ONES: u32 = 2;
pub const VYRE_ABSORBS_LEAST: u32 = 3;
pub const VYRE_ABSORBS_GREATEST: u32 = 4;

pub type vyre_compares = u32;
pub const VYRE_COMPARES_LESS: u32 = 1;
pub const VYRE_COMPARES_EQUAL: u32 = 2;
pub const VYRE_COMPARES_GREATER: u32 = 4;
pub const VYRE_COMPARES_UNORDERED: u32 = 8;
pub const VYRE_COMPARES_UNSIGNED: u32 = 16;
pub const VYRE_COMPARES_SIGNED: u32 = 32;
pub const VYRE_COMPARES_EITHER: u32 = 48;
pub const VYRE_COMPARES_FLOAT: u32 = 64;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_op_info {
    pub text: *const c_char,
    pub flags: u16,
    pub operands: u8,
    pub klass: u8,
    pub rule: u8,
    pub undefined: u8,
    pub fold: u8,
    pub cost: u8,
    pub mirrored: u16,
    pub inverse: u16,
    pub combines: u16,
    pub compares: u8,
    pub self_: u8,
    pub absorbs: u8,
    pub opset: u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_cost {
    pub struct_size: u32,
    pub issue: u32,
    pub latency: u32,
    pub registers: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_row {
    pub id: u32,
}
pub const VYRE_JOIN: u32 = 0x80000000;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_join {
    pub row: u32,
    pub first: u32,
    pub count: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_part {
    pub version: u32,
    pub edge: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_view {
    pub struct_size: u32,
    pub rows: u32,
    pub op: *const u32,
    pub imm: *const u32,
    pub imm_hi: *const u32,
    pub a: *const u32,
    pub b: *const u32,
    pub c: *const u32,
    pub parent: *const u32,
    pub prev: *const u32,
    pub next: *const u32,
    pub first: *const u32,
    pub last: *const u32,
    pub op_infos: *const vyre_op_info,
    pub loop_: *const u32,
    pub loop_next: *const u32,
    pub loop_exit: *const u32,
    pub end: *const u32,
    pub level: *const u32,
    pub depth: *const u32,
    pub hash: *const u32,
    pub canonical: *const u32,
    pub version: *const u32,
    pub joins: *const vyre_join,
    pub parts: *const vyre_part,
    pub join_count: u32,
    pub part_count: u32,
    pub op_count: u32,
    pub op_info_stride: u32,
}
pub const VYRE_VERSIONS: u32 = 1;
pub const VYRE_LOOPS: u32 = 2;
pub const VYRE_DOMINANCE: u32 = 4;
pub const VYRE_LEVELS: u32 = 8;
pub const VYRE_ANALYSES: u32 = 15;
pub const VYRE_HASHES: u32 = 16;
pub const VYRE_CLASSES: u32 = 32;
pub const VYRE_COLUMNS: u32 = 48;

pub type vyre_role = u32;
pub const VYRE_THEN: u32 = 0;
pub const VYRE_ELSE: u32 = 1;
pub const VYRE_BODY: u32 = 2;
pub const VYRE_CONTINUING: u32 = 3;
pub const VYRE_BLOCK: u32 = 4;

pub type vyre_program_mode = u32;
pub const VYRE_PROGRAM_RELAXED: u32 = 1;
pub const VYRE_PROGRAM_FLUSH_32: u32 = 2;
pub const VYRE_PROGRAM_TO_ZERO_32: u32 = 4;
pub const VYRE_PROGRAM_FLUSH_16: u32 = 8;
pub const VYRE_PROGRAM_TO_ZERO_16: u32 = 16;
pub const VYRE_PROGRAM_FLUSH_64: u32 = 32;
pub const VYRE_PROGRAM_TO_ZERO_64: u32 = 64;
pub const VYRE_PROGRAM_FLOAT_MODES: u32 = 126;

pub type vyre_float_control = u32;
pub const VYRE_FLOAT_DENORM_PRESERVE: u32 = 1;
pub const VYRE_FLOAT_DENORM_FLUSH: u32 = 2;
pub const VYRE_FLOAT_SIGNED_ZERO_INF_NAN: u32 = 4;
pub const VYRE_FLOAT_ROUND_EVEN: u32 = 8;
pub const VYRE_FLOAT_ROUND_TO_ZERO: u32 = 16;
pub const VYRE_FLOAT_CONTROLS_ALL: u32 = 0x7fff;

pub type vyre_space = u32;
pub const VYRE_SPACE_STORAGE: u32 = 0;
pub const VYRE_SPACE_UNIFORM: u32 = 1;
pub const VYRE_SPACE_PUSH: u32 = 2;
pub const VYRE_SPACE_WORKGROUP: u32 = 3;
pub const VYRE_SPACE_PRIVATE: u32 = 4;
pub const VYRE_SPACE_CONSTANT: u32 = 5;
pub const VYRE_SPACE_HANDLE: u32 = 6;
pub const VYRE_SPACE__COUNT: u32 = 7;

pub type vyre_access = u32;
pub const VYRE_ACCESS_NO_WRITE: u32 = 256;
pub const VYRE_ACCESS_NO_READ: u32 = 512;
pub const VYRE_ACCESS_COHERENT: u32 = 0x400;
pub const VYRE_ACCESS_VOLATILE: u32 = 0x800;
pub const VYRE_ACCESS_RESTRICT: u32 = 0x1000;
pub const VYRE_ACCESS_ALIASED: u32 = 0x2000;
pub const VYRE_ACCESS_UNSET: u32 = 0x4000;

pub type vyre_type_form = u32;
pub const VYRE_FORM_VALUE: u32 = 0;
pub const VYRE_FORM_MATRIX: u32 = 1;
pub const VYRE_FORM_ARRAY: u32 = 2;
pub const VYRE_FORM_STRUCT: u32 = 3;
pub const VYRE_FORM_WORDS: u32 = 4;

pub type vyre_type_flag = u32;
pub const VYRE_TYPE_ROW_MAJOR: u32 = 1;
pub const VYRE_TYPE_BLOCK: u32 = 2;
pub const VYRE_TYPE_RUNTIME: u32 = 4;
pub const VYRE_TYPE_BUFFER_BLOCK: u32 = 8;
pub const VYRE_ALIAS_SHARED: u32 = 0x80000000;
pub const VYRE_SEMANTICS: u32 = 0xffde;
pub const VYRE_NONTEMPORAL: u32 = 1;
pub const VYRE_NON_PRIVATE: u32 = 32;
pub const VYRE_MAKE_AVAILABLE: u32 = 0x2000;
pub const VYRE_MAKE_VISIBLE: u32 = 0x4000;
pub const VYRE_SHARING: u32 = 0x6020;
pub const VYRE_CASE_DEFAULT: u32 = 1;

pub type vyre_group = u32;
pub const VYRE_GROUP_REDUCE: u32 = 0;
pub const VYRE_GROUP_INCLUSIVE: u32 = 1;
pub const VYRE_GROUP_EXCLUSIVE: u32 = 2;
pub const VYRE_GROUP_CLUSTERED: u32 = 3;

pub type vyre_quad = u32;
pub const VYRE_QUAD_HORIZONTAL: u32 = 0;
pub const VYRE_QUAD_VERTICAL: u32 = 1;
pub const VYRE_QUAD_DIAGONAL: u32 = 2;

pub type vyre_hint = u32;
pub const VYRE_HINT_FLATTEN: u32 = 1;
pub const VYRE_HINT_DONT_FLATTEN: u32 = 2;
pub const VYRE_HINT_UNROLL: u32 = 1;
pub const VYRE_HINT_DONT_UNROLL: u32 = 2;
pub const VYRE_HINT_DEPENDENCY_INFINITE: u32 = 4;
pub const VYRE_HINT_DEPENDENCY_LENGTH: u32 = 8;
pub const VYRE_HINT_MIN_ITERATIONS: u32 = 16;
pub const VYRE_HINT_MAX_ITERATIONS: u32 = 32;
pub const VYRE_HINT_ITERATION_MULTIPLE: u32 = 64;
pub const VYRE_HINT_PEEL_COUNT: u32 = 128;
pub const VYRE_HINT_PARTIAL_COUNT: u32 = 256;
pub const VYRE_HINT_LITERALS: u32 = 504;
pub const VYRE_HINT_BITS: u32 = 9;
pub const VYRE_DECORATION_HINTS: u32 = 0xfffffffe;
pub const VYRE_DECORATION_MODULE: u32 = 0xffffffff;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_c_buffer {
    pub data: *mut c_void,
    pub bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_c_dispatch {
    pub groups: [u32; 3],
    pub first: u64,
    pub count: u64,
    pub buffers: *const vyre_c_buffer,
}

pub type vyre_memory_kind = u32;
pub const VYRE_MEMORY_COLUMN: u32 = 0;
pub const VYRE_MEMORY_FACT: u32 = 1;
pub const VYRE_MEMORY_SIDE: u32 = 2;
pub const VYRE_MEMORY_TABLE: u32 = 3;
pub const VYRE_MEMORY_COUNTER: u32 = 4;
pub const VYRE_MEMORY_VERDICT: u32 = 5;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_phase_memory {
    pub name: *const c_char,
    pub label: *const c_char,
    pub kind: u32,
    pub stride: u32,
}

pub type vyre_direction = u32;
pub const VYRE_DIRECTION_FLAT: u32 = 0;
pub const VYRE_DIRECTION_UP: u32 = 1;
pub const VYRE_DIRECTION_DOWN: u32 = 2;
pub const VYRE_DIRECTION_INWARD: u32 = 3;
pub const VYRE_DIRECTION_OUTWARD: u32 = 4;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_phase {
    pub name: *const c_char,
    pub direction: u32,
    pub use_count: u32,
    pub uses: *const u8,
    pub writes: *const u8,
    pub rows: Option<unsafe extern "C" fn(*const vyre_c_dispatch) -> u32>,
    pub listed: Option<unsafe extern "C" fn(*const vyre_c_dispatch) -> u32>,
}

pub type vyre_phase_step_kind = u32;
pub const VYRE_STEP_RUN: u32 = 0;
pub const VYRE_STEP_LEVELS: u32 = 1;
pub const VYRE_STEP_REPEAT: u32 = 2;
pub const VYRE_STEP_REPEAT_WHILE: u32 = 3;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_phase_step {
    pub kind: u32,
    pub phase: u32,
    pub times: u32,
    pub memory: u32,
    pub end: u32,
}

pub type vyre_phase_form = u32;
pub const VYRE_PHASE_SPIRV: u32 = 0;
pub const VYRE_PHASE_PTX: u32 = 1;
pub const VYRE_PHASE_KERNELS_VERSION: u32 = 1;
pub const VYRE_PHASE_KERNELS_PASS_HEAD: u32 = 2;
pub const VYRE_PHASE_WORKGROUP_SPEC: u32 = 0;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_phase_kernel {
    pub code: *const c_void,
    pub size: u64,
}

pub type vyre_phase_limit = u32;
pub const VYRE_PHASE_ENDLESS: u32 = 2;
pub const VYRE_PHASE_ITERATIONS: u32 = 64;
pub const VYRE_PHASE_ITERATIONS_A_ROW: u32 = 4;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_phase_kernels {
    pub struct_size: u32,
    pub form: u32,
    pub version: u32,
    pub reserved: u32,
    pub rows: *const vyre_phase_kernel,
    pub programs: *const vyre_phase_kernel,
    pub levels: *const vyre_phase_kernel,
    pub pass: *const vyre_phase_kernel,
}

pub type vyre_phases_flags = u32;
pub const VYRE_PHASES_CHECK_VERSIONS: u32 = 1;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_phases {
    pub struct_size: u32,
    pub memory_count: u32,
    pub phase_count: u32,
    pub step_count: u32,
    pub memory: *const vyre_phase_memory,
    pub phases: *const vyre_phase,
    pub steps: *const vyre_phase_step,
    pub kernels: *const *const vyre_phase_kernels,
    pub kernels_count: u32,
    pub reserved: u32,
    pub flags: u32,
    pub reserved_too: u32,
}
pub const VYRE_PLUGIN_ABI: u32 = 0x10002;

#[repr(C)]
pub struct vyre_module {
    _private: [u8; 0],
}

pub type vyre_result = u32;
pub const VYRE_UNCHANGED: u32 = 0;
pub const VYRE_CHANGED: u32 = 1;

pub type vyre_param_type = u32;
pub const VYRE_PARAM_FLAG: u32 = 1;
pub const VYRE_PARAM_UINT: u32 = 2;
pub const VYRE_PARAM_WORD: u32 = 3;
pub const VYRE_PARAM_TEXT: u32 = 4;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_param {
    pub struct_size: u32,
    pub type_: u32,
    pub name: *const c_char,
    pub summary: *const c_char,
    pub minimum: u64,
    pub maximum: u64,
    pub fallback: u64,
    pub words: *const c_char,
}

pub type vyre_pass_flag = u32;
pub const VYRE_PASS_PREPARES_EARLY: u32 = 1;
pub const VYRE_PASS_KEEPS_ORDER: u32 = 2;
pub const VYRE_PASS_ANY_ORDER: u32 = 4;
pub const VYRE_PASS_SKIPS_REMOVED: u32 = 8;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_pass {
    pub struct_size: u32,
    pub flags: u32,
    pub name: *const c_char,
    pub long_name: *const c_char,
    pub summary: *const c_char,
    pub help: *const c_char,
    pub params: *const vyre_param,
    pub param_count: u32,
    pub requires_: u32,
    pub preserves: u32,
    pub provides: u32,
    pub run: Option<unsafe extern "C" fn(*mut vyre_pass_ctx, *mut vyre_module, *mut vyre_result) -> vyre_status>,
    pub phases: *const vyre_phases,
    pub prepare: Option<unsafe extern "C" fn(*mut vyre_pass_ctx, *const vyre_module) -> vyre_status>,
    pub finish: Option<unsafe extern "C" fn(*mut vyre_pass_ctx, *const vyre_module) -> vyre_status>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_plugin {
    pub struct_size: u32,
    pub abi: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub opset_min: u32,
    pub opset_max: u32,
    pub passes: *const *const vyre_pass,
    pub pass_count: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_memory_type {
    pub struct_size: u32,
    pub form: u32,
    pub flags: u32,
    pub element: u32,
    pub count: u32,
    pub count_row: u32,
    pub stride: u32,
    pub size: u32,
    pub name: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_memory_member {
    pub struct_size: u32,
    pub type_: u32,
    pub offset: u32,
    pub access: u32,
    pub name: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_host {
    pub struct_size: u32,
    pub abi: u32,
    pub view: unsafe extern "C" fn(*const vyre_module) -> *const vyre_view,
    pub error: unsafe extern "C" fn(*mut vyre_pass_ctx, u32, *const c_char) -> vyre_status,
    pub remark: unsafe extern "C" fn(*mut vyre_pass_ctx, u32, *const c_char),
    pub count: unsafe extern "C" fn(*mut vyre_pass_ctx, *const c_char, u64),
    pub alloc: unsafe extern "C" fn(*mut vyre_pass_ctx, usize) -> *mut c_void,
    pub out_of_memory: unsafe extern "C" fn(*mut vyre_pass_ctx) -> vyre_status,
    pub param: unsafe extern "C" fn(*mut vyre_pass_ctx, *const c_char) -> u64,
    pub insert_row: unsafe extern "C" fn(*mut vyre_module, u32, u32, u32, u32, u32, u32, u32) -> u32,
    pub constant: unsafe extern "C" fn(*mut vyre_module, u32, vyre_type, u64) -> u32,
    pub rewrite: unsafe extern "C" fn(*mut vyre_module, u32, u32, u32, u32, u32, u32, u32),
    pub set_operand: unsafe extern "C" fn(*mut vyre_module, u32, u32, u32),
    pub move_before: unsafe extern "C" fn(*mut vyre_module, u32, u32),
    pub kill: unsafe extern "C" fn(*mut vyre_module, u32),
    pub forward: unsafe extern "C" fn(*mut vyre_module, *mut u32),
    pub fold: unsafe extern "C" fn(*const vyre_module, u32, *mut vyre_type, *mut u64) -> bool,
    pub each_pinned: unsafe extern "C" fn(*const vyre_module, unsafe extern "C" fn(*mut c_void, u32), *mut c_void),
    pub column: unsafe extern "C" fn(*mut vyre_pass_ctx, u32) -> *mut u32,
    pub in_bounds: unsafe extern "C" fn(*const vyre_module, u32) -> bool,
    pub fold_given: unsafe extern "C" fn(*const vyre_module, u32, *const *const u64, *mut u64) -> bool,
    pub aliases: unsafe extern "C" fn(*const vyre_module, *mut u32) -> bool,
    pub initial: unsafe extern "C" fn(*const vyre_module, u32, *mut u64) -> bool,
    pub param_text: unsafe extern "C" fn(*mut vyre_pass_ctx, *const c_char) -> *const c_char,
    pub preserved: unsafe extern "C" fn(*mut vyre_pass_ctx, u32),
    pub descriptor_steps: unsafe extern "C" fn(*const vyre_module, u32) -> u32,
    pub memory: unsafe extern "C" fn(*mut vyre_pass_ctx, *const c_char, u32) -> *mut u32,
    pub name: unsafe extern "C" fn(*const vyre_module, u32) -> *const c_char,
    pub set_name: unsafe extern "C" fn(*mut vyre_module, u32, *const c_char),
    pub line: unsafe extern "C" fn(*const vyre_module, u32, *mut *const c_char, *mut u32) -> u32,
    pub decorations: unsafe extern "C" fn(*const vyre_module, u32, *mut u32) -> *const u32,
    pub set_decorations: unsafe extern "C" fn(*mut vyre_module, u32, *const u32, u32),
    pub hints: unsafe extern "C" fn(*const vyre_module, u32, *mut u32) -> u32,
    pub set_hints: unsafe extern "C" fn(*mut vyre_module, u32, u32, *const u32),
    pub path_type: unsafe extern "C" fn(*const vyre_module, u32) -> u32,
    pub type_info: unsafe extern "C" fn(*const vyre_module, u32, *mut vyre_memory_type) -> bool,
    pub member_info: unsafe extern "C" fn(*const vyre_module, u32, u32, *mut vyre_memory_member) -> bool,
    pub clone: unsafe extern "C" fn(*mut vyre_module, u32, u32, *mut u32, u32) -> u32,
    pub append_row: unsafe extern "C" fn(*mut vyre_module, u32, u32, u32, u32, u32, u32, u32) -> u32,
    pub add_buffer: unsafe extern "C" fn(*mut vyre_module, u32, vyre_type, u32, u32, u32, u32) -> u32,
    pub cost: unsafe extern "C" fn(*mut vyre_pass_ctx, u32, vyre_type, *mut vyre_cost),
    pub param_file: unsafe extern "C" fn(*mut vyre_pass_ctx, *const c_char, *mut *const c_char, *mut usize) -> vyre_status,
}

pub type vyre_plugin_query = unsafe extern "C" fn(*const vyre_host) -> *const vyre_plugin;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_pass_ctx {
    pub struct_size: u32,
    pub host: *const vyre_host,
}
pub const VYRE_PLUGIN_NEEDS: u32 = 0x10002;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_specialization {
    pub values: *const *const c_char,
    pub count: u32,
    pub optional: *const *const c_char,
    pub optional_count: u32,
    pub freeze: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_optimize_options {
    pub struct_size: usize,
    pub passes: *const c_char,
    pub emit: *const c_char,
    pub path: *const c_char,
    pub plugins: *const *const c_char,
    pub plugin_count: u32,
    pub max_growth: u32,
    pub specialization: vyre_specialization,
    pub language: *const c_char,
    pub target_env: *const c_char,
    pub stage: *const c_char,
    pub entry_point: *const c_char,
    pub defines: *const *const c_char,
    pub define_count: u32,
    pub include_dir_count: u32,
    pub include_dirs: *const *const c_char,
    pub debug: bool,
    pub strip: bool,
    pub keep_vectors: bool,
    pub diagnostics: vyre_diagnostics,
    pub allocator: *const vyre_allocator,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct vyre_optimize_item {
    pub path: *const c_char,
    pub data: *const c_void,
    pub size: usize,
    pub out: vyre_bytes,
    pub status: vyre_status,
    pub diagnostics: vyre_diagnostics,
}

#[cfg(feature = "link")]
#[link(name = "vyre")]
extern "C" {
    pub fn vyre_status_add_fix(status: vyre_status, code: vyre_code, fix: *const c_char) -> vyre_status;
    pub fn vyre_status_join(first: vyre_status, second: vyre_status) -> vyre_status;
    pub fn vyre_status_code(status: vyre_status) -> vyre_code;
    pub fn vyre_status_text(status: vyre_status) -> *const c_char;
    pub fn vyre_status_is_out_of_memory(status: vyre_status) -> bool;
    pub fn vyre_status_mark_out_of_memory(status: vyre_status) -> vyre_status;
    pub fn vyre_status_failure(status: vyre_status) -> vyre_failure;
    pub fn vyre_status_mark_rejected(status: vyre_status) -> vyre_status;
    pub fn vyre_status_free(status: vyre_status);
    pub fn vyre_diagnostic_format(diagnostic: *const vyre_diagnostic, text: *mut c_char, capacity: usize) -> usize;
    pub fn vyre_allocator_default() -> *const vyre_allocator;
    pub fn vyre_bytes_append(bytes: *mut vyre_bytes, data: *const c_void, size: usize) -> vyre_status;
    pub fn vyre_bytes_reserve(bytes: *mut vyre_bytes, capacity: usize) -> vyre_status;
    pub fn vyre_bytes_undo(bytes: *mut vyre_bytes, size: usize, status: vyre_status) -> vyre_status;
    pub fn vyre_bytes_free(bytes: *mut vyre_bytes);
    pub fn vyre_optimize(options: *const vyre_optimize_options, data: *const c_void, size: usize, out: *mut vyre_bytes) -> vyre_status;
    pub fn vyre_optimize_many(options: *const vyre_optimize_options, items: *mut vyre_optimize_item, item_size: usize, count: u32, threads: u32) -> vyre_status;
    pub fn vyre_optimize_end();
}
