// Reading a file past the page cache: O_DIRECT, FILE_FLAG_NO_BUFFERING or F_NOCACHE.
//
// One handle per thread: a shared synchronous handle on Windows has queue depth one. Offsets, sizes
// and addresses of direct reads must be multiples of alignment(). Where the file system has no
// direct reads (tmpfs, some network drives) the handle reads through the page cache, and says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gannet {

class DirectFile {
  public:
    DirectFile() = default;
    // Throws std::runtime_error naming the file when it cannot be opened. `direct` false: buffered.
    DirectFile(const std::string& path, bool direct);
    ~DirectFile();
    DirectFile(DirectFile&& other) noexcept;
    DirectFile& operator=(DirectFile&& other) noexcept;
    DirectFile(const DirectFile&) = delete;
    DirectFile& operator=(const DirectFile&) = delete;

    bool is_open() const { return open_; }
    bool is_direct() const { return direct_; }
    std::size_t alignment() const { return alignment_; }

    // Reads at least `needed` and at most `size` bytes at `offset` into `to`; the rest of `size` may
    // lie past the file's end. Blocks. Throws std::runtime_error (no path in it) on an error or when
    // the file ends before `needed`.
    void read(std::uint64_t offset, std::byte* to, std::size_t size, std::size_t needed) const;

  private:
    void close() noexcept;

    std::intptr_t handle_ = -1;
    bool open_ = false;
    bool direct_ = false;
    std::size_t alignment_ = 1;
};

}  // namespace gannet
