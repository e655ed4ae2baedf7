// When slots hold memory: ahead of their use, while they are used, and no longer than the cache may be large.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "store_rig.h"

using namespace gannet;

namespace {

using Experts = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("the cache gives memory back as soon as the layer that holds it has run, and grows again") {
    Rig rig(8);
    const Experts experts{0, 1, 2, 3, 4, 5};
    std::vector<std::int32_t> slots(6);
    REQUIRE(rig.store->acquire_all(0, experts.data(), 6, slots.data()));
    CHECK(rig.store->resize(0) == 2 * Rig::kSlotBytes);
    CHECK(rig.store->used_bytes() == 6 * Rig::kSlotBytes);
    CHECK(rig.right(0, experts, slots));
    CHECK(rig.store->held_bytes() == 6 * Rig::kSlotBytes);
    rig.store->release(slots.data(), 6);
    CHECK(rig.store->used_bytes() == 2 * Rig::kSlotBytes);
    CHECK(rig.store->held_bytes() == 2 * Rig::kSlotBytes);
    CHECK(rig.store->resize(1U << 30) == 24 * Rig::kSlotBytes);
    CHECK(rig.run(0, experts));
    CHECK(rig.run(1, experts));
    CHECK(rig.store->used_bytes() == 12 * Rig::kSlotBytes);
}

TEST_CASE("memory that no expert has been read into is not held yet") {
    Rig rig(8, 4, true);
    CHECK(rig.store->held_bytes() == 0);
    const Experts experts{0, 1, 2};
    std::vector<std::int32_t> slots(3);
    rig.store->acquire(0, experts.data(), 3, kAllParts, slots.data());
    rig.gate.await(4);
    CHECK(rig.store->used_bytes() == 3 * Rig::kSlotBytes);
    CHECK(rig.store->held_bytes() == 0);
    rig.gate.open();
    CHECK(rig.right(0, experts, slots));
    CHECK(rig.store->held_bytes() == 3 * Rig::kSlotBytes);
    rig.store->release(slots.data(), 3);
}

TEST_CASE("slots get memory before anything is read into them, as many as the cache may hold") {
    Rig rig(8, 4, false, Rig::small(), true);
    const auto await_held = [&](std::uint64_t slots) {
        while (rig.store->held_bytes() != slots * Rig::kSlotBytes) std::this_thread::yield();
    };
    await_held(8);
    CHECK(rig.store->used_bytes() == 0);
    CHECK(rig.run(0, {0, 1, 2}));
    CHECK(rig.store->used_bytes() == 3 * Rig::kSlotBytes);
    CHECK(rig.store->held_bytes() == 8 * Rig::kSlotBytes);
    rig.store->resize(4 * Rig::kSlotBytes);
    await_held(4);
    rig.store->resize(10 * Rig::kSlotBytes);
    await_held(10);
}

TEST_CASE("no slot gets its memory early while tokens are decoded, and those that are needed get it all the same") {
    Rig rig(2, 4, false, Rig::small(), true);
    while (rig.store->held_bytes() != 2 * Rig::kSlotBytes) std::this_thread::yield();
    rig.store->begin_token();
    rig.store->resize(8 * Rig::kSlotBytes);
    CHECK(rig.run(0, {0, 1, 2}));
    CHECK(rig.store->held_bytes() == 3 * Rig::kSlotBytes);
    rig.store->begin_prompt(5);
    CHECK(rig.run(0, {3}));
    while (rig.store->held_bytes() != 8 * Rig::kSlotBytes) std::this_thread::yield();
}

TEST_CASE("layers get their slots while the cache changes its size and memory is touched ahead") {
    Rig rig(12, 4, false, Rig::small(), true);
    std::atomic<bool> done{false};
    std::thread resizing([&] {
        while (!done) {
            for (const std::uint64_t slots : {2, 12, 5, 24}) rig.store->resize(slots * Rig::kSlotBytes);
        }
    });
    for (std::uint32_t round = 0; round < 300; round++) {
        CHECK(rig.run(round % 2, {round % 8, (round + 3) % 8, (round + 5) % 8}));
    }
    done = true;
    resizing.join();
}
