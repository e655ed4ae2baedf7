#include "resident_reader.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "address_space.h"
#include "model_on_disk.h"

using namespace gannet;

namespace {

constexpr std::uint64_t kSize = (9 << 20) + 17;  // three pieces

bool same(const std::vector<std::byte>& got, std::uint64_t offset) {
    for (std::uint64_t i = 0; i < got.size(); i++) {
        if (got[i] != byte_at(offset + i)) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("weights of any size and place in the file arrive whole, direct or buffered") {
    const TempFile file(kSize);
    for (const bool direct : {true, false}) {
        ResidentReader reader({file.path()}, 3, direct);
        std::vector<std::byte> large(kSize - 5);
        std::vector<std::byte> small(1);
        std::vector<std::byte> last(3);
        reader.read(0, 5, large.size(), large.data());
        reader.read(0, 4095, small.size(), small.data());
        reader.read(0, kSize - 3, last.size(), last.data());
        CHECK(reader.finish().empty());
        CHECK(same(large, 5));
        CHECK(same(small, 4095));
        CHECK(same(last, kSize - 3));
        CHECK(reader.bytes_done() == reader.bytes_queued());
        CHECK(reader.bytes_done() == large.size() + 4);
    }
}

TEST_CASE("a file that ends early is an error that names it, told once") {
    TempFile file(100000);
    ResidentReader reader({file.path()}, 2, true);
    file.shorten(50000);
    std::vector<std::byte> to(60000);
    reader.read(0, 10000, to.size(), to.data());
    const std::string error = reader.finish();
    CHECK(error.find(file.path()) != std::string::npos);
    CHECK(error.find("ends early") != std::string::npos);
    CHECK(reader.finish().empty());
    file.write();
    ResidentReader again({file.path()}, 2, true);
    again.read(0, 10000, to.size(), to.data());
    CHECK(again.finish().empty());
    CHECK(same(to, 10000));
}

TEST_CASE("a load that is given up drops what is not begun, and finish returns") {
    const TempFile file(kSize);
    std::vector<std::byte> to(kSize);
    ResidentReader reader({file.path()}, 1, true);
    for (int i = 0; i < 20; i++) reader.read(0, 0, kSize, to.data());
    reader.cancel();
    CHECK(reader.finish().empty());
    CHECK(reader.bytes_done() < 20 * kSize);
}

TEST_CASE("weights that lie in memory as in the file are read into place, their edges too") {
    const TempFile file(kSize);
    for (const bool direct : {true, false}) {
        ResidentReader reader({file.path()}, 2, direct);
        AddressSpace space(kSize + 8192, AddressSpace::Access::kReadWrite);
        space.commit(0, space.size());
        std::byte* const to = space.data() + 4096 + 100;
        reader.read(0, 4096 + 100, kSize - 8192, to);
        CHECK(reader.finish().empty());
        CHECK(same({to, to + kSize - 8192}, 4096 + 100));
        CHECK(to[-1] == std::byte{0});
        CHECK(to[kSize - 8192] == std::byte{0});
    }
}

TEST_CASE("a reader goes away with work still queued") {
    const TempFile file(kSize);
    std::vector<std::byte> to(kSize);
    ResidentReader reader({file.path()}, 2, true);
    for (int i = 0; i < 5; i++) reader.read(0, 0, kSize, to.data());
}
