#include "io_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "dice.h"

using gannet::Dice;
using gannet::IoLimits;
using gannet::IoQueue;
using gannet::ReadChunk;

namespace {

ReadChunk demand(std::uint32_t slot) {
    return {slot, 0, 0, 4, true};
}
ReadChunk prefetch(std::uint32_t slot, std::uint32_t chunk = 0) {
    return {slot, 0, chunk, chunk + 1, false};
}

// A drive with some channels and a clock: every read takes as many ticks as it has chunks.
class SimulatedDrive {
  public:
    SimulatedDrive(IoQueue& queue, std::size_t channels) : queue_(queue), channels_(channels) {}

    // Starts what the queue allows, then lets one tick pass. Checks the queue's promises on the way.
    void tick() {
        ReadChunk chunk;
        while (busy_.size() < channels_) {
            const bool demand_waits = queue_.queued_demand() > 0;
            const auto running = queue_.serving_prefetch() + queue_.serving_demand();
            if (!queue_.next(chunk)) break;
            if (demand_waits) CHECK(chunk.demand);
            if (!chunk.demand) CHECK(running < IoLimits{}.prefetch_depth);
            busy_.push_back({now_ + chunk.last - chunk.first, chunk});
            started.push_back(chunk);
            started_at.try_emplace(chunk.slot, now_);
        }
        now_++;
        const auto landed = [this](const Read& read) { return read.end <= now_; };
        for (const Read& read : busy_) {
            if (landed(read)) queue_.finished(read.chunk);
        }
        busy_.erase(std::remove_if(busy_.begin(), busy_.end(), landed), busy_.end());
    }
    bool idle() const { return busy_.empty(); }

    std::uint32_t now() const { return now_; }

    std::vector<ReadChunk> started;
    std::map<std::uint32_t, std::uint32_t> started_at;  // by slot: when its first read was

  private:
    struct Read {
        std::uint32_t end;
        ReadChunk chunk;
    };
    IoQueue& queue_;
    std::size_t channels_;
    std::vector<Read> busy_;
    std::uint32_t now_ = 0;
};

}  // namespace

TEST_CASE("what a token waits for is read before any guess that was queued earlier") {
    IoQueue queue;
    for (std::uint32_t s = 0; s < 3; s++) queue.add(prefetch(s));
    queue.add(demand(9));
    ReadChunk chunk;
    REQUIRE(queue.next(chunk));
    CHECK(chunk.demand);
    CHECK(chunk.slot == 9);
    REQUIRE(queue.next(chunk));
    CHECK_FALSE(chunk.demand);
}

TEST_CASE("guesses are started only while the drive has fewer reads than its depth, whatever they are") {
    IoQueue queue({3});
    for (std::uint32_t s = 0; s < 10; s++) queue.add(prefetch(s));
    ReadChunk chunk;
    ReadChunk running;
    for (int i = 0; i < 3; i++) REQUIRE(queue.next(running));
    CHECK_FALSE(queue.next(chunk));
    queue.finished(running);
    CHECK(queue.room_for_prefetch() == 1);
    CHECK(queue.next(chunk));

    queue.add(demand(20));
    queue.add(demand(21));
    ReadChunk needed;
    for (int i = 0; i < 2; i++) REQUIRE(queue.next(needed));
    for (int i = 0; i < 2; i++) {
        queue.finished(running);
        CHECK_FALSE(queue.next(chunk));  // one guess and two that a token waits for
    }
    queue.finished(running);
    CHECK(queue.next(chunk));
    CHECK_FALSE(queue.next(chunk));
    queue.finished(needed);
    CHECK(queue.next(chunk));
}

TEST_CASE("an idle thread binds a guess only when nothing queued is better and there is room") {
    IoQueue queue({2});
    CHECK(queue.has_room_for_prefetch());
    queue.add(prefetch(0));
    CHECK_FALSE(queue.has_room_for_prefetch());
    ReadChunk a;
    REQUIRE(queue.next(a));
    CHECK(queue.has_room_for_prefetch());
    queue.add(demand(1));
    CHECK_FALSE(queue.has_room_for_prefetch());
    ReadChunk b;
    REQUIRE(queue.next(b));
    CHECK_FALSE(queue.has_room_for_prefetch());
    queue.finished(b);
    CHECK(queue.has_room_for_prefetch());
}

TEST_CASE("a guess that came true is read as what a token waits for, in its order") {
    IoQueue queue;
    for (std::uint32_t c = 0; c < 3; c++) queue.add(prefetch(1, c));
    queue.add(prefetch(2));
    queue.promote(1);
    CHECK(queue.queued_demand() == 3);
    CHECK(queue.queued_prefetch() == 1);
    ReadChunk chunk;
    for (std::uint32_t c = 0; c < 3; c++) {
        REQUIRE(queue.next(chunk));
        CHECK(chunk.demand);
        CHECK(chunk.slot == 1);
        CHECK(chunk.first == c);
    }
}

