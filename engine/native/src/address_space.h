// A range of private memory: reserved at once, backed by pages as they are touched.
//
// Backing is anonymous (the kernel cannot drop it as it drops a file mapping) and asks for huge
// pages. discard() gives pages back to the system; touching them again gives zeros.
#pragma once

#include <cstddef>

namespace gannet {

class AddressSpace {
  public:
    enum class Access { kNone, kReadWrite };

    AddressSpace() = default;
    // Throws std::bad_alloc. kNone: addresses only, any access faults.
    AddressSpace(std::size_t size, Access access);
    ~AddressSpace();
    AddressSpace(AddressSpace&& other) noexcept;
    AddressSpace& operator=(AddressSpace&& other) noexcept;
    AddressSpace(const AddressSpace&) = delete;
    AddressSpace& operator=(const AddressSpace&) = delete;

    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }
    // Makes [offset, offset + size) usable (Windows commits; elsewhere nothing to do). Throws std::bad_alloc.
    void commit(std::size_t offset, std::size_t size);
    // Gives the whole pages inside the range back to the system.
    void discard(std::size_t offset, std::size_t size);

  private:
    void release() noexcept;

    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::byte* base_ = nullptr;  // of the mapping, before alignment to a huge page
    std::size_t mapped_ = 0;
};

}  // namespace gannet
