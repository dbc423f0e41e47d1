#include "sampler/runtime_finder.hpp"

#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "sampler/elf_image.hpp"
#include "sampler/memory_map.hpp"
#include "sampler/process_memory.hpp"
#include "sampler/python_objects.hpp"
#include "system/proc_files.hpp"

namespace sonde {
namespace {

std::string proc_path(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// A file of the process, also where the process has another root folder, or the file was replaced.
std::string file_of(pid_t pid, const Mapping& mapping, bool is_program) {
  if (is_program) return proc_path(pid, "exe");
  if (!mapping.deleted) {
    std::string path = path_of_mapped_file(pid, mapping.path);
    if (::access(path.c_str(), F_OK) == 0) return path;
  }
  char range[64];
  std::snprintf(range, sizeof range, "map_files/%llx-%llx",
                static_cast<unsigned long long>(mapping.start),
                static_cast<unsigned long long>(mapping.end));
  return proc_path(pid, range);
}

Error unsupported(pid_t pid, std::string reason, std::string hint) {
  return {ErrorCode::Unsupported,
          "process " + std::to_string(pid) + ": " + std::move(reason),
          {},
          {},
          std::move(hint)};
}

struct Candidate {
  Mapping mapping;  // the lowest one of the file
  bool is_program = false;
};

std::vector<Candidate> candidates(pid_t pid, const std::vector<Mapping>& maps) {
  std::string program = link_target(proc_path(pid, "exe"));
  constexpr std::string_view kDeleted = " (deleted)";
  if (program.ends_with(kDeleted)) program.resize(program.size() - kDeleted.size());
  std::map<std::string, Candidate> files;
  for (const Mapping& mapping : maps) {
    const bool is_program = mapping.path == program;
    const bool by_name = base_name(mapping.path).starts_with("libpython") ||
                         base_name(mapping.path).starts_with("python");
    if (!is_program && !by_name) continue;
    const auto [at, is_new] = files.try_emplace(mapping.path, Candidate{mapping, is_program});
    if (!is_new && mapping.start < at->second.mapping.start) at->second.mapping = mapping;
  }
  std::vector<Candidate> out;
  out.reserve(files.size());
  for (auto& [path, candidate] : files) out.push_back(std::move(candidate));
  return out;
}

// The interpreter in one file. NotFound where there is none.
Result<PythonRuntime> find_in(pid_t pid, const Memory& memory, const Candidate& candidate) {
  const Error none{ErrorCode::NotFound, "no Python", {}, {}, {}};
  const FileMemory file(file_of(pid, candidate.mapping, candidate.is_program));
  if (!file.ok()) {
    if (errno == EACCES || errno == EPERM) return no_access(pid, EPERM);
    return none;
  }
  const std::optional<ElfImage> image = ElfImage::read(file);
  if (!image) return none;
  std::vector<ElfImage::Symbol> symbols = {
      {"_PyRuntime", {}}, {"Py_Version", {}}, {"_Py_NegativeRefcount", {}}};
  image->find(symbols);
  std::optional<std::uint64_t> value = symbols[0].value;
  if (!value) value = image->section(".PyRuntime");
  if (!value) return none;

  PythonRuntime out;
  const std::uint64_t bias = image->load_bias(candidate.mapping.start, candidate.mapping.offset);
  out.address = *value + bias;
  out.path = candidate.mapping.path;
  std::uint64_t cookie = 0;
  if (!memory.get(out.address, cookie)) {
    if (errno == ESRCH) return none;
    return no_access(pid, errno);
  }
  if (symbols[2].value) {
    return unsupported(pid,
                       "its Python is a debug build (" + out.path + "), which Sonde cannot read",
                       "use a release build of the interpreter");
  }
  if (std::memcmp(&cookie, "xdebugpy", 8) == 0) {
    Result<PythonLayout> layout = read_debug_offsets(memory, out.address);
    if (!layout) return unsupported(pid, layout.error().reason, layout.error().hint);
    out.layout = *layout;
    return out;
  }
  PythonVersion version = version_of_name(out.path);
  std::uint32_t hex = 0;
  if (symbols[1].value && memory.get(*symbols[1].value + bias, hex)) {
    version = PythonVersion::from_hex(hex);
  }
  if (version.major != 3) {
    return unsupported(pid, "the version of its Python (" + out.path + ") cannot be told",
                       "name the interpreter as it was installed, such as python3.10");
  }
  std::optional<PythonLayout> layout = known_layout(version.minor);
  if (!layout || !version.final) {
    return unsupported(pid, "Python " + version.text() + " is not known to this Sonde",
                       "it reads releases of CPython 3.8 to 3.14");
  }
  out.layout = *layout;
  out.layout.version = version;
  return out;
}

}  // namespace

PythonVersion version_of_name(std::string_view path) {
  std::string_view name = base_name(path);
  const std::size_t at = name.find("python");
  PythonVersion out;
  if (at == std::string_view::npos) return out;
  name.remove_prefix(at + 6);
  const auto number = [&] {
    int value = -1;
    while (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) && value < 1000) {
      value = (value < 0 ? 0 : value * 10) + (name[0] - '0');
      name.remove_prefix(1);
    }
    return value;
  };
  const int major = number();
  if (major < 0 || name.empty() || name[0] != '.') return out;
  name.remove_prefix(1);
  const int minor = number();
  if (minor < 0) return out;
  out.major = major;
  out.minor = minor;
  return out;
}

Error no_access(pid_t pid, int code) {
  Error out;
  const std::string process = "process " + std::to_string(pid);
  if (code == ESRCH || code == ENOENT) {
    out.code = ErrorCode::NotFound;
    out.reason = process + " is not there";
    out.hint = "it has ended, or lives in another container: 'pgrep -af python' shows what runs";
    return out;
  }
  out.code = ErrorCode::NoPermission;
  if (code == ENOSYS) {
    out.reason = process + " cannot be looked into: process_vm_readv is blocked";
    out.hint =
        "the container's seccomp profile forbids it: start the container with "
        "--cap-add=SYS_PTRACE, or run Sonde outside of it";
    return out;
  }
  out.reason = process + " may not be looked into: " + std::strerror(code);
  const std::string scope = read_small_file("/proc/sys/kernel/yama/ptrace_scope");
  if (!scope.empty() && scope[0] != '0' && ::geteuid() != 0) {
    out.hint = std::string("kernel.yama.ptrace_scope is ") + scope[0] +
               ": run Sonde as root, or with CAP_SYS_PTRACE, or allow it with "
               "'sysctl kernel.yama.ptrace_scope=0'; 'sonde run' needs neither";
  } else if (::geteuid() == 0) {
    out.hint =
        "CAP_SYS_PTRACE is missing, or seccomp forbids it: start the container with "
        "--cap-add=SYS_PTRACE (ptrace_scope does not concern root)";
  } else {
    out.hint =
        "run Sonde as the same user or as root, or with CAP_SYS_PTRACE; in a container start it "
        "with --cap-add=SYS_PTRACE (seccomp); ptrace_scope allows it";
  }
  return out;
}

Result<PythonRuntime> find_python(pid_t pid, const Memory& memory) {
  const std::string maps_path = proc_path(pid, "maps");
  errno = 0;
  const std::string text = read_small_file(maps_path);
  if (text.empty()) {
    if (::access(proc_path(pid, "").c_str(), F_OK) != 0) return no_access(pid, ESRCH);
    const FileMemory probe(maps_path);
    char byte = 0;
    if (!probe.ok() || (!probe.get(0, byte) && errno == EACCES)) return no_access(pid, EPERM);
  }
  std::optional<Error> refused;
  for (const Candidate& candidate : candidates(pid, parse_maps(text))) {
    Result<PythonRuntime> found = find_in(pid, memory, candidate);
    if (found) return found;
    if (found.error().code != ErrorCode::NotFound) refused = found.error();
  }
  if (refused) return *refused;
  return Error{ErrorCode::NotFound,
               "process " + std::to_string(pid) + " is no Python program",
               {},
               {},
               "no CPython in its memory; give the number of the Python process itself"};
}

bool looks_right(const Memory& memory, const PythonRuntime& runtime) {
  const PythonLayout& layout = runtime.layout;
  Address interpreter = 0;
  Address thread = 0;
  Address back = 0;
  if (!memory.get(runtime.address + layout.runtime.interpreters, interpreter) || interpreter == 0) {
    return false;
  }
  if (!memory.get(interpreter + layout.interpreter.threads, thread) || thread == 0) return false;
  if (!memory.get(thread + layout.thread.interpreter, back) || back != interpreter) return false;
  Address modules = 0;
  if (!memory.get(interpreter + layout.interpreter.modules, modules)) return false;
  return PythonObjects(memory, layout).type_name(modules) == "dict";
}

}  // namespace sonde
