#include "tune/mpi/channel.h"

#include <boost/mpi.hpp>
#include <list>
#include <mutex>
#include <thread>

namespace tenon::tune {

namespace {

namespace mpi = boost::mpi;

class BoostChannel : public MpiChannel {
 public:
  BoostChannel(int& argc, char**& argv)
      : environment_(std::make_unique<mpi::environment>(argc, argv, mpi::threading::serialized,
                                                        /*abort_on_exception=*/false)) {
    if (mpi::environment::thread_level() < mpi::threading::serialized)
      throw std::runtime_error("it serves programs of one thread only");
    // The default ends the whole program when one process is gone.
    MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
  }

  int rank() const { return world_.rank(); }
  int size() const override { return world_.size(); }

  void send(int to, const std::string& text) override {
    const std::scoped_lock lock(mutex_);
    forget_sent();
    Sending& sending = sent_.emplace_back(text);
    try {
      sending.request = world_.isend(to, kTag, sending.text.data(), length(sending.text));
    } catch (...) {
      sent_.pop_back();
      throw;
    }
  }

  std::optional<Message> receive() override {
    const std::scoped_lock lock(mutex_);
    forget_sent();
    const boost::optional<mpi::status> status = world_.iprobe(mpi::any_source, kTag);
    if (!status) return std::nullopt;
    const boost::optional<int> count = status->count<char>();
    Message message{status->source(),
                    std::string(static_cast<std::size_t>(count.value_or(0)), ' ')};
    world_.recv(message.from, kTag, message.text.data(), length(message.text));
    return message;
  }

  void end(bool together) override {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (!sent_.empty() && (together || std::chrono::steady_clock::now() < limit)) {
      forget_sent();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (!together) static_cast<void>(environment_.release());
    environment_.reset();
  }

 private:
  static constexpr int kTag = 1;

  /// MPI reads the text until the request is complete.
  struct Sending {
    explicit Sending(std::string own) : text(std::move(own)) {}
    std::string text;
    mpi::request request = {};
  };

  static int length(const std::string& text) { return static_cast<int>(text.size()); }

  void forget_sent() {
    std::erase_if(sent_, [](Sending& sending) {
      try {
        return sending.request.test().has_value();
      } catch (const mpi::exception&) {
        return true;  // whoever it was for is gone
      }
    });
  }

  std::unique_ptr<mpi::environment> environment_;
  mpi::communicator world_ = {};
  std::mutex mutex_ = {};
  std::list<Sending> sent_ = {};
};

}  // namespace

}  // namespace tenon::tune

extern "C" __attribute__((visibility("default"))) tenon::tune::MpiChannel* tenon_make_mpi_channel(
    int& argc, char**& argv, int& rank, std::string& error) {
  try {
    auto channel = std::make_unique<tenon::tune::BoostChannel>(argc, argv);
    rank = channel->rank();
    return channel.release();
  } catch (const std::exception& refusal) {
    error = refusal.what();
    return nullptr;
  }
}
