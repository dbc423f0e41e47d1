#include "import/pickle/pickle_reader.hpp"

#include <utility>

#include "import/pickle/pickle_machine.hpp"

namespace sonde {

PickleType PickleValue::type() const {
  return document_ == nullptr ? PickleType::None : document_->nodes_[index_].type;
}

std::optional<std::int64_t> PickleValue::integer() const {
  if (!is(PickleType::Integer) && !is(PickleType::Boolean)) return std::nullopt;
  return document_->nodes_[index_].integer;
}

std::optional<double> PickleValue::number() const {
  if (is(PickleType::Real)) return document_->nodes_[index_].real;
  if (const auto whole = integer()) return static_cast<double>(*whole);
  return std::nullopt;
}

std::string_view PickleValue::text() const {
  if (!is(PickleType::Text) && !is(PickleType::Bytes) && !is(PickleType::BigInteger)) return {};
  const PickleDocument::Node& node = document_->nodes_[index_];
  return std::string_view(document_->bytes_).substr(node.offset, node.size);
}

std::size_t PickleValue::size() const {
  if (document_ == nullptr) return 0;
  const PickleDocument::Node& node = document_->nodes_[index_];
  switch (node.type) {
    case PickleType::List:
    case PickleType::Tuple:
    case PickleType::Set:
      return document_->items_[node.items].size();
    case PickleType::Dict:
      return document_->items_[node.items].size() / 2;
    case PickleType::Object: {
      const std::size_t added = document_->items_[node.items].size() - PickleDocument::kObjectParts;
      return node.mapping ? added / 2 : added;
    }
    default:
      return 0;
  }
}

PickleValue PickleValue::item(std::size_t i) const {
  if (is(PickleType::Dict) || i >= size()) return {};
  const PickleDocument::Node& node = document_->nodes_[index_];
  if (node.mapping) return {};
  const std::size_t before = node.type == PickleType::Object ? PickleDocument::kObjectParts : 0;
  return {document_, document_->items_[node.items][before + i]};
}

PickleValue PickleValue::key(std::size_t i) const {
  if (i >= size()) return {};
  const PickleDocument::Node& node = document_->nodes_[index_];
  if (node.type != PickleType::Dict && !node.mapping) return {};
  const std::size_t before = node.type == PickleType::Object ? PickleDocument::kObjectParts : 0;
  return {document_, document_->items_[node.items][before + 2 * i]};
}

PickleValue PickleValue::value(std::size_t i) const {
  if (i >= size()) return {};
  const PickleDocument::Node& node = document_->nodes_[index_];
  if (node.type != PickleType::Dict && !node.mapping) return {};
  const std::size_t before = node.type == PickleType::Object ? PickleDocument::kObjectParts : 0;
  return {document_, document_->items_[node.items][before + 2 * i + 1]};
}

const std::uint32_t* PickleValue::find_member(std::string_view key) const {
  for (std::size_t i = size(); i-- > 0;) {
    const PickleValue candidate = this->key(i);
    if (candidate.is(PickleType::Text) && candidate.text() == key) {
      const PickleDocument::Node& node = document_->nodes_[index_];
      const std::size_t before = node.type == PickleType::Object ? PickleDocument::kObjectParts : 0;
      return &document_->items_[node.items][before + 2 * i + 1];
    }
  }
  return nullptr;
}

PickleValue PickleValue::find(std::string_view key) const {
  const std::uint32_t* member = find_member(key);
  return member == nullptr ? PickleValue() : PickleValue(document_, *member);
}

bool PickleValue::has(std::string_view key) const { return find_member(key) != nullptr; }

std::string_view PickleValue::module() const {
  if (is(PickleType::Object)) {
    const PickleDocument::Node& node = document_->nodes_[index_];
    const PickleValue type(document_, document_->items_[node.items][0]);
    return type.is(PickleType::Global) ? type.module() : std::string_view();
  }
  if (!is(PickleType::Global)) return {};
  return PickleValue(document_, document_->items_[document_->nodes_[index_].items][0]).text();
}

std::string_view PickleValue::name() const {
  if (is(PickleType::Object)) {
    const PickleDocument::Node& node = document_->nodes_[index_];
    const PickleValue type(document_, document_->items_[node.items][0]);
    return type.is(PickleType::Global) ? type.name() : std::string_view();
  }
  if (!is(PickleType::Global)) return {};
  return PickleValue(document_, document_->items_[document_->nodes_[index_].items][1]).text();
}

PickleValue PickleValue::arguments() const {
  if (!is(PickleType::Object)) return {};
  return {document_, document_->items_[document_->nodes_[index_].items][1]};
}

PickleValue PickleValue::state() const {
  if (!is(PickleType::Object)) return {};
  return {document_, document_->items_[document_->nodes_[index_].items][2]};
}

Result<PickleDocument> PickleDocument::parse(std::string bytes, const PickleLimits& limits) {
  return PickleMachine(std::move(bytes), limits).run();
}

Result<PickleDocument> PickleDocument::read(ByteSource& source, const PickleLimits& limits) {
  std::string bytes;
  std::vector<char> part(std::size_t{1} << 20);
  for (;;) {
    Result<std::size_t> got = source.read(part);
    if (!got) return got.error();
    bytes.append(part.data(), *got);
    if (bytes.size() > limits.max_bytes) {
      return Error{ErrorCode::Unsupported,
                   "the pickle is larger than Sonde reads",
                   {},
                   bytes.size(),
                   "the limit is " + std::to_string(limits.max_bytes) + " bytes"};
    }
    if (*got < part.size()) break;
  }
  return parse(std::move(bytes), limits);
}

bool looks_like_pickle(std::string_view head) {
  return head.size() >= 3 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

}  // namespace sonde
