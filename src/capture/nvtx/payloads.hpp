#pragma once

#include "capture/nvtx/schemas.hpp"

namespace sonde::capture::nvtx {

// What a list of payloads says: arguments, and the name of the event where an entry or a schema has
// one (0: none; only where it is wanted). Payloads that cannot be read are counted in the argument
// "payload lost".
struct DecodedPayloads {
  sonde_arguments arguments;
  std::uint32_t name;
};
void decode_payloads(const Domain& domain, const PayloadData* payloads, std::size_t count,
                     bool wants_name, DecodedPayloads* out);

}  // namespace sonde::capture::nvtx
