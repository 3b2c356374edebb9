#include "tenon/runtime/stream.h"

#include <map>
#include <mutex>
#include <vector>

#include "runtime/core/at_line.h"
#include "runtime/core/last_error.h"
#include "runtime/devices/device_apis.h"
#include "tenon/runtime/c_api.h"

namespace tenon::runtime {

namespace {

/// The streams that this thread has set, at most one per device.
std::vector<Stream>& streams_of_this_thread() {
  thread_local std::vector<Stream> streams;
  return streams;
}

}  // namespace

Stream::Stream(Device device, SourceLocation where)
    : device_(device), queue_(at_line(where, [&] {
        if (const std::string missing = device.why_missing(); !missing.empty())
          throw RuntimeError("a stream of " + device.str() + " cannot be made: " + missing);
        return device_api(device.type).make_stream(device.id);
      })) {}

void Stream::synchronize() const {
  device_api(device_.type).synchronize_stream(device_.id, queue_.get());
}

void Stream::wait_for(const Stream& other, SourceLocation where) const {
  if (device() != other.device())
    throw RuntimeError("a stream of " + device().str() + " cannot wait for one of " +
                           other.device().str() + "; call synchronize() on that stream",
                       where);
  // Returns, because a stream that waits for itself would wait forever. Its operations execute in
  // order anyway.
  if (*this == other) return;
  device_api(device_.type).wait_for(device_.id, queue_.get(), other.queue_.get());
}

void set_stream(Device device, std::optional<Stream> stream) {
  if (stream && stream->device() != device)
    throw RuntimeError("a stream of " + stream->device().str() + " does not belong to " +
                       device.str());
  std::vector<Stream>& set = streams_of_this_thread();
  std::erase_if(set, [&](const Stream& each) { return each.device() == device; });
  if (stream) set.push_back(*stream);
}

std::optional<Stream> current_stream(Device device) {
  for (const Stream& stream : streams_of_this_thread())
    if (stream.device() == device) return stream;
  return std::nullopt;
}

void* stream_of_this_thread(Device device) {
  for (const Stream& stream : streams_of_this_thread())
    if (stream.device() == device) return stream.queue_.get();
  return nullptr;
}

UseStream::UseStream(const Stream& stream)
    : device_(stream.device()), before_(current_stream(device_)) {
  set_stream(device_, stream);
}

UseStream::~UseStream() { set_stream(device_, before_); }

void synchronize(Device device, SourceLocation where) {
  at_line(where, [&] {
    if (const std::string missing = device.why_missing(); !missing.empty())
      throw RuntimeError(missing);
    device_api(device.type).synchronize(device.id);
  });
}

namespace {

/// Calls `use` with the streams of C programs, by handle, under a lock.
void with_streams_by_handle(FunctionRef<void(std::map<TenonStream, Stream>&)> use) {
  static std::mutex mutex;
  // Never destroyed: threads may use streams while the program exits.
  static auto& streams = *new std::map<TenonStream, Stream>;
  const std::lock_guard lock(mutex);
  use(streams);
}

Stream stream_of(TenonStream handle) {
  std::optional<Stream> stream;
  with_streams_by_handle([&](const std::map<TenonStream, Stream>& streams) {
    if (const auto found = streams.find(handle); found != streams.end()) stream = found->second;
  });
  if (!stream) throw RuntimeError("the stream does not exist; it was freed or never created");
  return *stream;
}

}  // namespace

}  // namespace tenon::runtime

int32_t tenon_stream_create(int32_t device_type, int32_t device_id, TenonStream* stream) {
  using namespace tenon::runtime;
  return without_exceptions([&] {
    if (stream == nullptr)
      throw tenon::RuntimeError("tenon_stream_create is given no place to put the stream: NULL");
    const Stream made({static_cast<DeviceType>(device_type), device_id});
    with_streams_by_handle([&](std::map<TenonStream, Stream>& streams) {
      static std::uintptr_t last = 0;
      *stream = reinterpret_cast<TenonStream>(++last);
      streams.emplace(*stream, made);
    });
  });
}

int32_t tenon_stream_free(TenonStream stream) {
  using namespace tenon::runtime;
  return without_exceptions([&] {
    if (stream == nullptr) return;
    const Stream last = stream_of(stream);
    with_streams_by_handle([&](std::map<TenonStream, Stream>& streams) { streams.erase(stream); });
  });
}

int32_t tenon_set_stream(int32_t device_type, int32_t device_id, TenonStream stream) {
  using namespace tenon::runtime;
  return without_exceptions([&] {
    std::optional<Stream> chosen;
    if (stream != nullptr) chosen = stream_of(stream);
    set_stream({static_cast<DeviceType>(device_type), device_id}, chosen);
  });
}

int32_t tenon_stream_wait(TenonStream stream, TenonStream other) {
  using namespace tenon::runtime;
  return without_exceptions([&] { stream_of(stream).wait_for(stream_of(other)); });
}

int32_t tenon_synchronize(int32_t device_type, int32_t device_id, TenonStream stream) {
  using namespace tenon::runtime;
  return without_exceptions([&] {
    if (stream != nullptr) {
      stream_of(stream).synchronize();
    } else {
      synchronize({static_cast<DeviceType>(device_type), device_id});
    }
  });
}
