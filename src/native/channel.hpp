// The injection library's end of the socket to `assay run`.
#pragma once

#include "native/options.hpp"

#include <mutex>

namespace assay::native {

class Channel {
public:
  // Connects to the socket of the environment and waits for the options. False: nobody listens (the
  // process was started by other means, or the parent has gone), and the library stays out of the
  // way.
  bool open(Options& options);
  void send(const Message& message);
  void remark(const std::string& text) { send(Message{"remark", {}}.add("text", text)); }

private:
  std::mutex mutex_;
  int socket_ = -1;
};

} // namespace assay::native
