// DirectFile on Windows (FILE_FLAG_NO_BUFFERING, one synchronous handle per thread).
#ifdef _WIN32
#include "direct_file.h"

#include <stdexcept>
#include <string>

#define NOMINMAX
#include <windows.h>

namespace gannet {
namespace {

constexpr std::size_t kBlock = 4096;

std::wstring wide(const std::string& utf8) {
    const int n = MultiByteToWideChar(CP_UTF8, 0, utf8.c_str(), -1, nullptr, 0);
    std::wstring out(static_cast<std::size_t>(n > 0 ? n - 1 : 0), L'\0');
    if (n > 1) MultiByteToWideChar(CP_UTF8, 0, utf8.c_str(), -1, out.data(), n);
    return out;
}

HANDLE open_file(const std::string& path, DWORD flags) {
    return CreateFileW(wide(path).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                       flags, nullptr);
}

[[noreturn]] void fail(const std::string& what, DWORD code) {
    throw std::runtime_error(what + "Windows error " + std::to_string(code));
}

}  // namespace

DirectFile::DirectFile(const std::string& path, bool direct) {
    HANDLE file = INVALID_HANDLE_VALUE;
    if (direct) {
        file = open_file(path, FILE_FLAG_NO_BUFFERING | FILE_FLAG_RANDOM_ACCESS);
        direct_ = file != INVALID_HANDLE_VALUE;
        if (direct_) alignment_ = kBlock;
    }
    if (file == INVALID_HANDLE_VALUE) file = open_file(path, FILE_FLAG_RANDOM_ACCESS);
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
        OVERLAPPED at = {};
        const std::uint64_t position = offset + got;
        at.Offset = static_cast<DWORD>(position);
        at.OffsetHigh = static_cast<DWORD>(position >> 32);
        DWORD n = 0;
        if (!ReadFile(reinterpret_cast<HANDLE>(handle_), to + got, static_cast<DWORD>(size - got), &n, &at)) {
            const DWORD code = GetLastError();
            if (code != ERROR_HANDLE_EOF) fail("", code);
        }
        if (n == 0) throw std::runtime_error("the file ends early (was it changed or replaced?)");
        got += n;
    }
}

}  // namespace gannet
#endif
