/* Tests vyre/vyre.hpp with the shaders of a folder, which is the argument.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.hpp"
#include "vyre/vyre.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <locale>
#include <string_view>
#include <thread>
#if __cplusplus >= 202002L
#include <span>
#endif

/* In no_exceptions.cpp, which is compiled without exceptions. */
std::size_t words_without_exceptions(const std::string &text, const std::string &path);
vyre_code code_without_exceptions(const std::string &text);

namespace
{

struct shader {
  std::string path, text;
};

const char broken[] = "#version 450\nvoid main() { absent(); }\n";

std::vector<shader>
read_shaders(const char *folder)
{
  std::vector<shader> out;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".comp")
      continue;
    std::ifstream file(entry.path(), std::ios::binary);
    out.push_back({entry.path().string(), std::string(std::istreambuf_iterator<char>(file), {})});
  }
  std::sort(out.begin(), out.end(), [](const shader &a, const shader &b) { return a.path < b.path; });
  return out;
}

vyre::options
options_for(const shader &s)
{
  vyre::options o;
  o.path = s.path;
  return o;
}

/* Compiles a shader without passes. */
vyre::words
compile(const shader &s)
{
  vyre::options o = options_for(s);
  o.passes = "";
  return vyre::optimize(s.text, o);
}

bool
is_spirv(const vyre::words &words)
{
  return words.size() > 5 && words[0] == 0x07230203;
}

/* Calls the function and returns the error that it throws, or a failure with the code 0. */
template <typename F>
vyre::failure
error_of(F function)
{
  try {
    function();
  } catch (const vyre::error &e) {
    CHECK(e.text() == e.what());
    return e;
  }
  return {};
}

bool
contains(const std::string &text, const char *part)
{
  return text.find(part) != std::string::npos;
}

void
optimized_shaders_are_smaller(const std::vector<shader> &shaders)
{
  CHECK(shaders.size() > 5);
  for (const shader &s : shaders) {
    const vyre::words before = compile(s), after = vyre::optimize(s.text, options_for(s));
    CHECK(is_spirv(before) && is_spirv(after));
    CHECK(after.size() < before.size());
    CHECK(vyre::optimize(s.text, options_for(s)) == after);
    CHECK(vyre::optimize(before, options_for(s)) == after);
  }
}

void
inputs_and_outputs_have_many_types(const shader &s)
{
  const vyre::options o = options_for(s);
  const vyre::words words = vyre::optimize(s.text, o);
  CHECK(vyre::optimize(s.text.c_str(), o) == words);
  CHECK(vyre::optimize(std::string_view(s.text), o) == words);
  CHECK(vyre::optimize(std::vector<unsigned char>(s.text.begin(), s.text.end()), o) == words);
  CHECK(vyre::optimize({static_cast<const void *>(s.text.data()), s.text.size()}, o) == words);
  const vyre::words module = compile(s);
  const vyre::words again = vyre::optimize(module, o);
  CHECK(vyre::optimize({module.data(), module.size()}, o) == again);
  CHECK(vyre::optimize({static_cast<const void *>(module.data()), module.size() * sizeof module[0]}, o) == again);
  CHECK(vyre::optimize<std::string>(module, o).size() == again.size() * sizeof again[0]);
  CHECK(vyre::optimize<std::vector<std::byte>>(module, o).size() == again.size() * sizeof again[0]);
#if __cplusplus >= 202002L
  CHECK(vyre::optimize(std::span<const std::uint32_t>(module), o) == again);
  CHECK(vyre::optimize(std::as_bytes(std::span(module)), o) == again);
  CHECK(vyre::optimize(s.text, {.path = s.path}) == words);
#endif
}

void
text_outputs_need_bytes(const shader &s)
{
  vyre::options o = options_for(s);
  for (const char *emit : {"glsl", "msl", "hlsl", "spvasm", "vir"}) {
    o.emit = emit;
    CHECK(!vyre::optimize<std::string>(s.text, o).empty());
    CHECK(error_of([&] { vyre::optimize(s.text, o); }).code == VYRE_CODE_USAGE);
  }
}

