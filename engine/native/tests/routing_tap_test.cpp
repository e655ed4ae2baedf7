#include "routing_tap.h"

#include <doctest/doctest.h>

#include <cstring>

#include "graph_rig.h"
#include "telemetry.h"

using namespace gannet;

namespace {

constexpr std::uint32_t kLayers = 2;
constexpr std::uint32_t kUsed = 2;

ggml_tensor* ids_of(ggml_context* c, const std::vector<std::int32_t>& values, std::int64_t tokens) {
    ggml_tensor* t = ggml_new_tensor_2d(c, GGML_TYPE_I32, kUsed, tokens);
    std::memcpy(t->data, values.data(), values.size() * sizeof(std::int32_t));
    return t;
}

std::vector<std::uint16_t> taken(RoutingTap& tap) {
    const std::vector<std::uint8_t> bytes = tap.take();
    std::vector<std::uint16_t> out(bytes.size() / 2);
    if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

void decode(RoutingTap& tap, ggml_tensor* ids, const std::vector<std::vector<Predicted>>* guesses = nullptr) {
    tap.begin(1);
    tap.selected(0, ids, nullptr);
    tap.selected(1, ids, guesses);
    tap.end(true);
}

}  // namespace

TEST_CASE("a token's record: its graph, its experts by layer, what had been guessed") {
    const Context c = make_context(1 << 20);
    ggml_tensor* ids = ids_of(c.get(), {5, 3}, 1);
    RoutingTap tap(kLayers, 8);
    tap.start(kUsed, 1, 1 << 20);
    CHECK(tap.record_bytes() == 2 * (4 + 2 * 2 + 2 * 2));
    std::vector<std::vector<Predicted>> guesses(kMaxDistance);
    for (const Key expert : {3U, 7U}) {
        Predicted p{};
        p.key = 8 + expert;
        guesses[0].push_back(p);
    }
    decode(tap, ids, &guesses);
    const std::uint16_t no = RoutingTap::kNone;
    CHECK(taken(tap) == std::vector<std::uint16_t>{0, 0, 1, 0, 5, 3, 5, 3, no, no, 3, 7});
    decode(tap, ids);
    CHECK(taken(tap) == std::vector<std::uint16_t>{1, 0, 1, 0, 5, 3, 5, 3, no, no, no, no});
    CHECK(taken(tap).empty());
}

TEST_CASE("a prompt's last layer computes its last token only") {
    const Context c = make_context(1 << 20);
    RoutingTap tap(kLayers, 8);
    tap.start(kUsed, 0, 1 << 20);
    tap.begin(2);
    tap.selected(0, ids_of(c.get(), {0, 1, 2, 3}, 2), nullptr);
    tap.selected(1, ids_of(c.get(), {6, 7}, 1), nullptr);
    tap.end(true);
    const std::uint16_t no = RoutingTap::kNone;
    CHECK(taken(tap) == std::vector<std::uint16_t>{0, 0, 0, 0, 0, 1, no, no, 0, 0, 0, 0, 2, 3, 6, 7});
}

TEST_CASE("a graph that failed, one begun before the start and one after the stop leave nothing") {
    const Context c = make_context(1 << 20);
    ggml_tensor* ids = ids_of(c.get(), {5, 3}, 1);
    RoutingTap tap(kLayers, 8);
    decode(tap, ids);
    tap.begin(1);
    tap.start(kUsed, 1, 1 << 20);
    tap.selected(1, ids, nullptr);
    tap.end(true);
    CHECK(taken(tap).empty());
    tap.begin(1);
    tap.selected(0, ids, nullptr);
    tap.end(false);
    CHECK(taken(tap).empty());
    decode(tap, ids);
    tap.stop();
    decode(tap, ids);
    CHECK(taken(tap).size() * 2 == tap.record_bytes());
}

TEST_CASE("what nobody takes is counted and left out") {
    const Context c = make_context(1 << 20);
    ggml_tensor* ids = ids_of(c.get(), {5, 3}, 1);
    RoutingTap tap(kLayers, 8);
    tap.start(kUsed, 1, 2 * (4 + 2 * 2 + 2 * 2));
    for (int i = 0; i < 3; i++) decode(tap, ids);
    CHECK(taken(tap).size() * 2 == tap.record_bytes());
    CHECK(tap.dropped() == 2);
}
