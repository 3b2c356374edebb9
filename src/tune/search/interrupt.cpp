#include "tune/search/interrupt.h"

namespace tenon::tune {

namespace {

// The state is global, because a signal handler receives only the signal's number.
volatile std::sig_atomic_t interrupted = 0;

void note(int) { interrupted = 1; }

}  // namespace

InterruptGuard::InterruptGuard(bool is_wanted) : is_wanted_(is_wanted) {
  if (!is_wanted_) return;
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = note;
  // The second Ctrl-C ends the program.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_);
}

InterruptGuard::~InterruptGuard() {
  if (is_wanted_) sigaction(SIGINT, &before_, nullptr);
}

bool InterruptGuard::is_interrupted() const { return is_wanted_ && interrupted != 0; }

}  // namespace tenon::tune
