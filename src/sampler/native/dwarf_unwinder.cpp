#include "sampler/native/dwarf_unwinder.hpp"

#include <elfutils/libdwfl.h>
#include <elfutils/version.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "base/demangle.hpp"
#include "sampler/thread_stopper.hpp"
#include "system/proc_files.hpp"

namespace sonde {
namespace {

constexpr std::size_t kMaxNativeFrames = 512;
constexpr std::uint64_t kRenewEvery = 1'000'000'000;
constexpr std::size_t kMaxSymbols = 1 << 20;

// The stack pointer of a frame; 0 where this libdw does not tell.
std::uint64_t stack_pointer(Dwfl_Frame* frame) {
#if _ELFUTILS_PREREQ(0, 188)
#if defined(__aarch64__)
  constexpr unsigned kStackPointer = 31;
#else
  constexpr unsigned kStackPointer = 7;
#endif
  Dwarf_Word out = 0;
  return dwfl_frame_reg(frame, kStackPointer, &out) == 0 ? out : 0;
#else
  (void)frame;
  return 0;
#endif
}

// The file of a module below the process's own root, so that containers are right.
int find_elf(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, char** path,
             Elf** elf) {
  int pid = 0;
  if (data && *data) pid = static_cast<int>(reinterpret_cast<std::intptr_t>(*data));
  if (pid > 0 && name[0] == '/') {
    const std::string inside = path_of_mapped_file(pid, name);
    const int file = ::open(inside.c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
      *path = ::strdup(inside.c_str());
      return file;
    }
  }
  return dwfl_linux_proc_find_elf(module, data, name, base, path, elf);
}

// Separate debug files are not looked for: the tables of the files themselves are enough, and a
// search may go to the network.
int no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                  GElf_Word, char**) {
  return -1;
}

const Dwfl_Callbacks kCallbacks = {find_elf, no_debug_file, nullptr, nullptr};

class DwarfUnwinder : public NativeUnwinder {
 public:
  explicit DwarfUnwinder(pid_t process) : process_(process) {}
  ~DwarfUnwinder() override { end(); }

  bool unwind(pid_t thread, std::vector<NativeFrame>& out) override;

 private:
  struct Symbol {
    std::string name;
    std::string module;
  };

  bool begin();
  void end();
  const Symbol& symbol(Dwarf_Addr address);
  static int take_frame(Dwfl_Frame* frame, void* unwinder);
  static int name_process(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr start,
                          void* pid);

  pid_t process_;
  Dwfl* dwfl_ = nullptr;
  std::uint64_t renewed_ = 0;
  bool attached_ = false;
  std::unordered_map<Dwarf_Addr, Symbol> symbols_;
  std::vector<Dwarf_Addr> addresses_;
  std::vector<std::uint64_t> stack_;  // the stack pointer of each
};

int DwarfUnwinder::name_process(Dwfl_Module*, void** data, const char*, Dwarf_Addr, void* pid) {
  *data = pid;
  return DWARF_CB_OK;
}

bool DwarfUnwinder::begin() {
  if (dwfl_) return attached_;
  dwfl_ = dwfl_begin(&kCallbacks);
  if (!dwfl_) return false;
  renewed_ = monotonic_nanos();
  if (dwfl_linux_proc_report(dwfl_, process_) != 0 ||
      dwfl_report_end(dwfl_, nullptr, nullptr) != 0) {
    return false;
  }
  dwfl_getmodules(dwfl_, name_process,
                  reinterpret_cast<void*>(static_cast<std::intptr_t>(process_)), 0);
  attached_ = dwfl_linux_proc_attach(dwfl_, process_, true) == 0;
  return attached_;
}

void DwarfUnwinder::end() {
  if (dwfl_) dwfl_end(dwfl_);
  dwfl_ = nullptr;
  attached_ = false;
}

const DwarfUnwinder::Symbol& DwarfUnwinder::symbol(Dwarf_Addr address) {
  if (symbols_.size() > kMaxSymbols) symbols_.clear();
  const auto [at, is_new] = symbols_.try_emplace(address);
  if (!is_new) return at->second;
  Dwfl_Module* const module = dwfl_addrmodule(dwfl_, address);
  if (!module) return at->second;
  const char* const name = dwfl_module_addrname(module, address);
  at->second.name = demangled(name ? name : "");
  if (const char* const path =
          dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr)) {
    at->second.module = path;
  }
  return at->second;
}

int DwarfUnwinder::take_frame(Dwfl_Frame* frame, void* unwinder) {
  auto& self = *static_cast<DwarfUnwinder*>(unwinder);
  Dwarf_Addr address = 0;
  bool at_work = false;
  if (!dwfl_frame_pc(frame, &address, &at_work)) return DWARF_CB_ABORT;
  // A return address lies behind its call, which may be the last instruction of its function.
  self.addresses_.push_back(at_work ? address : address - 1);
  self.stack_.push_back(stack_pointer(frame));
  return self.addresses_.size() < kMaxNativeFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

bool DwarfUnwinder::unwind(pid_t thread, std::vector<NativeFrame>& out) {
  out.clear();
  if (!begin()) return false;
  addresses_.clear();
  stack_.clear();
  // Succeeds where the walk ended at a function that says it has no caller; not every libc says so
  // of the functions that threads begin with.
  bool whole = dwfl_getthread_frames(dwfl_, thread, take_frame, this) == 0;
  bool unknown = false;
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    const Dwarf_Addr address = addresses_[i];
    const Symbol& found = symbol(address);
    unknown = unknown || found.module.empty();
    whole = whole || found.name == "_start" || found.name == "__libc_start_main" ||
            found.name == "__libc_start_call_main" || found.name == "clone" ||
            found.name == "clone3" || found.name == "__clone3" || found.name == "start_thread" ||
            found.name.starts_with("__libc_start_main");
    out.push_back({found.name, found.module, address, stack_[i]});
  }
  // Libraries may have been loaded since the files were listed.
  if ((unknown || !whole) && monotonic_nanos() - renewed_ > kRenewEvery) {
    end();
    symbols_.clear();
  }
  return whole;
}

}  // namespace

std::unique_ptr<NativeUnwinder> make_dwarf_unwinder(pid_t process) {
  return std::make_unique<DwarfUnwinder>(process);
}

}  // namespace sonde
