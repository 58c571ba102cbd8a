/* Prepares a module for SPIRV-Cross, so that a text never means something else than its module.
 *
 * SPIRV-Cross ignores execution modes of floats, rounding modes of conversions, memory orders of atomics, qualifiers of single
 * accesses, and that workgroup blocks share their memory.  It writes OpFOrdNotEqual as `!=` and OpFUnordEqual as `==`, which differ
 * for NaNs.  It writes OpSRem without conversions to signed numbers, and OpSMod as `%`, which is OpSRem in some languages.  It
 * omits the zeros of OpQuantizeToF16, some extensions of GLSL, and conversions between i64 and uvec2.  It keeps reserved words as
 * names of values.  It writes a switch without cases as a loop, which changes each `continue` in it.
 *
 * For GLSL of Vulkan, modes become lines at the head.  A coherent access makes its whole variable coherent, which is stronger.
 * Comparisons, remainders, names, the conversion and such switches are replaced.  All other cases are reasons to refuse the module.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compile.h"

#include <cstring>
#include <unordered_map>

#include <spirv-tools/libspirv.h>
#define SPV_ENABLE_UTILITY_CODE
#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.hpp11>

namespace
{

struct mode {
  spv::ExecutionMode mode;
  const char *name, *extension;
  spv::Capability capability;
  bool has_width;
};

const mode modes[] = {
    {spv::ExecutionMode::DenormPreserve, "DenormPreserve", "SPV_KHR_float_controls", spv::Capability::DenormPreserve, true},
    {spv::ExecutionMode::DenormFlushToZero, "DenormFlushToZero", "SPV_KHR_float_controls", spv::Capability::DenormFlushToZero,
     true},
    {spv::ExecutionMode::SignedZeroInfNanPreserve, "SignedZeroInfNanPreserve", "SPV_KHR_float_controls",
     spv::Capability::SignedZeroInfNanPreserve, true},
    {spv::ExecutionMode::RoundingModeRTE, "RoundingModeRTE", "SPV_KHR_float_controls", spv::Capability::RoundingModeRTE, true},
    {spv::ExecutionMode::RoundingModeRTZ, "RoundingModeRTZ", "SPV_KHR_float_controls", spv::Capability::RoundingModeRTZ, true},
};

/* Memory operands of loads and stores. */
enum : uint32_t { VOLATILE = 1, ALIGNED = 2, AVAILABLE = 8, VISIBLE = 16 };

/* Bits of memory semantics. */
enum : uint32_t { ORDERED = 2 | 4 | 8 | 16, MAKE_AVAILABLE = 0x2000, MAKE_VISIBLE = 0x4000, SEMANTICS_VOLATILE = 0x8000 };

/* A number type, or the components of a vector or of the first member of a struct. */
struct scalar {
  spv::Op op = spv::Op::OpNop;
  uint32_t width = 0, lanes = 0;
  bool is_signed = false;
};

class finder
{
public:
  finder(const cross_request &from, cross_changes *to) : request(from), out(to), continued(cross_find_continued(from))
  {
  }

  std::string
  find()
  {
    for (size_t at = 5; at < request.count && reason.empty();) {
      const uint32_t *words = request.words + at, count = words[0] >> 16;
      if (count == 0 || count > request.count - at)
        break; /* SPIRV-Cross reports the invalid length */
      const auto op = static_cast<spv::Op>(words[0] & 0xffff);
      bool has_result = false, has_type = false;
      spv::HasResultAndType(op, &has_result, &has_type);
      if (has_result && has_type && count >= 3)
        type_of[words[2]] = words[1];
      visit(op, words, count);
      if (!replace(op, words, count, at) && !out->words.empty())
        out->words.insert(out->words.end(), words, words + count);
      at += count;
    }
    if (volatile_id && !built_in.count(volatile_id) && reason.empty())
      refuse(spv::Op::OpDecorate, volatile_id, "only SPIR-V can express that a variable is volatile");
    if (shared_blocks > 1 && reason.empty())
      reason = "OpDecorate Aliased: workgroup blocks share their memory, which only SPIR-V can express";
    return reason;
  }

private:
  void
  refuse(spv::Op op, uint32_t id, const std::string &what)
  {
    reason = "Op" + std::string(spvOpcodeString(static_cast<uint32_t>(op))) + " %" + std::to_string(id) + ": " + what;
  }

  static uint32_t
  first_word(spv::Op op, uint32_t count)
  {
    return count << 16 | static_cast<uint32_t>(op);
  }

