/* vyre for C++17 and later: optimizing shaders in one call.
 *
 *     std::vector<std::uint32_t> smaller = vyre::optimize(spirv);
 *     std::vector<std::uint32_t> words = vyre::optimize(text, {.path = "blur.comp", .defines = {"RADIUS=4"}}); // C++20
 *     std::string metal = vyre::optimize<std::string>(spirv, {.emit = "msl"});
 *
 * The input is a text, or a contiguous container of bytes or of 32-bit integers, which are the words of a SPIR-V module. The
 * template argument is the container of the output. Words, the default, hold only SPIR-V. Bytes hold every format.
 *
 * optimize throws vyre::error. try_optimize and optimize_many return vyre::result, also with -fno-exceptions. An exception of
 * on_diagnostic does not pass through C. All three functions keep the exception, emit no further message, and rethrow the exception
 * at their end. All three functions may throw std::bad_alloc.
 *
 * Threads: any number of threads may call all functions. They may share an options object if its on_diagnostic may be called by
 * several threads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_VYRE_HPP
#define VYRE_VYRE_HPP

#include "vyre/optimize.h"
#include "vyre/spirv.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <locale>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/* Functions have other names in an object that is compiled without exceptions, because their code differs. */
#ifdef __cpp_exceptions
#define VYRE_CXX_NAMESPACE exceptions
#else
#define VYRE_CXX_NAMESPACE no_exceptions
#endif

