// A recursive-descent evaluator, once for integers and once for reals; see expression.hpp.
#include "cases/expression.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <type_traits>

namespace assay::cases {
namespace {

constexpr int kDeepest = 200; // nested parentheses: a file must not exhaust our stack

template <class T> class Evaluator {
public:
  Evaluator(const std::string& text, const Symbols& symbols) : text_(text), symbols_(symbols) {}

  // The value, or nothing with error() set.
  bool run(T& value) {
    value = sum();
    skip();
    if (error_.empty() && at_ < text_.size()) fail(fmt::format("unexpected '{}'", text_[at_]));
    return error_.empty();
  }
  const std::string& error() const { return error_; }

private:
  T fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
    return T(1);
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(uint8_t(text_[at_]))) ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  T apply(char op, T a, T b) {
    if constexpr (std::is_same_v<T, double>) {
      if ((op == '/' || op == '%') && b == 0) return fail("division by zero");
      return op == '+'   ? a + b
             : op == '-' ? a - b
             : op == '*' ? a * b
             : op == '/' ? a / b
                         : std::fmod(a, b);
    } else {
      T out = 0;
      bool overflow = false;
      if (op == '+')
        overflow = __builtin_add_overflow(a, b, &out);
      else if (op == '-')
        overflow = __builtin_sub_overflow(a, b, &out);
      else if (op == '*')
        overflow = __builtin_mul_overflow(a, b, &out);
      else if (b == 0)
        return fail("division by zero");
      else if (b == -1)
        overflow = op == '/' && __builtin_sub_overflow(T(0), a, &out);
      else
        out = op == '/' ? a / b : a % b;
      return overflow ? fail("a value does not fit in 64 bits") : out;
    }
  }

  T sum() {
    T value = product();
    for (char op = peek(); error_.empty() && (op == '+' || op == '-'); op = peek()) {
      ++at_;
      value = apply(op, value, product());
    }
    return value;
  }
  T product() {
    T value = factor();
    for (char op = peek(); error_.empty() && (op == '*' || op == '/' || op == '%'); op = peek()) {
      ++at_;
      value = apply(op, value, factor());
    }
    return value;
  }
  T factor() {
    if (++depth_ > kDeepest) return fail("the expression is nested too deeply");
    T value = primary();
    --depth_;
    return value;
  }
  T primary() {
    if (accept('-')) return apply('-', T(0), factor());
    if (accept('(')) {
      T value = sum();
      if (!accept(')')) return fail("a ')' is missing");
      return value;
    }
    char c = peek();
    if (std::isdigit(uint8_t(c)) || (c == '.' && std::is_same_v<T, double>)) return number();
    if (std::isalpha(uint8_t(c)) || c == '_') return name();
    return fail(c ? fmt::format("unexpected '{}'", c) : "the expression ends too early");
  }
  T number() {
    errno = 0;
    char* end = nullptr;
    T value;
    if constexpr (std::is_same_v<T, double>)
      value = std::strtod(text_.c_str() + at_, &end);
    else
      value = std::strtoll(text_.c_str() + at_, &end, 0);
    at_ = size_t(end - text_.c_str());
    if (errno == ERANGE) return fail("a number does not fit in 64 bits");
    return value;
  }
  T name() {
    size_t first = at_;
    while (at_ < text_.size() && (std::isalnum(uint8_t(text_[at_])) || text_[at_] == '_')) ++at_;
    std::string word = text_.substr(first, at_ - first);
    if (accept('(')) return call(word);
    auto symbol = symbols_.find(word);
    if (symbol != symbols_.end()) return T(symbol->second);
    std::vector<std::string> names;
    for (const auto& [key, value] : symbols_) names.push_back(key);
    return fail(fmt::format("there is no shape symbol '{}'{}", word, did_you_mean(word, names)));
  }
  T call(const std::string& function) {
    T a = sum();
    if (!accept(',')) return fail(fmt::format("{}() takes two values", function));
    T b = sum();
    if (!accept(')')) return fail("a ')' is missing");
    if (function == "min") return std::min(a, b);
    if (function == "max") return std::max(a, b);
    if (function == "ceildiv") {
      if (b <= 0) return fail("ceildiv() divides by a value that is not positive");
      if constexpr (std::is_same_v<T, double>)
        return std::ceil(a / b);
      else
        return a / b + (a % b > 0);
    }
    return fail(fmt::format("there is no function '{}' (functions: min, max, ceildiv)", function));
  }

  const std::string& text_;
  const Symbols& symbols_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
};

template <class T>
Result<T> run(const std::string& text, const Symbols& symbols, const Span& span) {
  Evaluator<T> evaluator(text, symbols);
  T value{};
  if (evaluator.run(value)) return value;
  return usage_error(fmt::format("in the expression \"{}\": {}", text, evaluator.error()), span);
}

} // namespace

Result<int64_t> evaluate(const std::string& text, const Symbols& symbols, const Span& span) {
  return run<int64_t>(text, symbols, span);
}
Result<double> evaluate_real(const std::string& text, const Symbols& symbols, const Span& span) {
  return run<double>(text, symbols, span);
}

} // namespace assay::cases
