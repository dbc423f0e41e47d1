#include "analysis/torch_flops.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "analysis/json_list.hpp"

namespace sonde {
namespace {

// The estimate wraps around as PyTorch's own unsigned numbers do.
using Dims = std::vector<std::uint64_t>;

constexpr std::array<std::string_view, 7> kNames = {"aten::conv2d", "aten::mm",  "aten::addmm",
                                                    "aten::bmm",    "aten::mul", "aten::add",
                                                    "aten::baddbmm"};

std::uint64_t product(const Dims& dims) {
  std::uint64_t result = 1;
  for (const std::uint64_t dim : dims) result *= dim;
  return result;
}

class Inputs {
 public:
  explicit Inputs(const TorchInputs& texts)
      : shapes_(json_array_items(texts.shapes)),
        types_(json_array_items(texts.types)),
        concrete_(json_array_items(texts.concrete)) {}

  std::size_t count() const { return shapes_.size(); }

  // The shape of the tensor at `i`; nothing where that argument is no tensor.
  std::optional<Dims> tensor(std::size_t i) const {
    if (i >= shapes_.size() || i >= types_.size()) return std::nullopt;
    const std::string_view type = json_string_content(types_[i]);
    if (type.empty() || type == "Scalar" || type == "ScalarList" || type == "TensorList") {
      return std::nullopt;
    }
    const auto numbers = parse_integers(shapes_[i]);
    if (!numbers) return std::nullopt;
    return Dims(numbers->begin(), numbers->end());
  }

  std::optional<Dims> pair(std::size_t i) const {
    if (i >= concrete_.size()) return std::nullopt;
    const auto numbers = parse_integers(json_string_content(concrete_[i]));
    if (!numbers || numbers->size() != 2) return std::nullopt;
    return Dims(numbers->begin(), numbers->end());
  }

  std::optional<std::uint64_t> number(std::size_t i) const {
    if (i >= concrete_.size()) return std::nullopt;
    const auto value = parse_integer(json_string_content(concrete_[i]));
    if (!value) return std::nullopt;
    return static_cast<std::uint64_t>(*value);
  }

 private:
  std::vector<std::string_view> shapes_;
  std::vector<std::string_view> types_;
  std::vector<std::string_view> concrete_;
};

std::uint64_t conv2d(const Inputs& in) {
  if (in.count() < 7) return 0;
  const auto input = in.tensor(0);
  const auto kernel = in.tensor(1);
  const auto stride = in.pair(3);
  const auto padding = in.pair(4);
  const auto dilation = in.pair(5);
  const auto groups = in.number(6);
  if (!input || !kernel || !stride || !padding || !dilation || !groups) return 0;
  if (input->size() != 4 || kernel->size() != 4 || *groups == 0) return 0;
  if ((*stride)[0] == 0 || (*stride)[1] == 0) return 0;
  const auto output = [&](std::size_t axis) {
    const std::uint64_t reach = (*dilation)[axis] * ((*kernel)[axis + 2] - 1);
    return ((*input)[axis + 2] + 2 * (*padding)[axis] - reach - 1) / (*stride)[axis] + 1;
  };
  const std::uint64_t per_place = (*kernel)[2] * (*kernel)[3] * (*input)[1] * (*kernel)[0];
  return 2 * (*input)[0] * output(0) * output(1) * per_place / *groups;
}

// [batch,] m x k times [batch,] k x n.
std::uint64_t matrix_product(const Inputs& in, std::size_t first, bool batched) {
  for (std::size_t i = 0; i < first; ++i) {
    if (!in.tensor(i)) return 0;
  }
  const auto left = in.tensor(first);
  const auto right = in.tensor(first + 1);
  if (!left || !right || left->empty() || left->back() == 0) return 0;
  std::uint64_t rows = product(*left) / left->back();
  if (batched) {
    if (left->front() == 0) return 0;
    rows /= left->front();
  }
  return 2 * rows * product(*right);
}

}  // namespace

bool has_torch_flops(std::string_view name) {
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::uint64_t torch_flops(std::string_view name, const TorchInputs& inputs) {
  if (!has_torch_flops(name)) return 0;
  const Inputs in(inputs);
  if (name == "aten::conv2d") return conv2d(in);
  if (name == "aten::mm") return matrix_product(in, 0, false);
  if (name == "aten::addmm") return matrix_product(in, 1, false);
  if (name == "aten::bmm") return matrix_product(in, 0, true);
  if (name == "aten::baddbmm") return matrix_product(in, 1, true);
  const auto shape = in.tensor(0);
  return shape ? product(*shape) : 0;
}

std::string torch_shapes_text(std::string_view shapes) {
  std::string out = "[";
  for (const std::string_view shape : json_array_items(shapes)) {
    if (out.size() > 1) out += ", ";
    if (!is_json_array(shape)) {
      out += shape;
      continue;
    }
    const std::vector<std::string_view> dims = json_array_items(shape);
    out += "[";
    if (dims.empty() || !is_json_array(dims.front())) {
      for (std::size_t i = 0; i < dims.size(); ++i) {
        if (i > 0) out += ", ";
        out += dims[i];
      }
    }
    out += "]";
  }
  return out + "]";
}

}  // namespace sonde
