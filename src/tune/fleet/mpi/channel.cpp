#include "tune/fleet/mpi_channel.h"

#include <boost/mpi.hpp>
#include <cstdlib>
#include <list>
#include <mutex>
#include <thread>

namespace tenon::tune {

namespace {

namespace mpi = boost::mpi;

/// Selects sockets for communication between processes on one machine, unless the user has chosen
/// otherwise. With shared memory, a sender that is killed while it writes would corrupt the
/// reader's queue. Returns its argument, so that the function can be called in an initializer
/// before MPI is initialized.
int& without_shared_memory(int& argc) {
  setenv("OMPI_MCA_btl", "self,tcp", /*overwrite=*/0);
  return argc;
}

class BoostChannel : public MpiChannel {
 public:
  BoostChannel(int& argc, char**& argv)
      : environment_(std::make_unique<mpi::environment>(without_shared_memory(argc), argv,
                                                        mpi::threading::serialized,
                                                        /*abort_on_exception=*/false)) {
    if (mpi::environment::thread_level() < mpi::threading::serialized)
      throw std::runtime_error("it serves programs of one thread only");
    // Replaces the default error handler, which ends the whole program when one process is lost.
    MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
  }

  int rank() const { return world_.rank(); }
  int size() const override { return world_.size(); }

  void send(int to, const std::string& text) override {
    const std::scoped_lock lock(mutex_);
    forget_sent();
    auto& [own, request] = sent_.emplace_back(text, mpi::request());
    try {
      request = world_.isend(to, kTag, own.data(), length(own));
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

  void end(bool together, double limit_s) override {
    const Limit limit = Clock::now() + std::chrono::duration<double>(limit_s);
    const bool all_left = is_soon(limit, [&] {
      forget_sent();
      return sent_.empty();
    });
    // MPI_Finalize waits for all processes without a time limit. It is called only if all processes
    // have announced that they will call it.
    if (together && all_left && all_are_here(limit))
      environment_.reset();
    else
      static_cast<void>(environment_.release());
  }

 private:
  static constexpr int kTag = 1;

  using Clock = std::chrono::steady_clock;
  using Limit = std::chrono::time_point<Clock, std::chrono::duration<double>>;

  template <class Condition>
  static bool is_soon(Limit limit, const Condition& condition) {
    while (!condition()) {
      if (Clock::now() > limit) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  bool all_are_here(Limit limit) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Ibarrier(world_, &request) != MPI_SUCCESS) return false;
    int is_done = 0;
    bool has_failed = false;
    return is_soon(limit,
                   [&] {
                     has_failed = MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
                     return has_failed || is_done != 0;
                   }) &&
           !has_failed;
  }

  static int length(const std::string& text) { return static_cast<int>(text.size()); }

  void forget_sent() {
    std::erase_if(sent_, [](auto& sending) {
      try {
        return sending.second.test().has_value();
      } catch (const mpi::exception&) {
        return true;  // the receiver is gone
      }
    });
  }

  std::unique_ptr<mpi::environment> environment_;
  mpi::communicator world_ = {};
  std::mutex mutex_ = {};
  /// The texts that are being sent. A text must exist until its request is complete, because MPI
  /// reads it.
  std::list<std::pair<std::string, mpi::request>> sent_ = {};
};

}  // namespace

}  // namespace tenon::tune

extern "C" tenon::tune::MpiChannel* tenon_make_mpi_channel(int& argc, char**& argv, int& rank,
                                                           std::string& error) {
  try {
    auto channel = std::make_unique<tenon::tune::BoostChannel>(argc, argv);
    rank = channel->rank();
    return channel.release();
  } catch (const std::exception& refusal) {
    error = refusal.what();
    return nullptr;
  }
}
