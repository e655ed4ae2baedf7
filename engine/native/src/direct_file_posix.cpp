// DirectFile on Linux (O_DIRECT) and macOS (F_NOCACHE).
#ifndef _WIN32
#include "direct_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gannet {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // systems refuse or cut what 31 bits do not hold
constexpr const char* kEndsEarly = "the file ends early (was it changed or replaced?)";
constexpr std::size_t kBlock = 4096;  // holds on every drive seen; STATX_DIOALIGN may ask for more

std::size_t direct_alignment([[maybe_unused]] int fd) {
#if defined(__linux__) && defined(STATX_DIOALIGN)
    struct statx info = {};
    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &info) == 0 && (info.stx_mask & STATX_DIOALIGN) != 0 &&
        info.stx_dio_offset_align > kBlock) {
        return info.stx_dio_offset_align;
    }
#endif
    return kBlock;
}

int open_direct(const char* path) {
#if defined(__linux__)
    return ::open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
#elif defined(__APPLE__)
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fcntl(fd, F_NOCACHE, 1) != 0) {
        ::close(fd);
        return -1;
    }
    return fd;
#else
    (void)path;
    return -1;
#endif
}

// Some file systems accept O_DIRECT at open and refuse the first read.
bool first_read_works(int fd, std::size_t alignment) {
    alignas(4096) static thread_local unsigned char probe[64 * 1024];
    if (alignment > sizeof probe) return false;
    return pread(fd, probe, alignment, 0) >= 0;
}

}  // namespace

DirectFile::DirectFile(const std::string& path, bool direct) {
    int fd = direct ? open_direct(path.c_str()) : -1;
    if (fd >= 0) {
        alignment_ = direct_alignment(fd);
        direct_ = first_read_works(fd, alignment_);
        if (!direct_) {
            ::close(fd);
            fd = -1;
        }
    }
    if (fd < 0) {
        alignment_ = 1;
        fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    }
    if (fd < 0) throw std::runtime_error(path + ": " + std::strerror(errno));
    handle_ = fd;
    open_ = true;
}

void DirectFile::close() noexcept {
    if (open_) ::close(static_cast<int>(handle_));
    open_ = false;
}

void DirectFile::read(std::uint64_t offset, std::byte* to, std::size_t size, std::size_t needed) const {
    std::size_t got = 0;
    while (got < needed) {
        // A direct read that stops inside a block has met the file's end; going on there is not allowed.
        if (got % alignment_ != 0) throw std::runtime_error(kEndsEarly);
        const std::size_t most = std::min(size - got, kMostAtOnce);
        const ssize_t n = pread(static_cast<int>(handle_), to + got, most, static_cast<off_t>(offset + got));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw std::runtime_error(std::strerror(errno));
        if (n == 0) throw std::runtime_error(kEndsEarly);
        got += static_cast<std::size_t>(n);
    }
}

}  // namespace gannet
#endif
