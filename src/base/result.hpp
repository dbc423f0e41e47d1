#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace sonde {

// Why something from the outside world could not be used. One code, one sentence, and the way out.
enum class ErrorCode : std::uint8_t {
  NotFound,
  NoPermission,
  IoError,
  EmptyInput,
  UnknownFormat,
  BrokenInput,
  NoTraces,
  UsageError,
  Unsupported,
};

struct Error {
  ErrorCode code = ErrorCode::IoError;
  std::string reason;
  std::string path;                     // empty where no file is concerned
  std::optional<std::uint64_t> offset;  // byte offset in the (inflated) input
  std::string hint;                     // what the user can do about it

  // One line: "PATH: at byte N: REASON (HINT)".
  std::string text() const {
    std::string out;
    if (!path.empty()) out += path + ": ";
    if (offset) out += "at byte " + std::to_string(*offset) + ": ";
    out += reason;
    if (!hint.empty()) out += " (" + hint + ")";
    return out;
  }
};

// A value or the Error that stands in its place. The library never throws for bad input.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  const Error& error() const { return std::get<Error>(state_); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace sonde
