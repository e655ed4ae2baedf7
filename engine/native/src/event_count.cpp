#include "event_count.h"

#include <climits>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#endif

namespace gannet {

#if defined(__linux__)

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "the kernel looks at a plain word");

void EventCount::wait(std::uint32_t seen) {
    syscall(SYS_futex, &count_, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

void EventCount::notify(int n) {
    count_.fetch_add(1, std::memory_order_acq_rel);
    syscall(SYS_futex, &count_, FUTEX_WAKE_PRIVATE, n, nullptr, nullptr, 0);
}

#elif defined(_WIN32)

void EventCount::wait(std::uint32_t seen) {
    WaitOnAddress(&count_, &seen, sizeof seen, INFINITE);
}

void EventCount::notify(int n) {
    count_.fetch_add(1, std::memory_order_acq_rel);
    if (n == 1) {
        WakeByAddressSingle(&count_);
    } else {
        WakeByAddressAll(&count_);
    }
}

#else

void EventCount::wait(std::uint32_t seen) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return now() != seen; });
}

void EventCount::notify(int) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        count_.fetch_add(1, std::memory_order_acq_rel);
    }
    changed_.notify_all();
}

#endif

void EventCount::notify_all() {
    notify(INT_MAX);
}

}  // namespace gannet
