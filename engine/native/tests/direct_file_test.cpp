#include "direct_file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "address_space.h"
#include "model_on_disk.h"

using namespace gannet;

namespace {

constexpr std::size_t kRoom = 256 << 10;

// Reads the aligned superset of [offset, offset + n) and compares every byte of the range.
bool reads_right(const DirectFile& file, std::byte* room, std::uint64_t offset, std::uint64_t n) {
    const std::uint64_t block = std::max<std::uint64_t>(file.alignment(), 4096);
    const std::uint64_t begin = offset / block * block;
    const std::uint64_t needed = offset - begin + n;
    file.read(begin, room, (needed + block - 1) / block * block, needed);
    for (std::uint64_t i = begin; i < offset + n; i++) {
        if (room[i - begin] != byte_at(i)) return false;
    }
    return true;
}

struct Room {
    AddressSpace space{kRoom, AddressSpace::Access::kReadWrite};
    Room() { space.commit(0, kRoom); }
    std::byte* data() const { return space.data(); }
};

std::string error_of(const DirectFile& file, std::byte* room, std::uint64_t offset, std::uint64_t n) {
    try {
        reads_right(file, room, offset, n);
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("any range of a file comes whole, direct or buffered, up to its last byte") {
    const TempFile disk(100003);
    const Room room;
    for (const bool direct : {true, false}) {
        const DirectFile file(disk.path(), direct);
        CHECK(file.is_open());
        if (!direct) CHECK_FALSE(file.is_direct());
        CHECK(reads_right(file, room.data(), 0, 1));
        CHECK(reads_right(file, room.data(), 4095, 2));
        CHECK(reads_right(file, room.data(), 12345, 50000));
        CHECK(reads_right(file, room.data(), 98304, 100003 - 98304));
        CHECK(reads_right(file, room.data(), 100002, 1));
    }
}

TEST_CASE("a file that ends before what is needed is an error that says so") {
    const TempFile disk(10000);
    const Room room;
    for (const bool direct : {true, false}) {
        const DirectFile file(disk.path(), direct);
        CHECK(error_of(file, room.data(), 9990, 11).find("ends early") != std::string::npos);
        CHECK(error_of(file, room.data(), 50000, 1).find("ends early") != std::string::npos);
        CHECK(error_of(file, room.data(), 5000, 70000).find("ends early") != std::string::npos);
    }
}

TEST_CASE("a file that is shortened while open fails, and reads again once it is whole") {
    TempFile disk(40000);
    const Room room;
    const DirectFile file(disk.path(), true);
    CHECK(reads_right(file, room.data(), 30000, 10000));
    disk.shorten(20001);
    CHECK(error_of(file, room.data(), 30000, 10000).find("ends early") != std::string::npos);
    CHECK(reads_right(file, room.data(), 10000, 10000));
    disk.write();
    CHECK(reads_right(file, room.data(), 30000, 10000));
}

TEST_CASE("a missing file is an error that names it") {
    const std::string path = (std::filesystem::temp_directory_path() / "gannet-no-such-file").string();
    for (const bool direct : {true, false}) {
        try {
            const DirectFile file(path, direct);
            FAIL("opened a file that is not there");
        } catch (const std::runtime_error& e) {
            CHECK(std::string(e.what()).find(path) != std::string::npos);
        }
    }
}

TEST_CASE("a handle can be moved, and the moved-from one closes nothing") {
    const TempFile disk(5000);
    const Room room;
    DirectFile a(disk.path(), true);
    DirectFile b(std::move(a));
    CHECK_FALSE(a.is_open());
    CHECK(reads_right(b, room.data(), 0, 5000));
    a = std::move(b);
    CHECK(reads_right(a, room.data(), 0, 5000));
}

#ifdef __linux__
TEST_CASE("a file system without direct reads serves the same bytes through the page cache") {
    const TempFile disk(50000, "/dev/shm");  // older kernels refuse O_DIRECT there, newer ones take it
    const Room room;
    const DirectFile file(disk.path(), true);
    CHECK(file.alignment() >= 1);
    CHECK((file.is_direct() || file.alignment() == 1));
    CHECK(reads_right(file, room.data(), 7, 49000));
}

TEST_CASE("what refuses its first direct read is read buffered") {
    const DirectFile file("/proc/self/status", true);
    CHECK_FALSE(file.is_direct());
    std::byte first{};
    file.read(0, &first, 1, 1);
    CHECK(first == std::byte{'N'});
}
#endif
