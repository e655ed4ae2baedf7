#include "expert_store.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "dice.h"
#include "store_rig.h"

using namespace gannet;

namespace {

using Experts = std::vector<std::uint32_t>;

std::uint64_t value(const std::atomic<std::uint64_t>& counter) {
    return counter.load();
}

}  // namespace

TEST_CASE("experts come whole, and a second use of them reads nothing") {
    Rig rig(8);
    REQUIRE(rig.run(0, {0, 3, 7}));
    CHECK(value(rig.counters.lookups) == 3);
    CHECK(value(rig.counters.misses) == 3);
    CHECK(value(rig.counters.reads) == 9);
    REQUIRE(rig.run(0, {7, 0, 3}));
    CHECK(value(rig.counters.hits) == 3);
    CHECK(value(rig.counters.misses) == 3);
    CHECK(value(rig.counters.reads) == 9);
    CHECK(value(rig.counters.evictions) == 0);
    CHECK(rig.store->used_bytes() == 3 * Rig::kSlotBytes);
    CHECK(rig.store->uses()[rig.key(0, 3)] == 2);
}

TEST_CASE("layers of other sizes have slots of their own, and none lacks one") {
    Shape shape;
    Rig rig(9, 4, false, shape);
    for (std::uint32_t l = 0; l < 3; l++) {
        CHECK(rig.store->capacity(l) >= 2);
        CHECK(rig.run(l, {1, 6}));
    }
}

TEST_CASE("a full cache gives up what was used least, and never what is being computed on") {
    Rig rig(4);
    REQUIRE(rig.run(0, {0, 1, 2, 3}));
    REQUIRE(rig.run(0, {0, 2, 3}));
    REQUIRE(rig.run(0, {4}));
    CHECK_FALSE(rig.resident(0, 1));
    CHECK(rig.resident(0, 0));
    CHECK(value(rig.counters.evictions) == 1);

    const Experts held{0, 2, 3, 4};
    std::vector<std::int32_t> slots(4);
    REQUIRE(rig.store->acquire(0, held.data(), 4, kAllParts, slots.data()) == 4);
    const Experts other{5};
    std::int32_t none = 0;
    CHECK(rig.store->acquire(0, other.data(), 1, kAllParts, &none) == 0);
    CHECK(none == -1);
    CHECK(rig.right(0, held, slots));
    rig.store->release(slots.data(), 4);
    CHECK(rig.run(0, other));
}

TEST_CASE("a cache below one token's set serves it in turns, or grows until the layer has run") {
    Rig rig(0);
    CHECK(rig.store->capacity(0) == 2);
    const Experts experts{0, 1, 2, 3, 4};
    std::vector<std::int32_t> slots(5);
    CHECK(rig.store->acquire(0, experts.data(), 5, 1, slots.data()) == 2);
    CHECK(slots[2] == -1);
    for (std::size_t i = 0; i < 2; i++) {
        CHECK(is_expert(rig.store->wait(slots[i], 0), rig.layers[0], 0, experts[i]));
    }
    rig.store->release(slots.data(), 5);
    CHECK(rig.run(0, experts));
    CHECK(rig.store->used_bytes() <= 2 * Rig::kSlotBytes);
    CHECK(rig.run(1, experts));
}

TEST_CASE("only the parts that were asked for are read") {
    Rig rig(4);
    const Experts one{2};
    std::int32_t slot = -1;
    REQUIRE(rig.store->acquire(0, one.data(), 1, 1U << 1, &slot) == 1);
    CHECK(is_expert(rig.store->wait(slot, 1), rig.layers[0], 1, 2));
    CHECK(value(rig.counters.reads) == 1);
    CHECK_FALSE(rig.store->ready(slot, 0));
    rig.store->release(&slot, 1);
    CHECK(rig.run(0, one));
    CHECK(value(rig.counters.reads) == 3);
}

