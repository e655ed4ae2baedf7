#include "simulation.h"

#include <doctest/doctest.h>

#include <random>
#include <stdexcept>

using namespace gannet;

namespace {

// Skewed and sticky routing: each layer keeps half of its last choice.
RoutingLog sticky_log(std::uint32_t n_layers, std::uint32_t n_experts, std::uint32_t n_used, std::uint32_t n_tokens) {
    RoutingLog log;
    log.n_layers = n_layers;
    log.n_experts = n_experts;
    log.n_used = n_used;
    std::mt19937 random(7);
    std::vector<std::uint16_t> now(std::size_t{n_layers} * n_used);
    for (std::uint32_t t = 0; t < n_tokens; t++) {
        for (std::uint32_t l = 0; l < n_layers; l++) {
            std::vector<char> taken(n_experts, 0);
            for (std::uint32_t k = 0; k < n_used; k++) {
                std::uint16_t e = now[l * n_used + k];
                const bool keep = t > 0 && random() % 2 == 0;
                while (!keep || taken[e] != 0) {
                    e = static_cast<std::uint16_t>(std::min(random() % n_experts, random() % n_experts));
                    if (taken[e] == 0) break;
                }
                taken[e] = 1;
                now[l * n_used + k] = e;
            }
            log.selected.insert(log.selected.end(), now.begin() + l * n_used, now.begin() + (l + 1) * n_used);
        }
    }
    return log;
}

SimulationSettings with(const char* policy, std::uint32_t slots) {
    SimulationSettings settings;
    settings.policy = policy;
    settings.slots = slots;
    settings.warm_tokens = 0;
    return settings;
}

// Predicts every layer perfectly, one layer ahead.
void predict_perfectly(RoutingLog& log) {
    log.n_distances = 1;
    log.n_ranks = log.n_used;
    log.predicted = log.selected;
    for (std::size_t t = 0; t < log.n_tokens(); t++) {
        for (std::uint32_t k = 0; k < log.n_used; k++) {
            log.predicted[t * log.n_layers * log.n_used + k] = RoutingLog::kNone;
        }
    }
}

}  // namespace

TEST_CASE("no policy misses less than Belady's bound, and a cache of everything misses each expert once") {
    const RoutingLog log = sticky_log(4, 16, 3, 200);
    for (const char* policy :
         {"shipped", "lru", "turn-lru", "lfu", "lirs", "arc", "2q", "decay:64", "mix:4,256:0.1:0.25"}) {
        CAPTURE(policy);
        for (const std::uint32_t slots : {4U, 8U, 24U, 48U}) {
            for (const bool per_layer : {false, true}) {
                SimulationSettings settings = with(policy, slots);
                settings.per_layer = per_layer;
                const SimulationResult result = simulate(log, settings);
                CHECK(result.lookups == 4 * 3 * 200);
                CHECK(result.misses >= belady(log, settings).misses);
                CHECK(result.misses <= result.lookups);
            }
        }
        CHECK(simulate(log, with(policy, 64)).misses == belady(log, with(policy, 64)).misses);
    }
}

TEST_CASE("Belady's bound on a trace worked out by hand") {
    RoutingLog log;
    log.n_layers = 1;
    log.n_experts = 4;
    log.n_used = 1;
    log.selected = {0, 1, 2, 0, 1, 3, 0, 2, 1};
    CHECK(belady(log, with("", 1)).misses == 9);
    CHECK(belady(log, with("", 2)).misses == 7);
    CHECK(belady(log, with("", 3)).misses == 5);
    CHECK(belady(log, with("", 4)).misses == 4);
    CHECK(simulate(log, with("lru", 2)).misses == 9);
}

TEST_CASE("the shipped policy keeps more than LRU on routing with favourites") {
    const RoutingLog log = sticky_log(8, 32, 4, 400);
    CHECK(simulate(log, with("shipped", 64)).misses < simulate(log, with("lru", 64)).misses);
}

