// DirectFile on Windows (FILE_FLAG_NO_BUFFERING, one synchronous handle per thread).
#ifdef _WIN32
#include "direct_file.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

namespace gannet {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // a read's size has 32 bits
constexpr const char* kEndsEarly = "the file ends early (was it changed or replaced?)";
constexpr std::size_t kBlock = 4096;  // holds on nearly every drive; the drive may ask for more

std::wstring wide(const std::string& utf8) {
    const int n = MultiByteToWideChar(CP_UTF8, 0, utf8.c_str(), -1, nullptr, 0);
    std::wstring out(static_cast<std::size_t>(n > 0 ? n - 1 : 0), L'\0');
    if (n > 1) MultiByteToWideChar(CP_UTF8, 0, utf8.c_str(), -1, out.data(), n);
    return out;
}

HANDLE open_file(const std::string& path, DWORD flags) {
    // As permissive as fopen: a program that has the file open for writing must not stop us.
    const DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    return CreateFileW(wide(path).c_str(), GENERIC_READ, share, nullptr, OPEN_EXISTING, flags, nullptr);
}

std::size_t direct_alignment(HANDLE file) {
    FILE_STORAGE_INFO info = {};
    if (!GetFileInformationByHandleEx(file, FileStorageInfo, &info, sizeof info)) return kBlock;
    return std::max<std::size_t>(kBlock, info.LogicalBytesPerSector);
}

// Some network drives accept the flag at open and refuse the first read.
bool first_read_works(HANDLE file, std::size_t alignment) {
    void* probe = VirtualAlloc(nullptr, alignment, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (probe == nullptr) return false;
    OVERLAPPED at = {};
    DWORD n = 0;
    const bool works = ReadFile(file, probe, static_cast<DWORD>(alignment), &n, &at) != 0;
    const bool empty = !works && GetLastError() == ERROR_HANDLE_EOF;
    VirtualFree(probe, 0, MEM_RELEASE);
    return works || empty;
}

[[noreturn]] void fail(const std::string& what, DWORD code) {
    throw std::runtime_error(what + "Windows error " + std::to_string(code));
}

}  // namespace

DirectFile::DirectFile(const std::string& path, bool direct) {
    HANDLE file = INVALID_HANDLE_VALUE;
    if (direct) {
        file = open_file(path, FILE_FLAG_NO_BUFFERING);
        direct_ = file != INVALID_HANDLE_VALUE && first_read_works(file, direct_alignment(file));
        if (direct_) alignment_ = direct_alignment(file);
        if (!direct_ && file != INVALID_HANDLE_VALUE) {
            CloseHandle(file);
            file = INVALID_HANDLE_VALUE;
        }
    }
    // Not FILE_FLAG_RANDOM_ACCESS: with it the cache keeps all it has read, until the memory is full.
    if (file == INVALID_HANDLE_VALUE) file = open_file(path, FILE_ATTRIBUTE_NORMAL);
    if (file == INVALID_HANDLE_VALUE) fail(path + ": ", GetLastError());
    handle_ = reinterpret_cast<std::intptr_t>(file);
    open_ = true;
}

void DirectFile::close() noexcept {
    if (open_) CloseHandle(reinterpret_cast<HANDLE>(handle_));
    open_ = false;
}

void DirectFile::read(std::uint64_t offset, std::byte* to, std::size_t size, std::size_t needed) const {
    std::size_t got = 0;
    while (got < needed) {
        // A direct read that stops inside a block has met the file's end; going on there is not allowed.
        if (got % alignment_ != 0) throw std::runtime_error(kEndsEarly);
        OVERLAPPED at = {};
        const std::uint64_t position = offset + got;
        at.Offset = static_cast<DWORD>(position);
        at.OffsetHigh = static_cast<DWORD>(position >> 32);
        const auto most = static_cast<DWORD>(std::min(size - got, kMostAtOnce));
        DWORD n = 0;
        if (!ReadFile(reinterpret_cast<HANDLE>(handle_), to + got, most, &n, &at)) {
            const DWORD code = GetLastError();
            if (code != ERROR_HANDLE_EOF) fail("", code);
        }
        if (n == 0) throw std::runtime_error(kEndsEarly);
        got += n;
    }
}

}  // namespace gannet
#endif
