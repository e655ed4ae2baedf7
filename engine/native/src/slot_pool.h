// Memory for experts of one size class, cut into equal slots.
//
// Layers whose parts have the same sizes share a class. A slot has one region per part, with room
// for the aligned superset a direct read needs. Owns the memory; knows nothing of what lies in it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "address_space.h"
#include "expert_index.h"

namespace gannet {

class SlotPool {
  public:
    // part_bytes: of one expert, by part. Address space for max_slots is reserved, not touched.
    SlotPool(const std::vector<std::uint64_t>& part_bytes, std::size_t alignment, std::uint32_t max_slots);

    std::uint64_t slot_bytes() const { return slot_bytes_; }
    std::uint32_t max_slots() const { return max_slots_; }
    std::byte* region(std::uint32_t slot, std::uint32_t part) const;
    void commit(std::uint32_t slot);   // before the first use after construction or discard()
    void touch(std::uint32_t slot);    // gives a committed slot its memory now; what lay in it is lost
    void discard(std::uint32_t slot);  // its memory goes back to the system

  private:
    std::array<std::uint64_t, kMaxParts> begin_{};
    std::uint64_t slot_bytes_ = 0;
    std::uint32_t max_slots_ = 0;
    AddressSpace space_;
};

}  // namespace gannet
