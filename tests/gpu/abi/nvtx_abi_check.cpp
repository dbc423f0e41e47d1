// Compares Sonde's declarations of NVTX with NVIDIA's headers. Nothing runs: it compiles, or it
// does not.

#include <nvtx3/nvToolsExt.h>

#include <cstddef>

#include "capture/nvtx/nvtx_abi.hpp"

namespace abi = sonde::capture::nvtx;

#define SAME(ours, theirs) \
  static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))
#define PLACE(ours, theirs) \
  static_assert(offsetof(abi::EventAttributes, ours) == offsetof(nvtxEventAttributes_t, theirs))

static_assert(sizeof(abi::EventAttributes) == sizeof(nvtxEventAttributes_t));
PLACE(version, version);
PLACE(size, size);
PLACE(category, category);
PLACE(color_type, colorType);
PLACE(color, color);
PLACE(payload_type, payloadType);
PLACE(reserved, reserved0);
PLACE(payload, payload);
PLACE(message_type, messageType);
PLACE(message, message);

SAME(abi::PayloadType::Unsigned64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
SAME(abi::PayloadType::Signed64, NVTX_PAYLOAD_TYPE_INT64);
SAME(abi::PayloadType::Double, NVTX_PAYLOAD_TYPE_DOUBLE);
SAME(abi::PayloadType::Unsigned32, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
SAME(abi::PayloadType::Signed32, NVTX_PAYLOAD_TYPE_INT32);
SAME(abi::PayloadType::Float, NVTX_PAYLOAD_TYPE_FLOAT);
SAME(abi::MessageType::Text, NVTX_MESSAGE_TYPE_ASCII);
SAME(abi::MessageType::WideText, NVTX_MESSAGE_TYPE_UNICODE);
SAME(abi::MessageType::Registered, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(abi::Module::Core, NVTX_CB_MODULE_CORE);
SAME(abi::Module::Core2, NVTX_CB_MODULE_CORE2);
SAME(abi::kCallbacksTable, NVTX_ETID_CALLBACKS);
static_assert(offsetof(abi::CallbacksTable, get_module_function_table) ==
              offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));

SAME(abi::Core::MarkEx, NVTX_CBID_CORE_MarkEx);
SAME(abi::Core::MarkA, NVTX_CBID_CORE_MarkA);
SAME(abi::Core::MarkW, NVTX_CBID_CORE_MarkW);
SAME(abi::Core::RangeStartEx, NVTX_CBID_CORE_RangeStartEx);
SAME(abi::Core::RangeStartA, NVTX_CBID_CORE_RangeStartA);
SAME(abi::Core::RangeStartW, NVTX_CBID_CORE_RangeStartW);
SAME(abi::Core::RangeEnd, NVTX_CBID_CORE_RangeEnd);
SAME(abi::Core::RangePushEx, NVTX_CBID_CORE_RangePushEx);
SAME(abi::Core::RangePushA, NVTX_CBID_CORE_RangePushA);
SAME(abi::Core::RangePushW, NVTX_CBID_CORE_RangePushW);
SAME(abi::Core::RangePop, NVTX_CBID_CORE_RangePop);
SAME(abi::Core::NameCategoryA, NVTX_CBID_CORE_NameCategoryA);
SAME(abi::Core::NameCategoryW, NVTX_CBID_CORE_NameCategoryW);
SAME(abi::Core::NameOsThreadA, NVTX_CBID_CORE_NameOsThreadA);
SAME(abi::Core::NameOsThreadW, NVTX_CBID_CORE_NameOsThreadW);
SAME(abi::Core2::DomainMarkEx, NVTX_CBID_CORE2_DomainMarkEx);
SAME(abi::Core2::DomainRangeStartEx, NVTX_CBID_CORE2_DomainRangeStartEx);
SAME(abi::Core2::DomainRangeEnd, NVTX_CBID_CORE2_DomainRangeEnd);
SAME(abi::Core2::DomainRangePushEx, NVTX_CBID_CORE2_DomainRangePushEx);
SAME(abi::Core2::DomainRangePop, NVTX_CBID_CORE2_DomainRangePop);
SAME(abi::Core2::DomainNameCategoryA, NVTX_CBID_CORE2_DomainNameCategoryA);
SAME(abi::Core2::DomainNameCategoryW, NVTX_CBID_CORE2_DomainNameCategoryW);
SAME(abi::Core2::DomainRegisterStringA, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME(abi::Core2::DomainRegisterStringW, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME(abi::Core2::DomainCreateA, NVTX_CBID_CORE2_DomainCreateA);
SAME(abi::Core2::DomainCreateW, NVTX_CBID_CORE2_DomainCreateW);
