// The table of launch options and its parser; see options.hpp.
#include "cases/options.hpp"

#include "base/machine.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace assay::cases {
namespace {

class Parser {
public:
  Parser(const std::vector<Token>& tokens, const std::string& directory)
      : tokens_(tokens), directory_(directory) {}

  Result<Options> run(std::vector<Token>* rest) {
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      const Token& token = tokens_[at_];
      if (token.text == "--launch") {
        options_.launches.emplace_back();
        continue;
      }
      if (compile_flag(token.text)) continue;
      size_t equals = token.text.starts_with("--") ? token.text.find('=') : std::string::npos;
      std::string name = token.text.substr(0, equals);
      auto known = std::find_if(launch_options().begin(), launch_options().end(),
                                [&](const LaunchOption& option) { return option.name == name; });
      if (known == launch_options().end()) {
        if (token.text == "--") { // everything after it belongs to the caller
          rest->insert(rest->end(), tokens_.begin() + long(at_), tokens_.end());
          break;
        }
        rest->push_back(token);
        continue;
      }
      Result<void> done = take(*known, equals);
      if (!done) return done.error();
    }
    return options_;
  }

private:
  LaunchGroup& group() { return options_.launches.back(); }
  const Span& span() const { return tokens_[at_].span; }

  // -Idir, -I dir, -DNAME=value, -G
  bool compile_flag(const std::string& text) {
    if (text == "-G")
      options_.compile_flags.push_back(text);
    else if ((text == "-I" || text == "-D") && at_ + 1 < tokens_.size())
      options_.compile_flags.push_back(text + tokens_[++at_].text);
    else if (text.size() > 2 && (text.starts_with("-I") || text.starts_with("-D")))
      options_.compile_flags.push_back(text);
    else
      return false;
    return true;
  }

  Result<void> take(const LaunchOption& option, size_t equals) {
    std::string name = option.name, value;
    if (name == "--cooperative") {
      group().cooperative = true;
      return {};
    }
    if (name == "--programmatic") {
      group().programmatic = true;
      return {};
    }
    if (equals != std::string::npos) {
      value = tokens_[at_].text.substr(equals + 1);
    } else if (at_ + 1 < tokens_.size() && !tokens_[at_ + 1].text.starts_with("--")) {
      value = tokens_[++at_].text;
    } else {
      return usage_error(fmt::format("{} needs a value: {} {}", name, name, option.value), span());
    }
    Result<void> done = option.per_launch ? launch_option(name, value) : job_option(name, value);
    if (!done || name != "--arg") return done;
    while (done && at_ + 1 < tokens_.size() && looks_like_spec(tokens_[at_ + 1].text)) {
      ++at_;
      done = launch_option(name, tokens_[at_].text);
    }
    return done;
  }

  template <class T>
  Result<void> once(std::optional<T>& slot, Result<T> value, const std::string& name) {
    if (!value) return value.error();
    if (slot) return usage_error(fmt::format("{} is given twice", name), span());
    slot = std::move(*value);
    return {};
  }

  Result<void> launch_option(const std::string& name, const std::string& value) {
    if (name == "--entry") return once(group().entry, Result<std::string>(value), name);
    if (name == "--grid") return once(group().grid, extent(name, value), name);
    if (name == "--block") return once(group().block, extent(name, value), name);
    if (name == "--cluster") return once(group().cluster, extent(name, value), name);
    if (name == "--shared") return once(group().shared, parse_unsigned(value, name, span()), name);
    if (name == "--name") return once(group().name, Result<std::string>(value), name);
    if (name == "--stream") return once(group().stream, Result<std::string>(value), name);
    if (name == "--after") {
      for (size_t from = 0; from <= value.size();) {
        const size_t comma = std::min(value.find(',', from), value.size());
        group().after.push_back(value.substr(from, comma - from));
        from = comma + 1;
      }
      return {};
    }
    if (name == "--arg") {
      Result<Argument> argument = parse_spec(value, directory_, span());
      if (!argument) return argument.error();
      bytes_ += argument->bytes;
      group().arguments.push_back(std::move(*argument));
      return room_for(bytes_, "all arguments", span());
    }
    return output_option(name, value);
  }