TEST_CASE("a guess that came true in time is a hit that the token did not wait for") {
    Rig rig(8, 4);
    rig.predict(1, {5});
    while (!rig.resident(1, 5) || rig.store->queued_prefetch() > 0) std::this_thread::yield();
    REQUIRE(rig.run(1, {5}));
    CHECK(value(rig.counters.hits) == 1);
    CHECK(value(rig.counters.misses) == 0);
    CHECK(value(rig.counters.prefetch_issued) == 1);
    CHECK(value(rig.counters.prefetch_useful) == 1);
}

TEST_CASE("a guess still on its way when it comes true is finished first, and no byte of it is read twice") {
    Rig rig(8, 1, true);
    rig.predict(1, {5, 6});
    rig.gate.await(1);
    rig.select(1, {5, 2});
    CHECK(value(rig.counters.late_hits) == 1);
    CHECK(value(rig.counters.prefetch_late) == 1);
    const Experts experts{5, 2};
    std::vector<std::int32_t> slots(2);
    REQUIRE(rig.store->acquire_all(1, experts.data(), 2, slots.data()));
    rig.gate.open();
    CHECK(rig.right(1, experts, slots));
    rig.store->release(slots.data(), 2);
    CHECK_FALSE(rig.resident(1, 6));  // waited in the list when its layer chose others
    const std::uint64_t once = value(rig.counters.bytes_read);
    CHECK(once <= 2 * Rig::kSlotBytes);
    const std::vector<Key> order = rig.gate.await(2);
    CHECK(order[0] == order[1]);  // the promoted guess goes on before the others
}

TEST_CASE("a later guess about a layer takes the place of what was not read of the earlier one") {
    Rig rig(8, 1, true);
    rig.predict(1, {1});
    rig.gate.await(1);
    rig.predict(2, {2, 3});
    rig.predict(2, {4});
    rig.gate.open();
    while (rig.store->queued_prefetch() > 0) std::this_thread::yield();
    CHECK(rig.resident(2, 4));
    CHECK_FALSE(rig.resident(2, 2));
    CHECK_FALSE(rig.resident(2, 3));
}

TEST_CASE("the depth of early reads takes effect while they are waiting") {
    Rig rig(8, 4, true);
    rig.store->set_prefetch_depth(1);
    rig.predict(0, {0, 1});
    rig.gate.await(1);
    CHECK(rig.gate.await(1).size() == 1);
    rig.store->set_prefetch_depth(3);
    rig.gate.await(3);
    rig.gate.open();
    while (rig.store->queued_prefetch() > 0) std::this_thread::yield();
    CHECK(rig.run(0, {0, 1}));
    CHECK(value(rig.counters.misses) == 0);
}

TEST_CASE("the reads of a wrong guess stop, and its slot is free again") {
    Rig rig(2, 1, true);
    rig.predict(0, {5});
    rig.gate.await(1);
    CHECK(rig.store->queued_prefetch() > 1);
    rig.select(0, {1});
    CHECK(rig.store->queued_prefetch() == 1);  // the one in service cannot be called back
    rig.gate.open();
    REQUIRE(rig.run(0, {1, 2}));
    CHECK_FALSE(rig.resident(0, 5));
    CHECK(value(rig.counters.prefetch_cancelled) == 1);
    CHECK(value(rig.counters.evictions) == 0);
    CHECK(rig.run(0, {5}));
}

TEST_CASE("a guess given up and then needed after all is read to its end") {
    Rig rig(4, 1, true);
    rig.predict(0, {5});
    rig.gate.await(1);
    rig.select(0, {1});
    const Experts again{5};
    std::int32_t slot = -1;
    REQUIRE(rig.store->acquire(0, again.data(), 1, kAllParts, &slot) == 1);
    rig.gate.open();
    CHECK(rig.right(0, again, {slot}));
    rig.store->release(&slot, 1);
    CHECK(rig.resident(0, 5));
}

