#include "resident_weights.h"

#include <doctest/doctest.h>

#include "model_on_disk.h"

using namespace gannet;

namespace {

bool is_there(const ResidentWeights& weights, const TensorPlace& tensor) {
    const std::byte* at = weights.find(tensor.name, tensor.bytes);
    if (at == nullptr) return false;
    for (std::uint64_t i = 0; i < tensor.bytes; i++) {
        if (at[i] != byte_at(tensor.offset + i)) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("every tensor is read to its place before anybody asks for it, whatever lies between") {
    const TempFile one(5 << 20);
    const TempFile two(300000);
    // Neighbours with a little padding, a stretch of experts that is not read, one tensor inside another, a last byte.
    const std::vector<TensorPlace> tensors{
        {"b", 0, 100032, 70001},    {"a", 0, 32, 100000},    {"far", 0, 4 << 20, 1 << 20},
        {"shared", 0, 100032, 500}, {"other", 1, 1, 299999}, {"nothing", 0, 200000, 0},
    };
    for (const bool direct : {true, false}) {
        ResidentWeights weights({one.path(), two.path()}, tensors, 3, direct);
        CHECK(weights.reader().finish().empty());
        for (const TensorPlace& tensor : tensors) CHECK(is_there(weights, tensor));
        CHECK(weights.find("a", 100000) + 100000 == weights.find("b", 70001));
        CHECK(weights.find("b", 70000) == nullptr);
        CHECK(weights.find("missing", 1) == nullptr);
        CHECK(weights.reader().bytes_done() < (2 << 20));
    }
}

TEST_CASE("a model without such tensors, and one that goes away while it is read") {
    const TempFile file(5 << 20);
    ResidentWeights none({file.path()}, {}, 2, true);
    CHECK(none.reader().finish().empty());
    for (int i = 0; i < 10; i++) ResidentWeights({file.path()}, {{"all", 0, 0, 5 << 20}}, 2, true);
}
