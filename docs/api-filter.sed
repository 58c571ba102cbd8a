# Comments of the headers as Doxygen takes them: before what they tell of, or after it.  A name with @ is no command of its.
# SPDX-License-Identifier: Apache-2.0
s,\([^[:space:]].*\)/\* ,\1/**< ,
s,^\([[:space:]]*\)/\* ,\1/** ,
s,@\([a-z]\),\\@\1,g
