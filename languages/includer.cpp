/* The includer of glslang.
 *
 * Opens a file without reading it (O_PATH), which has no effect on a device or a FIFO, and then checks the opened file.  So a link
 * that changes in between cannot lead to another file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "includer.h"

#include "text_file.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "vyre/io.h"

namespace
{

constexpr size_t max_depth = 100; /* a file that includes itself ends here */

using include_result = glslang::TShader::Includer::IncludeResult;

std::string
folder_of(const std::string &path)
{
  const std::string::size_type slash = path.find_last_of('/');
  return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
}

/* glslang prints the text instead of its own message. */
include_result *
refusal(const char *text)
{
  return new include_result("", text, std::strlen(text), nullptr);
}

/* Owns a file descriptor, and closes it at the end of the scope. */
struct descriptor {
  int fd;
  explicit descriptor(int opened) : fd(opened)
  {
  }
  descriptor(const descriptor &) = delete;
  descriptor &operator=(const descriptor &) = delete;
  ~descriptor()
  {
    if (fd >= 0)
      close(fd);
  }
};

/* Returns whether an opened file is inside of a folder.  Without /proc it is not. */
bool
is_inside(const std::string &link, const char *root)
{
  char path[PATH_MAX];
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  const size_t folder = std::strlen(root);
  if (length <= 0 || static_cast<size_t>(length) >= sizeof path)
    return false;
  if (folder == 1)
    return true; /* the root is "/" */
  return static_cast<size_t>(length) > folder && std::memcmp(path, root, folder) == 0 && path[folder] == '/';
}

/* Returns the name of an open file in /proc. */
std::string
link_of(const descriptor &place)
{
  return "/proc/self/fd/" + std::to_string(place.fd);
}

/* Opens for reading what was opened as a place.  Without /proc, opens the path, and returns -1 if it leads to another file. */
int
reopen(const descriptor &place, const std::string &path)
{
  struct stat before, after;
  const int fd = vyre_file_open(VYRE_FILE_HERE, link_of(place).c_str(), VYRE_FILE_READS);
  if (fd >= 0 || errno != ENOENT)
    return fd;
  const int again = vyre_file_open(VYRE_FILE_HERE, path.c_str(), VYRE_FILE_READS);
  if (again < 0 || (fstat(place.fd, &before) == 0 && fstat(again, &after) == 0 && before.st_dev == after.st_dev &&
                    before.st_ino == after.st_ino))
    return again;
  close(again);
  return -1;
}

} // namespace

/* Loads a file.  Returns NULL if the file is missing, unreadable or outside of the include root.  Also returns NULL if the file
 * is refused, and stores the reason in `refused_`. */
folder_includer::IncludeResult *
folder_includer::load(const std::string &path)
{
  const descriptor place(vyre_file_open(VYRE_FILE_HERE, path.c_str(), VYRE_FILE_PLACE));
  struct stat file;
  if (place.fd < 0 || fstat(place.fd, &file) != 0)
    return nullptr;
  if (options_->include_root && !is_inside(link_of(place), options_->include_root))
    return nullptr;
  if (!S_ISREG(file.st_mode)) {
    refused_ = S_ISDIR(file.st_mode)    ? "A folder cannot be included"
               : S_ISFIFO(file.st_mode) ? "A FIFO cannot be included"
                                        : "A device or socket cannot be included";
    return nullptr;
  }
  const descriptor opened(reopen(place, path));
  std::unique_ptr<std::string> text(new std::string);
  if (opened.fd < 0 || !text_file_append(opened.fd, text.get()))
    return nullptr;
  const int mark = vyre_text_mark(text->data(), text->size());
  if (mark < 0) {
    refused_ = "A file that is UTF-16 cannot be included: save it as UTF-8";
    return nullptr;
  }
  text->erase(0, static_cast<size_t>(mark));
  strings_->add(path);
  strings_->add_literals(*text);
  IncludeResult *result = new IncludeResult(path, text->data(), text->size(), text.get());
  text.release();
  has_included_ = true;
  return result;
}

/* Searches the name as it is written, then with slashes for its backslashes. */
folder_includer::IncludeResult *
folder_includer::load_from(const std::string &folder, std::string header)
{
  IncludeResult *found = load(folder + "/" + header);
  if (found || refused_ || header.find('\\') == std::string::npos)
    return found;
  std::replace(header.begin(), header.end(), '\\', '/');
  return load(folder + "/" + header);
}

/* Removes the folders of the files that are not being included any more. */
void
folder_includer::leave_folders(const std::string &includer, size_t depth)
{
  folders_.resize(depth);
  if (depth == 1)
    folders_[0] = folder_of(includer);
}

/* If this fails, for any reason, glslang calls includeSystem next. */
folder_includer::IncludeResult *
folder_includer::includeLocal(const char *header, const char *includer, size_t depth)
{
  if (depth > max_depth)
    return nullptr;
  /* glslang leaves the includer's name empty at the top. */
  const std::string from = includer && includer[0] ? includer : path_;
  if (rule_ == INCLUDE_AS_GLSLC && from.find('/') == std::string::npos)
    return load(header);
  if (rule_ != INCLUDE_AS_GLSLANG)
    return load_from(folder_of(from), header);
  leave_folders(from, depth);
  for (size_t i = folders_.size(); i-- > 0 && !refused_;) {
    IncludeResult *found = load_from(folders_[i], header);
    if (found) {
      folders_.push_back(folder_of(found->headerName));
      return found;
    }
  }
  return nullptr;
}

folder_includer::IncludeResult *
folder_includer::includeSystem(const char *header, const char *includer, size_t depth)
{
  IncludeResult *found = nullptr;
  if (depth > max_depth)
    return refusal("Files include each other more than 100 deep");
  leave_folders(includer && includer[0] ? includer : path_, depth);
  for (uint32_t i = 0; i < options_->include_dir_count && !found && !refused_; i++)
    found = load_from(options_->include_dirs[i], header);
  const char *why = refused_;
  refused_ = nullptr;
  if (found)
    folders_.push_back(folder_of(found->headerName));
  if (found)
    return found;
  /* The message does not reveal whether the file exists outside of the root. */
  if (!why && options_->include_root)
    why = "There is no such file in the include root";
  return why ? refusal(why) : nullptr;
}

void
folder_includer::releaseInclude(IncludeResult *result)
{
  if (result)
    delete static_cast<std::string *>(result->userData);
  delete result;
}
