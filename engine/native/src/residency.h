// Which resident expert is worth least: the eviction policy, and nothing else.
//
// Pure: no I/O, threads, clocks or ggml. It knows experts, not slots; the store asks it for the
// worth of what is evictable and evicts the minimum. Not thread safe: the store calls it under its
// own lock. Every call is O(1), except one pass over all experts every few thousand tokens.
//
// Time is counted in tokens. A use made at token t weighs 2^((t - now) / half_life), so an expert's
// decayed count is the sum of its uses' weights (LRFU, Lee et al. 2001). Only ratios matter, so
// uses are added with the growing weight 2^(t / half_life) and stored sums never need touching:
// the order of two experts changes only when one of them is used.
#pragma once

#include <cstdint>
#include <vector>

namespace gannet {

using Key = std::uint32_t;  // layer * n_experts + expert

struct ResidencySettings {
    double half_life_tokens = 64.0;  // a use this many tokens ago counts half
};

// Comparable value of keeping an expert. Smaller leaves first: by count, then least recently used,
// then lower key, so that no two experts are equal and eviction is deterministic.
struct Worth {
    double count = 0.0;
    std::uint64_t last_use = 0;
    Key key = 0;
};
bool operator<(const Worth& a, const Worth& b);

class Residency {
  public:
    // Throws std::invalid_argument for zero sizes or a half-life that is not positive.
    Residency(std::uint32_t n_layers, std::uint32_t n_experts, ResidencySettings settings = {});

    // One decoded token begins: time moves on by one, counts order.
    void begin_token();
    // A prompt's ubatch of n_tokens begins: time moves on by n_tokens.
    void begin_prompt(std::uint32_t n_tokens);

    // The router selected this expert for `rows` tokens of the current token or ubatch, and it ran.
    // `weight`: the rows' worth in uses made now, see decay(); by default all are spread evenly over
    // the ubatch.
    void used(Key key, std::uint32_t rows = 1);
    void used(Key key, std::uint32_t rows, double weight);
    // What a use made so many tokens before now is worth beside one made now.
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

    Worth worth(Key key) const;

    // Census: how often each expert was selected since construction, in rows, never decayed.
    // Indexed by key, n_layers * n_experts long.
    const std::vector<std::uint64_t>& uses() const { return uses_; }

    std::uint32_t n_layers() const { return n_layers_; }
    std::uint32_t n_experts() const { return n_experts_; }

  private:
    void advance(std::uint32_t n_tokens);
    void rescale();
    std::uint64_t next_run(std::uint32_t layer) const;

    std::uint32_t n_layers_;
    std::uint32_t n_experts_;
    ResidencySettings settings_;

    double token_ = 0.0;       // tokens since the last rescale
    double weight_ = 1.0;      // weight of one use now, 2^(token_ / half_life)
    double row_weight_ = 1.0;  // weight of one row of the current token or ubatch
    bool prompt_ = false;      // recency orders
    std::uint64_t pass_ = 1;   // tokens and ubatches begun
    std::uint64_t clock_ = 0;  // uses and fetches so far, orders ties

    std::vector<double> count_;           // by key: sum of use weights
    std::vector<std::uint64_t> touched_;  // by key: clock_ at the last use or fetch
    std::vector<std::uint64_t> uses_;     // by key: undecayed
    std::vector<std::uint64_t> awaited_;  // by key: the pass it is predicted for, 0 never
    std::vector<char> unproven_;          // by key: prefetched and not used since
    std::vector<std::uint64_t> ran_;      // by layer: the last pass that ran it
};

}  // namespace gannet
