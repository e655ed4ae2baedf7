// The store's control side: its size, what it holds, what went wrong.
#include <algorithm>
#include <utility>

#include "expert_store.h"

namespace gannet {

std::uint64_t ExpertStore::resize(std::uint64_t bytes) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        set_limits(bytes);
        resizing_++;  // meanwhile no compute thread has to give memory back
    }
    while (shrink_some()) {
    }
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        resizing_--;
        wake_readers(1);  // to touch what it may hold now
    }
    while (shrink_some()) {  // what was released in between
    }
    return cache_bytes();
}

// One step of giving memory back; true when there is more to give. The system takes the pages without the
// lock: that takes half a millisecond a slot, and a token must not wait for gigabytes.
bool ExpertStore::shrink_some() {
    bool more = false;
    for (Class& c : classes_) {
        std::unique_lock<std::mutex> lock(mutex_);
        const std::vector<std::uint32_t> taken = take_surplus(c, kShrinkStep);
        leaving_ += static_cast<std::uint32_t>(taken.size());
        lock.unlock();
        for (const std::uint32_t id : taken) c.pool->discard(id - c.first);
        lock.lock();
        leaving_ -= static_cast<std::uint32_t>(taken.size());
        uncommit(c, taken);
        progress_++;
        if (slot_waiters_ > 0) landed_.notify_all();
        more = more || (!taken.empty() && c.used > c.limit);
    }
    return more;
}

std::uint64_t ExpertStore::cache_bytes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::uint64_t total = 0;
    for (const Class& c : classes_) total += c.limit * c.pool->slot_bytes();
    return total;
}

std::uint64_t ExpertStore::used_bytes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::uint64_t total = 0;
    for (const Class& c : classes_) total += c.held.size() * c.pool->slot_bytes();
    return total;
}

std::uint64_t ExpertStore::held_bytes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::uint64_t total = 0;
    for (const Class& c : classes_) total += c.touched * c.pool->slot_bytes();
    return total;
}

std::size_t ExpertStore::queued_demand() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return queue_.queued_demand() + queue_.serving_demand();
}

std::size_t ExpertStore::queued_prefetch() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return queue_.queued_prefetch() + queue_.serving_prefetch() + waiting_.size();
}

std::vector<std::uint8_t> ExpertStore::resident() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::uint8_t> out(slot_of_.size());
    std::transform(slot_of_.begin(), slot_of_.end(), out.begin(), [](std::int32_t s) { return s >= 0 ? 1 : 0; });
    return out;
}

std::vector<std::uint64_t> ExpertStore::uses() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return residency_.uses();
}

std::vector<std::uint64_t> ExpertStore::last_uses() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return residency_.last_uses();
}

void ExpertStore::fail(const std::string& why) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (error_.empty()) error_ = why;
}

std::string ExpertStore::take_error() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(error_, {});
}

}  // namespace gannet