  Result<void> output_option(const std::string& name, const std::string& value) {
    size_t equals = value.find('=');
    Result<uint64_t> parameter = parse_unsigned(value.substr(0, equals), "the parameter", span());
    if (equals == std::string::npos || equals + 1 == value.size() || !parameter ||
        *parameter > 0xffff)
      return usage_error(fmt::format("{} '{}' is not of the form N={} (N counts parameters from 0)",
                                     name, value, name == "--show" ? "TYPE" : "FILE"),
                         span());
    std::string what = value.substr(equals + 1);
    if (name == "--show") {
      Result<inputs::DType> type = inputs::dtype_from(what, span());
      if (!type) return type.error();
      group().shows.push_back({uint32_t(*parameter), *type, span()});
      return {};
    }
    auto& list = name == "--out" ? group().outs : group().wants;
    list.push_back({uint32_t(*parameter), path_in(directory_, what), span()});
    return {};
  }

  Result<void> job_option(const std::string& name, const std::string& value) {
    if (name == "--schedule") return once(options_.schedule, Result<std::string>(value), name);
    if (name == "--arch") return once(options_.arch, Result<std::string>(value), name);
    if (name == "--device") return once(options_.device, Result<std::string>(value), name);
    if (name == "--vector-atomicity")
      return once(options_.vector_atomicity, one_of(name, value, {"access", "element"}), name);
    if (name == "--seed") return once(options_.seed, parse_unsigned(value, name, span()), name);
    if (name == "--budget") return once(options_.budget, budget(value), name);
    if (name == "--check") return once(options_.check, one_of(name, value, {"all", "none"}), name);
    if (name == "--fail-on")
      return once(options_.fail_on, one_of(name, value, {"nondeterministic", "race", "value-race"}),
                  name);
    return set(value);
  }

  Result<std::string> one_of(const std::string& name, const std::string& value,
                             const std::vector<std::string>& words) {
    if (std::find(words.begin(), words.end(), value) != words.end()) return value;
    return usage_error(fmt::format("{} takes {}, not '{}'{}", name, join(words, ", "), value,
                                   did_you_mean(value, words)),
                       span());
  }

  Result<void> set(const std::string& value) {
    size_t equals = value.find('=');
    char* end = nullptr;
    errno = 0;
    int64_t number =
        equals == std::string::npos ? 0 : std::strtoll(value.c_str() + equals + 1, &end, 0);
    if (equals == 0 || equals == std::string::npos || equals + 1 == value.size() || *end || errno)
      return usage_error(fmt::format("--set '{}' is not of the form SYMBOL=NUMBER", value), span());
    options_.set[value.substr(0, equals)] = number;
    return {};
  }

  Result<Extent3> extent(const std::string& name, const std::string& value) {
    Extent3 out;
    std::string text = value;
    for (int i = 0; i < 3; ++i) {
      size_t comma = text.find(',');
      Result<uint64_t> number = parse_unsigned(text.substr(0, comma), name, span());
      if (!number) return number.error();
      if (*number == 0 || *number > 0x7fffffff)
        return usage_error(fmt::format("{} {} is outside 1 … 2147483647", name, *number), span());
      out.v[i] = uint32_t(*number);
      if (comma == std::string::npos) return out;
      text.erase(0, comma + 1);
    }
    return usage_error(fmt::format("{} '{}' has more than three extents", name, value), span());
  }

  Result<Budget> budget(const std::string& value) {
    Budget out;
    if (value.ends_with("s")) {
      char* end = nullptr;
      out.seconds = std::strtod(value.c_str(), &end);
      if (end == value.c_str() || strcmp(end, "s") != 0 || !(out.seconds > 0) ||
          std::isinf(out.seconds))
        return usage_error(fmt::format("--budget '{}' is not a number of seconds", value), span());
      return out;
    }
    Result<uint64_t> steps = parse_unsigned(value, "--budget", span());
    if (!steps || *steps == 0)
      return usage_error(
          fmt::format("--budget '{}' is neither a number of thread-instructions (1000000) "
                      "nor of seconds (10s)",
                      value),
          span());
    out.steps = *steps;
    return out;
  }

