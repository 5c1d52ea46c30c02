// What the injection library and `assay run` say to each other over a local socket: messages of a
// kind and named text fields. On the wire: four bytes of length (little-endian), then the kind and
// each name and value with a zero byte behind it. A zero byte inside a value ends it there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::native {

struct Message {
  std::string kind;
  std::vector<std::pair<std::string, std::string>> fields;

  Message& add(std::string name, std::string value) {
    fields.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  Message& add(std::string name, uint64_t value) {
    return add(std::move(name), std::to_string(value));
  }
  // The first field of that name, or nothing.
  std::string get(std::string_view name) const;
  uint64_t number(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;
};

constexpr uint32_t kLargestMessage = 16u << 20;
constexpr const char* kSocketVariable = "ASSAY_NATIVE_SOCKET";

std::string encode(const Message& message);

class Decoder {
public:
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  // Takes the next whole message. False: more bytes are needed, or the stream is broken.
  bool next(Message& out);
  bool broken() const { return broken_; }

private:
  std::string buffer_;
  bool broken_ = false;
};

} // namespace assay::native
