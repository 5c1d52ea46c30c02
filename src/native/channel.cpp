// The socket; see channel.hpp. Its descriptor is closed on exec, and a parent that went away is no
// error: the process goes on.
#include "native/channel.hpp"

#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace assay::native {

bool Channel::open(Options& options) {
  const char* path = std::getenv(kSocketVariable);
  sockaddr_un address{};
  if (!path || std::strlen(path) >= sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path);
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return false;
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket_);
    socket_ = -1;
    return false;
  }
  Decoder decoder;
  Message message;
  char buffer[4096];
  while (!decoder.next(message)) {
    pollfd wait{socket_, POLLIN, 0};
    const ssize_t got =
        ::poll(&wait, 1, 10000) > 0 ? ::recv(socket_, buffer, sizeof buffer, 0) : -1;
    if (got <= 0 || decoder.broken()) {
      ::close(socket_);
      socket_ = -1;
      return false;
    }
    decoder.feed({buffer, size_t(got)});
  }
  options = options_of(message);
  return true;
}

void Channel::send(const Message& message) {
  const std::lock_guard lock(mutex_);
  if (socket_ < 0) return;
  const std::string bytes = encode(message);
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) {
      ::close(socket_);
      socket_ = -1;
      return;
    }
    sent += size_t(n);
  }
}

} // namespace assay::native
