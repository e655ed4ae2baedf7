// Sleeping until something has happened, without a condition variable.
//
// A counter that notify() advances and wait() sleeps on while it stands still: futex on Linux,
// WaitOnAddress on Windows, a condition variable elsewhere. It wakes as many sleepers as there is work
// for, and they do not queue for a mutex on the way out; and glibc's condition variable before 2.41 can
// lose wake-ups when signals are frequent (sourceware bug 25847).
//
// Use, with the state guarded by a mutex that both sides hold when they look at it or change it:
//     seen = event.now();  if the state is not as wanted: unlock, event.wait(seen), lock, look again.
#pragma once

#include <atomic>
#include <cstdint>

#if !defined(__linux__) && !defined(_WIN32)
#include <condition_variable>
#include <mutex>
#endif

namespace gannet {

class EventCount {
  public:
    std::uint32_t now() const { return count_.load(std::memory_order_acquire); }
    // Sleeps while the count is `seen`; may return early.
    void wait(std::uint32_t seen);
    // Wakes up to n sleepers, and whoever looked before this call and would sleep after it.
    void notify(int n);
    void notify_all();

  private:
    std::atomic<std::uint32_t> count_{0};
#if !defined(__linux__) && !defined(_WIN32)
    std::mutex mutex_;
    std::condition_variable changed_;
#endif
};

}  // namespace gannet