  /* Appends an instruction to the changed words. */
  void
  put(spv::Op op, std::initializer_list<uint32_t> operands)
  {
    out->words.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | static_cast<uint32_t>(op));
    out->words.insert(out->words.end(), operands);
  }

  /* At the first change of the module, copies the words before `at` to the changed words. */
  void
  copy_before(size_t at)
  {
    if (out->words.empty())
      out->words.assign(request.words, request.words + at);
  }

  /* Returns a new id. */
  uint32_t
  new_id(size_t at)
  {
    copy_before(at);
    return out->words[3]++;
  }

  /* Appends a replacement for an instruction that SPIRV-Cross writes wrongly.  Returns false if the instruction stays as it is. */
  bool
  replace(spv::Op op, const uint32_t *words, uint32_t count, size_t at)
  {
    if (op == spv::Op::OpMemoryModel && !functions)
      import_functions(at);
    if (op == spv::Op::OpName && count >= 3)
      return replace_name(words, count, at);
    if ((op == spv::Op::OpSRem || op == spv::Op::OpSMod) && count == 5)
      replace_remainder(op, words, at);
    else if ((op == spv::Op::OpFOrdNotEqual || op == spv::Op::OpFUnordEqual) && count == 5)
      replace_comparison(op, words, at);
    else if (op == spv::Op::OpSwitch && continued.count(at))
      replace_switch(words, at);
    else if (!unsigned64 && count >= 3 && words[2] == 64 &&
             (op == spv::Op::OpTypeFloat || (op == spv::Op::OpTypeInt && words[3] == 1))) {
      unsigned64 = new_id(at);
      out->words.insert(out->words.end(), words, words + count);
      put(spv::Op::OpTypeInt, {unsigned64, 64, 0});
    } else if (op == spv::Op::OpBitcast && count == 4 && unsigned64 && is_pair_of_words(words[1], type_of[words[3]])) {
      const uint32_t between = new_id(at);
      put(op, {unsigned64, between, words[3]});
      put(op, {words[1], words[2], between});
    } else
      return false;
    return true;
  }

  /* Gives a switch without cases one case, so that it is written as a switch. */
  void
  replace_switch(const uint32_t *words, size_t at)
  {
    copy_before(at);
    put(spv::Op::OpSwitch, {words[1], words[2], 0, words[2]});
  }

  /* Appends an underscore to a reserved name. */
  bool
  replace_name(const uint32_t *words, uint32_t count, size_t at)
  {
    const char *text = reinterpret_cast<const char *>(words + 2);
    std::string name(text, strnlen(text, (count - 2) * sizeof *words));
    if (!cross_is_reserved(name))
      return false;
    copy_before(at);
    name += '_';
    std::vector<uint32_t> packed(name.size() / sizeof *words + 1);
    std::memcpy(packed.data(), name.data(), name.size());
    out->words.push_back(static_cast<uint32_t>(packed.size() + 2) << 16 | static_cast<uint32_t>(spv::Op::OpName));
    out->words.push_back(words[1]);
    out->words.insert(out->words.end(), packed.begin(), packed.end());
    return true;
  }

  /* Returns whether one type is a signed integer or a float of 64 bits, and the other is a vector of two unsigned words. */
  bool
  is_pair_of_words(uint32_t to, uint32_t from)
  {
    const scalar &a = types[to], &b = types[from];
    const scalar &one = a.lanes == 1 ? a : b, &two = a.lanes == 1 ? b : a;
    const bool is_u64 = one.op == spv::Op::OpTypeInt && !one.is_signed;
    return one.lanes == 1 && one.width == 64 && !is_u64 && two.lanes == 2 && two.width == 32 && is_unsigned(two);
  }

  static bool
  is_unsigned(const scalar &type)
  {
    return type.op == spv::Op::OpTypeInt && !type.is_signed;
  }

  static bool
  is_float(const scalar &type, uint32_t width, uint32_t lanes)
  {
    return type.op == spv::Op::OpTypeFloat && type.width == width && type.lanes == lanes;
  }

  /* Returns whether SPIRV-Cross writes the bitcast: it writes some as conversions of numbers. */
  bool
  has_bitcast(const scalar &a, const scalar &b) const
  {
    const bool is_hlsl = request.options.language == VYRE_CROSS_HLSL;
    if (request.options.language == VYRE_CROSS_MSL || a.lanes == 0 || b.lanes == 0)
      return true; /* a pointer, or as_type */
    if (a.lanes == b.lanes) {
      const bool are_integers = a.op == b.op && a.op == spv::Op::OpTypeInt;
      return !is_hlsl || a.width == 32 || are_integers || (a.width == 16 && !a.is_signed && !b.is_signed);
    }
    const scalar &one = a.lanes < b.lanes ? a : b, &more = a.lanes < b.lanes ? b : a;
    const bool are_words = more.width == 32 && more.lanes == 2 && is_unsigned(one) && is_unsigned(more);
    if (is_hlsl || more.width == 32)
      return are_words || (is_hlsl && is_float(more, 16, 2) && is_unsigned(one));
    if (is_float(more, 16, 2))
      return is_unsigned(one) || is_float(one, 32, 1);
    return one.lanes == 1 && one.op == more.op && one.op == spv::Op::OpTypeInt && one.is_signed == more.is_signed;
  }

  /* Replaces the remainder r by a - a / b * b, which SPIRV-Cross writes with the conversions to signed numbers.  The modulo adds b
   * if the signs of r and b differ: (min(sign(r) * sign(b), 0) & b). */
  void
  replace_remainder(spv::Op op, const uint32_t *words, size_t at)
  {
    const uint32_t type = words[1], id = words[2], a = words[3], b = words[4], set = functions;
    const bool is_modulo = op == spv::Op::OpSMod;
    const uint32_t quotient = new_id(at), product = new_id(at), remainder = is_modulo ? new_id(at) : id;
    put(spv::Op::OpSDiv, {type, quotient, a, b});
    put(spv::Op::OpIMul, {type, product, quotient, b});
    put(spv::Op::OpISub, {type, remainder, a, product});
    if (!is_modulo)
      return;
    const uint32_t left = new_id(at), right = new_id(at), sign = new_id(at), zero = new_id(at), mask = new_id(at),
                   more = new_id(at);
    put(spv::Op::OpExtInst, {type, left, set, GLSLstd450SSign, remainder});
    put(spv::Op::OpExtInst, {type, right, set, GLSLstd450SSign, b});
    put(spv::Op::OpIMul, {type, sign, left, right});
    put(spv::Op::OpBitwiseXor, {type, zero, b, b});
    put(spv::Op::OpExtInst, {type, mask, set, GLSLstd450SMin, sign, zero});
    put(spv::Op::OpBitwiseAnd, {type, more, mask, b});
    put(spv::Op::OpIAdd, {type, id, remainder, more});
  }

  /* Imports the functions of replace_remainder before the memory model, if the module does not. */
  void
  import_functions(size_t at)
  {
    static const char name[16] = "GLSL.std.450";
    uint32_t packed[4];
    std::memcpy(packed, name, sizeof packed);
    functions = new_id(at);
    put(spv::Op::OpExtInstImport, {functions, packed[0], packed[1], packed[2], packed[3]});
  }

  /* Replaces x != y by x < y || x > y, and its negation likewise. */
  void
  replace_comparison(spv::Op op, const uint32_t *words, size_t at)
  {
    const bool is_negated = op == spv::Op::OpFUnordEqual;
    const uint32_t type = words[1], id = words[2], x = words[3], y = words[4];
    const uint32_t less = new_id(at), greater = new_id(at), either = is_negated ? new_id(at) : id;
    put(spv::Op::OpFOrdLessThan, {type, less, x, y});
    put(spv::Op::OpFOrdGreaterThan, {type, greater, x, y});
    put(spv::Op::OpLogicalOr, {type, either, less, greater});
    if (is_negated)
      put(spv::Op::OpLogicalNot, {type, id, either});
  }

  void
  visit(spv::Op op, const uint32_t *words, uint32_t count)
  {
    if (op >= spv::Op::OpGroupNonUniformElect && op <= spv::Op::OpGroupNonUniformQuadSwap && count >= 3)
      visit_subgroup(words[1]);
    switch (op) {
    case spv::Op::OpTypeInt:
    case spv::Op::OpTypeFloat:
      if (op == spv::Op::OpTypeFloat && count >= 4)
        refuse(op, words[1], "SPIRV-Cross writes a float with an encoding of its own, such as bf16, as if it had none");
      if (count >= 3)
        types[words[1]] = {op, words[2], 1, op == spv::Op::OpTypeInt && count >= 4 && words[3] == 1};
      break;
    case spv::Op::OpExtInstImport:
      if (count >= 6 && std::memcmp(words + 2, "GLSL.std.450", 13) == 0)
        functions = words[1];
      break;
    case spv::Op::OpTypeVector:
      if (count >= 4)
        types[words[1]] = {types[words[2]].op, types[words[2]].width, words[3], types[words[2]].is_signed};
      break;
    case spv::Op::OpTypeStruct:
      if (count >= 3)
        types[words[1]] = types[words[2]];
      break;
    case spv::Op::OpIAddCarry:
    case spv::Op::OpISubBorrow:
    case spv::Op::OpUMulExtended:
    case spv::Op::OpSMulExtended:
      if (count >= 5 && (request.options.language == VYRE_CROSS_HLSL || types[words[1]].width != 32))
        refuse(op, words[2], "SPIRV-Cross writes it for 32 bits and not in HLSL");
      break;
    case spv::Op::OpBitcast:
      if (count >= 4 && !has_bitcast(types[words[1]], types[type_of[words[3]]]) && !is_pair_of_words(words[1], type_of[words[3]]))
        refuse(op, words[2], "SPIRV-Cross does not write this conversion of bits");
      break;
    case spv::Op::OpQuantizeToF16:
      if (count >= 4)
        refuse(op, words[2], "SPIRV-Cross writes it without the zeros that small numbers become");
      break;
    case spv::Op::OpExecutionMode:
      if (count >= 3)
        visit_mode(words, count);
      break;
    case spv::Op::OpDecorate:
      if (count >= 3)
        visit_decoration(words);
      break;
    case spv::Op::OpMemberDecorate:
      if (count >= 4 && words[3] == static_cast<uint32_t>(spv::Decoration::Volatile))
        refuse(op, words[1], "only SPIR-V can express that a member is volatile");
      break;
    case spv::Op::OpConstant:
      if (count >= 4)
        constants[words[2]] = words[3];
      break;
    case spv::Op::OpVariable:
      if (count >= 4) {
        base[words[2]] = words[2];
        storage[words[2]] = static_cast<spv::StorageClass>(words[3]);
        shared_blocks += words[3] == static_cast<uint32_t>(spv::StorageClass::Workgroup) && aliased.count(words[2]);
      }
      break;
    case spv::Op::OpAccessChain:
    case spv::Op::OpInBoundsAccessChain:
    case spv::Op::OpPtrAccessChain:
    case spv::Op::OpCopyObject:
    case spv::Op::OpImageTexelPointer:
      if (count >= 4)
        base[words[2]] = base_of(words[3]);
      break;
    case spv::Op::OpLoad:
      if (count >= 4 && is_in(base_of(words[3]), spv::StorageClass::UniformConstant))
        base[words[2]] = base_of(words[3]); /* an image; a loaded pointer has no known variable */
      if (count >= 5)
        visit_access(op, words[2], words[3], words[4]);
      break;
    case spv::Op::OpStore:
      if (count >= 4)
        visit_access(op, words[1], words[1], words[3]);
      break;
    case spv::Op::OpCopyMemory:
      for (uint32_t at = 3; at < count; at += 1 + !!(words[at] & ALIGNED) + !!(words[at] & AVAILABLE) + !!(words[at] & VISIBLE)) {
        visit_access(op, words[1], words[1], words[at]); /* one mask for both pointers, or one for each */
        visit_access(op, words[1], words[2], words[at]);
      }
      break;
    case spv::Op::OpImageRead:
    case spv::Op::OpImageSparseRead:
      if (count >= 6)
        visit_image(op, words[2], words[3], words[5]);
      break;
    case spv::Op::OpImageWrite:
      if (count >= 5)
        visit_image(op, words[1], words[1], words[4]);
      break;
    case spv::Op::OpAtomicStore:
      if (count >= 5) {
        visit_atomic(op, words[1], words[1], words[3]);
        visit_atomic_type(type_of[words[4]]);
      }
      break;
    default:
      if (op >= spv::Op::OpAtomicLoad && op <= spv::Op::OpAtomicXor && count >= 6) {
        visit_atomic(op, words[2], words[3], words[5]);
        visit_atomic_type(words[1]);
      }
    }
  }

  /* Requires the extension of GLSL for subgroup operations over numbers of other widths. */
  void
  visit_subgroup(uint32_t type)
  {
    const scalar &of = types[type];
    if (of.width == 8 || of.width == 16 || (of.width == 64 && of.op == spv::Op::OpTypeInt))
      out->extensions.insert("GL_EXT_shader_subgroup_extended_types_" + std::string(of.op == spv::Op::OpTypeInt ? "int" : "float") +
                             std::to_string(of.width));
  }

  void
  visit_mode(const uint32_t *words, uint32_t count)
  {
    for (const mode &m : modes) {
      if (words[2] != static_cast<uint32_t>(m.mode) || count < 4)
        continue;
      if (request.options.language != VYRE_CROSS_GLSL || request.options.platform != VYRE_CROSS_DEFAULT) {
        reason = "OpExecutionMode " + std::string(m.name) + " " + std::to_string(words[3]) +
                 ": only SPIR-V and GLSL of Vulkan can express it";
        return;
      }
      out->extensions.insert("GL_EXT_spirv_intrinsics");
      out->head.push_back("spirv_execution_mode(extensions = [\"" + std::string(m.extension) + "\"], capabilities = [" +
                          std::to_string(static_cast<uint32_t>(m.capability)) + "], " + std::to_string(words[2]) + ", " +
                          std::to_string(words[3]) + ");");
    }
  }

  void
  visit_decoration(const uint32_t *words)
  {
    const auto decoration = static_cast<spv::Decoration>(words[2]);
    if (decoration == spv::Decoration::FPRoundingMode)
      reason = "OpDecorate %" + std::to_string(words[1]) + " FPRoundingMode: only SPIR-V can express it";
    if (decoration == spv::Decoration::Aliased)
      aliased[words[1]] = 1;
    if (decoration == spv::Decoration::BuiltIn)
      built_in[words[1]] = 1;
    if (decoration == spv::Decoration::Volatile)
      volatile_id = words[1];
  }

  uint32_t
  base_of(uint32_t id) const
  {
    const auto found = base.find(id);
    return found == base.end() ? 0 : found->second;
  }

  bool
  is_in(uint32_t variable, spv::StorageClass space) const
  {
    const auto found = storage.find(variable);
    return found != storage.end() && found->second == space;
  }

  /* Refuses a volatile access, except to memory of one invocation. */
  void
  visit_volatile(spv::Op op, uint32_t id, uint32_t pointer)
  {
    const uint32_t variable = base_of(pointer);
    if (!is_in(variable, spv::StorageClass::Function) && !is_in(variable, spv::StorageClass::Private))
      refuse(op, id, "only SPIR-V can express this volatile access");
  }

  /* Makes the variable of a coherent access coherent as a whole.  Workgroup memory is always coherent. */
  void
  visit_coherent(spv::Op op, uint32_t id, uint32_t pointer)
  {
    const uint32_t variable = base_of(pointer);
    if (is_in(variable, spv::StorageClass::Function) || is_in(variable, spv::StorageClass::Private) ||
        is_in(variable, spv::StorageClass::Workgroup))
      return;
    if (!variable)
      refuse(op, id, "only SPIR-V can express this coherent access");
    else
      out->decorations.emplace_back(variable, static_cast<uint32_t>(spv::Decoration::Coherent));
  }

  /* Requires the extension of GLSL for an atomic over floats. */
  void
  visit_atomic_type(uint32_t type)
  {
    const scalar &of = types[type];
    if (of.op == spv::Op::OpTypeFloat)
      out->extensions.insert(of.width == 16 ? "GL_EXT_shader_atomic_float2" : "GL_EXT_shader_atomic_float");
  }

  void
  visit_access(spv::Op op, uint32_t id, uint32_t pointer, uint32_t operands)
  {
    if (operands & VOLATILE)
      visit_volatile(op, id, pointer);
    if (operands & (AVAILABLE | VISIBLE))
      visit_coherent(op, id, pointer);
  }

  void
  visit_image(spv::Op op, uint32_t id, uint32_t image, uint32_t operands)
  {
    if (operands & 0x800)
      visit_volatile(op, id, image);
    if (operands & 0x300)
      visit_coherent(op, id, image);
  }

  void
  visit_atomic(spv::Op op, uint32_t id, uint32_t pointer, uint32_t semantics)
  {
    const auto found = constants.find(semantics);
    const uint32_t bits = found == constants.end() ? 0 : found->second;
    if (bits & ORDERED)
      refuse(op, id, "SPIRV-Cross writes atomics without a memory order, and this one has an order");
    else if (bits & SEMANTICS_VOLATILE)
      visit_volatile(op, id, pointer);
  }

  const cross_request &request;
  cross_changes *out;
  std::set<size_t> continued; /* OpSwitch instructions that get a case */
  std::string reason;
  std::unordered_map<uint32_t, uint32_t> base, constants, aliased, built_in;
  std::unordered_map<uint32_t, scalar> types;
  std::unordered_map<uint32_t, spv::StorageClass> storage;
  std::unordered_map<uint32_t, uint32_t> type_of; /* by value */
  uint32_t shared_blocks = 0, unsigned64 = 0, functions = 0, volatile_id = 0;
};

} // namespace

std::string
cross_prepare(const cross_request &request, cross_changes *out)
{
  return finder(request, out).find();
}
