#include "tune/search/interrupt.h"

namespace tenon::tune {

namespace {

// The state is global, because a signal handler receives only the signal's number.
volatile std::sig_atomic_t interrupted = 0;
/// The program's own handler; null if the program has none.
void (*own_handler)(int) = nullptr;

/// Sets the flag last: the handler may run on another thread than the search, which the flag ends.
void note(int signal) {
  if (own_handler) own_handler(signal);
  interrupted = 1;
}

void (*handler_of(const struct sigaction& action))(int) {
  const bool is_function = !(action.sa_flags & SA_SIGINFO) && action.sa_handler != SIG_DFL &&
                           action.sa_handler != SIG_IGN;
  return is_function ? action.sa_handler : nullptr;
}

}  // namespace

InterruptGuard::InterruptGuard(bool is_wanted) : is_wanted_(is_wanted) {
  if (!is_wanted_) return;
  interrupted = 0;
  sigaction(SIGINT, nullptr, &before_);
  own_handler = handler_of(before_);
  struct sigaction action {};
  action.sa_handler = note;
  // The second Ctrl-C ends the program.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

InterruptGuard::~InterruptGuard() {
  if (is_wanted_) sigaction(SIGINT, &before_, nullptr);
}

bool InterruptGuard::is_interrupted() const { return is_wanted_ && interrupted != 0; }

}  // namespace tenon::tune