TEST_CASE("a guess never pushes out an expert that the coming layer is expected to use") {
    Rig rig(2, 2);
    REQUIRE(rig.run(1, {0, 1}));
    rig.store->begin_token();
    rig.predict(1, {0, 1, 2});
    while (rig.store->queued_prefetch() > 0) std::this_thread::yield();
    CHECK(rig.resident(1, 0));
    CHECK(rig.resident(1, 1));
    CHECK(rig.run(1, {0, 1}));
    CHECK(value(rig.counters.hits) == 2);
}

TEST_CASE("a shortened file ends the answer once, with a line that names file and tensor; then reads work again") {
    Rig rig(16);
    rig.file.shorten(rig.layers[1].parts[0].offset);
    CHECK(rig.run(0, {0, 1}));
    CHECK_FALSE(rig.run(1, {2, 3}));
    const std::string error = rig.store->take_error();
    CHECK(error.find(rig.file.path()) != std::string::npos);
    CHECK(error.find("blk.1.part") != std::string::npos);
    CHECK(error.find("ends early") != std::string::npos);
    while (rig.store->queued_demand() > 0) std::this_thread::yield();
    CHECK(rig.store->take_error().empty());
    rig.file.write();
    CHECK(rig.run(1, {2, 3}));
    CHECK(rig.store->take_error().empty());
}

TEST_CASE("a file removed before a thread opened it is an error, and reads work when it is back") {
    Rig rig(16, 1);
    rig.file.remove();
    CHECK_FALSE(rig.run(0, {0}));
    CHECK_FALSE(rig.store->take_error().empty());
    rig.file.write();
    CHECK(rig.run(0, {0}));
}

TEST_CASE("a file that is not there is refused at once, by name") {
    Counters counters;
    const auto make = [&] { ExpertStore store(ExpertIndex(make_layers({})), {"/no/such/file"}, {}, counters); };
    CHECK_THROWS_WITH_AS(make(), doctest::Contains("/no/such/file"), std::runtime_error);
}

TEST_CASE("a failed guess that nobody needs ends no answer, and is read again when it is needed") {
    Rig rig(16, 2);
    rig.file.shorten(100);
    rig.predict(0, {3});
    while (value(rig.counters.reads) < 6) std::this_thread::yield();  // two chunks a part
    CHECK(rig.store->take_error().empty());
    rig.file.write();
    CHECK(rig.run(0, {3}));
    CHECK(rig.store->take_error().empty());
}

TEST_CASE("every thread that waits for a read hears that it failed") {
    Rig rig(8, 2, true);
    const Experts one{4};
    std::int32_t slot = -1;
    REQUIRE(rig.store->acquire(0, one.data(), 1, kAllParts, &slot) == 1);
    std::atomic<int> failed{0};
    std::vector<std::thread> team;
    for (std::uint32_t p = 0; p < 3; p++) {
        team.emplace_back([&, p] { failed += rig.store->wait(slot, p) == nullptr ? 1 : 0; });
    }
    rig.gate.await(2);
    rig.file.shorten(50);
    rig.gate.open();
    for (std::thread& t : team) t.join();
    CHECK(failed == 3);
    CHECK_FALSE(rig.store->take_error().empty());
    CHECK(rig.store->take_error().empty());
    rig.store->release(&slot, 1);
}

TEST_CASE("a cache made much smaller keeps the experts used most, and those the coming layer is expected to use") {
    Rig rig(12);
    for (std::uint32_t e = 0; e < 7; e++) {
        for (std::uint32_t times = 0; times <= e; times++) CHECK(rig.run(0, {e}));
    }
    rig.predict(1, {5});
    while (rig.store->queued_prefetch() > 0) std::this_thread::yield();
    CHECK(rig.store->resize(4 * Rig::kSlotBytes) == 4 * Rig::kSlotBytes);
    const std::vector<std::uint8_t> resident = rig.store->resident();
    for (std::uint32_t e = 0; e < 7; e++) CHECK(resident[rig.key(0, e)] == (e >= 4 ? 1 : 0));
    CHECK(resident[rig.key(1, 5)] == 1);
}