namespace vyre
{
inline namespace VYRE_CXX_NAMESPACE
{
using words = std::vector<std::uint32_t>;

/* ---- messages and errors --------------------------------------------------------------------------------------------------- */

/* A message, with the fields of vyre_diagnostic. A text that is NULL in C is empty. */
struct diagnostic {
  vyre_severity severity = VYRE_NOTE;
  std::string file, message, fix;
  std::uint32_t line = 0, column = 0;
  std::string text; /* the message as vyre's tools print it */
};

/* The reason for a missing output. */
struct failure {
  vyre_code code = VYRE_CODE_OK;
  std::string message;
  std::vector<diagnostic> diagnostics; /* all messages about the shader */
  /* Returns the errors among the diagnostics, followed by the message. */
  std::string
  text() const
  {
    std::string out;
    for (const diagnostic &d : diagnostics)
      if (d.severity == VYRE_SEVERE)
        out += d.text + "\n";
    return out + message;
  }
};

/* A failure as an exception. what() returns text(). */
struct error : std::runtime_error, failure {
  explicit error(failure reason) : std::runtime_error(reason.text()), failure(std::move(reason))
  {
  }
};

/* A value or a failure. */
template <typename T> struct result : std::variant<T, failure> {
  using std::variant<T, failure>::variant;
  explicit operator bool() const noexcept
  {
    return this->index() == 0;
  }
  /* Returns the value. If there is no value, throws vyre::error, or aborts if exceptions are off. */
  const T &
  value() const &
  {
#ifdef __cpp_exceptions
    if (!*this)
      throw vyre::error(error());
#endif
    return std::get<0>(*this);
  }
  T
  value() &&
  {
    static_cast<void>(value()); /* throws if there is no value */
    return std::get<0>(std::move(*this));
  }
  /* Returns the failure. The result must not have a value. */
  const failure &
  error() const noexcept
  {
    return *std::get_if<1>(this);
  }
};

/* ---- input and options ----------------------------------------------------------------------------------------------------- */

/* A borrowed input. */
struct shader_view {
  const void *data;
  std::size_t size;      /* in bytes */
  bool is_words = false; /* the input must be SPIR-V */
  shader_view(const void *bytes, std::size_t byte_count) : data(bytes), size(byte_count)
  {
  }
  shader_view(const std::uint32_t *spirv, std::size_t count) : data(spirv), size(count * sizeof *spirv), is_words(true)
  {
  }
  shader_view(const char *text) : data(text), size(std::strlen(text))
  {
  }
  /* Views a contiguous container, such as std::vector, std::array, std::string, std::string_view or std::span. */
  template <typename C, typename E = std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<const C &>().data())>>,
            typename = std::enable_if_t<std::is_integral_v<E> || std::is_same_v<E, std::byte>>>
  shader_view(const C &container) : data(container.data()), size(container.size() * sizeof(E)), is_words(sizeof(E) == 4)
  {
    static_assert(sizeof(E) == 1 || sizeof(E) == 4, "an input consists of bytes or of words of 32 bits");
  }
};

/* The value of a specialization constant, given by its name or id: {"TILE", 16}, {3, 0.5f}, {4, true}, {"RADIUS", "0x10"}. As a
 * string, NAME=VALUE or ID=VALUE. */
struct spec : std::string {
  template <typename K, typename V> spec(const K &key, const V &value) : std::string(print(key) + "=" + print(value))
  {
  }

private:
  template <typename T>
  static std::string
  print(const T &value)
  {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out.precision(17); /* distinguishes all values of double */
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
      out << +value; /* prints character types as numbers */
    else
      out << std::boolalpha << value;
    return out.str();
  }
};

/* The fields are those of vyre_optimize_options. An empty text, except that of `passes`, means the default. */
struct options {
  std::string passes = "default<O2>"; /* "" runs no pass */
  std::string emit = "spirv";
  std::string path = "shader";
  std::string language{}, target_env{}, stage{}, entry_point{};
  std::vector<std::string> plugins{}, defines{}, include_dirs{};
  std::vector<spec> specs{}, optional_specs{}; /* the shader may lack constants of optional_specs */
  bool freeze = false;                         /* makes all specialization constants ordinary constants */
  bool debug = false, strip = false, keep_vectors = false;
  std::uint32_t max_growth = 0;
  std::function<void(const diagnostic &)> on_diagnostic{}; /* receives messages when they are emitted, one at a time */
  const vyre_allocator *allocator = nullptr;               /* borrowed */
};

/* One shader of many. An empty path means the path of the options. */
struct item {
  shader_view input;
  std::string path{};
};

/* ---- the calls of C -------------------------------------------------------------------------------------------------------- */

namespace detail
{
/* The caller's function, borrowed, and the first exception that the function threw. */
struct receiver {
  const std::function<void(const diagnostic &)> &function;
  std::exception_ptr thrown{};
  std::mutex lock{};
};

/* Keeps the messages about a shader. */
struct sink {
  receiver *to;
  std::vector<diagnostic> kept{};
  void
  add(const vyre_diagnostic *d)
  {
    const auto text = [](const char *s) { return std::string(s ? s : ""); };
    std::string all(vyre_diagnostic_format(d, nullptr, 0), '\0');
    vyre_diagnostic_format(d, all.data(), all.size() + 1);
    kept.push_back({d->severity, text(d->file), text(d->message), text(d->fix), d->line, d->column, std::move(all)});
    if (to->function)
      to->function(kept.back());
  }
  static void
  emit(void *user, const vyre_diagnostic *d) noexcept
  {
    sink *const s = static_cast<sink *>(user);
    const std::lock_guard<std::mutex> guard(s->to->lock);
#ifdef __cpp_exceptions
    try {
      if (!s->to->thrown)
        s->add(d);
    } catch (...) {
      s->to->thrown = std::current_exception();
    }
#else
    s->add(d);
#endif
  }
};

inline bool
has_null(const std::string &text)
{
  return text.find('\0') != std::string::npos;
}

template <typename T>
bool
has_null(const std::vector<T> &texts)
{
  for (const std::string &text : texts)
    if (has_null(text))
      return true;
  return false;
}

/* Returns the name of an option with a null character, at which C would cut the text, or NULL if there is none. */
inline const char *
find_null(const options &o)
{
  return has_null(o.passes)           ? "passes"
         : has_null(o.emit)           ? "emit"
         : has_null(o.path)           ? "path"
         : has_null(o.language)       ? "language"
         : has_null(o.target_env)     ? "target_env"
         : has_null(o.stage)          ? "stage"
         : has_null(o.entry_point)    ? "entry_point"
         : has_null(o.plugins)        ? "plugins"
         : has_null(o.defines)        ? "defines"
         : has_null(o.include_dirs)   ? "include_dirs"
         : has_null(o.specs)          ? "specs"
         : has_null(o.optional_specs) ? "optional_specs"
                                      : nullptr;
}

inline failure
null_failure(const char *name)
{
  return {VYRE_CODE_USAGE, std::string("the option '") + name + "' contains a null character\nFix: leave it out", {}};
}

/* The results of a call in C, owned. */
struct outputs {
  std::vector<vyre_optimize_item> items{};
  vyre_status status = nullptr;
  ~outputs()
  {
    for (vyre_optimize_item &each : items) {
      vyre_bytes_free(&each.out);
      vyre_status_free(each.status);
    }
    vyre_status_free(status);
  }
};

/* Calls vyre_optimize_many. */
inline void
call(const options &o, std::uint32_t threads, outputs *out)
{
  const auto given = [](const std::string &text) { return text.empty() ? nullptr : text.c_str(); };
  const auto count = [](const auto &list) { return static_cast<std::uint32_t>(list.size()); };
  const auto pointers = [](const auto &texts) {
    std::vector<const char *> list;
    for (const std::string &text : texts)
      list.push_back(text.c_str());
    return list;
  };
  const auto plugins = pointers(o.plugins), defines = pointers(o.defines), include_dirs = pointers(o.include_dirs),
             specs = pointers(o.specs), optional_specs = pointers(o.optional_specs);
  vyre_optimize_options c{};
  c.struct_size = sizeof c;
  c.passes = o.passes.c_str();
  c.emit = given(o.emit);
  c.path = given(o.path);
  c.plugins = plugins.data();
  c.plugin_count = count(plugins);
  c.max_growth = o.max_growth;
  c.specialization = {specs.data(), count(specs), optional_specs.data(), count(optional_specs), o.freeze};
  c.language = given(o.language);
  c.target_env = given(o.target_env);
  c.stage = given(o.stage);
  c.entry_point = given(o.entry_point);
  c.defines = defines.data();
  c.define_count = count(defines);
  c.include_dirs = include_dirs.data();
  c.include_dir_count = count(include_dirs);
  c.debug = o.debug;
  c.strip = o.strip;
  c.keep_vectors = o.keep_vectors;
  c.allocator = o.allocator;
  out->status = vyre_optimize_many(&c, out->items.data(), sizeof(vyre_optimize_item), count(out->items), threads);
}

} // namespace detail

/* ---- optimizing ------------------------------------------------------------------------------------------------------------ */

/* Optimizes many shaders on at most `threads` threads, or on a thread for each processor if `threads` is 0. Returns the results in
 * the order of the items. If the options are wrong, each result is a failure, and there is one result without items, too. */
template <typename Out = words>
std::vector<result<Out>>
optimize_many(const std::vector<item> &items, const options &o = {}, std::uint32_t threads = 0)
{
  constexpr std::size_t unit = sizeof(typename Out::value_type);
  static_assert(unit == 1 || unit == 4, "an output consists of bytes or of words of 32 bits");
  const auto fail = [&](const failure &reason) { return std::vector<result<Out>>(items.empty() ? 1 : items.size(), reason); };
  if (const char *name = detail::find_null(o))
    return fail(detail::null_failure(name));
  if (unit == 4 && !o.emit.empty() && o.emit != "spirv")
    return fail({VYRE_CODE_USAGE, "the output '" + o.emit + "' is not words\nFix: use vyre::optimize<std::string>", {}});
  detail::receiver receiver{o.on_diagnostic};
  std::vector<detail::sink> sinks(items.size(), detail::sink{&receiver});
  std::vector<result<Out>> out(items.size());
  std::vector<std::size_t> places; /* the index in `items` of each element of c.items */
  detail::outputs c;
  for (std::size_t i = 0; i < items.size(); i++) {
    const auto &[input, path] = items[i];
    if (detail::has_null(path)) {
      out[i] = detail::null_failure("path");
    } else if (input.is_words && !vyre_spirv_is(input.data, input.size)) {
      out[i] = failure{VYRE_CODE_INPUT, "the words are not a SPIR-V module\nFix: give valid SPIR-V, or a text as bytes", {}};
    } else {
      places.push_back(i);
      c.items.push_back({path.empty() ? nullptr : path.c_str(), input.data, input.size, {}, nullptr, {sinks[i].emit, &sinks[i]}});
    }
  }
  detail::call(o, threads, &c);
  if (receiver.thrown)
    std::rethrow_exception(receiver.thrown);
  if (items.empty() && c.status)
    return fail({vyre_status_code(c.status), vyre_status_text(c.status), {}});
  bool has_failed = false;
  for (const vyre_optimize_item &each : c.items)
    has_failed |= each.status != nullptr;
  for (std::size_t i = 0; i < places.size(); i++) {
    const vyre_optimize_item &made = c.items[i];
    const vyre_status status = has_failed ? made.status : c.status;
    if (status) {
      out[places[i]] = failure{vyre_status_code(status), vyre_status_text(status), std::move(sinks[places[i]].kept)};
    } else if (made.out.size) {
      Out &bytes = std::get<0>(out[places[i]]);
      bytes.resize(made.out.size / unit);
      std::memcpy(bytes.data(), made.out.data, made.out.size);
    }
  }
  return out;
}

/* Optimizes a shader. */
template <typename Out = words>
result<Out>
try_optimize(const shader_view &input, const options &o = {})
{
  return std::move(optimize_many<Out>({{input}}, o, 1).front());
}

#ifdef __cpp_exceptions
/* Optimizes a shader. Throws vyre::error for a failure. */
template <typename Out = words>
Out
optimize(const shader_view &input, const options &o = {})
{
  return try_optimize<Out>(input, o).value();
}
#endif

} // namespace VYRE_CXX_NAMESPACE
} // namespace vyre
#endif
