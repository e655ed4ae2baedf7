#include "likelihood.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <stdexcept>

namespace gannet {

namespace {
// The prior's shape, fitted to the synthetic 30B-A3B and the trained demo model (docs/policy.md):
// precision is a half near this share of n_used one layer ahead, earlier for each layer more ...
constexpr double kHalfAt = 0.95;
constexpr double kHalfPerLayer = 0.88;
// ... falls over this share of n_used ...
constexpr double kWidth = 0.22;
// ... and even a first choice loses this much per layer.
constexpr double kCertain = 0.97;
}  // namespace

Likelihood::Likelihood(std::uint32_t n_used, LikelihoodSettings settings)
    : n_used_(n_used), settings_(settings), decay_(std::exp2(-1.0 / settings.half_life_guesses)) {
    if (n_used == 0 || settings.n_distances == 0 || settings.n_ranks == 0) {
        throw std::invalid_argument("likelihood needs at least one expert used, distance and rank");
    }
    if (!(settings.half_life_guesses > 0.0) || !(settings.prior_guesses > 0.0)) {
        throw std::invalid_argument("half_life_guesses and prior_guesses must be positive");
    }
    counters_.assign(std::size_t{settings.n_distances} * settings.n_ranks, {});
    for (std::uint32_t distance = 1; distance <= settings.n_distances; ++distance) {
        for (std::uint32_t rank = 0; rank < settings.n_ranks; ++rank) {
            counters_[index(distance, rank)].prior = prior(distance, rank);
        }
        urgency_.push_back(std::pow(settings.urgency_per_layer, distance - 1));
    }
}

void Likelihood::resolved(std::uint32_t distance, std::uint32_t rank, bool selected) {
    Counter& counter = counters_[index(distance, rank)];
    counter.hits = counter.hits * decay_ + (selected ? 1.0 : 0.0);
    counter.guesses = counter.guesses * decay_ + 1.0;
}

double Likelihood::probability(std::uint32_t distance, std::uint32_t rank) const {
    const Counter& counter = counters_[index(distance, rank)];
    const double weight = settings_.prior_guesses;
    return (counter.hits + weight * counter.prior) / (counter.guesses + weight);
}

double Likelihood::priority(std::uint32_t distance, std::uint32_t rank, std::uint32_t layers_left) const {
    const bool known = layers_left < urgency_.size();
    const double urgency = known ? urgency_[layers_left] : std::pow(settings_.urgency_per_layer, layers_left);
    return probability(distance, rank) * urgency;
}

double Likelihood::bar(double idle_share) const {
    const double idle = std::clamp(idle_share / settings_.idle_share_for_lowest, 0.0, 1.0);
    return settings_.bar_busy + (settings_.bar_idle - settings_.bar_busy) * idle;
}

std::size_t Likelihood::index(std::uint32_t distance, std::uint32_t rank) const {
    assert(distance >= 1);
    const std::size_t row = std::min(distance, settings_.n_distances) - 1;
    return row * settings_.n_ranks + std::min(rank, settings_.n_ranks - 1);
}

double Likelihood::prior(std::uint32_t distance, std::uint32_t rank) const {
    const double layers = std::min(distance, settings_.n_distances) - 1;
    const double half_at = kHalfAt * n_used_ * std::pow(kHalfPerLayer, layers);
    const double width = std::max(kWidth * n_used_, 0.25);
    return std::pow(kCertain, layers + 1) / (1.0 + std::exp((rank + 0.5 - half_at) / width));
}

DriveIdle::DriveIdle(double memory_seconds) : memory_seconds_(memory_seconds) {
    if (!(memory_seconds > 0.0)) {
        throw std::invalid_argument("memory_seconds must be positive");
    }
}

void DriveIdle::observe(double busy_seconds, double elapsed_seconds) {
    if (!(elapsed_seconds > 0.0)) {
        return;
    }
    const double idle = 1.0 - std::clamp(busy_seconds / elapsed_seconds, 0.0, 1.0);
    const double kept = std::exp(-elapsed_seconds / memory_seconds_);
    share_ = share_ * kept + idle * (1.0 - kept);
}

}  // namespace gannet