TEST_CASE("a guess that was wrong is never read, and its room goes to the next one") {
    IoQueue queue({1});
    queue.add(prefetch(1, 0));
    queue.add(prefetch(1, 1));
    queue.add(prefetch(2));
    std::vector<std::uint32_t> dropped;
    queue.drop(1, [&](const ReadChunk& chunk) { dropped.push_back(chunk.first); });
    CHECK(dropped == std::vector<std::uint32_t>{0, 1});
    ReadChunk chunk;
    REQUIRE(queue.next(chunk));
    CHECK(chunk.slot == 2);
    queue.finished(chunk);
    CHECK_FALSE(queue.next(chunk));
    CHECK(queue.serving_prefetch() == 0);
}

TEST_CASE("a slot that is to hold something else has nothing queued any more") {
    IoQueue queue;
    queue.add(demand(1));
    queue.add(prefetch(1));
    queue.add(demand(2));
    queue.forget(1);
    ReadChunk chunk;
    REQUIRE(queue.next(chunk));
    CHECK(chunk.slot == 2);
    CHECK_FALSE(queue.next(chunk));
}

TEST_CASE("on a busy drive nothing starves, nothing is lost and nothing is read twice") {
    Dice random(11);
    for (int round = 0; round < 20; round++) {
        IoQueue queue;
        SimulatedDrive drive(queue, 8);
        std::set<std::uint32_t> wanted;
        std::uint32_t slot = 0;
        for (int t = 0; t < 300; t++) {
            const std::uint32_t burst = random(12) == 0 ? random(16) : 0;  // a layer's missing experts
            for (std::uint32_t i = 0; i < burst; i++, slot++) {
                queue.add(demand(slot));
                wanted.insert(slot);
            }
            if (random(3) == 0) {
                queue.add(prefetch(slot));
                wanted.insert(slot++);
            }
            if (random(10) == 0) {
                const std::uint32_t gone = random(slot + 1);
                queue.drop(gone, [&](const ReadChunk& chunk) { wanted.erase(chunk.slot); });
            }
            if (random(10) == 0) queue.promote(random(slot + 1));
            drive.tick();
        }
        for (int t = 0; t < 2000 && queue.queued_demand() + queue.queued_prefetch() > 0; t++) drive.tick();
        while (!drive.idle()) drive.tick();
        std::map<std::uint32_t, int> reads;
        for (const ReadChunk& chunk : drive.started) reads[chunk.slot]++;
        CHECK(reads.size() == wanted.size());
        for (const std::uint32_t s : wanted) CHECK(reads[s] == 1);
        CHECK(queue.serving_demand() == 0);
        CHECK(queue.serving_prefetch() == 0);
    }
}

TEST_CASE("however many guesses are queued, what a token waits for starts at once while a channel is left") {
    Dice random(12);
    IoQueue queue;
    SimulatedDrive drive(queue, 8);
    std::uint32_t slot = 0;
    std::map<std::uint32_t, std::uint32_t> asked;
    for (int t = 0; t < 4000; t++) {
        while (queue.queued_prefetch() < 40) queue.add(prefetch(slot++));
        // Guesses hold two channels at most, so six reads on their way at once find a free one each.
        if (queue.serving_demand() + queue.queued_demand() < 6 && random(3) == 0) {
            asked[slot] = drive.now();
            queue.add(demand(slot++));
        }
        drive.tick();
    }
    CHECK(asked.size() > 500);
    for (const auto& [s, when] : asked) CHECK(drive.started_at.at(s) == when);
}

TEST_CASE("layer after layer of reads that tokens wait for does not starve the guesses") {
    IoQueue queue;
    SimulatedDrive drive(queue, 8);
    std::uint32_t slot = 0;
    std::map<std::uint32_t, std::uint32_t> asked;
    for (int layer = 0; layer < 400; layer++) {
        for (int i = 0; i < 6; i++) queue.add(demand(slot++));
        asked[slot] = drive.now();
        queue.add(prefetch(slot++));
        for (int t = 0; t < 5; t++) drive.tick();  // a read takes four: the drive never comes to rest
    }
    // Its own layer's reads go first, and then it has a channel.
    for (const auto& [s, when] : asked) CHECK(drive.started_at.at(s) <= when + 5);
}

TEST_CASE("reads that were cancelled leave their channels to the next guess as soon as they end") {
    IoQueue queue({2});
    SimulatedDrive drive(queue, 8);
    for (std::uint32_t c = 0; c < 6; c++) queue.add(prefetch(1, c));
    queue.add(prefetch(2));
    drive.tick();
    CHECK(drive.started.size() == 2);
    std::size_t dropped = 0;
    queue.drop(1, [&](const ReadChunk&) { dropped++; });
    CHECK(dropped == 4);
    drive.tick();
    CHECK(drive.started.size() == 3);
    CHECK(drive.started_at.at(2) == 1);
}