/* Checks that each field of the options has an effect. */
void
options_reach_the_library(const char *folder, const std::vector<shader> &shaders)
{
  const auto assembly = [](const char *text, vyre::options o) {
    o.emit = "spvasm";
    return vyre::optimize<std::string>(text, o);
  };
  const char *text = "#version 450\n#ifdef SIZE\nlayout(local_size_x = SIZE) in;\n#endif\n"
                     "layout(constant_id = 3) const int COUNT = 2;\nlayout(binding = 0) buffer B { vec4 v; } b;\n"
                     "void main() { b.v = b.v * COUNT + b.v; }\n";
  vyre::options o;
  const std::string plain = assembly(text, o);
  o.defines = {"SIZE=17"};
  CHECK(contains(assembly(text, o), "LocalSize 17 1 1"));
  o = {};
  o.strip = true;
  CHECK(contains(plain, "OpName") && !contains(assembly(text, o), "OpName"));
  o = {};
  o.debug = true;
  CHECK(!contains(plain, "OpLine") && contains(assembly(text, o), "OpLine"));
  o = {};
  o.freeze = true;
  CHECK(contains(plain, "SpecId 3") && !contains(assembly(text, o), "SpecId"));
  o = {};
  o.target_env = "vulkan1.0";
  CHECK(contains(plain, "; Version: 1.5") && contains(assembly(text, o), "; Version: 1.0"));
  o = {};
  o.stage = "vertex";
  CHECK(contains(assembly("#version 450\nvoid main() { gl_Position = vec4(1); }\n", o), "OpEntryPoint Vertex"));
  o = {};
  o.language = "hlsl";
  o.entry_point = "first";
  CHECK(contains(assembly("[numthreads(5, 1, 1)] void first() {}\n", o), "LocalSize 5 1 1"));
  o = {};
  const char *including = "#version 450\n#include \"include/summary.glsl\"\nvoid main() {}\n";
  CHECK(!vyre::try_optimize(including, o));
  o.include_dirs = {folder};
  CHECK(vyre::try_optimize(including, o));
  o = {};
  o.plugins = {"/absent/plugin.so"};
  CHECK(error_of([&] { vyre::optimize(text, o); }).code == VYRE_CODE_USAGE);
  bool is_different = false;
  for (const shader &s : shaders) {
    o = options_for(s);
    const vyre::words scalars = vyre::optimize(s.text, o);
    o.keep_vectors = true;
    is_different |= vyre::optimize(s.text, o) != scalars;
  }
  CHECK(is_different);
}

void
specialization_sets_values(const std::vector<shader> &shaders)
{
  CHECK(vyre::spec("A", 16) == "A=16" && vyre::spec(3u, -1) == "3=-1" && vyre::spec(std::string("A"), true) == "A=true");
  CHECK(vyre::spec("A", "0x10") == "A=0x10" && vyre::spec("A", 0.5f) == "A=0.5" && vyre::spec("A", std::int8_t{65}) == "A=65");
  struct comma : std::numpunct<char> {
    char
    do_decimal_point() const override
    {
      return ',';
    }
  };
  const std::locale old = std::locale::global(std::locale(std::locale::classic(), new comma));
  CHECK(vyre::spec("A", 1234.5) == "A=1234.5");
  std::locale::global(old);
  for (const shader &s : shaders) {
    vyre::options o = options_for(s);
    o.optional_specs = {{"RADIUS", 2}, {"RESTITUTION", 0.25}};
    const bool has_any = contains(s.path, "blur") || contains(s.path, "particles");
    CHECK((vyre::optimize(s.text, o) != vyre::optimize(s.text, options_for(s))) == has_any);
    o.specs = {{"RADIUS", 2}};
    CHECK((error_of([&] { vyre::optimize(s.text, o); }).code == VYRE_CODE_INPUT) != contains(s.path, "blur"));
  }
}

