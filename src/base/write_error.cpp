#include "base/write_error.hpp"

#include <cerrno>
#include <cstring>

namespace sonde {
namespace {

std::string way_out(int code) {
  switch (code) {
    case ENOENT:
      return "make the folder first, or choose another one";
    case ENOTDIR:
      return "a part of the path is a file, not a folder";
    case ENOSPC:
    case EDQUOT:
      return "make room, or write somewhere else";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that you may write to";
    default:
      return {};
  }
}

}  // namespace

Error write_error(const std::string& what, const std::string& path, int code) {
  return {ErrorCode::IoError, what + ": " + std::strerror(code), path, {}, way_out(code)};
}

}  // namespace sonde