TEST_CASE("a cache made smaller while a guess is being read shrinks when the read has landed") {
    Rig rig(6, 4, true);
    rig.predict(0, {0, 1, 2, 3});
    rig.gate.await(2);
    rig.store->resize(0);
    rig.gate.open();
    while (rig.store->queued_prefetch() > 0) std::this_thread::yield();
    CHECK(rig.store->used_bytes() <= 2 * Rig::kSlotBytes);
}

TEST_CASE("a layer waits for slots that another context holds, and gets them when they are released") {
    Rig rig(2, 2);
    const Experts held{0, 1};
    std::vector<std::int32_t> slots(2);
    REQUIRE(rig.store->acquire_all(0, held.data(), 2, slots.data()));
    std::thread other([&] { CHECK(rig.run(0, {4, 5})); });
    CHECK(rig.right(0, held, slots));
    rig.store->release(slots.data(), 2);
    other.join();
}

TEST_CASE("a layer that needs the slots whose memory is just being given back waits for them, and gets them") {
    Shape shape = Rig::small();
    shape.n_layers = 1;
    shape.part_bytes = {60000, 60000, 60000};
    Rig rig(0, 2, false, shape);
    const Experts all{0, 1, 2, 3, 4, 5, 6, 7};
    for (int round = 0; round < 50; round++) {
        const std::uint64_t whole = rig.store->resize(1U << 30);
        CHECK(rig.run(0, all));
        // Two of the eight slots stay: while the others are on their way out there are not four to be had.
        std::thread control([&] { rig.store->resize(0); });
        while (rig.store->used_bytes() == whole) std::this_thread::yield();
        CHECK(rig.run(0, {1, 3, 5, 7}));
        control.join();
        CHECK(rig.store->used_bytes() <= 2 * whole / 8);
    }
}

TEST_CASE("waiting for progress ends when a pin is released") {
    Rig rig(2);
    const Experts held{0};
    std::int32_t slot = -1;
    REQUIRE(rig.store->acquire_all(0, held.data(), 1, &slot));
    CHECK(rig.right(0, held, {slot}));
    while (rig.store->queued_demand() > 0) std::this_thread::yield();
    const std::uint64_t seen = rig.store->progress();
    std::thread waits([&] { rig.store->wait_progress(seen); });
    rig.store->release(&slot, 1);
    waits.join();
    CHECK(rig.store->progress() != seen);
}

TEST_CASE("reading goes on with any number of threads, changed while they read") {
    Rig rig(6, 1);
    for (const std::uint32_t n : {16U, 1U, 3U, 0U, 8U}) {
        rig.store->set_io_threads(n);
        for (std::uint32_t l = 0; l < 3; l++) CHECK(rig.run(l, {n % 8, (n + 3) % 8, (n + 5) % 8}));
    }
}

TEST_CASE("what a thread that is to read no more leaves is read by those that stay") {
    Rig rig(8, 8, true);
    rig.store->set_prefetch_depth(2);
    for (int round = 0; round < 8; round++) {
        rig.store->set_io_threads(8);
        rig.predict(0, {0, 1, 2, 3});
        rig.gate.await(2);
        rig.store->set_io_threads(1);  // whichever threads read now, all but one of them read no more
        rig.gate.open();
        while (rig.store->queued_prefetch() > 0) std::this_thread::yield();
        CHECK(rig.run(0, {0, 1, 2, 3}));
        CHECK(rig.run(1, {0, 1, 2, 3}));
        CHECK(rig.run(2, {0, 1, 2, 3}));
    }
}

