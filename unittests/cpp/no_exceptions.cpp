/* A part of cpp_test that is compiled with -fno-exceptions -fno-rtti. It uses both headers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/spirv_opt_shim.hpp"
#include "vyre/vyre.hpp"

std::size_t words_without_exceptions(const std::string &text, const std::string &path);
vyre_code code_without_exceptions(const std::string &text);

/* Returns the number of words of the optimized shader, or 0 for an error. */
std::size_t
words_without_exceptions(const std::string &text, const std::string &path)
{
  vyre::options o;
  o.path = path;
  o.passes = "";
  vyre::result<vyre::words> module = vyre::try_optimize(text, o);
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  optimizer.RegisterPerformancePasses();
  vyre::words out;
  return module && optimizer.Run(module.value().data(), module.value().size(), &out) ? out.size() : 0;
}

/* Returns the code of the error, of which a function receives the messages. */
vyre_code
code_without_exceptions(const std::string &text)
{
  vyre::options o;
  int messages = 0;
  o.on_diagnostic = [&](const vyre::diagnostic &) { messages++; };
  const vyre::result<vyre::words> r = vyre::try_optimize(text, o);
  return r || messages == 0 ? VYRE_CODE_OK : r.error().code;
}
