// Which resident expert is worth least: the eviction policy, and nothing else.
//
// Pure: no I/O, threads, clocks or ggml. It knows experts, not slots; the store asks it for the
// worth of what is evictable and evicts the minimum. Not thread safe: the store calls it under its
// own lock. Calls are O(1); layer_ran() and the first worth() after a layer's uses are O(experts of the
// layer), and every hundred thousand tokens there is one pass over all experts.
//
// An expert's worth is its chance to be selected when its layer runs next, divided by how long a
// slot is held until then: hits per slot and time (LHD, Beckmann et al. 2018). Layers run in turn, so
// an expert of a layer that has just run is wanted a whole token later than one of the next layer.
//
// The chance is the expert's share of its layer's turns, later ones counting more (LRFU, Lee et al.
// 2001), corrected by what its age, the turns since its last use, was seen to mean: for each age the
// uses that came and the uses that the shares alone promised are counted. Where routing sticks
// from token to token this becomes recency, where it does not it stays frequency, without a constant
// to tune for a model. docs/policy.md has the comparison.
#pragma once

#include <cstdint>
#include <vector>

namespace gannet {

using Key = std::uint32_t;  // layer * n_experts + expert

struct ResidencySettings {
    double half_life_tokens = 512.0;   // a use this many tokens ago counts half
    double held_offset_tokens = 0.25;  // added to the time to the next turn: tempers its effect
};

// Comparable value of keeping an expert. Smaller leaves first: by hits per slot and token, then least
// recently used, then lower key, so that no two experts are equal and eviction is deterministic.
// Comparable only with worths asked for at the same moment.
struct Worth {
    double density = 0.0;
    std::uint64_t last_use = 0;
    Key key = 0;
};
bool operator<(const Worth& a, const Worth& b);

class Residency {
  public:
    // Throws std::invalid_argument for zero sizes, or a half-life or offset that is not positive.
    Residency(std::uint32_t n_layers, std::uint32_t n_experts, ResidencySettings settings = {});

    // One decoded token begins: time moves on by one, counts order.
    void begin_token();
    // A prompt's ubatch of n_tokens begins: time moves on by n_tokens.
    void begin_prompt(std::uint32_t n_tokens);

    // The router selected this expert for `rows` tokens of the current token or ubatch.
    // `weight`: the sum of decay() over those rows, which tells how near the ubatch's end the last one
    // is; by default they are spread evenly over it.
    void used(Key key, std::uint32_t rows = 1);
    void used(Key key, std::uint32_t rows, double weight);
    // What a row so many tokens before the end of its ubatch adds to its weight.
    double decay(std::uint32_t tokens_ago) const;
    // The expert became (or is about to become) resident. A speculative one is worth 0 until used.
    void fetched(Key key, bool speculative);

    // Predicted for the next run of its layer. Shielded until that layer has run.
    void expect(Key key);
    // All experts of this layer were selected and run for the current token or ubatch.
    void layer_ran(std::uint32_t layer);
    // True between expect() and the run that it predicted. A prefetch must never evict a shielded
    // expert; a demand read only when nothing else is left.
    bool shielded(Key key) const;

    Worth worth(Key key) const { return {density(key), touched_[key], key}; }
    // The worth without its ties: what a search for the least looks at first.
    double density(Key key) const {
        if (stale_ < n_layers_) refresh(stale_);
        return unproven_[key] != 0 ? 0.0 : chance_[key] / held_[key / n_experts_];
    }

    // Starts the shares from an earlier session's census (uses() of it, or merged ones), so that
    // a warm cache is not evicted in any order. n_used: experts a router selects per token. It weighs
    // half as much as a long session. Ignored if its size is not that of uses().
    void recall(const std::vector<std::uint64_t>& uses, std::uint32_t n_used);

    // Census: how often each expert was selected since construction, in rows, never decayed.
    // Indexed by key, n_layers * n_experts long.
    const std::vector<std::uint64_t>& uses() const { return uses_; }
    // By key: the token of the last use, counted from 1 since construction, prompts' tokens included; 0 never.
    const std::vector<std::uint64_t>& last_uses() const { return last_token_; }

    std::uint32_t n_layers() const { return n_layers_; }
    std::uint32_t n_experts() const { return n_experts_; }

  private:
    // Ages by powers of two: 1, 2, 3-4, 5-8, ... turns since the last use.
    static constexpr std::size_t kAges = 16;
    static std::size_t age_class(std::uint64_t turns);

    void advance(std::uint32_t n_tokens);
    void rescale();
    void count(Key key, std::uint32_t rows, std::uint64_t tokens_ago);
    void learn_ages(std::uint32_t layer);
    void correct_ages();
    void see_layer(std::uint32_t layer);
    void refresh(std::uint32_t layer) const;
    std::uint64_t next_run(std::uint32_t layer) const;

    std::uint32_t n_layers_;
    std::uint32_t n_experts_;
    ResidencySettings settings_;

    std::uint64_t token_ = 0;         // tokens begun
    std::uint64_t rescaled_ = 0;      // the token whose uses weigh 1
    double weight_ = 1.0;             // of one use now
    double turns_ = 0.0;              // the sum of the weights of all tokens: what always used would have
    std::uint32_t pass_tokens_ = 1;   // tokens of the current pass
    bool prompt_ = false;             // the current pass is a prompt's ubatch
    std::uint32_t now_layer_ = 0;     // the layer that runs, or ran last
    std::uint64_t pass_ = 1;          // tokens and ubatches begun
    std::uint64_t clock_ = 0;         // uses and fetches so far, orders ties
    std::vector<double> came_;        // by age class: uses seen ...
    std::vector<double> promised_;    // ... and expected of the shares alone, both fading
    std::vector<double> correction_;  // and their ratio

    // By key: the chance at its layer's next turn. It stays as it is from one turn of the layer to the next.
    mutable std::vector<double> chance_;
    mutable std::uint32_t stale_ = 0;  // the layer whose chances are to be computed again, n_layers_: none

    std::vector<double> sums_;                // by key: weights of its uses
    std::vector<std::uint64_t> last_token_;   // by key: the token of its last use, 0 never
    std::vector<std::uint64_t> prior_token_;  // by key: the same before the current pass
    std::vector<std::uint64_t> touched_;      // by key: clock_ at the last use or fetch
    std::vector<std::uint64_t> uses_;         // by key: undecayed
    std::vector<std::uint64_t> awaited_;      // by key: the pass it is predicted for, 0 never
    std::vector<char> unproven_;              // by key: prefetched and not used since
    std::vector<std::uint64_t> ran_;          // by layer: the last pass that ran it
    std::vector<double> held_;                // by layer: tokens until its next turn, and the offset
};

}  // namespace gannet
