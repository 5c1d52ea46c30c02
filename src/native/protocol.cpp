// Encoding of messages; see protocol.hpp.
#include "native/protocol.hpp"

#include <cstdlib>
#include <cstring>

namespace assay::native {

std::string Message::get(std::string_view name) const {
  for (const auto& [key, value] : fields)
    if (key == name) return value;
  return "";
}

uint64_t Message::number(std::string_view name) const {
  return std::strtoull(get(name).c_str(), nullptr, 10);
}

std::vector<std::string> Message::all(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& [key, value] : fields)
    if (key == name) out.push_back(value);
  return out;
}

std::string encode(const Message& message) {
  std::string body;
  auto put = [&](const std::string& text) { body.append(text.c_str()).push_back('\0'); };
  put(message.kind);
  for (const auto& [name, value] : message.fields) {
    put(name);
    put(value);
  }
  const uint32_t length = uint32_t(body.size());
  std::string out(4, '\0');
  for (int i = 0; i < 4; ++i) out[size_t(i)] = char(length >> (8 * i));
  return out + body;
}

bool Decoder::next(Message& out) {
  if (broken_ || buffer_.size() < 4) return false;
  uint32_t length = 0;
  for (int i = 0; i < 4; ++i) length |= uint32_t(uint8_t(buffer_[size_t(i)])) << (8 * i);
  if (length > kLargestMessage) {
    broken_ = true;
    return false;
  }
  if (buffer_.size() - 4 < length) return false;
  std::vector<std::string> parts;
  std::string_view body(buffer_.data() + 4, length);
  while (!body.empty()) {
    const size_t end = body.find('\0');
    if (end == std::string_view::npos) break;
    parts.emplace_back(body.substr(0, end));
    body.remove_prefix(end + 1);
  }
  buffer_.erase(0, 4 + size_t(length));
  if (!body.empty() || parts.empty() || parts.size() % 2 == 0) {
    broken_ = true;
    return false;
  }
  out = Message{parts[0], {}};
  for (size_t i = 1; i + 1 < parts.size(); i += 2) out.add(parts[i], parts[i + 1]);
  return true;
}

} // namespace assay::native
