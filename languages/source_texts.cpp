/* Texts in the debug information of a module.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "source_texts.h"

#include <cstring>
#include <map>

namespace
{

constexpr unsigned int op_string = 7, op_ext_inst = 12, debug_source = 35, debug_source_continued = 102;
constexpr size_t most_bytes = (0xffff - 2) * 4 - 1; /* of an OpString, without the zero at its end */
constexpr size_t header_words = 5;
constexpr const char prefix[] = "\x01vyre source text ";

/* Returns the bytes of the piece that begins at `at`.  A piece ends between two characters of UTF-8. */
size_t
piece_size(const std::string &text, size_t at)
{
  if (text.size() - at <= most_bytes)
    return text.size() - at;
  size_t size = most_bytes;
  while (size > most_bytes - 4 && (static_cast<unsigned char>(text[at + size]) & 0xc0) == 0x80)
    size--;
  return size;
}

void
append_string(std::vector<unsigned int> *out, unsigned int id, const std::string &text)
{
  const size_t first = out->size(), count = 2 + text.size() / 4 + 1;
  out->resize(first + count, 0);
  (*out)[first] = static_cast<unsigned int>(count) << 16 | op_string;
  (*out)[first + 1] = id;
  for (size_t i = 0; i < text.size(); i++)
    (*out)[first + 2 + i / 4] |= static_cast<unsigned int>(static_cast<unsigned char>(text[i])) << 8 * (i % 4);
}

/* Returns the string of an OpString.  The result is wrong for a string with bytes beyond ASCII, because glslang sign-extends
 * these bytes. */
std::string
string_at(const std::vector<unsigned int> &words, size_t at, size_t count)
{
  std::string text;
  for (size_t i = 2; i < count; i++)
    for (unsigned int shift = 0; shift < 32; shift += 8) {
      const unsigned int byte = words[at + i] >> shift & 0xff;
      if (byte == 0)
        return text;
      text += static_cast<char>(byte);
    }
  return text;
}

} // namespace

std::string
source_texts::add(const std::string &text)
{
  texts_.push_back(text.substr(0, text.find('\0')));
  return prefix + std::to_string(texts_.size() - 1);
}

void
source_texts::put(std::vector<unsigned int> *words) const
{
  std::map<std::string, const std::string *> by_placeholder;
  std::map<unsigned int, std::vector<unsigned int>> continued; /* by the OpString of the first piece, the OpStrings of the others */
  std::vector<unsigned int> out(words->begin(), words->begin() + header_words);
  unsigned int bound = out[3];
  for (size_t i = 0; i < texts_.size(); i++)
    by_placeholder[prefix + std::to_string(i)] = &texts_[i];
  for (size_t at = header_words, count; at < words->size(); at += count) {
    const unsigned int *row = words->data() + at;
    count = row[0] >> 16;
    if (count == 0 || count > words->size() - at)
      return; /* not a module */
    const unsigned int op = row[0] & 0xffff;
    const auto text = op == op_string ? by_placeholder.find(string_at(*words, at, count)) : by_placeholder.end();
    if (text == by_placeholder.end()) {
      out.insert(out.end(), row, row + count);
    } else {
      const std::string &whole = *text->second;
      size_t done = piece_size(whole, 0);
      append_string(&out, row[1], whole.substr(0, done));
      continued[row[1]];
      for (size_t size; done < whole.size(); done += size) {
        size = piece_size(whole, done);
        continued[row[1]].push_back(bound);
        append_string(&out, bound++, whole.substr(done, size));
      }
    }
    if (op != op_ext_inst || count != 7 || row[4] != debug_source || continued.count(row[6]) == 0)
      continue;
    for (const unsigned int piece : continued[row[6]]) {
      const unsigned int more[] = {6u << 16 | op_ext_inst, row[1], bound++, row[3], debug_source_continued, piece};
      out.insert(out.end(), more, more + 6);
    }
  }
  out[3] = bound;
  words->swap(out);
}
