# Mutation operators: plausible mistakes at a token.  Each is a function over a source and a token's index that yields
# edits, (start, end, text) in the file.  An edit keeps the number of lines.  SPDX-License-Identifier: Apache-2.0
import re

COMPARISONS = {"==": ["!="], "!=": ["=="], "<": ["<=", ">", ">="], "<=": ["<", ">="], ">": [">=", "<", "<="], ">=": [">", "<="]}
EXCHANGED = {"&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"], "&": ["|"],
             "|": ["&"], "^": ["|"], "+=": ["-="], "-=": ["+="], "|=": ["&=", "="], "&=": ["|=", "="], "<<=": [">>="], ">>=": ["<<="],
             "++": ["--"], "--": ["++"]}
UNARY_TOO = {"+", "-", "*", "&"}
ORDERED = {"-", "/", "%", "<<", ">>", "<", "<=", ">", ">="}
PAIRS = [("a", "b"), ("b", "c"), ("prev", "next"), ("first", "last"), ("before", "after"), ("min", "max"), ("begin", "end"), ("imm", "imm_hi"),
         ("true", "false"), ("merge", "next"), ("parent", "first"), ("left", "right"), ("from", "to"), ("rows", "count"), ("low", "high")]
NOT_AN_EXPRESSION = {"if", "for", "while", "switch", "return", "do", "else", "case", "default", "goto", "sizeof", "const", "static", "struct",
                     "union", "enum", "typedef", "unsigned", "int", "char", "void", "bool", "float", "double", "auto"}
RELEASES = re.compile(r"(\w*(free|release|close|destroy|unmap|discard|dispose)\w*)$")
SYMMETRIC = {"strcmp", "memcmp", "strcasecmp"}  # if the result is only compared with 0
ENDS_OPERAND = {"&&", "||", "?", ":", ",", ";", "=", "return", "{", "}", "+=", "-=", "|=", "&="}


def is_operand_end(s, k):
    """Returns whether a binary operator can follow token k."""
    token = s.tokens[k]
    return token.kind in ("number", "character", "string") or token.text in (")", "]") or \
        (token.kind == "name" and token.text not in NOT_AN_EXPRESSION)


def is_binary(s, k):
    return s.tokens[k].text not in UNARY_TOO or is_operand_end(s, k - 1)


def primary_before(s, k):
    """Returns the first token of the name, member, element or call that ends at token k, or None if token k ends something else."""
    while True:
        if s.tokens[k].text in (")", "]"):
            opening = s.pair[k]
            if s.tokens[opening - 1].kind != "name" and s.tokens[opening - 1].text != "]":
                return opening if s.tokens[k].text == ")" else None
            k = opening - 1
            continue
        if s.tokens[k].kind == "number":
            return k
        if s.tokens[k].kind != "name" or s.tokens[k].text in NOT_AN_EXPRESSION:
            return None
        if s.tokens[k - 1].text not in ("->", "."):
            return k
        k -= 2


def primary_after(s, k):
    """Returns the last token of the name, member, element or call that begins at token k, or None if something else begins there."""
    if s.tokens[k].text == "(":
        k = s.pair[k]
    elif s.tokens[k].kind not in ("name", "number") or s.tokens[k].text in NOT_AN_EXPRESSION:
        return None
    while True:
        if s.tokens[k + 1].text in ("(", "[") and k + 1 in s.pair:
            k = s.pair[k + 1]
        elif s.tokens[k + 1].text in ("->", "."):
            k += 2
        else:
            return k


def operand_before(s, k):
    """Returns the first token of the operand before token k, which is an && or a ||."""
    while True:
        token = s.tokens[k - 1]
        if token.text in ENDS_OPERAND or (token.text in ("(", "[") and token.kind == "sign"):
            return k
        k = s.pair[k - 1] if token.text in (")", "]") else k - 1