TEST_CASE("a store goes away while its reads are on their way") {
    for (const bool wanted : {true, false}) {
        Rig rig(8, 2, true);
        const Experts experts{0, 1, 2};
        std::vector<std::int32_t> slots(3);
        if (wanted) {
            REQUIRE(rig.store->acquire(0, experts.data(), 3, kAllParts, slots.data()) == 3);
        } else {
            rig.predict(0, experts);
        }
        rig.gate.await(2);
        std::thread opens([&] { rig.gate.open(); });
        rig.store.reset();
        opens.join();
    }
}

TEST_CASE("two models in one process do not see each other's experts") {
    Rig a(4);
    Rig b(4);
    CHECK(a.run(0, {0, 1}));
    CHECK(b.run(0, {2, 3}));
    CHECK_FALSE(b.resident(0, 0));
    a.store.reset();
    CHECK(b.run(1, {2, 3}));
}

TEST_CASE("a prompt's beginning forgets guesses that were made for a token") {
    Rig rig(4, 1, true);
    rig.predict(0, {0, 1, 2, 3});
    rig.gate.await(1);
    rig.store->begin_prompt(10);
    rig.gate.open();
    while (rig.store->queued_prefetch() > 0) std::this_thread::yield();
    CHECK(value(rig.counters.prefetch_issued) <= 2);
    CHECK(rig.run(0, {5}));
}

// What a thread of the storm does; every byte it is given is compared.
static void storm(Rig& rig, unsigned seed, int rounds, std::atomic<int>& wrong) {
    Dice random(seed);
    for (int i = 0; i < rounds; i++) {
        const std::uint32_t layer = random(3);
        Experts experts{random(8), random(8), random(8)};
        std::sort(experts.begin(), experts.end());
        experts.erase(std::unique(experts.begin(), experts.end()), experts.end());
        if (random(4) == 0) rig.store->begin_token();
        if (random(16) == 0) rig.store->begin_prompt(100);
        if (random(2) == 0) rig.predict((layer + 1) % 3, {random(8), random(8)});
        if (random(3) != 0) {
            if (!rig.run(layer, experts)) wrong++;
            continue;
        }
        std::vector<std::int32_t> slots(experts.size(), -1);
        const std::uint32_t part = random(3);
        rig.store->acquire(layer, experts.data(), experts.size(), 1U << part, slots.data());
        for (std::size_t k = 0; k < experts.size(); k++) {
            if (slots[k] < 0) continue;
            if (!is_expert(rig.store->wait(slots[k], part), rig.layers[layer], part, experts[k])) wrong++;
        }
        rig.store->release(slots.data(), slots.size());
    }
}

TEST_CASE("under a storm of uses, guesses and resizes from many threads every byte is right") {
    for (const std::uint32_t slots : {0U, 5U, 12U}) {
        Shape shape;
        Rig rig(slots, 4, false, shape);
        std::atomic<int> wrong{0};
        std::atomic<bool> done{false};
        std::vector<std::thread> team;
        for (unsigned t = 0; t < 4; t++) team.emplace_back([&, t] { storm(rig, 100 * slots + t, 120, wrong); });
        std::thread control([&] {
            Dice random(slots);
            while (!done.load()) {
                rig.store->resize(random(16) * Rig::kSlotBytes);
                rig.store->set_io_threads(1 + random(8));
                rig.store->resident();
                rig.store->used_bytes();
                std::this_thread::yield();
            }
        });
        for (std::thread& t : team) t.join();
        done.store(true);
        control.join();
        CHECK(wrong == 0);
        CHECK(rig.store->take_error().empty());
        rig.store->resize(0);
        while (rig.store->queued_prefetch() + rig.store->queued_demand() > 0) {
            rig.store->begin_prompt(1);
            std::this_thread::yield();
        }
        rig.store->resize(0);
        CHECK(rig.store->used_bytes() <= 2 * Rig::kSlotBytes + 2 * 3 * 16384);
    }
}
