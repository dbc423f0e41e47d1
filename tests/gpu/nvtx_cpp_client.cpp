// A program that uses NVIDIA's interface of NVTX for C++.

#include <unistd.h>

#include <nvtx3/nvtx3.hpp>

namespace {

struct my_domain {
  static constexpr char const* name = "a C++ program";
};
struct my_category {
  static constexpr char const* name = "loading";
  static constexpr std::uint32_t id = 3;
};
struct my_text {
  static constexpr char const* message = "registered once";
};

void function() { NVTX3_FUNC_RANGE_IN(my_domain); }

}  // namespace

int main() {
  {
    const nvtx3::scoped_range outer{"scoped"};
    const nvtx3::scoped_range_in<my_domain> inner{
        nvtx3::registered_string_in<my_domain>::get<my_text>(), nvtx3::rgb{127, 255, 0},
        nvtx3::named_category_in<my_domain>::get<my_category>(), nvtx3::payload{std::int64_t{-42}}};
    ::usleep(1000);
  }
  for (const nvtx3::payload payload :
       {nvtx3::payload{std::uint64_t{UINT64_MAX}}, nvtx3::payload{std::int64_t{-1}},
        nvtx3::payload{2.5}, nvtx3::payload{std::uint32_t{4000000000}},
        nvtx3::payload{std::int32_t{-5}}, nvtx3::payload{0.25F}}) {
    nvtx3::mark("each type", payload);
  }
  nvtx3::unique_range range{"unique"};
  function();
  return 0;
}
