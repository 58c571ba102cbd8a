/* Instruction sets without effect on a shader, and the operands of the instructions of NonSemantic.Shader.DebugInfo.100 that
 * precede the functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/words.h"

#include <string.h>

#define OP_EXT_INST 12u

/* Operands by instruction, as letters of vyre_words_debug_kind. The letters after `?` are optional. The letters after `*` may be
 * repeated. */
static const char *const operands[] = {
    [0] = "",             /* DebugInfoNone */
    [1] = "ccdc",         /* DebugCompilationUnit: version, DWARF version, source, language */
    [2] = "sncc",         /* DebugTypeBasic: name, size, encoding, flags */
    [3] = "dcc",          /* DebugTypePointer: base, storage class, flags */
    [4] = "dc",           /* DebugTypeQualifier: base, qualifier */
    [5] = "d*l",          /* DebugTypeArray: base, counts */
    [6] = "dc",           /* DebugTypeVector: base, count */
    [7] = "sddccd",       /* DebugTypedef: name, base, source, line, column, parent */
    [8] = "ct*t",         /* DebugTypeFunction: flags, result, parameters */
    [9] = "sddccdnc*cs",  /* DebugTypeEnum: name, base, source, line, column, parent, size, flags, (value, name) */
    [10] = "scdccdsnc*d", /* DebugTypeComposite: name, tag, source, line, column, parent, linkage name, size, flags, members */
    [11] = "sddccnnc",    /* DebugTypeMember: name, type, source, line, column, offset, size, flags, without value */
    [12] = "dnnc",        /* DebugTypeInheritance: parent, offset, size, flags */
    [13] = "dd",          /* DebugTypePtrToMember: member, parent */
    [14] = "d*d",         /* DebugTypeTemplate: target, parameters */
    [15] = "sdvdcc",      /* DebugTypeTemplateParameter: name, type, value, source, line, column */
    [16] = "ssdcc",       /* DebugTypeTemplateTemplateParameter: name, template's name, source, line, column */
    [17] = "sdcc*d",      /* DebugTypeTemplateParameterPack: name, source, line, column, parameters */
    [18] = "sddccdsvc?d", /* DebugGlobalVariable: name, type, source, line, column, parent, linkage name, variable, flags, member */
    [19] = "sddccdsc",    /* DebugFunctionDeclaration: name, type, source, line, column, parent, linkage name, flags */
    [20] = "sddccdscc?d", /* DebugFunction: the same, then the line of its scope and its declaration */
    [21] = "dccd?s",      /* DebugLexicalBlock: source, line, column, parent, name */
    [22] = "dcd",         /* DebugLexicalBlockDiscriminator: source, discriminator, parent */
    [26] = "sddccdc?c",   /* DebugLocalVariable: name, type, source, line, column, parent, flags, argument number */
    [35] = "s?s",         /* DebugSource: file, text */
    [102] = "s",          /* DebugSourceContinued: text */
    [105] = "sc",         /* DebugBuildIdentifier: identifier, flags */
    [106] = "s",          /* DebugStoragePath: path */
    [107] = "ddss",       /* DebugEntryPoint: function, compilation unit, compiler, compiler arguments */
    [108] = "dcb",        /* DebugTypeMatrix: column, count, whether it is column major */
};

static const char *
find_operands(uint32_t instruction)
{
  return instruction < sizeof(operands) / sizeof(*operands) ? operands[instruction] : NULL;
}

bool
vyre_words_set_says_nothing(const char *set)
{
  if (strcmp(set, "NonSemantic.DebugPrintf") == 0 || strcmp(set, "NonSemantic.DebugBreak") == 0)
    return false;
  return strncmp(set, "NonSemantic.", 12) == 0 || strcmp(set, "OpenCL.DebugInfo.100") == 0 || strcmp(set, "DebugInfo") == 0;
}

bool
vyre_words_is_debug(const uint32_t *words)
{
  return (words[0] & 0xffffu) == OP_EXT_INST && words[0] >> 16 >= 5 && words[2] != 0 && words[3] == 0;
}

bool
vyre_words_is_reflected(const uint32_t *words)
{
  return (words[0] & 0xffffu) == OP_EXT_INST && words[0] >> 16 > 5 && words[1] == 0 && words[3] == VYRE_REFLECTED_SET;
}

bool
vyre_words_debug_fits(uint32_t instruction, uint32_t count)
{
  const char *text = find_operands(instruction);
  if (!text)
    return false;
  const size_t least = strcspn(text, "?*"), all = strlen(text);
  if (text[least] == '*')
    return count >= least && (count - least) % (all - least - 1) == 0;
  return count >= least && count <= (text[least] ? all - 1 : all);
}

char
vyre_words_debug_kind(uint32_t instruction, uint32_t k)
{
  const char *text = find_operands(instruction);
  const size_t least = text ? strcspn(text, "?*") : 0, all = text ? strlen(text) : 0;
  if (k < least)
    return text[k];
  if (least == all)
    return '\0';
  if (text[least] == '*')
    return text[least + 1 + (k - least) % (all - least - 1)];
  return k < all - 1 ? text[k + 1] : '\0';
}

uint32_t
vyre_words_debug_parent(uint32_t instruction)
{
  switch (instruction) {
  case VYRE_DEBUG_UNIT:
    return UINT32_MAX;
  case VYRE_DEBUG_COMPOSITE:
  case VYRE_DEBUG_FUNCTION:
    return 5;
  case VYRE_DEBUG_BLOCK:
    return 3;
  default:
    return 0;
  }
}
