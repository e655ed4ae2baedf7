#include "residency.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <stdexcept>
#include <tuple>

namespace gannet {

namespace {
// Half-lives of growth before the sums are scaled back; a double holds 1023.
constexpr double kRescaleHalfLives = 256.0;
// What an expert that was never used is given, in uses, so that its share is not quite zero.
constexpr double kUnseenUses = 0.05;
// Uses promised that an age's correction starts with, the share more that came at the youngest age,
// half as much at each class after it, and how counts fade with every token.
constexpr double kAgePrior = 4.0;
constexpr double kYoungMore = 0.5;
constexpr double kAgeFade = 0.99;
// The half-life, in tokens, of decay(): short, so that a sum of few rows tells when the last one was.
constexpr double kRowHalfLife = 16.0;
}  // namespace

bool operator<(const Worth& a, const Worth& b) {
    return std::tie(a.density, a.last_use, a.key) < std::tie(b.density, b.last_use, b.key);
}

Residency::Residency(std::uint32_t n_layers, std::uint32_t n_experts, ResidencySettings settings)
    : n_layers_(n_layers), n_experts_(n_experts), settings_(settings) {
    if (n_layers == 0 || n_experts == 0) {
        throw std::invalid_argument("residency needs at least one layer and one expert");
    }
    if (!(settings.half_life_tokens > 0.0) || !(settings.held_offset_tokens > 0.0)) {
        throw std::invalid_argument("the half-life and the offset must be positive");
    }
    const std::size_t n = std::size_t{n_layers} * n_experts;
    came_.assign(kAges, 0.0);
    promised_.assign(kAges, 0.0);
    correction_.assign(kAges, 1.0);
    correct_ages();
    sums_.assign(n, 0.0);
    last_token_.assign(n, 0);
    prior_token_.assign(n, 0);
    touched_.assign(n, 0);
    uses_.assign(n, 0);
    awaited_.assign(n, 0);
    unproven_.assign(n, 0);
    ran_.assign(n_layers, 0);
    held_.resize(n_layers);
    now_layer_ = n_layers;
    see_layer(n_layers - 1);
    chance_.assign(n, 0.0);
    for (std::uint32_t layer = 0; layer < n_layers; ++layer) {
        refresh(layer);
    }
}

void Residency::begin_token() {
    prompt_ = false;
    advance(1);
    for (std::size_t age = 0; age < kAges; ++age) {
        came_[age] *= kAgeFade;
        promised_[age] *= kAgeFade;
    }
    correct_ages();
}

void Residency::begin_prompt(std::uint32_t n_tokens) {
    if (n_tokens == 0) {
        return;
    }
    prompt_ = true;
    advance(n_tokens);
}

void Residency::used(Key key, std::uint32_t rows) {
    count(key, rows, pass_tokens_ / (std::uint64_t{rows} + 1));
}

double Residency::decay(std::uint32_t tokens_ago) const {
    return std::exp2(-static_cast<double>(tokens_ago) / kRowHalfLife);
}

void Residency::used(Key key, std::uint32_t rows, double weight) {
    const double ago = weight >= 1.0 ? 0.0 : -kRowHalfLife * std::log2(std::max(weight, 1e-300));
    count(key, rows, static_cast<std::uint64_t>(std::min(ago, pass_tokens_ - 1.0)));
}

void Residency::count(Key key, std::uint32_t rows, std::uint64_t tokens_ago) {
    assert(key < uses_.size());
    // A row of a ubatch weighs the average of its tokens.
    const double q = std::exp2(-1.0 / settings_.half_life_tokens);
    const double n = pass_tokens_;
    sums_[key] += weight_ * rows * (pass_tokens_ == 1 ? 1.0 : (1.0 - std::pow(q, n)) / (1.0 - q) / n);
    prior_token_[key] = last_token_[key];
    last_token_[key] = token_ - std::min(tokens_ago, token_);
    uses_[key] += rows;
    touched_[key] = ++clock_;
    unproven_[key] = 0;
    const std::uint32_t layer = key / n_experts_;
    if (stale_ < n_layers_ && stale_ != layer) {
        refresh(stale_);
    }
    stale_ = layer;
    see_layer(layer);
}

void Residency::recall(const std::vector<std::uint64_t>& uses, std::uint32_t n_used) {
    if (uses.size() != uses_.size()) {
        return;
    }
    const double turns = 0.5 / (1.0 - std::exp2(-1.0 / settings_.half_life_tokens));
    turns_ += weight_ * turns;
    for (std::uint32_t layer = 0; layer < n_layers_; ++layer) {
        const std::size_t first = std::size_t{layer} * n_experts_;
        double total = 0.0;
        for (std::size_t key = first; key < first + n_experts_; ++key) {
            total += static_cast<double>(uses[key]);
        }
        for (std::size_t key = first; total > 0.0 && key < first + n_experts_; ++key) {
            sums_[key] += weight_ * turns * n_used * static_cast<double>(uses[key]) / total;
        }
        refresh(layer);
    }
}

void Residency::fetched(Key key, bool speculative) {
    assert(key < uses_.size());
    touched_[key] = ++clock_;
    unproven_[key] = speculative ? 1 : 0;
}

void Residency::expect(Key key) {
    assert(key < uses_.size());
    awaited_[key] = next_run(key / n_experts_);
}

void Residency::layer_ran(std::uint32_t layer) {
    assert(layer < n_layers_);
    if (!prompt_ && ran_[layer] != pass_) {
        learn_ages(layer);
    }
    ran_[layer] = pass_;
    see_layer(layer);
    refresh(layer);
}

bool Residency::shielded(Key key) const {
    assert(key < uses_.size());
    return awaited_[key] == next_run(key / n_experts_);
}

// Every expert in memory is asked for its worth at each eviction, so the chances are computed beforehand:
// they change when their layer runs, and hardly in between.
void Residency::refresh(std::uint32_t layer) const {
    stale_ = n_layers_;
    const double turns = std::max(turns_, weight_);
    for (Key key = layer * n_experts_; key < (layer + 1) * n_experts_; ++key) {
        const double share = (sums_[key] + kUnseenUses * weight_) / turns;
        chance_[key] = std::min(share * correction_[age_class(token_ + 1 - last_token_[key])], 1.0);
    }
}

// The binary logarithm, rounded up: it is asked for every expert of a layer that has run.
std::size_t Residency::age_class(std::uint64_t turns) {
    std::size_t age = 0;
    std::uint64_t rest = turns > 0 ? turns - 1 : 0;
    for (const unsigned step : {32U, 16U, 8U, 4U, 2U, 1U}) {
        if (rest >> step != 0) {
            age += step;
            rest >>= step;
        }
    }
    return std::min(age + rest, kAges - 1);
}

void Residency::advance(std::uint32_t n_tokens) {
    ++pass_;
    token_ += n_tokens;
    pass_tokens_ = n_tokens;
    if (static_cast<double>(token_ - rescaled_) > kRescaleHalfLives * settings_.half_life_tokens) {
        rescale();
    }
    weight_ = std::exp2(static_cast<double>(token_ - rescaled_) / settings_.half_life_tokens);
    const double q = std::exp2(-1.0 / settings_.half_life_tokens);
    turns_ += weight_ * (n_tokens == 1 ? 1.0 : (1.0 - std::pow(q, n_tokens)) / (1.0 - q));
}

// Makes now the moment of weight 1. Sums too old to matter become 0 and their ties go by recency.
void Residency::rescale() {
    const double factor = std::exp2(-static_cast<double>(token_ - rescaled_) / settings_.half_life_tokens);
    for (double& sum : sums_) {
        sum *= factor;
    }
    turns_ *= factor;
    rescaled_ = token_;
}

// Compares what this token's selection in the layer brought with what the shares before it promised.
void Residency::learn_ages(std::uint32_t layer) {
    const double turns = turns_ - weight_;
    if (turns < weight_) {
        return;
    }
    for (Key key = layer * n_experts_; key < (layer + 1) * n_experts_; ++key) {
        const bool now = last_token_[key] == token_;
        const std::uint64_t last = now ? prior_token_[key] : last_token_[key];
        const double before = now ? sums_[key] - weight_ : sums_[key];
        const std::size_t age = age_class(token_ - std::min(last, token_));
        promised_[age] += (std::max(before, 0.0) + kUnseenUses * weight_) / turns;
        came_[age] += now ? 1.0 : 0.0;
    }
}

void Residency::correct_ages() {
    double more = kYoungMore;
    for (std::size_t age = 0; age < kAges; ++age, more /= 2) {
        correction_[age] = (came_[age] + kAgePrior * (1.0 + more)) / (promised_[age] + kAgePrior);
    }
}

void Residency::see_layer(std::uint32_t layer) {
    if (layer == now_layer_) {
        return;
    }
    now_layer_ = layer;
    for (std::uint32_t i = 0; i < n_layers_; ++i) {
        const std::uint32_t layers = i > layer ? i - layer : i + n_layers_ - layer;
        held_[i] = static_cast<double>(layers) / n_layers_ + settings_.held_offset_tokens;
    }
}

std::uint64_t Residency::next_run(std::uint32_t layer) const {
    return ran_[layer] == pass_ ? pass_ + 1 : pass_;
}

}  // namespace gannet
