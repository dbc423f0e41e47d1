// Compares Sonde's declarations of NVTX's payload extension with NVIDIA's headers. Nothing runs: it compiles, or it does not.

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>

#include "capture/nvtx/payload_abi.hpp"

namespace abi = sonde::capture::nvtx;

#define SAME(ours, theirs) static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))
#define PLACE(our_type, ours, their_type, theirs) static_assert(offsetof(abi::our_type, ours) == offsetof(their_type, theirs))

SAME(abi::kPayloadModule, NVTX_EXT_PAYLOAD_MODULEID);
SAME(abi::kPayloadGeneration, NVTX_EXT_PAYLOAD_COMPATID >> 8);
SAME(abi::kExtendedPayload, NVTX_PAYLOAD_TYPE_EXT);
static_assert(sizeof(abi::PayloadData) == sizeof(nvtxPayloadData_t));
PLACE(PayloadData, size, nvtxPayloadData_t, size);
PLACE(PayloadData, bytes, nvtxPayloadData_t, payload);
static_assert(sizeof(abi::SchemaEntry) == sizeof(nvtxPayloadSchemaEntry_t));
PLACE(SchemaEntry, flags, nvtxPayloadSchemaEntry_t, flags);
PLACE(SchemaEntry, type, nvtxPayloadSchemaEntry_t, type);
PLACE(SchemaEntry, name, nvtxPayloadSchemaEntry_t, name);
PLACE(SchemaEntry, detail, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
PLACE(SchemaEntry, offset, nvtxPayloadSchemaEntry_t, offset);
static_assert(sizeof(abi::SchemaAttributes) == sizeof(nvtxPayloadSchemaAttr_t));
PLACE(SchemaAttributes, name, nvtxPayloadSchemaAttr_t, name);
PLACE(SchemaAttributes, type, nvtxPayloadSchemaAttr_t, type);
PLACE(SchemaAttributes, flags, nvtxPayloadSchemaAttr_t, flags);
PLACE(SchemaAttributes, entries, nvtxPayloadSchemaAttr_t, entries);
PLACE(SchemaAttributes, count, nvtxPayloadSchemaAttr_t, numEntries);
PLACE(SchemaAttributes, static_size, nvtxPayloadSchemaAttr_t, payloadStaticSize);
PLACE(SchemaAttributes, pack, nvtxPayloadSchemaAttr_t, packAlign);
PLACE(SchemaAttributes, id, nvtxPayloadSchemaAttr_t, schemaId);
static_assert(sizeof(abi::EnumEntry) == sizeof(nvtxPayloadEnum_t));
PLACE(EnumEntry, value, nvtxPayloadEnum_t, value);
PLACE(EnumEntry, is_flag, nvtxPayloadEnum_t, isFlag);
static_assert(sizeof(abi::EnumAttributes) == sizeof(nvtxPayloadEnumAttr_t));
PLACE(EnumAttributes, entries, nvtxPayloadEnumAttr_t, entries);
PLACE(EnumAttributes, count, nvtxPayloadEnumAttr_t, numEntries);
PLACE(EnumAttributes, size, nvtxPayloadEnumAttr_t, sizeOfEnum);
PLACE(EnumAttributes, id, nvtxPayloadEnumAttr_t, schemaId);
static_assert(sizeof(abi::ModuleInfo) == sizeof(nvtxExtModuleInfo_t));
PLACE(ModuleInfo, module, nvtxExtModuleInfo_t, moduleId);
PLACE(ModuleInfo, compatibility, nvtxExtModuleInfo_t, compatId);
PLACE(ModuleInfo, segment_count, nvtxExtModuleInfo_t, segmentsCount);
PLACE(ModuleInfo, segments, nvtxExtModuleInfo_t, segments);
PLACE(ModuleInfo, get_export, nvtxExtModuleInfo_t, getExportFunction);
PLACE(ModuleSegment, count, nvtxExtModuleSegment_t, slotCount);
PLACE(ModuleSegment, slots, nvtxExtModuleSegment_t, functionSlots);

SAME(abi::PayloadSlot::SchemaRegister, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
SAME(abi::PayloadSlot::EnumRegister, NVTX3EXT_CBID_nvtxPayloadEnumRegister);
SAME(abi::PayloadSlot::Mark, NVTX3EXT_CBID_nvtxMarkPayload);
SAME(abi::PayloadSlot::RangePush, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME(abi::PayloadSlot::RangePop, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME(abi::PayloadSlot::RangeStart, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME(abi::PayloadSlot::RangeEnd, NVTX3EXT_CBID_nvtxRangeEndPayload);
SAME(abi::PayloadSlot::DomainIsEnabled, NVTX3EXT_CBID_nvtxDomainIsEnabled);
SAME(abi::PayloadSlot::EventSubmit, NVTX3EXT_CBID_nvtxEventSubmit);
SAME(abi::PayloadSlot::EventBatchSubmit, NVTX3EXT_CBID_nvtxEventBatchSubmit);

SAME(abi::schema_field::kName, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME);
SAME(abi::schema_field::kType, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE);
SAME(abi::schema_field::kEntries, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES);
SAME(abi::schema_field::kCount, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES);
SAME(abi::schema_field::kStaticSize, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE);
SAME(abi::schema_field::kPack, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT);
SAME(abi::schema_field::kId, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
SAME(abi::enum_field::kName, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME);
SAME(abi::enum_field::kEntries, NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES);
SAME(abi::enum_field::kCount, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES);
SAME(abi::enum_field::kSize, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE);
SAME(abi::enum_field::kId, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID);
SAME(abi::SchemaType::Static, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
SAME(abi::SchemaType::Dynamic, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC);
SAME(abi::SchemaType::Union, NVTX_PAYLOAD_SCHEMA_TYPE_UNION);
SAME(abi::SchemaType::SelectingUnion, NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR);
SAME(abi::entry_flag::kPointer, NVTX_PAYLOAD_ENTRY_FLAG_POINTER);
SAME(abi::entry_flag::kFromBase, NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE);
SAME(abi::entry_flag::kFromHere, NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE);
SAME(abi::entry_flag::kFixed, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE);
SAME(abi::entry_flag::kZeroEnded, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED);
SAME(abi::entry_flag::kLengthIndex, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX);
SAME(abi::entry_flag::kHide, NVTX_PAYLOAD_ENTRY_FLAG_HIDE);
SAME(abi::entry_flag::kMessage, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE);

#define TYPE(ours, theirs) SAME(abi::entry_type::ours, NVTX_PAYLOAD_ENTRY_TYPE_##theirs)
TYPE(kChar, CHAR);
TYPE(kUnsignedChar, UCHAR);
TYPE(kShort, SHORT);
TYPE(kUnsignedShort, USHORT);
TYPE(kInt, INT);
TYPE(kUnsignedInt, UINT);
TYPE(kLong, LONG);
TYPE(kUnsignedLong, ULONG);
TYPE(kLongLong, LONGLONG);
TYPE(kUnsignedLongLong, ULONGLONG);
TYPE(kInt8, INT8);
TYPE(kUint8, UINT8);
TYPE(kInt16, INT16);
TYPE(kUint16, UINT16);
TYPE(kInt32, INT32);
TYPE(kUint32, UINT32);
TYPE(kInt64, INT64);
TYPE(kUint64, UINT64);
TYPE(kFloat, FLOAT);
TYPE(kDouble, DOUBLE);
TYPE(kLongDouble, LONGDOUBLE);
TYPE(kSize, SIZE);
TYPE(kAddress, ADDRESS);
TYPE(kWideChar, WCHAR);
TYPE(kChar8, CHAR8);
TYPE(kChar16, CHAR16);
TYPE(kChar32, CHAR32);
TYPE(kByte, BYTE);
TYPE(kInt128, INT128);
TYPE(kUint128, UINT128);
TYPE(kFloat16, FLOAT16);
TYPE(kFloat32, FLOAT32);
TYPE(kFloat64, FLOAT64);
TYPE(kFloat128, FLOAT128);
TYPE(kBfloat16, BF16);
TYPE(kTf32, TF32);
TYPE(kCategory, CATEGORY);
TYPE(kColor, COLOR_ARGB);
TYPE(kScope, SCOPE_ID);
TYPE(kProcess32, PID_UINT32);
TYPE(kProcess64, PID_UINT64);
TYPE(kThread32, TID_UINT32);
TYPE(kThread64, TID_UINT64);
TYPE(kText, CSTRING);
TYPE(kTextUtf8, CSTRING_UTF8);
TYPE(kTextUtf16, CSTRING_UTF16);
TYPE(kTextUtf32, CSTRING_UTF32);
TYPE(kRegisteredText, NVTX_REGISTERED_STRING_HANDLE);
TYPE(kSelector, UNION_SELECTOR);
SAME(abi::entry_type::kReferenced, NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED);
SAME(abi::entry_type::kRaw, NVTX_TYPE_PAYLOAD_SCHEMA_RAW);
SAME(abi::entry_type::kFirstStatic, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);
SAME(abi::entry_type::kFirstDynamic, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