def operand_after(s, k):
    while True:
        token = s.tokens[k + 1]
        if token.text in ENDS_OPERAND or token.text in (")", "]"):
            return k
        k = s.pair[k + 1] if token.text in ("(", "[") else k + 1


def text_of(s, first, last):
    return s.text[s.tokens[first].start:s.tokens[last].end]


def blank(s, first, last, instead=""):
    """Returns an edit that removes the tokens from `first` to `last`, but keeps their line ends."""
    start, end = s.tokens[first].start, s.tokens[last].end
    return start, end, instead + "\n" * s.text.count("\n", start, end)


def exchange(s, first, middle, last):
    """Returns an edit that exchanges the tokens from `first` to before `middle` with the tokens after `middle` up to `last`."""
    between = s.text[s.tokens[middle - 1].end:s.tokens[middle + 1].start]
    return s.tokens[first].start, s.tokens[last].end, text_of(s, middle + 1, last) + between + text_of(s, first, middle - 1)


def replace(s, k, text):
    return s.tokens[k].start, s.tokens[k].end, text


def is_length(s, k):
    """Returns whether token k is the length in the declaration of an array, where one more element makes no difference."""
    return s.tokens[k - 1].text == "[" and s.tokens[k + 1].text == "]" and s.tokens[k - 2].kind == "name" and \
        (s.tokens[k - 3].kind == "name" and s.tokens[k - 3].text not in ("return", "case") or s.tokens[k - 3].text in ("*", ",")) and \
        s.tokens[k + 2].text in (";", "=", ",")


def constants(s, k):
    """Changes a decimal number by one, or a bit of a hexadecimal number."""
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)", s.tokens[k].text) if s.tokens[k].kind == "number" else None
    if not match:
        return
    digits, suffix = match.groups()
    if digits[:2] in ("0x", "0X"):
        value = int(digits, 16)
        for other in {value ^ 1, value ^ 1 << max(0, value.bit_length() - 1)}:
            yield replace(s, k, f"{other:#x}{suffix}")
    elif digits == "0" or digits[0] != "0":
        for other in {abs(int(digits) - 1)} if is_length(s, k) else {int(digits) + 1, abs(int(digits) - 1)}:
            yield replace(s, k, f"{other}{suffix}")


def exchanged(s, k):
    """Replaces an operator by another operator."""
    token = s.tokens[k]
    if token.kind == "sign" and is_binary(s, k):
        for other in COMPARISONS.get(token.text, []) + EXCHANGED.get(token.text, []):
            yield replace(s, k, other)


def dropped_operand(s, k):
    """Removes one operand of an operator, such as a condition or a flag."""
    text = s.tokens[k].text
    if text in ("&&", "||"):
        yield blank(s, operand_before(s, k), k)
        yield blank(s, k, operand_after(s, k))
    elif text in ("|", "+", "-", "*", "&") and is_binary(s, k):
        first, last = primary_before(s, k - 1), primary_after(s, k + 1)
        if first is not None and text != "-":
            yield blank(s, first, k)
        if last is not None:
            yield blank(s, k, last)


def negated(s, k):
    """Negates a condition, or removes a `!` or `~`."""
    text = s.tokens[k].text
    if text in ("if", "while") and s.tokens[k + 1].text == "(":
        start, end = s.tokens[k + 1].start, s.tokens[s.pair[k + 1]].end
        yield start, end, "(!" + s.text[start:end] + ")"
    elif text in ("!", "~"):
        yield replace(s, k, "")


def ignores_order(s, first):
    """Returns whether the call whose first argument begins at token `first` has the same result with its first two arguments exchanged."""
    if s.tokens[first - 1].text != "(" or s.tokens[first - 2].kind != "name":
        return False
    name, after = s.tokens[first - 2].text, s.tokens[s.pair[first - 1] + 1].text
    return name == "calloc" or (name in SYMMETRIC and (s.tokens[first - 3].text == "!" or after in ("==", "!=")))


