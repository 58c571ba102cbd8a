/* Finds switches without cases that contain a `continue` of a loop around them.
 *
 * SPIRV-Cross writes a switch without cases as `do { } while (false)`, in which `continue` ends the `do` instead of the loop.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compile.h"

#include <unordered_map>
#include <unordered_set>

#include <spirv/unified1/spirv.hpp11>

namespace
{

/* A block of a function.  Its last instruction and its merge instruction are indices of words, or 0. */
struct block {
  size_t end = 0, merge = 0;
};

class graph
{
public:
  explicit graph(const cross_request &from) : words(from.words)
  {
    uint32_t label = 0;
    for (size_t at = 5; at < from.count; at += count_at(at)) {
      if (count_at(at) == 0 || count_at(at) > from.count - at)
        return; /* SPIRV-Cross reports the invalid length */
      switch (op_at(at)) {
      case spv::Op::OpLabel:
        label = count_at(at) == 2 ? words[at + 1] : 0;
        break;
      case spv::Op::OpLoopMerge:
        if (count_at(at) >= 4)
          headers[words[at + 2]] = label;
        [[fallthrough]];
      case spv::Op::OpSelectionMerge:
        if (count_at(at) >= 3)
          blocks[label].merge = at;
        break;
      case spv::Op::OpSwitch:
        if (count_at(at) == 3 && blocks[label].merge)
          empty_switches.push_back(label);
        [[fallthrough]];
      case spv::Op::OpBranch:
      case spv::Op::OpBranchConditional:
        blocks[label].end = at;
        break;
      default:
        break;
      }
    }
  }

  std::set<size_t>
  find() const
  {
    std::set<size_t> found;
    for (const uint32_t label : empty_switches)
      if (has_continue(blocks.at(label)))
        found.insert(blocks.at(label).end);
    return found;
  }

private:
  uint32_t
  count_at(size_t at) const
  {
    return words[at] >> 16;
  }

  spv::Op
  op_at(size_t at) const
  {
    return static_cast<spv::Op>(words[at] & 0xffff);
  }

  /* Returns whether a block of the switch continues a loop whose header is not in the switch. */
  bool
  has_continue(const block &from) const
  {
    const uint32_t merge = words[from.merge + 1];
    std::unordered_set<uint32_t> visited = {merge};
    std::vector<uint32_t> targets, left = {words[from.end + 2]};
    while (!left.empty()) {
      const uint32_t label = left.back();
      left.pop_back();
      const auto to = blocks.find(label);
      if (!visited.insert(label).second || to == blocks.end())
        continue;
      const auto header = headers.find(label);
      if (header != headers.end() && !visited.count(header->second)) {
        targets.push_back(header->second);
        continue;
      }
      if (to->second.end)
        push_targets(to->second.end, left);
    }
    for (const uint32_t header : targets)
      if (!visited.count(header))
        return true;
    return false;
  }

  void
  push_targets(size_t at, std::vector<uint32_t> &targets) const
  {
    const uint32_t count = count_at(at);
    if (op_at(at) == spv::Op::OpBranch && count == 2)
      targets.push_back(words[at + 1]);
    else if (op_at(at) == spv::Op::OpBranchConditional && count >= 4)
      targets.insert(targets.end(), {words[at + 2], words[at + 3]});
    else if (op_at(at) == spv::Op::OpSwitch && count >= 3)
      for (uint32_t i = 2; i < count; i += 2) /* SPIRV-Cross refuses literals of 64 bits */
        targets.push_back(words[at + i]);
  }

  const uint32_t *words;
  std::unordered_map<uint32_t, block> blocks;
  std::unordered_map<uint32_t, uint32_t> headers; /* by continue target */
  std::vector<uint32_t> empty_switches;           /* labels of blocks */
};

} // namespace

std::set<size_t>
cross_find_continued(const cross_request &request)
{
  return graph(request).find();
}
