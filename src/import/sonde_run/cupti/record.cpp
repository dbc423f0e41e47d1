#include "import/sonde_run/cupti/record.hpp"

namespace sonde::cupti {

std::size_t least_bytes(Kind kind) {
  switch (kind) {
    case Kind::Kernel:
    case Kind::ConcurrentKernel:
      return kernel::kLeast;
    case Kind::Memcpy:
      return copy::kLeast;
    case Kind::MemcpyPeer:
      return peer_copy::kLeast;
    case Kind::Memset:
      return fill::kLeast;
    case Kind::Driver:
    case Kind::Runtime:
    case Kind::InternalLaunch:
      return call::kLeast;
    case Kind::Synchronization:
      return sync::kLeast;
    case Kind::Overhead:
      return overhead::kLeast;
    case Kind::Memory:
      return memory::kLeast;
    case Kind::MemoryPool:
      return pool::kLeast;
    case Kind::GraphTrace:
      return graph::kLeast;
    case Kind::Context:
      return context::kLeast;
    case Kind::Stream:
      return stream::kLeast;
    case Kind::Device:
    case Kind::ExternalCorrelation:
      break;
  }
  return 8;
}

}  // namespace sonde::cupti
