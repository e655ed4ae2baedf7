#include "residency.h"

#include <cassert>
#include <cmath>
#include <stdexcept>
#include <tuple>

namespace gannet {

namespace {
// Half-lives of growth before the sums are scaled back; a double holds 1023.
constexpr double kRescaleHalfLives = 256.0;
}  // namespace

bool operator<(const Worth& a, const Worth& b) {
    return std::tie(a.count, a.last_use, a.key) < std::tie(b.count, b.last_use, b.key);
}

Residency::Residency(std::uint32_t n_layers, std::uint32_t n_experts, ResidencySettings settings)
    : n_layers_(n_layers), n_experts_(n_experts), settings_(settings) {
    if (n_layers == 0 || n_experts == 0) {
        throw std::invalid_argument("residency needs at least one layer and one expert");
    }
    if (!(settings.half_life_tokens > 0.0)) {
        throw std::invalid_argument("half_life_tokens must be positive");
    }
    const std::size_t n = std::size_t{n_layers} * n_experts;
    count_.assign(n, 0.0);
    touched_.assign(n, 0);
    uses_.assign(n, 0);
    awaited_.assign(n, 0);
    unproven_.assign(n, 0);
    ran_.assign(n_layers, 0);
}

void Residency::begin_token() {
    advance(1);
    row_weight_ = weight_;
}

void Residency::begin_prompt(std::uint32_t n_tokens) {
    if (n_tokens == 0) {
        return;
    }
    advance(n_tokens);
    // A row whose place in the ubatch is not told weighs the average of the n_tokens last moments: (1 + q + ... +
    // q^(n-1)) / n with q the decay of one token.
    const double q = std::exp2(-1.0 / settings_.half_life_tokens);
    const double n = n_tokens;
    row_weight_ = weight_ * (1.0 - std::pow(q, n)) / (1.0 - q) / n;
}

void Residency::used(Key key, std::uint32_t rows) {
    used(key, rows, row_weight_ / weight_ * rows);
}

double Residency::decay(std::uint32_t tokens_ago) const {
    return std::exp2(-static_cast<double>(tokens_ago) / settings_.half_life_tokens);
}

void Residency::used(Key key, std::uint32_t rows, double weight) {
    assert(key < count_.size());
    count_[key] += weight_ * weight;
    uses_[key] += rows;
    touched_[key] = ++clock_;
    unproven_[key] = 0;
}

void Residency::fetched(Key key, bool speculative) {
    assert(key < count_.size());
    touched_[key] = ++clock_;
    unproven_[key] = speculative ? 1 : 0;
}

void Residency::expect(Key key) {
    assert(key < count_.size());
    awaited_[key] = next_run(key / n_experts_);
}

void Residency::layer_ran(std::uint32_t layer) {
    assert(layer < n_layers_);
    ran_[layer] = pass_;
}

bool Residency::shielded(Key key) const {
    assert(key < count_.size());
    return awaited_[key] == next_run(key / n_experts_);
}

Worth Residency::worth(Key key) const {
    assert(key < count_.size());
    const bool by_recency = unproven_[key] != 0;
    return {by_recency ? 0.0 : count_[key], touched_[key], key};
}

void Residency::advance(std::uint32_t n_tokens) {
    ++pass_;
    token_ += n_tokens;
    if (token_ > kRescaleHalfLives * settings_.half_life_tokens) {
        rescale();
    }
    weight_ = std::exp2(token_ / settings_.half_life_tokens);
}

// Makes now the moment of weight 1. Sums too old to matter become 0 and their ties go by recency.
void Residency::rescale() {
    const double factor = std::exp2(-token_ / settings_.half_life_tokens);
    for (double& count : count_) {
        count *= factor;
    }
    token_ = 0.0;
}

std::uint64_t Residency::next_run(std::uint32_t layer) const {
    return ran_[layer] == pass_ ? pass_ + 1 : pass_;
}

}  // namespace gannet