  const std::vector<Token>& tokens_;
  const std::string& directory_;
  size_t at_ = 0;
  uint64_t bytes_ = 0; // of all arguments
  Options options_;
};

} // namespace

const std::vector<LaunchOption>& launch_options() {
  static const std::vector<LaunchOption> table = {
      {"--entry", "NAME", "the kernel; mangled, demangled or template name (\"k<float, 4>\")",
       true},
      {"--grid", "X[,Y[,Z]]", "number of blocks", true},
      {"--block", "X[,Y[,Z]]", "threads of a block", true},
      {"--cluster", "X[,Y[,Z]]", "blocks of a cluster", true},
      {"--cooperative", "", "cooperative launch: all CTAs resident, grid.sync() allowed", true},
      {"--shared", "BYTES", "dynamic shared memory", true},
      {"--name", "NAME", "what --after calls this launch", true},
      {"--stream", "NAME", "the stream of this launch; without it the default stream", true},
      {"--after", "NAME[,NAME]", "wait for an event recorded behind these earlier launches", true},
      {"--programmatic", "",
       "programmatic dependent launch: may start before the one before it in its stream has ended",
       true},
      {"--arg", "SPEC", "one kernel parameter, in order; see ARGUMENTS below", true},
      {"--out", "N=FILE", "write the bytes of parameter N's buffer to FILE (.npy or raw)", true},
      {"--want", "N=FILE", "compare the bytes of parameter N's buffer with FILE", true},
      {"--show", "N=TYPE", "print parameter N's buffer as values of TYPE", true},
      {"--schedule", "POLICY", "which schedule to run; `all` explores with every policy", false},
      {"--vector-atomicity", "HOW",
       "`access` (default): a vector access is one access; `element`: its elements are torn apart",
       false},
      {"--seed", "S", "seed of inputs and schedules (default 1)", false},
      {"--budget", "STEPS|SECONDSs",
       "end early: a run after so many thread-instructions (--budget 1000000), all of it after so "
       "many "
       "seconds (--budget 10s)",
       false},
      {"--check", "all|none", "bounds, poison and race detection (default all)", false},
      {"--fail-on", "KIND", "least defect that fails: nondeterministic, race or value-race", false},
      {"--arch", "sm_NN", "target when a .cu file is compiled (default sm_90)", false},
      {"--device", "MODEL", "device model that limits and residency follow (default h200)", false},
      {"--set", "SYMBOL=N", "value of a shape symbol of the case file", false},
  };
  return table;
}

Result<Options> parse_options(const std::vector<Token>& tokens, const std::string& directory,
                              std::vector<Token>* rest) {
  return Parser(tokens, directory).run(rest);
}

Result<std::vector<Token>> tokenize(const std::string& text, const Span& span) {
  std::vector<Token> tokens;
  std::string word;
  int nested = 0;
  char quote = 0;
  bool any = false;
  auto flush = [&] {
    if (any) tokens.push_back({word, span});
    word.clear();
    any = false;
  };
  for (char c : text) {
    if (quote) {
      if (c == quote)
        quote = 0;
      else
        word += c;
      continue;
    }
    if (c == '"' || c == '\'') {
      quote = c;
      any = true;
      continue;
    }
    nested += c == '[' || c == '{';
    nested -= c == ']' || c == '}';
    if (std::isspace(uint8_t(c))) {
      if (nested <= 0) flush(); // blanks inside brackets do not matter
      continue;
    }
    word += c;
    any = true;
  }
  if (quote) return usage_error("a quote is not closed", span);
  flush();
  return tokens;
}

} // namespace assay::cases
