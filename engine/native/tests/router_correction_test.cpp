#include "router_correction.h"

#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "graph_rig.h"

using namespace gannet;

namespace {

constexpr std::size_t kWidth = 64;
constexpr std::size_t kExperts = 8;
constexpr std::size_t kRank = 3;

ExpertIndex two_layers() {
    const LayerSpec layer{0, kExperts, {{"blk.0.ffn_up_exps.weight", 0, 0, 64}}};
    const LayerSpec next{1, kExperts, {{"blk.1.ffn_up_exps.weight", 0, 1024, 64}}};
    return ExpertIndex({layer, next});
}

}  // namespace

TEST_CASE("a correction adds up times down times x, and the bias, whoever computes which experts") {
    const std::vector<float> up = random_floats(kExperts * kRank, 1);
    const std::vector<float> down = random_floats(kRank * kWidth, 2);
    const std::vector<float> bias = random_floats(kExperts, 3);
    const std::vector<float> x = random_floats(kWidth, 4);
    RowKernel kernel;
    REQUIRE(RowKernel::find(GGML_TYPE_Q8_0, kernel));
    ReadyVector ready;
    ready.set(kernel, x.data(), kWidth);
    const RouterCorrection correction(up, down, bias, kWidth);
    std::vector<float> logits(kExperts, 100.0F);
    correction.add(kernel, ready, kWidth, 0, 5, logits.data());
    correction.add(kernel, ready, kWidth, 5, kExperts, logits.data());
    for (std::size_t e = 0; e < kExperts; e++) {
        double expected = 100.0 + bias[e];
        for (std::size_t r = 0; r < kRank; r++) {
            for (std::size_t i = 0; i < kWidth; i++) expected += up[e * kRank + r] * down[r * kWidth + i] * x[i];
        }
        CHECK(std::abs(logits[e] - expected) < 0.5);  // both factors are kept in 8 bits
    }
    correction.add(kernel, ready, kWidth - 32, 0, kExperts, logits.data());  // another model's width: nothing
    CHECK(std::abs(logits[0]) < 200.0F);
}

TEST_CASE("corrections are found where they were set, and only while enabled") {
    const ExpertIndex index = two_layers();
    RouterCorrections corrections(index);
    corrections.set(1, 1, random_floats(kExperts * kRank, 1), random_floats(kRank * kWidth, 2),
                    random_floats(kExperts, 3), kWidth);
    CHECK(corrections.find(1, 1) == nullptr);
    corrections.enable(true);
    CHECK(corrections.find(1, 1) != nullptr);
    CHECK(corrections.find(1, 2) == nullptr);
    CHECK(corrections.find(0, 1) == nullptr);
    corrections.set(1, 1, {}, {}, random_floats(kExperts, 3), kWidth);  // a bias alone
    RowKernel kernel;
    REQUIRE(RowKernel::find(GGML_TYPE_Q8_0, kernel));
    const std::vector<float> x = random_floats(kWidth, 4);
    ReadyVector ready;
    ready.set(kernel, x.data(), kWidth);
    std::vector<float> logits(kExperts, 0.0F);
    corrections.find(1, 1)->add(kernel, ready, kWidth, 0, kExperts, logits.data());
    CHECK(logits == random_floats(kExperts, 3));
}

TEST_CASE("sizes that are not the model's are refused") {
    const ExpertIndex index = two_layers();
    RouterCorrections corrections(index);
    const auto set = [&](std::uint32_t layer, std::uint32_t distance, std::size_t n, std::size_t d, std::size_t b,
                         std::size_t width) {
        corrections.set(layer, distance, std::vector<float>(n), std::vector<float>(d), std::vector<float>(b), width);
    };
    const std::size_t up = kExperts * kRank;
    const std::size_t down = kRank * kWidth;
    CHECK_NOTHROW(set(1, 1, up, down, kExperts, kWidth));
    CHECK_THROWS_AS(set(2, 1, up, down, kExperts, kWidth), std::invalid_argument);
    CHECK_THROWS_AS(set(1, 0, up, down, kExperts, kWidth), std::invalid_argument);
    CHECK_THROWS_AS(set(1, kMaxDistance + 1, up, down, kExperts, kWidth), std::invalid_argument);
    CHECK_THROWS_AS(set(1, 1, up - 1, down, kExperts, kWidth), std::invalid_argument);
    CHECK_THROWS_AS(set(1, 1, up, down - 1, kExperts, kWidth), std::invalid_argument);
    CHECK_THROWS_AS(set(1, 1, up, down, kExperts - 1, kWidth), std::invalid_argument);
    CHECK_THROWS_AS(set(1, 1, up, kRank * 40, kExperts, 40), std::invalid_argument);
    CHECK_THROWS_AS(set(1, 1, 0, 0, kExperts, 0), std::invalid_argument);
}
