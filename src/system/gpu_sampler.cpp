#include "system/gpu_sampler.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "system/nvml_abi.hpp"
#include "trace/system_counters.hpp"

namespace sonde {
namespace {

namespace names = system_counters;

constexpr unsigned kMostGpus = 64;

template <typename Function>
bool look_up(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(::dlsym(library, name));
  return out != nullptr;
}

}  // namespace

struct GpuSampler::Library {
  struct Gpu {
    nvml::Device device = nullptr;
    RunFileWriter::DomainId domain = 0;
  };
  struct Names {
    RunFileWriter::NameId use, memory_use, memory, power, clock, memory_clock, temperature;
  };

  ~Library() {
    if (started) functions.nvmlShutdown();
    if (handle != nullptr) ::dlclose(handle);
  }

  bool load(const char* path) {
    handle = ::dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) return false;
    nvml::Functions& f = functions;
#define SONDE_LOOK_UP(name) look_up(handle, #name, f.name)
    const bool whole =
        SONDE_LOOK_UP(nvmlInit_v2) && SONDE_LOOK_UP(nvmlShutdown) &&
        SONDE_LOOK_UP(nvmlDeviceGetCount_v2) && SONDE_LOOK_UP(nvmlDeviceGetHandleByIndex_v2) &&
        SONDE_LOOK_UP(nvmlDeviceGetName) && SONDE_LOOK_UP(nvmlDeviceGetUtilizationRates) &&
        SONDE_LOOK_UP(nvmlDeviceGetMemoryInfo) && SONDE_LOOK_UP(nvmlDeviceGetPowerUsage) &&
        SONDE_LOOK_UP(nvmlDeviceGetClockInfo) && SONDE_LOOK_UP(nvmlDeviceGetTemperature);
#undef SONDE_LOOK_UP
    started = whole && f.nvmlInit_v2() == 0;
    return started;
  }

  void find_gpus(RunFileWriter& writer) {
    unsigned count = 0;
    if (functions.nvmlDeviceGetCount_v2(&count) != 0) return;
    for (unsigned i = 0; i < std::min(count, kMostGpus); ++i) {
      Gpu gpu;
      if (functions.nvmlDeviceGetHandleByIndex_v2(i, &gpu.device) != 0) continue;
      char name[nvml::kNameBytes] = {};
      if (functions.nvmlDeviceGetName(gpu.device, name, sizeof name) != 0) name[0] = 0;
      name[sizeof name - 1] = 0;
      std::string domain = std::string(names::kGpu) + std::to_string(i);
      if (name[0] != 0) domain += std::string(": ") + name;
      gpu.domain = writer.add_domain(domain);
      gpus.push_back(gpu);
    }
    if (gpus.empty()) return;
    ids = {writer.add_name(names::kGpuUse),        writer.add_name(names::kGpuMemoryUse),
           writer.add_name(names::kGpuMemory),     writer.add_name(names::kGpuPower),
           writer.add_name(names::kGpuClock),      writer.add_name(names::kGpuMemoryClock),
           writer.add_name(names::kGpuTemperature)};
  }

  void* handle = nullptr;
  bool started = false;
  nvml::Functions functions{};
  std::vector<Gpu> gpus;
  Names ids{};
};

GpuSampler::GpuSampler(RunFileWriter& writer, const char* library)
    : library_(std::make_unique<Library>()) {
  if (library_->load(library)) library_->find_gpus(writer);
}

GpuSampler::~GpuSampler() = default;

std::size_t GpuSampler::gpus() const { return library_->gpus.size(); }

void GpuSampler::sample(RunFileWriter& writer, std::int64_t now) {
  const nvml::Functions& f = library_->functions;
  const Library::Names& ids = library_->ids;
  for (const Library::Gpu& gpu : library_->gpus) {
    const auto add = [&](RunFileWriter::NameId name, std::int64_t value) {
      writer.add_counter(now, name, gpu.domain, value);
    };
    nvml::Utilization use{};
    if (f.nvmlDeviceGetUtilizationRates(gpu.device, &use) == 0) {
      add(ids.use, use.gpu);
      add(ids.memory_use, use.memory);
    }
    nvml::Memory memory{};
    if (f.nvmlDeviceGetMemoryInfo(gpu.device, &memory) == 0) {
      add(ids.memory, static_cast<std::int64_t>(memory.used));
    }
    unsigned value = 0;
    if (f.nvmlDeviceGetPowerUsage(gpu.device, &value) == 0) {
      writer.add_counter(now, ids.power, gpu.domain, static_cast<double>(value) / 1000);
    }
    if (f.nvmlDeviceGetClockInfo(gpu.device, nvml::Clock::Multiprocessor, &value) == 0) {
      add(ids.clock, value);
    }
    if (f.nvmlDeviceGetClockInfo(gpu.device, nvml::Clock::Memory, &value) == 0) {
      add(ids.memory_clock, value);
    }
    if (f.nvmlDeviceGetTemperature(gpu.device, nvml::Sensor::Gpu, &value) == 0) {
      add(ids.temperature, value);
    }
  }
}

}  // namespace sonde
