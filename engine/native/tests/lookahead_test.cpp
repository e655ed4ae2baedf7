#include "lookahead.h"

#include <doctest/doctest.h>

#include <set>
#include <thread>

#include "graph_rig.h"
#include "store_rig.h"

using namespace gannet;

namespace {

constexpr std::int64_t kWidth = 64;
constexpr std::uint32_t kUsed = 2;

// Two layers' routers and norms, and the experts that the second would choose.
struct Routers {
    Context context = make_context(4 << 20);
    std::vector<float> stream = random_floats(kWidth, 1);  // normalized residual stream
    std::vector<RouterSpec> specs;
    std::vector<std::vector<float>> scales;

    explicit Routers(std::uint32_t layers, bool biased = false) {
        for (std::uint32_t l = 0; l < layers; l++) {
            scales.push_back(random_floats(kWidth, 50 + l, 0.3F));
            for (float& s : scales.back()) s += 1.5F;
            RouterSpec spec;
            spec.matrix = floats(context.get(), random_floats(kWidth * 8, 90 + l), kWidth, 8);
            spec.norm = floats(context.get(), scales.back(), kWidth);
            if (biased) {
                spec.gating = Gating::kSigmoid;
                std::vector<float> bias(8, 0.0F);
                bias[3] = 10.0F;  // always chosen, whatever the logits say
                spec.select_bias = floats(context.get(), bias, 8);
            }
            specs.push_back(spec);
        }
    }
    std::vector<float> input(std::uint32_t layer) const {
        std::vector<float> x(kWidth);
        for (std::size_t i = 0; i < x.size(); i++) x[i] = stream[i] * scales[layer][i];
        return x;
    }
    std::set<std::uint32_t> chosen(std::uint32_t layer) const {
        const std::vector<float> x = input(layer);
        std::vector<std::pair<float, std::uint32_t>> scores;
        for (std::uint32_t e = 0; e < 8; e++) {
            const auto* row = static_cast<const float*>(specs[layer].matrix->data) + e * kWidth;
            float sum = 0.0F;
            for (std::size_t i = 0; i < x.size(); i++) sum += row[i] * x[i];
            scores.emplace_back(-sum, e);
        }
        std::sort(scores.begin(), scores.end());
        return {scores[0].second, scores[1].second};
    }
};

std::set<std::uint32_t> read_early(Rig& rig, std::uint32_t layer) {
    while (rig.store->queued_prefetch() > 0) std::this_thread::yield();
    std::set<std::uint32_t> out;
    for (std::uint32_t e = 0; e < 8; e++) {
        if (rig.resident(layer, e)) out.insert(e);
    }
    return out;
}

}  // namespace

TEST_CASE("the next layer's choice is read early, its norm in place of this layer's") {
    Rig rig(16);
    const Routers routers(3);
    Lookahead ahead(*rig.store, 2, 0.0);
    for (std::uint32_t l = 0; l < 3; l++) ahead.learn(l, routers.specs[l], kUsed);
    for (int i = 0; i < 3; i++) ahead.score(0, routers.input(0).data(), i, 3);
    ahead.publish(0);
    CHECK(read_early(rig, 1) == routers.chosen(1));
    CHECK(read_early(rig, 2) == routers.chosen(2));
    CHECK(read_early(rig, 0).empty());
}

TEST_CASE("a bias that decides the choice decides the guess") {
    Rig rig(16);
    const Routers routers(2, true);
    Lookahead ahead(*rig.store, 1, 0.0);
    for (std::uint32_t l = 0; l < 2; l++) ahead.learn(l, routers.specs[l], kUsed);
    ahead.score(0, routers.input(0).data(), 0, 1);
    ahead.publish(0);
    CHECK(read_early(rig, 1).count(3) == 1);
}

TEST_CASE("recall counts which of the chosen experts had been guessed, by distance") {
    Rig rig(16);
    const Routers routers(2);
    Lookahead ahead(*rig.store, 1, 0.0);
    for (std::uint32_t l = 0; l < 2; l++) ahead.learn(l, routers.specs[l], kUsed);
    ahead.score(0, routers.input(0).data(), 0, 1);
    ahead.publish(0);
    const std::set<std::uint32_t> guessed = routers.chosen(1);
    std::uint32_t other = 0;
    while (guessed.count(other) != 0) other++;
    const std::uint32_t chosen[] = {*guessed.begin(), other};
    ahead.judge(1, chosen, 2);
    CHECK(rig.counters.selected[0].load() == 2);
    CHECK(rig.counters.recalled[0].load() == 1);
    ahead.judge(1, chosen, 2);
    CHECK(rig.counters.selected[0].load() == 2);
}

TEST_CASE("switched off, or with a router it cannot read, nothing is guessed and nothing breaks") {
    Rig rig(16);
    Routers routers(3);
    Lookahead off(*rig.store, 0, 0.0);
    CHECK_FALSE(off.on());
    Lookahead ahead(*rig.store, 2, 0.0);
    RouterSpec narrow = routers.specs[1];
    narrow.matrix = floats(routers.context.get(), random_floats(40 * 8, 3), 40, 8);  // not whole blocks
    narrow.norm = nullptr;
    ahead.learn(0, routers.specs[0], kUsed);
    ahead.learn(1, narrow, kUsed);
    CHECK(ahead.knows(0));
    CHECK_FALSE(ahead.knows(1));
    ahead.score(0, routers.input(0).data(), 0, 1);
    ahead.publish(0);
    CHECK(rig.store->queued_prefetch() == 0);
}

TEST_CASE("routers kept in half precision are read too") {
    Rig rig(16);
    Routers routers(2);
    for (RouterSpec& spec : routers.specs) {
        ggml_tensor* half = ggml_new_tensor_2d(routers.context.get(), GGML_TYPE_F16, kWidth, 8);
        ggml_fp32_to_fp16_row(static_cast<const float*>(spec.matrix->data), static_cast<ggml_fp16_t*>(half->data),
                              kWidth * 8);
        spec.matrix = half;
    }
    const Routers exact(2);
    Lookahead ahead(*rig.store, 1, 0.0);
    for (std::uint32_t l = 0; l < 2; l++) ahead.learn(l, routers.specs[l], kUsed);
    ahead.score(0, routers.input(0).data(), 0, 1);
    ahead.publish(0);
    CHECK(read_early(rig, 1) == exact.chosen(1));
}
