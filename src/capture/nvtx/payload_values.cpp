#include "capture/nvtx/payload_values.hpp"

#include <stdio.h>
#include <string.h>

#include "trace/file_format.hpp"

namespace sonde::capture::nvtx {

const char* PayloadValues::copy(const char* text) {
  const std::size_t size = strnlen(text, kRoom);
  if (size + 1 > kRoom - used_) return nullptr;
  char* const out = text_ + used_;
  memcpy(out, text, size);
  out[size] = 0;
  used_ += size + 1;
  return out;
}

PayloadValues::Item* PayloadValues::next(const char* name, Kind kind) {
  const char* const kept = count_ < kMostItems ? copy(name) : nullptr;
  if (!kept) {
    lose();
    return nullptr;
  }
  Item* const item = &items_[count_++];
  *item = {kept, nullptr, 0, 0, kind};
  return item;
}

void PayloadValues::add_integer(const char* name, std::int64_t value) {
  if (Item* const item = next(name, Kind::Integer)) item->integer = value;
}

void PayloadValues::add_real(const char* name, double value) {
  if (Item* const item = next(name, Kind::Real)) item->real = value;
}

void PayloadValues::add_text(const char* name, const char* value) {
  Item* const item = next(name, Kind::Text);
  if (!item) return;
  item->text = copy(value);
  if (item->text) return;
  --count_;
  lose();
}

void PayloadValues::write_one(sonde_arguments* out, const Item& item) const {
  switch (item.kind) {
    case Kind::Integer:
      return sonde_add_i64(out, item.name, item.integer);
    case Kind::Real:
      return sonde_add_f64(out, item.name, item.real);
    case Kind::Text:
      return sonde_add_text(out, item.name, item.text);
  }
}

void PayloadValues::write(sonde_arguments* out, std::size_t most) const {
  const std::size_t room = lost_ != 0 && most > 0 ? most - 1 : most;
  const std::size_t alone = count_ <= room ? count_ : (room > 0 ? room - 1 : 0);
  for (std::size_t i = 0; i < alone; ++i) write_one(out, items_[i]);
  if (alone < count_ && room > 0) {
    char rest[kRoom];
    std::size_t at = 0;
    for (std::size_t i = alone; i < count_ && at + 1 < sizeof rest; ++i) {
      const Item& item = items_[i];
      const char* const comma = i > alone ? ", " : "";
      int size = 0;
      switch (item.kind) {
        case Kind::Integer:
          size = snprintf(rest + at, sizeof rest - at, "%s%s: %lld", comma, item.name,
                          static_cast<long long>(item.integer));
          break;
        case Kind::Real:
          size = snprintf(rest + at, sizeof rest - at, "%s%s: %.17g", comma, item.name, item.real);
          break;
        case Kind::Text:
          size = snprintf(rest + at, sizeof rest - at, "%s%s: %s", comma, item.name, item.text);
          break;
      }
      if (size > 0) at += static_cast<std::size_t>(size);
    }
    sonde_add_text(out, "more of the payload", rest);
  }
  if (lost_ != 0 && most > 0) sonde_add_i64(out, file::kLostPayloads, lost_);
}

}  // namespace sonde::capture::nvtx
