#include "io_queue.h"

#include <algorithm>

namespace gannet {

std::uint32_t IoQueue::room_for_prefetch() const {
    const std::size_t busy = serving_demand_ + serving_prefetch_ + demand_.size();
    return busy < limits_.prefetch_depth ? limits_.prefetch_depth - static_cast<std::uint32_t>(busy) : 0;
}

void IoQueue::add(const ReadChunk& chunk) {
    (chunk.demand ? demand_ : prefetch_).push_back(chunk);
}

bool IoQueue::next(ReadChunk& out) {
    if (!demand_.empty()) {
        out = demand_.front();
        demand_.pop_front();
        serving_demand_++;
        return true;
    }
    if (prefetch_.empty() || room_for_prefetch() == 0) return false;
    out = prefetch_.front();
    prefetch_.pop_front();
    serving_prefetch_++;
    return true;
}

void IoQueue::finished(const ReadChunk& chunk) {
    (chunk.demand ? serving_demand_ : serving_prefetch_)--;
}

bool IoQueue::has_room_for_prefetch() const {
    return prefetch_.empty() && room_for_prefetch() > 0;
}

void IoQueue::promote(std::uint32_t slot) {
    drop(slot, [this](ReadChunk chunk) {
        chunk.demand = true;
        demand_.push_back(chunk);
    });
}

void IoQueue::forget(std::uint32_t slot) {
    const auto of_slot = [slot](const ReadChunk& chunk) { return chunk.slot == slot; };
    demand_.erase(std::remove_if(demand_.begin(), demand_.end(), of_slot), demand_.end());
    prefetch_.erase(std::remove_if(prefetch_.begin(), prefetch_.end(), of_slot), prefetch_.end());
}

}  // namespace gannet