void
errors_have_codes_and_messages(const shader &s)
{
  vyre::options o = options_for(s);
  o.passes = "dce,absent";
  vyre::failure e = error_of([&] { vyre::optimize(s.text, o); });
  CHECK(e.code == VYRE_CODE_USAGE && contains(e.message, "unknown pass 'absent'"));
  o = options_for(s);
  o.emit = "absent";
  e = error_of([&] { vyre::optimize<std::string>(s.text, o); });
  CHECK(e.code == VYRE_CODE_USAGE && contains(e.message, "'absent'"));
  vyre::words damaged = compile(s);
  damaged[5] = 0; /* the first instruction */
  CHECK(error_of([&] { vyre::optimize(damaged); }).code == VYRE_CODE_INPUT);
  damaged[0] = 0;
  e = error_of([&] { vyre::optimize(damaged); });
  CHECK(e.code == VYRE_CODE_INPUT && contains(e.message, "not a SPIR-V module") && e.diagnostics.empty());
  CHECK(error_of([&] { vyre::optimize(vyre::words()); }).code == VYRE_CODE_INPUT);
  CHECK(error_of([&] { vyre::optimize(""); }).code == VYRE_CODE_INPUT);

  int calls = 0;
  o = {};
  o.path = "broken.comp";
  o.on_diagnostic = [&](const vyre::diagnostic &d) { calls += d.severity == VYRE_SEVERE && d.line == 2; };
  e = error_of([&] { vyre::optimize(broken, o); });
  CHECK(calls == 1 && e.code == VYRE_CODE_INPUT && e.diagnostics.size() == 1 && e.diagnostics[0].file == "broken.comp");
  CHECK(contains(e.diagnostics[0].message, "'absent'") && contains(e.text(), "broken.comp:2: error: 'absent'"));
}

void
results_hold_a_value_or_a_failure(const shader &s)
{
  vyre::result<vyre::words> r = vyre::try_optimize(s.text, options_for(s));
  CHECK(r && is_spirv(r.value()));
  const vyre::result<vyre::words> copy = r;
  CHECK(std::move(r).value() == copy.value());
  r = vyre::try_optimize(broken);
  CHECK(!r && r.error().code == VYRE_CODE_INPUT);
  CHECK(error_of([&] { r.value(); }).message == r.error().message);
  CHECK(error_of([&] { vyre::words moved = std::move(r).value(); }).code == VYRE_CODE_INPUT);
}

/* An exception of the program, which vyre does not know. */
struct stop {
  int number;
};

void
exceptions_of_callbacks_arrive(const shader &s)
{
  int calls = 0, caught = 0;
  vyre::options o;
  o.on_diagnostic = [&](const vyre::diagnostic &) { throw stop{++calls}; };
  const auto number_of = [&](auto function) {
    try {
      function();
    } catch (const stop &e) {
      caught++;
      return e.number;
    }
    return 0;
  };
  const char *twice = "#version 450\nvoid main() { absent(); absent(); }\n";
  CHECK(number_of([&] { vyre::optimize(twice, o); }) == 1);
  CHECK(number_of([&] { vyre::try_optimize(twice, o); }) == 2);
  CHECK(number_of([&] { vyre::optimize_many({{twice}, {broken}, {s.text}, {broken}}, o, 4); }) == 3);
  CHECK(calls == 3 && caught == 3);
  CHECK(is_spirv(vyre::optimize(s.text, options_for(s))));
}

void
moved_options_are_empty_but_valid(const shader &s)
{
  vyre::options from = options_for(s);
  from.on_diagnostic = [](const vyre::diagnostic &) {};
  const vyre::options to = std::move(from);
  CHECK(is_spirv(vyre::optimize(s.text, to)));
  const vyre::result<vyre::words> any = vyre::try_optimize(s.text, from); /* the values are unspecified */
  CHECK(!any || is_spirv(any.value()));
  from = to;
  CHECK(vyre::optimize(s.text, from) == vyre::optimize(s.text, to));
}

void
threads_make_the_same_bytes(const std::vector<shader> &shaders)
{
  std::vector<vyre::words> modules, expected;
  for (const shader &s : shaders) {
    modules.push_back(compile(s));
    expected.push_back(vyre::optimize(modules.back()));
  }
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 250; i++) {
        const std::size_t which = (i + t) % modules.size();
        const vyre::result<vyre::words> r = vyre::try_optimize(modules[which]);
        CHECK(r && r.value() == expected[which]);
      }
    });
  for (std::thread &each : threads)
    each.join();
}

