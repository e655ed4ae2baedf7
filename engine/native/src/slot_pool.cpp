#include "slot_pool.h"

#include <algorithm>

namespace gannet {
namespace {

constexpr std::uint64_t kPage = 4096;

// An unaligned part of n bytes touches at most one block more on either side.
std::uint64_t region_bytes(std::uint64_t n, std::uint64_t alignment) {
    return (n + alignment - 1) / alignment * alignment + alignment;
}

}  // namespace

SlotPool::SlotPool(const std::vector<std::uint64_t>& part_bytes, std::size_t alignment, std::uint32_t max_slots)
    : max_slots_(max_slots) {
    const std::uint64_t block = std::max<std::uint64_t>(alignment, kPage);
    for (std::size_t p = 0; p < part_bytes.size(); p++) {
        begin_[p] = slot_bytes_;
        slot_bytes_ += region_bytes(part_bytes[p], block);
    }
    space_ = AddressSpace(slot_bytes_ * max_slots_, AddressSpace::Access::kReadWrite);
}

std::byte* SlotPool::region(std::uint32_t slot, std::uint32_t part) const {
    return space_.data() + slot * slot_bytes_ + begin_[part];
}

void SlotPool::commit(std::uint32_t slot) {
    space_.commit(slot * slot_bytes_, slot_bytes_);
}

void SlotPool::touch(std::uint32_t slot) {
    volatile std::byte* begin = space_.data() + slot * slot_bytes_;
    for (std::uint64_t at = 0; at < slot_bytes_; at += kPage) begin[at] = std::byte{0};
}

void SlotPool::discard(std::uint32_t slot) {
    space_.discard(slot * slot_bytes_, slot_bytes_);
}

}  // namespace gannet
