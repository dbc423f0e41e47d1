#include "analysis/paddle_flops.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analysis/json_list.hpp"

namespace sonde {
namespace {

using Shape = std::vector<std::int64_t>;

// The text of a member's value: from the first character behind "key": to the end of its list.
std::string_view member_list(std::string_view object, std::string_view key) {
  const std::string quoted = "\"" + std::string(key) + "\"";
  std::size_t at = object.find(quoted);
  while (at != std::string_view::npos) {
    std::size_t i = at + quoted.size();
    while (i < object.size() && object[i] == ' ') ++i;
    if (i < object.size() && object[i] == ':') {
      const std::size_t begin = object.find('[', i);
      int depth = 0;
      for (std::size_t j = begin; j < object.size(); ++j) {
        if (object[j] == '[') ++depth;
        if (object[j] == ']' && --depth == 0) return object.substr(begin, j - begin + 1);
      }
      return {};
    }
    at = object.find(quoted, at + 1);
  }
  return {};
}

// The shape of the first tensor of an argument.
std::optional<Shape> first_shape(std::string_view shapes, std::string_view argument) {
  const std::vector<std::string_view> list = json_array_items(member_list(shapes, argument));
  if (list.empty()) return std::nullopt;
  return parse_integers(list.front());
}

// Products of absurd shapes wrap around.
std::uint64_t product(const Shape& shape) {
  std::uint64_t out = 1;
  for (const std::int64_t size : shape) out *= static_cast<std::uint64_t>(size);
  return out;
}

std::uint64_t matrix_product(std::string_view shapes, bool eager_names) {
  std::optional<Shape> left = first_shape(shapes, "X");
  std::optional<Shape> right = first_shape(shapes, "Y");
  if (eager_names && !left) left = first_shape(shapes, "x");
  if (eager_names && !right) right = first_shape(shapes, "y");
  if (!left || !right || left->size() < 2 || right->empty()) return 0;
  const std::size_t dims = std::max(left->size(), right->size());
  std::uint64_t batch = 1;
  for (std::size_t i = dims; i > 2; --i) {
    const std::int64_t a = i <= left->size() ? (*left)[left->size() - i] : 1;
    const std::int64_t b = i <= right->size() ? (*right)[right->size() - i] : 1;
    batch *= static_cast<std::uint64_t>(std::max(a, b));
  }
  const Shape rest = {(*left)[left->size() - 2], left->back(), right->back()};
  return 2 * batch * product(rest);
}

std::uint64_t broadcast(std::string_view shapes) {
  const std::optional<Shape> x = first_shape(shapes, "X");
  const std::optional<Shape> y = first_shape(shapes, "Y");
  if (!x || !y) return 0;
  std::uint64_t out = 1;
  for (std::size_t i = 1; i <= std::max(x->size(), y->size()); ++i) {
    const std::int64_t a = i <= x->size() ? (*x)[x->size() - i] : 1;
    const std::int64_t b = i <= y->size() ? (*y)[y->size() - i] : 1;
    out *= static_cast<std::uint64_t>(std::max(a, b));
  }
  return out;
}

struct ElementFormula {
  std::string_view op;
  std::uint64_t per_element;
};

constexpr std::array<ElementFormula, 10> kElementFormulas = {{
    {"gelu", 5},
    {"layer_norm", 7},
    {"softmax", 3},
    {"relu", 1},
    {"relu6", 1},
    {"elu", 1},
    {"prelu", 1},
    {"leaky_relu", 1},
    {"silu", 1},
    {"pool", 1},
}};

}  // namespace

std::uint64_t paddle_flops(std::string_view name, std::string_view shapes) {
  if (shapes.empty()) return 0;
  for (const std::string_view suffix : {" compute", " dygraph", " pybind_imperative_func"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  if (name == "matmul" || name == "matmul_v2") return matrix_product(shapes, name == "matmul");
  if (name == "elementwise_add" || name == "elementwise_mul" || name == "elementwise_div")
    return broadcast(shapes);
  for (const ElementFormula& formula : kElementFormulas) {
    if (formula.op != name) continue;
    const std::optional<Shape> shape = first_shape(shapes, "X");
    return shape ? formula.per_element * product(*shape) : 0;
  }
  return 0;
}

}  // namespace sonde