void
many_shaders_fail_one_by_one(const std::vector<shader> &shaders)
{
  std::vector<vyre::item> items;
  for (const shader &s : shaders)
    items.push_back({s.text, s.path});
  const std::size_t bad = 2, not_spirv = 4;
  const vyre::words wrong(10);
  items.insert(items.begin() + bad, {broken, "broken.comp"});
  items.insert(items.begin() + not_spirv, {wrong});
  for (std::uint32_t threads : {0u, 1u, 4u}) {
    const auto results = vyre::optimize_many(items, {}, threads);
    CHECK(results.size() == items.size());
    for (std::size_t i = 0; i < results.size(); i++)
      if (i != bad && i != not_spirv)
        CHECK(results[i] && results[i].value() == vyre::optimize(items[i].input, options_for({items[i].path, {}})));
    CHECK(!results[bad] && results[bad].error().code == VYRE_CODE_INPUT && results[bad].error().diagnostics.size() == 1);
    const vyre::result<vyre::words> &last = results[not_spirv];
    CHECK(!last && last.error().code == VYRE_CODE_INPUT && last.error().diagnostics.empty());
  }
  vyre::options o;
  o.passes = "absent";
  items.erase(items.begin() + not_spirv);
  for (const auto &r : vyre::optimize_many(items, o))
    CHECK(!r && r.error().code == VYRE_CODE_USAGE);
  CHECK(vyre::optimize_many({}).empty());
}

void
wrong_options_without_shaders_are_reported()
{
  const auto check = [](const vyre::options &o, const char *part) {
    const auto results = vyre::optimize_many({}, o);
    CHECK(results.size() == 1 && !results[0] && results[0].error().code == VYRE_CODE_USAGE);
    CHECK(contains(results[0].error().message, part));
  };
  vyre::options o;
  o.passes = "absent";
  check(o, "unknown pass 'absent'");
  o = {};
  o.emit = "glsl";
  check(o, "is not words");
  o = {};
  o.defines = {std::string("A\0=1", 4)};
  check(o, "'defines'");
}

void
null_characters_are_errors(const shader &s)
{
  const std::string bad("a\0b", 3);
  const auto check = [&](const char *name, auto set) {
    vyre::options o = options_for(s);
    set(o);
    const vyre::failure e = error_of([&] { vyre::optimize<std::string>(s.text, o); });
    CHECK(e.code == VYRE_CODE_USAGE && contains(e.message, (std::string("option '") + name + "' contains a null").c_str()));
    CHECK(contains(e.message, "\nFix: "));
  };
  check("passes", [&](vyre::options &o) { o.passes = std::string("dce\0", 4); });
  check("emit", [&](vyre::options &o) { o.emit = std::string("spirv\0", 6); });
  check("path", [&](vyre::options &o) { o.path = bad; });
  check("language", [&](vyre::options &o) { o.language = bad; });
  check("target_env", [&](vyre::options &o) { o.target_env = bad; });
  check("stage", [&](vyre::options &o) { o.stage = bad; });
  check("entry_point", [&](vyre::options &o) { o.entry_point = bad; });
  check("plugins", [&](vyre::options &o) { o.plugins = {bad}; });
  check("defines", [&](vyre::options &o) { o.defines = {"A", bad}; });
  check("include_dirs", [&](vyre::options &o) { o.include_dirs = {bad}; });
  check("specs", [&](vyre::options &o) { o.specs = {{"A", bad}}; });
  check("optional_specs", [&](vyre::options &o) { o.optional_specs = {{bad, 1}}; });
  const auto results = vyre::optimize_many({{s.text, s.path}, {s.text, bad}});
  CHECK(results.size() == 2 && results[0] && !results[1]);
  CHECK(results[1].error().code == VYRE_CODE_USAGE && contains(results[1].error().message, "'path'"));
}

void
objects_without_exceptions_can_be_linked(const shader &s)
{
  CHECK(words_without_exceptions(s.text, s.path) == vyre::optimize(s.text, options_for(s)).size());
  CHECK(code_without_exceptions(broken) == VYRE_CODE_INPUT);
}

} // namespace

int
main(int count, char **arguments)
{
  if (count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 2;
  }
  const std::vector<shader> shaders = read_shaders(arguments[1]);
  optimized_shaders_are_smaller(shaders);
  inputs_and_outputs_have_many_types(shaders.front());
  text_outputs_need_bytes(shaders.front());
  options_reach_the_library(arguments[1], shaders);
  specialization_sets_values(shaders);
  errors_have_codes_and_messages(shaders.front());
  results_hold_a_value_or_a_failure(shaders.front());
  exceptions_of_callbacks_arrive(shaders.front());
  moved_options_are_empty_but_valid(shaders.front());
  threads_make_the_same_bytes(shaders);
  many_shaders_fail_one_by_one(shaders);
  wrong_options_without_shaders_are_reported();
  null_characters_are_errors(shaders.front());
  objects_without_exceptions_can_be_linked(shaders.front());
  vyre_optimize_end();
  return failures != 0;
}
