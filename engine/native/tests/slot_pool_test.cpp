#include "slot_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

using gannet::AddressSpace;
using gannet::SlotPool;

TEST_CASE("every part of every slot has room for the aligned read around it, and none overlap") {
    for (const std::size_t alignment : {std::size_t{512}, std::size_t{4096}, std::size_t{65536}}) {
        const std::vector<std::uint64_t> parts{1, 4096, 70001};
        const SlotPool pool(parts, alignment, 5);
        const std::byte* end = nullptr;
        for (std::uint32_t s = 0; s < 5; s++) {
            for (std::uint32_t p = 0; p < parts.size(); p++) {
                const std::byte* region = pool.region(s, p);
                CHECK(reinterpret_cast<std::uintptr_t>(region) % alignment == 0);
                if (end != nullptr) CHECK(region >= end);
                const std::uint64_t superset = (parts[p] + 2 * (alignment - 1)) / alignment * alignment;
                end = region + std::max(superset, parts[p] + alignment - 1);
            }
        }
        CHECK(pool.slot_bytes() % 4096 == 0);
    }
}

TEST_CASE("memory that was given back can be used again, and its neighbours keep theirs") {
    SlotPool pool({10000}, 4096, 3);
    for (std::uint32_t s = 0; s < 3; s++) {
        pool.commit(s);
        std::memset(pool.region(s, 0), static_cast<int>(s + 1), pool.slot_bytes());
    }
    pool.discard(1);
    pool.commit(1);
    std::byte* again = pool.region(1, 0);
    CHECK(std::all_of(again, again + pool.slot_bytes(), [](std::byte b) { return b == std::byte{0}; }));
    std::memset(again, 9, pool.slot_bytes());
    for (const std::uint32_t s : {0U, 2U}) {
        const std::byte* kept = pool.region(s, 0);
        CHECK(std::all_of(kept, kept + pool.slot_bytes(), [s](std::byte b) { return b == std::byte(s + 1); }));
    }
}

TEST_CASE("address space moves with its owner and is empty afterwards") {
    AddressSpace a(10000, AddressSpace::Access::kReadWrite);
    a.commit(0, a.size());
    a.data()[9999] = std::byte{7};
    AddressSpace b(std::move(a));
    CHECK(a.data() == nullptr);
    CHECK(b.data()[9999] == std::byte{7});
    b = AddressSpace(5, AddressSpace::Access::kNone);
    CHECK(b.size() == 5);
}

TEST_CASE("a size that no machine has is refused, not wrapped around") {
    CHECK_THROWS_AS(AddressSpace(~std::size_t{0} - 100, AddressSpace::Access::kNone), std::bad_alloc);
}
