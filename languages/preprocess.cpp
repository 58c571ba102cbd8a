/* Preprocesses a shader: checks the size of the text, finds the stage, and sends the text to the user.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compilation.h"

#include "includer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace
{

const char pragma_stage[] = "#pragma shader_stage";

std::vector<std::string>
split_lines(const std::string &text)
{
  std::vector<std::string> lines;
  for (std::string::size_type at = 0; at < text.size();) {
    const std::string::size_type end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string
trim(const std::string &text, const char *set = " \t\r")
{
  const std::string::size_type from = text.find_first_not_of(set);
  return from == std::string::npos ? "" : text.substr(from, text.find_last_not_of(set) - from + 1);
}

bool
begins_with(const std::string &text, const char *start)
{
  return text.compare(0, std::strlen(start), start) == 0;
}

/* Returns whether #line N names the line after it.  In older versions it names its own line. */
bool
line_names_next(const std::vector<std::string> &lines, const settings &set)
{
  int version = set.has_std ? set.version : set.like->default_version;
  bool is_es = set.has_std && set.profile == EEsProfile;
  for (const std::string &line : lines)
    if (!set.has_std && begins_with(line, "#version")) {
      version = std::atoi(line.c_str() + std::strlen("#version"));
      is_es = line.find("es") != std::string::npos;
      break;
    }
  return is_es || version >= 330;
}

/* Preprocesses without limits.  The log goes to *log. */
bool
run(const compilation &c, int rules, std::string *out, std::string *log, bool *has_included)
{
  glslang::TShader shader(c.stage == EShLangCount ? EShLangVertex : c.stage); /* the stage does not matter */
  compilation_set_up(c, &shader);
  module_strings strings;
  folder_includer includer(c.path, c.options, compilation_include_rule(c), &strings);
  const bool done =
      shader.preprocess(&c.set.limits, c.set.has_std ? c.set.version : c.set.default_version, c.set.profile, c.set.has_std, false,
                        static_cast<EShMessages>(compilation_messages(c) | rules), out, includer);
  *has_included = includer.has_included();
  *log = shader.getInfoLog();
  return done;
}

/* Returns the text without the lines of the preamble.  With an included file, it also has the directives that #line with a name
 * needs, after #version. */
std::string
without_preamble(const compilation &c, const std::string &text, bool has_included)
{
  const std::vector<std::string> lines = split_lines(text);
  const std::string enables = trim(include_directive, "\n");
  const size_t preamble = std::min(static_cast<size_t>(std::count(c.preamble.begin(), c.preamble.end(), '\n')), lines.size());
  size_t version = 0;
  while (version < lines.size() && !begins_with(lines[version], "#version"))
    version++;
  std::string out;
  if (has_included && version < lines.size())
    out += lines[version] + "\n";
  for (size_t i = 0; i < preamble; i++)
    if (!trim(lines[i]).empty() && lines[i] != enables)
      out += lines[i] + "\n";
  if (has_included)
    out += enables + "\n#line " + (line_names_next(lines, c.set) ? "1" : "0") + " \"" + c.path + "\"\n";
  for (size_t i = preamble; i < lines.size(); i++)
    out += (has_included && i == version ? "" : lines[i]) + "\n";
  return out;
}

} // namespace

glsl_result
preprocess(const compilation &c, std::string *out, std::string *log, bool *has_included)
{
  const size_t most = static_cast<size_t>(c.options->most_expansion) << 20;
  glsl_bound_string(2 * most); /* a growing string doubles, so one of more than twice the limit is too long */
  const bool done = run(c, 0, out, log, has_included);
  glsl_bound_string(0);
  return !done ? GLSL_REJECTED : most && out->size() > most ? GLSL_TOO_LARGE : GLSL_OK;
}

glsl_result
preprocess_and_send(const compilation &c, const glsl_sink &sink)
{
  std::string text, log;
  bool has_included;
  const bool done = run(c, EShMsgOnlyPreprocessor, &text, &log, &has_included);
  log_lines(sink, log.c_str());
  if (!done)
    return GLSL_REJECTED;
  text = c.set.like->enables_include ? without_preamble(c, text, has_included) : text + "\n";
  sink.output(text.data(), text.size());
  return GLSL_OK;
}

bool
find_stage_pragma(const compilation &c, const std::string &text, const glsl_sink &sink, EShLanguage *stage)
{
  std::string file = c.path, first;
  int line = -static_cast<int>(std::count(c.preamble.begin(), c.preamble.end(), '\n'));
  bool has_code = false, is_right = true;
  const auto refuse = [&](const std::string &why) {
    sink.log(("ERROR: " + file + ":" + std::to_string(line) + ": " + why).c_str());
    is_right = false;
  };
  if (text.find(pragma_stage) == std::string::npos)
    return true;
  const std::vector<std::string> lines = split_lines(text);
  const bool names_next = line_names_next(lines, c.set);
  for (const std::string &whole : lines) {
    const std::string now = trim(whole);
    line++;
    if (begins_with(now, "#line")) {
      const std::string::size_type quote = now.find('"');
      line = std::atoi(now.c_str() + std::strlen("#line")) - names_next;
      if (quote != std::string::npos)
        file = trim(now.substr(quote), "\"");
    } else if (begins_with(now, pragma_stage)) {
      const std::string name = trim(now.substr(sizeof pragma_stage - 1), "() \t");
      const vyre_glsl_stage found = settings_find_stage(name);
      if (found == VYRE_STAGE_AUTO)
        refuse("'" + name + "' in #pragma shader_stage is not a stage");
      else if (first.empty() && has_code)
        refuse("#pragma shader_stage must precede all code");
      else if (!first.empty() && name != first)
        refuse("#pragma shader_stage is '" + name + "' here, and '" + first + "' before");
      if (first.empty()) {
        first = name;
        *stage = settings_stage(found);
      }
    } else if (!now.empty() && now[0] != '#')
      has_code = true;
  }
  return is_right;
}
