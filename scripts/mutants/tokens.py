# Splits C into tokens, and finds the tokens that mutants change: those of function bodies, except comments, preprocessor lines, assertions
# and the words of messages.  It parses only operators and operands.  The compiler rejects mutants that are not valid C.
# SPDX-License-Identifier: Apache-2.0
import bisect
import collections
import re

Token = collections.namedtuple("Token", "kind text start end")

PATTERN = re.compile(r"""
    (?P<space>\s+ | /\*.*?\*/ | //[^\n]*)
  | (?P<directive>\#(?:\\\n|[^\n])*)
  | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\])*")
  | (?P<character>'(?:\\.|[^'\\])+')
  | (?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|.)
""", re.X | re.S)

OPEN, CLOSE = "([{", ")]}"
IDLE_CALLS = {"assert", "static_assert", "_Static_assert", "offsetof"}


def tokens_of(text):
    """Returns all tokens except spaces, comments and preprocessor lines."""
    result = []
    for match in PATTERN.finditer(text):
        kind = match.lastgroup
        if kind not in ("space", "directive"):
            result.append(Token(kind, match.group(), match.start(), match.end()))
    return result


def partners(tokens):
    """Returns a dictionary from the index of each bracket to the index of the matching bracket."""
    result, stack = {}, []
    for k, token in enumerate(tokens):
        if token.kind == "sign" and token.text in OPEN:
            stack.append(k)
        elif token.kind == "sign" and token.text in CLOSE and stack:
            other = stack.pop()
            result[k], result[other] = other, k
    return result


def bodies(tokens, pair):
    """Yields the token range (first, last) of each function body: a block at the outermost level after a closing parenthesis."""
    k = 0
    while k < len(tokens):
        if tokens[k].text == "{" and k in pair:
            if k and tokens[k - 1].text == ")":
                yield k + 1, pair[k]
                k = pair[k]
            elif k >= 2 and tokens[k - 1].kind == "string" or tokens[k - 2].text == "namespace":
                pass  # extern "C" or a namespace of C++: its contents count as the outermost level
            else:
                k = pair[k]
        k += 1


class Source:
    """The tokens of a file, its pairs of brackets, and the tokens that mutants may change."""

    def __init__(self, text):
        self.text = text
        self.tokens = tokens_of(text)
        self.pair = partners(self.tokens)
        self.code = []  # indices of the tokens that mutants may change
        for first, last in bodies(self.tokens, self.pair):
            k = first
            while k < last:
                self.code.append(k)
                if self.tokens[k].kind == "name" and self.tokens[k + 1].text == "(":
                    if self.tokens[k].text in IDLE_CALLS:
                        self.code.pop()
                        k = self.pair[k + 1]
                    elif self.words_a_message(k + 1):
                        k = self.pair[k + 1]
                k += 1
        self.lines = [match.start() for match in re.finditer("^", text, re.M)]

    def words_a_message(self, opening):
        """Returns whether an argument of the call is a sentence or a format.  `opening` is the call's parenthesis."""
        k = opening + 1
        while k < self.pair[opening]:
            if self.tokens[k].kind == "string" and re.search("[ %]", self.tokens[k].text):
                return True
            k = self.pair[k] + 1 if self.tokens[k].text in ("(", "[", "{") and k in self.pair else k + 1
        return False

    def line(self, k):
        return bisect.bisect_right(self.lines, self.tokens[k].start)
