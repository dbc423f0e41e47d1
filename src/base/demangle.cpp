#include "base/demangle.hpp"

#include <cxxabi.h>

#include <csetjmp>
#include <cstdlib>
#include <memory>

// The part of the C++ library that demangles without taking memory: it hands its text out in
// pieces.
extern "C" int __gcclibcxx_demangle_callback(const char* mangled,
                                             void (*take)(const char*, std::size_t, void*),
                                             void* data);

namespace sonde {
namespace {

constexpr std::size_t kLongestMangled = 16 << 10;
constexpr std::size_t kLongestText = 64 << 10;

struct Text {
  std::string out;
  std::jmp_buf too_long;
};

void take(const char* piece, std::size_t size, void* data) {
  Text& text = *static_cast<Text*>(data);
  // Leaving is the only way to make it stop. Nothing in between owns anything.
  if (size > kLongestText - text.out.size())
    std::longjmp(text.too_long, 1);  // NOLINT(cert-err52-cpp)
  text.out.append(piece, size);
}

}  // namespace

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z") || name.size() > kLongestMangled) return std::string(name);
  const std::string mangled(name);
  const auto text = std::make_unique<Text>();
  text->out.reserve(kLongestText);  // so that nothing is made anew while the other side is at work
  if (setjmp(text->too_long) != 0) return mangled;  // NOLINT(cert-err52-cpp)
  if (__gcclibcxx_demangle_callback(mangled.c_str(), take, text.get()) != 0) return mangled;
  return text->out;
}

}  // namespace sonde
