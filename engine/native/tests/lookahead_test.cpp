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

std::set<std::uint32_t> read_early(Rig& rig, std::uint32_t layer) {
    while (rig.store->queued_prefetch() > 0) std::this_thread::yield();
    std::set<std::uint32_t> out;
    for (std::uint32_t e = 0; e < 8; e++) {
        if (rig.resident(layer, e)) out.insert(e);
    }
    return out;
}

void predict(Lookahead& ahead, const Site& site) {
    ahead.score(site, 0, 1);
    ahead.publish(site);
}

}  // namespace

TEST_CASE("the next layer's choice is read early, its norm in place of this layer's") {
    Rig rig(16);
    const Routers routers(3);
    Lookahead ahead(*rig.store, 2, 0.0);
    for (std::uint32_t l = 0; l < 3; l++) ahead.learn(l, routers.specs[l], kUsed);
    const Site site = routers.site(0);
    for (int i = 0; i < 3; i++) ahead.score(site, i, 3);
    ahead.publish(site);
    CHECK(read_early(rig, 1) == routers.chosen(1));
    CHECK(read_early(rig, 2) == routers.chosen(2));
    CHECK(read_early(rig, 0).empty());
}

TEST_CASE("the width says how many experts of a layer are guessed, whatever it selects") {
    Rig rig(16);
    const Routers routers(2);
    Lookahead ahead(*rig.store, 1, 0.0);
    for (std::uint32_t l = 0; l < 2; l++) ahead.learn(l, routers.specs[l], kUsed);
    ahead.set_width(1);
    predict(ahead, routers.site(0));
    CHECK(read_early(rig, 1).size() == 1);
    ahead.set_width(50);
    predict(ahead, routers.site(0));
    CHECK(read_early(rig, 1).size() == 8);
}

TEST_CASE("a bias that decides the choice decides the guess") {
    Rig rig(16);
    const Routers routers(2, true);
    Lookahead ahead(*rig.store, 1, 0.0);
    for (std::uint32_t l = 0; l < 2; l++) ahead.learn(l, routers.specs[l], kUsed);
    predict(ahead, routers.site(0));
    CHECK(read_early(rig, 1).count(3) == 1);
}

TEST_CASE("recall counts which of the chosen experts had been guessed, by distance") {
    Rig rig(16);
    const Routers routers(2);
    Lookahead ahead(*rig.store, 1, 0.0);
    for (std::uint32_t l = 0; l < 2; l++) ahead.learn(l, routers.specs[l], kUsed);
    predict(ahead, routers.site(0));
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
    predict(ahead, routers.site(0));
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
    predict(ahead, routers.site(0));
    CHECK(read_early(rig, 1) == exact.chosen(1));
}

TEST_CASE("the first layer's choice is read early from a norm before it") {
    Rig rig(16);
    const Routers routers(2);
    Lookahead ahead(*rig.store, 2, 0.0);
    for (std::uint32_t l = 0; l < 2; l++) ahead.learn(l, routers.specs[l], kUsed);
    const std::vector<float> scale = random_floats(kWidth, 7, 0.2F);
    std::vector<float> x(kWidth);
    for (std::size_t i = 0; i < x.size(); i++) x[i] = routers.stream[i] * scale[i];
    ahead.learn_before(floats(routers.context.get(), scale, kWidth));
    predict(ahead, {Source::kBefore, 0, floats(routers.context.get(), x, kWidth), nullptr});
    CHECK(read_early(rig, 0) == routers.chosen(0));
    CHECK(read_early(rig, 1) == routers.chosen(1));
    CHECK(read_early(rig, 2).empty());
}

TEST_CASE("what a shared expert adds to the stream changes the guess, and the later guess is the one counted") {
    Rig rig(16);
    const Routers routers(2);
    Lookahead ahead(*rig.store, 1, 0.0);
    for (std::uint32_t l = 0; l < 2; l++) ahead.learn(l, routers.specs[l], kUsed);
    const std::vector<float> before = random_floats(kWidth, 3, 20.0F);
    std::vector<float> added(kWidth);
    for (std::size_t i = 0; i < added.size(); i++) added[i] = 5.0F * routers.stream[i] - before[i];
    Site router{Source::kRouter, 1, floats(routers.context.get(), before, kWidth), nullptr};
    predict(ahead, router);
    const std::set<std::uint32_t> early = read_early(rig, 1);
    REQUIRE(early != routers.chosen(1));
    predict(ahead, {Source::kShared, 1, router.input, floats(routers.context.get(), added, kWidth)});
    std::set<std::uint32_t> both = routers.chosen(1);
    both.insert(early.begin(), early.end());
    CHECK(read_early(rig, 1) == both);
    const std::set<std::uint32_t> right = routers.chosen(1);
    const std::vector<std::uint32_t> by_rank(right.begin(), right.end());
    ahead.judge(1, by_rank.data(), by_rank.size());
    CHECK(rig.counters.selected[0].load() == kUsed);
    CHECK(rig.counters.recalled[0].load() == kUsed);
}

TEST_CASE("a layer whose router is not understood is guessed to choose as it did for the last token") {
    Rig rig(24);
    const Routers routers(3);
    Lookahead ahead(*rig.store, 2, 0.0);
    ahead.learn(0, routers.specs[0], kUsed);
    ahead.learn(1, routers.specs[1], kUsed);
    const std::uint32_t last[] = {6, 2};
    ahead.repeat(0);
    CHECK(read_early(rig, 2).empty());  // nothing known yet
    for (std::uint32_t l = 0; l < 3; l++) ahead.judge(l, last, 2);
    ahead.repeat(0);
    CHECK(read_early(rig, 1).empty());  // its router says
    CHECK(read_early(rig, 2) == std::set<std::uint32_t>{2, 6});
    const std::uint32_t now[] = {1, 6};
    ahead.judge(2, now, 2);
    CHECK(rig.counters.selected[1].load() == 2);
    CHECK(rig.counters.recalled[1].load() == 1);
}