TEST_CASE("perfect predictions leave misses only where nothing can be predicted") {
    RoutingLog log = sticky_log(4, 16, 3, 200);
    predict_perfectly(log);
    SimulationSettings settings = with("shipped", 24);
    const SimulationResult blind = simulate(log, settings);
    settings.lookahead = 1;
    const SimulationResult seeing = simulate(log, settings);
    CHECK(seeing.misses < blind.misses / 3);
    CHECK(seeing.useful == seeing.prefetched);
    settings.bar = 1.5;
    CHECK(simulate(log, settings).prefetched == 0);
}

TEST_CASE("a prompt asks for each expert of a layer once, and leaves what it used to the tokens after it") {
    RoutingLog log;
    log.n_layers = 1;
    log.n_experts = 6;
    log.n_used = 1;
    log.selected = {0, 1, 0, 2, 1, 2, 0, 3};
    log.passes = {5, 1, 1, 1};  // a prompt that uses 0, 1 and 2, then tokens that use 2, 0 and 3
    for (const char* policy :
         {"shipped", "lru", "turn-lru", "lfu", "lirs", "arc", "2q", "decay:64", "aged:64:0.25", "mix:4,256:0.1:0.25"}) {
        CAPTURE(policy);
        const SimulationResult result = simulate(log, with(policy, 3));
        CHECK(result.prompt_lookups == 3);
        CHECK(result.prompt_misses == 3);
        CHECK(result.lookups == 3);
        CHECK(result.misses == 1);
    }
    const SimulationResult bound = belady(log, with("", 3));
    CHECK(bound.prompt_misses == 3);
    CHECK(bound.misses == 1);
}

TEST_CASE("a prompt of more experts than slots runs in waves: each is read once, those in memory not at all") {
    RoutingLog log;
    log.n_layers = 2;
    log.n_experts = 8;
    log.n_used = 2;
    for (std::uint16_t e = 0; e < 8; e += 2) {
        for (int layer = 0; layer < 2; layer++) log.selected.insert(log.selected.end(), {e, std::uint16_t(e + 1)});
    }
    log.passes = {4};
    for (const char* policy : {"shipped", "lru", "lfu", "arc", "2q"}) {
        CAPTURE(policy);
        CHECK(simulate(log, with(policy, 3)).prompt_misses == 16);
        CHECK(simulate(log, with(policy, 16)).prompt_misses == 16);
    }
    CHECK(belady(log, with("", 3)).prompt_misses == 16);
    RoutingLog pruned = log;  // its last layer is left with the last token alone
    for (std::size_t token = 0; token < 3; token++) {
        for (std::size_t k = 0; k < 2; k++) pruned.selected[token * 4 + 2 + k] = RoutingLog::kNone;
    }
    CHECK(simulate(pruned, with("shipped", 16)).prompt_misses == 10);
    CHECK(belady(pruned, with("", 16)).prompt_misses == 10);
    pruned.passes = {1, 1, 1, 1};
    CHECK_THROWS_AS(simulate(pruned, with("shipped", 16)), std::invalid_argument);
    log.passes = {4, 4};
    log.selected.insert(log.selected.end(), log.selected.begin(), log.selected.end());
    CHECK(simulate(log, with("shipped", 16)).prompt_misses == 16);
    CHECK(belady(log, with("", 12)).prompt_misses < 32);
    CHECK(simulate(log, with("shipped", 12)).prompt_misses >= belady(log, with("", 12)).prompt_misses);
}

TEST_CASE("damaged logs, unknown policies and caches below one layer's experts are refused") {
    RoutingLog log = sticky_log(2, 8, 2, 10);
    CHECK_THROWS_AS(simulate(log, with("best", 8)), std::invalid_argument);
    CHECK_THROWS_AS(simulate(log, with("decay:0", 8)), std::invalid_argument);
    CHECK_THROWS_AS(simulate(log, with("lru", 1)), std::invalid_argument);
    log.passes = {4, 5};
    CHECK_THROWS_AS(simulate(log, with("lru", 8)), std::invalid_argument);
    log.passes = {4, 0, 6};
    CHECK_THROWS_AS(simulate(log, with("lru", 8)), std::invalid_argument);
    log.passes.clear();
    log.selected[3] = 8;
    CHECK_THROWS_AS(belady(log, with("", 8)), std::invalid_argument);
    log.selected.pop_back();
    CHECK_THROWS_AS(simulate(log, with("lru", 8)), std::invalid_argument);
}
