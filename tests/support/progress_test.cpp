// Progress lines: on a terminal, after two seconds, and nowhere else.
#include "tenon/support/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

namespace tenon {
namespace {

/// Reads what is drawn on `reader`'s other end, at times that the test sets.
class Screen {
 public:
  Screen(int reader, int writer) : reader_(reader), writer_(writer) {
    ::fcntl(reader_, F_SETFL, O_NONBLOCK);
  }
  ~Screen() {
    ::close(reader_);
    ::close(writer_);
  }
  /// 80 columns, unless said.
  static Screen terminal() {
    const int reader = ::posix_openpt(O_RDWR | O_NOCTTY);
    ::grantpt(reader);
    ::unlockpt(reader);
    char name[128];
    ::ptsname_r(reader, name, sizeof name);
    return {reader, ::open(name, O_RDWR | O_NOCTTY)};
  }
  static Screen pipe() {
    int ends[2] = {};
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    return {ends[0], ends[1]};
  }

  ProgressOptions options(ProgressOptions given) {
    given.file = writer_;
    given.clock = [this] { return now; };
    return given;
  }
  std::string drawn() {
    char buffer[4096];
    const ssize_t length = ::read(reader_, buffer, sizeof buffer);
    return {buffer, static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
  }

  double now = 100;

 private:
  int reader_, writer_;
};

TEST(Progress, IsDrawnOnATerminalAfterTwoSeconds) {
  Screen screen = Screen::terminal();
  Progress progress(screen.options({.what = "cases", .total = 10}));
  screen.now += 1.9;
  progress.add();
  EXPECT_EQ(screen.drawn(), "");
  screen.now += 0.6;
  progress.add(4);
  EXPECT_EQ(screen.drawn(), "\r\x1b[Kcases: 5 of 10, 2 per second, 3 s left");
}

TEST(Progress, IsTakenAwayInTheEnd) {
  Screen screen = Screen::terminal();
  {
    Progress progress(screen.options({}));
    screen.now += 3;
    progress.add();
    screen.drawn();
  }
  EXPECT_EQ(screen.drawn(), "\r\x1b[K");
}

TEST(Progress, NothingGoesIntoAPipe) {
  Screen screen = Screen::pipe();
  {
    Progress progress(screen.options({.total = 10}));
    screen.now += 100;
    progress.add();
  }
  EXPECT_EQ(screen.drawn(), "");
}

TEST(Progress, IsDrawnAtMostTenTimesASecond) {
  Screen screen = Screen::terminal();
  Progress progress(screen.options({}));
  screen.now += 3;
  progress.add();
  EXPECT_NE(screen.drawn(), "");
  screen.now += 0.05;
  progress.add();
  EXPECT_EQ(screen.drawn(), "");
  screen.now += 0.06;
  progress.add();
  EXPECT_NE(screen.drawn(), "");
}

TEST(ProgressText, CountsTimeToTheEarlierOfTwoEnds) {
  EXPECT_EQ(progress_text({.what = "cases", .total = 100, .most_seconds = 60}, 10, 10),
            "cases: 10 of 100, 1 per second, 50 s left");
  EXPECT_EQ(progress_text({.what = "cases", .total = 100, .most_seconds = 6000}, 10, 10),
            "cases: 10 of 100, 1 per second, 1 min 30 s left");
}

TEST(ProgressText, SaysNoMoreThanItKnows) {
  EXPECT_EQ(progress_text({.what = "cases"}, 0, 5), "cases: 0");
  EXPECT_EQ(progress_text({.what = "cases", .total = 9}, 0, 5), "cases: 0 of 9");
  EXPECT_EQ(progress_text({.what = "cases"}, 5000, 2, "3 findings"),
            "cases: 5000, 2500 per second, 3 findings");
}

TEST(ProgressText, LongTimesAreHours) {
  EXPECT_EQ(progress_text({.most_seconds = 7300}, 0, 0), "steps: 0, 2 h 1 min left");
}

}  // namespace
}  // namespace tenon
