// What the drive reads next: demand whole and first, prefetch in chunks, capped and droppable.
//
// Pure policy: no I/O, no threads, no clock; the store calls it under its lock and carries out what
// it says, and tests drive it with a simulated drive. Promises:
//   * a demand read never waits behind a queued prefetch;
//   * a prefetch chunk is started only while fewer than `prefetch_depth` reads are in service, demand
//     reads among them: what a token waits for has the drive's bandwidth nearly to itself;
//   * what was dropped is never handed out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace gannet {

// Chunks [first, last) of one part of the expert in a slot.
struct ReadChunk {
    std::uint32_t slot = 0;
    std::uint32_t part = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    bool demand = false;
};

struct IoLimits {
    std::uint32_t prefetch_depth = 2;
};

class IoQueue {
  public:
    explicit IoQueue(IoLimits limits = {}) : limits_(limits) {}

    void set_limits(IoLimits limits) { limits_ = limits; }

    void add(const ReadChunk& chunk);
    // The next read to start, now counted as in service; false when there is none to start.
    bool next(ReadChunk& out);
    void finished(const ReadChunk& chunk);

    // Prefetch chunks that could be started now, were they there.
    std::uint32_t room_for_prefetch() const;
    // An idle thread should bind another predicted expert: nothing queued is better and there is room.
    bool has_room_for_prefetch() const;
    // Queued prefetch chunks of this slot become demand.
    void promote(std::uint32_t slot);
    // Removes this slot's queued prefetch chunks, calling `dropped` with each.
    template <typename F>
    void drop(std::uint32_t slot, F dropped);

    // Removes everything queued for this slot: it is to hold something else.
    void forget(std::uint32_t slot);

    std::size_t queued_demand() const { return demand_.size(); }
    std::size_t queued_prefetch() const { return prefetch_.size(); }
    std::uint32_t serving_demand() const { return serving_demand_; }
    std::uint32_t serving_prefetch() const { return serving_prefetch_; }

  private:
    IoLimits limits_;
    std::deque<ReadChunk> demand_;
    std::deque<ReadChunk> prefetch_;
    std::uint32_t serving_demand_ = 0;
    std::uint32_t serving_prefetch_ = 0;
};

template <typename F>
void IoQueue::drop(std::uint32_t slot, F dropped) {
    for (auto it = prefetch_.begin(); it != prefetch_.end();) {
        if (it->slot != slot) {
            ++it;
            continue;
        }
        dropped(*it);
        it = prefetch_.erase(it);
    }
}

}  // namespace gannet
