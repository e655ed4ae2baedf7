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
    // Behind this layer's router.
    Site site(std::uint32_t layer) const {
        return {Source::kRouter, layer + 1, floats(context.get(), input(layer), kWidth), nullptr};
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

// A store with room for everything, and a lookahead that knows the routers of the first `known` layers.
struct Ahead {
    Rig rig{24};
    Lookahead lookahead;

    Ahead(const Routers& routers, std::uint32_t distance, std::size_t known) : lookahead(*rig.store, distance, 0.0) {
        for (std::uint32_t l = 0; l < known; l++) lookahead.learn(l, routers.specs[l], kUsed);
    }
    Ahead(const Routers& routers, std::uint32_t distance) : Ahead(routers, distance, routers.specs.size()) {}

    void predict(const Site& site) {
        lookahead.score(site, 0, 1);
        lookahead.publish(site);
    }
    std::set<std::uint32_t> read_early(std::uint32_t layer) {
        while (rig.store->queued_prefetch() > 0) std::this_thread::yield();
        std::set<std::uint32_t> out;
        for (std::uint32_t e = 0; e < 8; e++) {
            if (rig.resident(layer, e)) out.insert(e);
        }
        return out;
    }
};

}  // namespace

TEST_CASE("the next layer's choice is read early, its norm in place of this layer's") {
    const Routers routers(3);
    Ahead ahead(routers, 2);
    const Site site = routers.site(0);
    for (int i = 0; i < 3; i++) ahead.lookahead.score(site, i, 3);
    ahead.lookahead.publish(site);
    CHECK(ahead.read_early(1) == routers.chosen(1));
    CHECK(ahead.read_early(2) == routers.chosen(2));
    CHECK(ahead.read_early(0).empty());
}

TEST_CASE("the width says how many experts of a layer are guessed, whatever it selects") {
    const Routers routers(2);
    Ahead ahead(routers, 1);
    ahead.lookahead.set_width(1);
    ahead.predict(routers.site(0));
    CHECK(ahead.read_early(1).size() == 1);
    ahead.lookahead.set_width(50);
    ahead.predict(routers.site(0));
    CHECK(ahead.read_early(1).size() == 8);
}

TEST_CASE("a bias that decides the choice decides the guess") {
    const Routers routers(2, true);
    Ahead ahead(routers, 1);
    ahead.predict(routers.site(0));
    CHECK(ahead.read_early(1).count(3) == 1);
}

TEST_CASE("recall counts which of the chosen experts had been guessed, by distance") {
    const Routers routers(2);
    Ahead ahead(routers, 1);
    ahead.predict(routers.site(0));
    const std::set<std::uint32_t> guessed = routers.chosen(1);
    std::uint32_t other = 0;
    while (guessed.count(other) != 0) other++;
    const std::uint32_t chosen[] = {*guessed.begin(), other};
    ahead.lookahead.judge(1, chosen, 2);
    CHECK(ahead.rig.counters.selected[0].load() == 2);
    CHECK(ahead.rig.counters.recalled[0].load() == 1);
    ahead.lookahead.judge(1, chosen, 2);
    CHECK(ahead.rig.counters.selected[0].load() == 2);
}

TEST_CASE("switched off, or with a router it cannot read, nothing is guessed and nothing breaks") {
    Routers routers(3);
    CHECK_FALSE(Ahead(routers, 0).lookahead.on());
    Ahead ahead(routers, 2, 1);
    RouterSpec narrow = routers.specs[1];
    narrow.matrix = floats(routers.context.get(), random_floats(40 * 8, 3), 40, 8);  // not whole blocks
    narrow.norm = nullptr;
    ahead.lookahead.learn(1, narrow, kUsed);
    CHECK(ahead.lookahead.knows(0));
    CHECK_FALSE(ahead.lookahead.knows(1));
    ahead.predict(routers.site(0));
    for (std::uint32_t l = 0; l < 3; l++) CHECK(ahead.read_early(l).empty());
}

TEST_CASE("routers kept in half precision are read too") {
    Routers routers(2);
    for (RouterSpec& spec : routers.specs) {
        ggml_tensor* half = ggml_new_tensor_2d(routers.context.get(), GGML_TYPE_F16, kWidth, 8);
        ggml_fp32_to_fp16_row(static_cast<const float*>(spec.matrix->data), static_cast<ggml_fp16_t*>(half->data),
                              kWidth * 8);
        spec.matrix = half;
    }
    const Routers exact(2);
    Ahead ahead(routers, 1);
    ahead.predict(routers.site(0));
    CHECK(ahead.read_early(1) == exact.chosen(1));
}

TEST_CASE("the first layer's choice is read early from a norm before it") {
    const Routers routers(2);
    Ahead ahead(routers, 2);
    const std::vector<float> scale = random_floats(kWidth, 7, 0.2F);
    std::vector<float> x(kWidth);
    for (std::size_t i = 0; i < x.size(); i++) x[i] = routers.stream[i] * scale[i];
    ahead.lookahead.learn_before(floats(routers.context.get(), scale, kWidth));
    ahead.predict({Source::kBefore, 0, floats(routers.context.get(), x, kWidth), nullptr});
    CHECK(ahead.read_early(0) == routers.chosen(0));
    CHECK(ahead.read_early(1) == routers.chosen(1));
    CHECK(ahead.read_early(2).empty());
}

TEST_CASE("what a shared expert adds to the stream changes the guess, and the later guess is the one counted") {
    const Routers routers(2);
    Ahead ahead(routers, 1);
    const std::vector<float> before = random_floats(kWidth, 3, 20.0F);
    std::vector<float> added(kWidth);
    for (std::size_t i = 0; i < added.size(); i++) added[i] = 5.0F * routers.stream[i] - before[i];
    Site router{Source::kRouter, 1, floats(routers.context.get(), before, kWidth), nullptr};
    ahead.predict(router);
    const std::set<std::uint32_t> early = ahead.read_early(1);
    REQUIRE(early != routers.chosen(1));
    ahead.predict({Source::kShared, 1, router.input, floats(routers.context.get(), added, kWidth)});
    std::set<std::uint32_t> both = routers.chosen(1);
    both.insert(early.begin(), early.end());
    CHECK(ahead.read_early(1) == both);
    const std::set<std::uint32_t> right = routers.chosen(1);
    const std::vector<std::uint32_t> by_rank(right.begin(), right.end());
    ahead.lookahead.judge(1, by_rank.data(), by_rank.size());
    CHECK(ahead.rig.counters.selected[0].load() == kUsed);
    CHECK(ahead.rig.counters.recalled[0].load() == kUsed);
}

TEST_CASE("a layer whose router is not understood is guessed to choose as it did for the last token") {
    const Routers routers(3);
    Ahead ahead(routers, 2, 2);
    const std::uint32_t last[] = {6, 2};
    ahead.lookahead.repeat(0);
    CHECK(ahead.read_early(2).empty());  // nothing known yet
    for (std::uint32_t l = 0; l < 3; l++) ahead.lookahead.judge(l, last, 2);
    ahead.lookahead.repeat(0);
    CHECK(ahead.read_early(1).empty());  // its router says
    CHECK(ahead.read_early(2) == std::set<std::uint32_t>{2, 6});
    const std::uint32_t now[] = {1, 6};
    ahead.lookahead.judge(2, now, 2);
    CHECK(ahead.rig.counters.selected[1].load() == 2);
    CHECK(ahead.rig.counters.recalled[1].load() == 1);
}
