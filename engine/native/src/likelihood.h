// How likely a predicted expert is to be needed, and which predictions are worth a read.
//
// Only predictions that are not resident cost a read, and how often those come true falls steeply
// with their rank and the distance they were made at. This keeps that precision as online counters,
// orders the waiting list by it, and sets the bar by how idle the drive is.
//
// Pure: no I/O, threads, clocks or ggml; every call is O(1) (order_guesses: O(n log n)). Not thread
// safe. Use, on the prefetch path:
//   at layer L, for each prediction (distance 1.., rank 0..) that is not resident: make a Guess;
//   order_guesses(waiting, likelihood, L, idle.share()) drops what is not worth it and sorts;
//   when a layer starts, resolved(distance, rank, selected) for every guess made for it, read or
//   not: counting only those that were read would hide what a higher bar costs.
#pragma once

#include <cstdint>
#include <vector>

#include "residency.h"

namespace gannet {

struct LikelihoodSettings {
    std::uint32_t n_distances = 4;       // distances 1..n
    std::uint32_t n_ranks = 32;          // ranks 0..n-1; later ones share the last counter
    double half_life_guesses = 512.0;    // per counter: a model's topic moves, and so does recall
    double prior_guesses = 16.0;         // what the prior weighs, in guesses
    double urgency_per_layer = 0.8;      // value of a read needed a layer later, as a share
    double bar_idle = 0.25;              // least probability read when the drive is idle
    double bar_busy = 0.6;               // and when it is not
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

// One predicted expert that waits to be read.
struct Guess {
    Key key = 0;
    std::uint32_t layer = 0;     // the layer it is for
    std::uint32_t distance = 1;  // how many layers before it the guess was made
    std::uint32_t rank = 0;      // 0 is the router's first choice
};

// Removes guesses that are not worth a read now or whose layer has run, and sorts the rest best
// first; ties go to the nearer layer, then to the better rank, then to the lower key. layer_now is
// the layer that runs now.
void order_guesses(std::vector<Guess>& guesses, const Likelihood& likelihood, std::uint32_t layer_now,
                   double idle_share);

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
