// Predicts which experts the next layers will select, from what one layer's router sees.
//
// The residual stream changes little from layer to layer, so the router of layer L + d applied to the
// input of layer L's router finds most of what L + d will select (Eliseev and Mazur 2023; measured in
// docs/benchmarks.md). The norm between them is accounted for: x is divided by layer L's norm weights
// and multiplied by layer L + d's. Routers are kept as 8-bit copies with their norm folded in, a
// quarter of their size to read; a prediction chooses what is read early and never what is computed.
//
// Threads: learn() before any other call; score() by every thread of a team, each its share, with a
// barrier before publish() by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "expert_store.h"
#include "likelihood.h"
#include "router_graph.h"
#include "row_kernel.h"

namespace gannet {

class Lookahead {
  public:
    // distance: layers ahead, 0 is off.
    // bar: least probability of a prediction that is read; below 0 it follows how idle the drive is.
    Lookahead(ExpertStore& store, std::uint32_t distance, double bar);

    // Between tokens only: no team may be inside.
    void set_distance(std::uint32_t distance) { distance_ = std::min(distance, kMaxDistance); }

    bool on() const { return distance_ > 0; }
    bool knows(std::uint32_t layer) const { return !layers_[layer].matrix.empty(); }
    // Folds and packs a layer's router; its weights must be in memory.
    void learn(std::uint32_t layer, const RouterSpec& router, std::uint32_t n_used);
    // Scores the experts of the layers after `layer`, from x, the input of its router; share ith of nth.
    void score(std::uint32_t layer, const float* x, int ith, int nth);
    // Hands the best of them to the store.
    void publish(std::uint32_t layer);
    // What was guessed of a layer and is not judged yet, by distance - 1 and rank.
    const std::vector<std::vector<Predicted>>& guesses(std::uint32_t layer) const { return layers_[layer].guesses; }
    // Layer has selected: how many of these had been predicted, by distance.
    void judge(std::uint32_t layer, const std::uint32_t* chosen, std::size_t n);

  private:
    struct Layer {
        std::vector<std::byte> matrix;    // rows of the kernel's type, the norm folded in
        std::vector<float> inverse_norm;  // 1 / norm weight, or empty
        std::vector<float> logit_bias;
        std::vector<float> select_bias;
        Gating gating = Gating::kMonotonic;
        std::uint32_t n_experts = 0;
        std::uint32_t n_used = 0;
        std::int64_t width = 0;
        std::size_t row_bytes = 0;
        RowKernel kernel;
        std::vector<std::vector<float>> scores;       // by distance - 1
        std::vector<std::vector<Predicted>> guesses;  // by distance - 1, by rank
    };

    void guess(std::uint32_t layer, std::uint32_t distance);

    ExpertStore& store_;
    std::uint32_t distance_;
    double bar_;
    std::vector<Layer> layers_;
    std::vector<std::uint32_t> best_;       // experts by score, reused
    std::optional<Likelihood> likelihood_;  // once a router is known
};

}  // namespace gannet
