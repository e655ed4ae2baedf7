// Replays a recorded routing trace over an expert cache: misses of a policy, and Belady's bound.
//
// Pure: no I/O, threads, clocks or ggml. The cache is a set of keys with a capacity, one pool for all
// layers or a quota for each; time is the order of the trace. What is simulated is which experts are
// resident, not how long a read takes: a prefetch arrives before its layer runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "residency.h"

namespace gannet {

// Routing of tokens, in order. predicted may be empty (n_distances 0).
struct RoutingLog {
    static constexpr std::uint16_t kNone = 0xFFFF;

    std::uint32_t n_layers = 0;
    std::uint32_t n_experts = 0;
    std::uint32_t n_used = 0;
    std::uint32_t n_distances = 0;
    std::uint32_t n_ranks = 0;
    std::vector<std::uint16_t> selected;   // [token][layer][n_used]
    std::vector<std::uint16_t> predicted;  // [token][layer][distance - 1][rank], kNone where there is none
    // Tokens that were computed together, pass by pass: a decoded token is a pass of one, a prompt's ubatch one of
    // many, whose selected may be kNone where a token did not reach the layer. Empty: every token is a pass of its own.
    std::vector<std::uint32_t> passes;

    std::size_t n_tokens() const;
    const std::uint16_t* chosen(std::size_t token, std::uint32_t layer) const;
    const std::uint16_t* guessed(std::size_t token, std::uint32_t layer, std::uint32_t distance) const;
    // Throws std::invalid_argument if sizes disagree or an expert is out of range.
    void check() const;
};

// What the simulator asks of a policy; a larger worth stays longer.
class EvictionPolicy {
  public:
    virtual ~EvictionPolicy() = default;
    virtual void begin_token() {}
    virtual void begin_prompt(std::uint32_t n_tokens) {
        for (std::uint32_t t = 0; t < n_tokens; t++) begin_token();
    }
    virtual void used(Key key) = 0;
    // By so many rows of a prompt; weight: the sum of decay() over them.
    virtual void used_by(Key key, std::uint32_t /*rows*/, double /*weight*/) { used(key); }
    virtual double decay(std::uint32_t /*tokens_ago*/) const { return 0.0; }
    virtual void fetched(Key, bool /*speculative*/) {}
    virtual void evicted(Key) {}
    virtual void layer_ran(std::uint32_t) {}
    // Whether worth(a) < worth(b).
    virtual bool leaves_before(Key a, Key b) const = 0;
};

// "shipped" (Residency as the engine uses it), "lru", "lfu", "decay:H" (uses halved every H tokens),
// "turn-lru" (age counted in turns of the expert's own layer), "arc", "2q", "lirs",
// "mix:H1,H2:W:A" (hazard from two half-lives, W the share of the first, over the distance to the
// layer's next turn plus A turns). slots: the capacity, for the policies that adapt to it.
// Throws std::invalid_argument for another name.
std::unique_ptr<EvictionPolicy> make_policy(const std::string& name, const RoutingLog& log, std::uint32_t slots);

struct SimulationSettings {
    std::string policy = "shipped";
    std::uint32_t slots = 0;         // capacity in experts, all layers together
    bool per_layer = false;          // slots / n_layers for each layer, at least n_used
    std::uint32_t lookahead = 0;     // prefetch predictions up to this many layers ahead
    double bar = 0.5;                // least likelihood of a prediction that is prefetched
    bool shield = true;              // prefetches do not evict experts predicted for layers to come
    std::uint32_t warm_tokens = 20;  // not counted
};

struct SimulationResult {  // of decoded tokens after the warm-up
    std::uint64_t lookups = 0;
    std::uint64_t misses = 0;          // not resident when the layer began: a stall
    std::uint64_t prefetched = 0;      // read on a prediction
    std::uint64_t useful = 0;          // and selected by the run it was read for
    std::uint64_t prompt_lookups = 0;  // the same of all prompts, each expert of a layer once a ubatch
    std::uint64_t prompt_misses = 0;
    std::uint64_t reads() const { return misses + prefetched; }
};

// Throws std::invalid_argument for a log that fails check(), an unknown policy or too few slots for one layer.
SimulationResult simulate(const RoutingLog& log, const SimulationSettings& settings);

// Misses of the optimal policy (Belady 1966: evict what is needed last), with the same counting. With prompts the
// sum of all misses is the least possible; those of decoded tokens alone are that policy's share of it.
SimulationResult belady(const RoutingLog& log, const SimulationSettings& settings);

}  // namespace gannet
