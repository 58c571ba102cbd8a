# Comments of the headers as Doxygen takes them: in front of what they tell of, or behind it.  A name with @ is no command of its.
# SPDX-License-Identifier: Apache-2.0
s,\([^[:space:]].*\)/\* ,\1/**< ,
s,^\([[:space:]]*\)/\* ,\1/** ,
s,@\([a-z]\),\\@\1,g
