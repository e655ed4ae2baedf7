// Predicts which experts the next layers will select, from what one layer's router sees.
//
// The residual stream changes little from layer to layer, so the router of layer L + d applied to the
// input of layer L's router finds most of what L + d will select (Eliseev and Mazur 2023; measured in
// docs/benchmarks.md). The norm between them is accounted for: x is divided by layer L's norm weights
// and multiplied by layer L + d's. Routers are kept as 8-bit copies with their norm folded in, a
// quarter of their size to read; a prediction chooses what is read early and never what is computed.
//
// Other sources: the stream with the shared expert's output added, where a model has one; the stream
// before the first streamed layer, which no router of an earlier one sees; and, where a router is not
// understood, what its layer selected for the last token. How often predictions come true is counted
// for each source by itself.
//
// Threads: learn() before any other call; score() by every thread of a team, each its share, with a
// barrier before publish() by one; the others by one thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "expert_store.h"
#include "likelihood.h"
#include "router_correction.h"
#include "router_graph.h"
#include "row_kernel.h"

namespace gannet {

enum class Source : std::uint8_t {
    kRouter,  // the input of an earlier layer's router
    kShared,  // the stream there and the shared expert's output
    kBefore,  // the stream before the first streamed layer
    kRepeat,  // the selection for the last token
};
constexpr std::size_t kSources = 4;

// A point of the graph from which layers are predicted.
struct Site {
    Source source = Source::kRouter;
    std::uint32_t first = 0;              // the next streamed layer to run
    const ggml_tensor* input = nullptr;   // kRouter, kBefore: the normed stream; kShared: the stream
    const ggml_tensor* shared = nullptr;  // kShared: what is added to it
};

class Lookahead {
  public:
    // distance: layers ahead, 0 is off.
    // bar: least probability of a prediction that is read; below 0 it follows how idle the drive is.
    Lookahead(ExpertStore& store, std::uint32_t distance, double bar);

    // Between tokens only: no team may be inside.
    void set_distance(std::uint32_t distance) { distance_ = std::min(distance, kMaxDistance); }
    void set_bar(double bar) { bar_ = bar; }
    // Experts guessed a layer; 0: as many as it selects.
    void set_width(std::uint32_t width) { width_ = width; }

    // What a fit found to be missing from routers that are applied early; null: nothing. Must outlive this.
    void correct_with(const RouterCorrections* corrections) { corrections_ = corrections; }

    bool on() const { return distance_ > 0; }
    bool knows(std::uint32_t layer) const { return !layers_[layer].matrix.empty(); }
    // Folds and packs a layer's router; its weights must be in memory.
    void learn(std::uint32_t layer, const RouterSpec& router, std::uint32_t n_used);
    // The weights of the norm before the site kBefore; null: none.
    void learn_before(const ggml_tensor* norm);
    // Scores the experts of the layers from site.first on; share ith of nth.
    void score(const Site& site, int ith, int nth);
    // Hands the best of them to the store.
    void publish(const Site& site);
    // What earlier layers' routers guessed of a layer and is not judged yet, by distance - 1 and rank.
    const std::vector<std::vector<Predicted>>& guesses(std::uint32_t layer) const {
        return layers_[layer].guesses[static_cast<std::size_t>(Source::kRouter)];
    }
    // Layer has selected, by rank: counts how many of these had been predicted, by distance.
    void judge(std::uint32_t layer, const std::uint32_t* chosen, std::size_t n);
    // Predicts those layers after this one that no router can, from what they selected for the last token.
    void repeat(std::uint32_t layer);

  private:
    using Guesses = std::vector<std::vector<Predicted>>;  // by distance - 1, by rank
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
        std::array<std::vector<float>, kMaxDistance> scores;  // by distance - 1
        std::array<Guesses, kSources> guesses;
        std::vector<std::uint32_t> last;  // selected for the last token, where the router is not understood
    };

    // Calls visit(layer, distance) for the layers that can be predicted at the site.
    template <typename F>
    void for_each_target(const Site& site, F visit);
    const RouterCorrection* correction(const Site& site, std::uint32_t layer, std::uint32_t distance) const;
    void guess(std::uint32_t layer, std::uint32_t distance, Source source);
    void fill(std::uint32_t layer, std::uint32_t distance, Source source, const std::uint32_t* best, std::size_t n);
    void hand_over(std::uint32_t layer, std::uint32_t distance, Source source);
    Likelihood& likelihood(Source source, std::size_t n_used);

    ExpertStore& store_;
    std::uint32_t distance_;
    double bar_;
    const RouterCorrections* corrections_ = nullptr;
    std::uint32_t width_ = 0;
    std::vector<Layer> layers_;
    std::vector<float> before_inverse_norm_;
    std::vector<std::uint32_t> best_;  // experts by score, reused
    std::array<std::optional<Likelihood>, kSources> likelihoods_;
};

}  // namespace gannet
