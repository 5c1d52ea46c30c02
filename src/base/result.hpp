// Expected errors as values: Result<T> carries either a T or an Error with a code, a message,
// a place in a source text and notes. Our own mistakes are CHECKs (check.hpp), never Errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace assay {

// A place in a text that a user gave us. Lines and columns count from 1; 0 means unknown.
struct Span {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
};

enum class ErrorCode : uint8_t {
  usage,       // wrong arguments, wrong file, wrong syntax: exit code 2
  unsupported, // legal input that Assay does not execute yet: verdict unknown, exit code 3
  environment, // the machine lacks something (NVRTC, say): exit code 4
  internal,    // our own mistake: exit code 2 with a bundle
};

struct Error {
  ErrorCode code = ErrorCode::usage;
  std::string message;
  Span span;
  std::vector<std::string> notes;

  // "file:line:column: message", then one line per note.
  std::string text() const;
};

template <class T> class [[nodiscard]] Result {
public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

private:
  std::variant<T, Error> state_;
};

template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  Error& error() { return *error_; }
  const Error& error() const { return *error_; }

private:
  std::optional<Error> error_;
};

inline Error usage_error(std::string message, Span span = {}) {
  return Error{ErrorCode::usage, std::move(message), std::move(span), {}};
}
inline Error unsupported(std::string what, Span span = {}) {
  return Error{ErrorCode::unsupported, "unsupported " + std::move(what), std::move(span), {}};
}
inline Error environment_error(std::string message) {
  return Error{ErrorCode::environment, std::move(message), {}, {}};
}

} // namespace assay