def swapped(s, k):
    """Exchanges the operands of an operator, two neighbouring arguments of a call, or the arms of a conditional expression."""
    text = s.tokens[k].text
    if text in ORDERED and is_binary(s, k):
        first, last = primary_before(s, k - 1), primary_after(s, k + 1)
        if first is not None and last is not None:
            yield exchange(s, first, k, last)
    elif text == ",":
        first, last = operand_before(s, k), operand_after(s, k)
        if s.tokens[first - 1].text in ("(", ",") and s.tokens[last + 1].text in (")", ",") and first < k < last + 1 and not ignores_order(s, first):
            yield exchange(s, first, k, last)
    elif text == "?":
        colon = operand_after(s, k) + 1
        if s.tokens[colon].text == ":":
            yield exchange(s, k + 1, colon, operand_after(s, colon))


def renamed(s, k):
    """Replaces the name of a field or variable by its counterpart in PAIRS."""
    token = s.tokens[k]
    if token.kind == "name" and s.tokens[k + 1].text != "(":
        for pair in PAIRS:
            if token.text in pair:
                yield replace(s, k, pair[pair[0] == token.text])


def returned(s, k):
    """Returns 0, or 1 instead of 0 or false."""
    if s.tokens[k].text == "return" and s.tokens[k + 1].text != ";":
        last = operand_after(s, k)
        while s.tokens[last + 1].text != ";":
            last = operand_after(s, last + 1)
        text = text_of(s, k + 1, last)
        if text not in ("0", "NULL", "false", "VYRE_OK"):
            yield blank(s, k + 1, last, "0")
        elif text in ("0", "false"):
            yield blank(s, k + 1, last, "1")


def begins_statement(s, k):
    before = s.tokens[k - 1]
    if before.text in (";", "{", "}", "else", ":", "do"):
        return True
    return before.text == ")" and s.tokens[s.pair[k - 1] - 1].text in ("if", "for", "while", "switch")


def missing_statement(s, k):
    """Removes a `continue`, `break`, assignment or call.  Keeps calls that free something, because only sanitizers find leaks."""
    token = s.tokens[k]
    if token.kind != "name" and token.text not in ("*", "++", "--", "(") or not begins_statement(s, k):
        return
    if token.text in ("continue", "break") and s.tokens[k + 1].text == ";":
        yield replace(s, k, "")
        return
    if token.text in NOT_AN_EXPRESSION or RELEASES.match(token.text):
        return
    if token.kind == "name" and (s.tokens[k + 1].kind == "name" or s.tokens[k + 1].text in ("*", ":")):
        return  # a declaration or a label
    last, works = k, False
    while s.tokens[last].text not in (";", "{", "}"):
        works |= s.tokens[last].text in ("(", "=", "+=", "-=", "|=", "&=", "++", "--", "^=", "<<=", ">>=", "*=")
        last = s.pair[last] + 1 if s.tokens[last].text in ("(", "[") else last + 1
    if works and s.tokens[last].text == ";":
        yield blank(s, k, last - 1)


def missing_case(s, k):
    """Removes one of several labels of a case."""
    if s.tokens[k].text == "case":
        colon = k + 1
        while s.tokens[colon].text != ":":
            colon += 1
        if s.tokens[colon + 1].text in ("case", "default") or s.tokens[k - 1].text == ":":
            yield blank(s, k, colon)


def missing_else(s, k):
    """Removes an `else`, so that both arms run."""
    if s.tokens[k].text == "else":
        yield replace(s, k, "")


OPERATORS = [constants, exchanged, dropped_operand, negated, swapped, renamed, returned, missing_statement, missing_case, missing_else]


def edits_at(s, k):
    """Yields the name of the operator and (start, end, text) for each edit at token k."""
    for operator in OPERATORS:
        for start, end, text in sorted(operator(s, k)):
            yield operator.__name__, start, end, text
