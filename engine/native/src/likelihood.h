// How likely a predicted expert is to be needed, and which predictions are worth a read.
//
// Only predictions that are not resident cost a read, and how often those come true falls steeply
// with their rank and the distance they were made at. This keeps that precision as online counters,
// gives each prediction its place in the waiting list, and sets the bar by how idle the drive is.
//
// Pure: no I/O, threads, clocks or ggml; every call is O(1). Not thread safe. When a layer has chosen,
// resolved() is to be called for every guess that was not resident, read or not: counting only those
// that were read would hide what a higher bar costs.
#pragma once

#include <cstdint>
#include <vector>

namespace gannet {

struct LikelihoodSettings {
    std::uint32_t n_distances = 4;       // distances 1..n
    std::uint32_t n_ranks = 32;          // ranks 0..n-1; later ones share the last counter
    double half_life_guesses = 512.0;    // per counter: a model's topic moves, and so does recall
    double prior_guesses = 16.0;         // what the prior weighs, in guesses
    double urgency_per_layer = 0.8;      // value of a read needed a layer later, as a share
    double bar_idle = 0.5;               // least probability read when the drive is idle
    double bar_busy = 0.8;               // and when it is not
    double idle_share_for_lowest = 0.3;  // idle share from which on the lowest bar holds
};

class Likelihood {
  public:
    // n_used: experts that a router selects per token; the prior's precision falls around that rank.
    // Throws std::invalid_argument for zero sizes.
    explicit Likelihood(std::uint32_t n_used, LikelihoodSettings settings = {});

    // A guess that was not resident when made has been decided: its layer ran.
    void resolved(std::uint32_t distance, std::uint32_t rank, bool selected);

    // Share of such guesses that come true, 0 to 1. distance >= 1, rank >= 0 (best guess).
    double probability(std::uint32_t distance, std::uint32_t rank) const;

    // What the waiting list is sorted by, larger first: probability times urgency. layers_left is how
    // many layers run before the guess's own (0: it is the next one to run).
    double priority(std::uint32_t distance, std::uint32_t rank, std::uint32_t layers_left) const;

    // Least probability worth a read while the drive idles this share of the time, 0 to 1.
    double bar(double idle_share) const;

    const LikelihoodSettings& settings() const { return settings_; }

  private:
    struct Counter {
        double hits = 0.0;
        double guesses = 0.0;
        double prior = 0.0;  // the share to start from
    };
    std::size_t index(std::uint32_t distance, std::uint32_t rank) const;
    double prior(std::uint32_t distance, std::uint32_t rank) const;

    double n_used_;
    LikelihoodSettings settings_;
    double decay_;
    std::vector<Counter> counters_;  // [distance - 1][rank]
    std::vector<double> urgency_;    // by layers left
};

// The share of recent time in which the drive had room for more, fed by the reader in busy seconds.
class DriveIdle {
  public:
    // memory_seconds: time after which an observation counts 1/e.
    explicit DriveIdle(double memory_seconds = 1.0);
    // Of the last `elapsed` seconds the drive was fully used for `busy` seconds. Zero elapsed is ignored.
    void observe(double busy_seconds, double elapsed_seconds);
    double share() const { return share_; }

  private:
    double memory_seconds_;
    double share_ = 0.5;  // until measured: neither
};

}  // namespace gannet
