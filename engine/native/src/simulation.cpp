#include "simulation.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <stdexcept>

#include "likelihood.h"

namespace gannet {

namespace {

std::vector<std::uint32_t> passes_of(const RoutingLog& log) {
    return log.passes.empty() ? std::vector<std::uint32_t>(log.n_tokens(), 1) : log.passes;
}

}  // namespace

std::size_t RoutingLog::n_tokens() const {
    return selected.size() / (std::size_t{n_layers} * n_used);
}

const std::uint16_t* RoutingLog::chosen(std::size_t token, std::uint32_t layer) const {
    return selected.data() + (token * n_layers + layer) * n_used;
}

const std::uint16_t* RoutingLog::guessed(std::size_t token, std::uint32_t layer, std::uint32_t distance) const {
    return predicted.data() + ((token * n_layers + layer) * n_distances + distance - 1) * n_ranks;
}

void RoutingLog::check() const {
    if (n_layers == 0 || n_experts == 0 || n_used == 0 || n_used > n_experts || n_experts >= kNone) {
        throw std::invalid_argument("a routing log needs layers, experts and experts used");
    }
    const std::size_t per_token = std::size_t{n_layers} * n_used;
    const std::size_t guesses = n_tokens() * n_layers * n_distances * n_ranks;
    const std::size_t in_passes = std::accumulate(passes.begin(), passes.end(), std::size_t{0});
    const bool passes_fit = passes.empty() || in_passes == n_tokens();
    if (selected.size() % per_token != 0 || predicted.size() != guesses || !passes_fit) {
        throw std::invalid_argument("the sizes of a routing log's arrays disagree");
    }
    const auto bad = [&](std::uint16_t e) { return e >= n_experts; };
    const auto bad_guess = [&](std::uint16_t e) { return e >= n_experts && e != kNone; };
    if (std::find(passes.begin(), passes.end(), 0U) != passes.end()) {
        throw std::invalid_argument("a pass of a routing log has no tokens");
    }
    bool out_of_range = false;
    auto at = selected.begin();
    for (const std::uint32_t rows : passes_of(*this)) {
        const auto end = at + static_cast<std::ptrdiff_t>(rows * per_token);
        out_of_range = out_of_range || (rows == 1 ? std::any_of(at, end, bad) : std::any_of(at, end, bad_guess));
        at = end;
    }
    if (out_of_range || std::any_of(predicted.begin(), predicted.end(), bad_guess)) {
        throw std::invalid_argument("an expert of a routing log is out of range");
    }
}

namespace {

// The experts that a layer selects for the tokens of a pass, each once, in order.
std::vector<std::uint32_t> distinct(const RoutingLog& log, std::size_t first, std::uint32_t rows, std::uint32_t layer) {
    std::vector<std::uint32_t> experts;
    for (std::size_t token = first; token < first + rows; token++) {
        experts.insert(experts.end(), log.chosen(token, layer), log.chosen(token, layer) + log.n_used);
    }
    std::sort(experts.begin(), experts.end());
    experts.erase(std::unique(experts.begin(), experts.end()), experts.end());
    if (!experts.empty() && experts.back() == RoutingLog::kNone) experts.pop_back();
    return experts;
}

// One pool or a quota for each layer: which keys are resident, listed for scans.
class Cache {
  public:
    Cache(const RoutingLog& log, const SimulationSettings& settings)
        : n_experts_(log.n_experts),
          n_pools_(settings.per_layer ? log.n_layers : 1),
          capacity_(settings.per_layer ? std::max(settings.slots / log.n_layers, log.n_used) : settings.slots),
          where_(std::size_t{log.n_layers} * log.n_experts, kAbsent),
          pools_(n_pools_) {
        if (capacity_ < log.n_used) {
            throw std::invalid_argument("a cache must hold the experts of one layer");
        }
    }
    bool resident(Key key) const { return where_[key] != kAbsent; }
    const std::vector<Key>& pool_of(Key key) const { return pools_[pool(key)]; }
    bool full(Key key) const { return pool_of(key).size() >= capacity_; }
    std::size_t capacity() const { return capacity_; }
    void insert(Key key) {
        std::vector<Key>& keys = pools_[pool(key)];
        where_[key] = static_cast<std::uint32_t>(keys.size());
        keys.push_back(key);
    }
    void erase(Key key) {
        std::vector<Key>& keys = pools_[pool(key)];
        keys[where_[key]] = keys.back();
        where_[keys.back()] = where_[key];
        keys.pop_back();
        where_[key] = kAbsent;
    }

  private:
    static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();
    std::size_t pool(Key key) const { return n_pools_ == 1 ? 0 : key / n_experts_; }

    std::uint32_t n_experts_;
    std::size_t n_pools_;
    std::size_t capacity_;
    std::vector<std::uint32_t> where_;
    std::vector<std::vector<Key>> pools_;
};

// A predicted expert that was not resident.
struct Guess {
    Key key = 0;
    std::uint32_t layer = 0;     // the layer it is for
    std::uint32_t distance = 1;  // how many layers before it the guess was made
    std::uint32_t rank = 0;      // 0 is the router's first choice
};

// Replays one log: demand reads at each layer, prefetches for the layers after it.
class Replay {
  public:
    Replay(const RoutingLog& log, const SimulationSettings& settings)
        : log_(log),
          settings_(settings),
          cache_(log, settings),
          policy_(make_policy(settings.policy, log, settings.slots)),
          likelihood_(log.n_used),
          needed_(cache_size(), 0),
          due_(cache_size(), 0),
          speculative_(cache_size(), 0) {}

    SimulationResult run() {
        std::size_t first = 0;
        std::size_t decoded = 0;
        for (const std::uint32_t rows : passes_of(log_)) {
            if (rows == 1) {
                counting_ = decoded++ >= settings_.warm_tokens;
                run_token(first);
            } else {
                run_prompt(first, rows);
            }
            first += rows;
        }
        return result_;
    }

  private:
    std::size_t cache_size() const { return std::size_t{log_.n_layers} * log_.n_experts; }

    void run_token(std::size_t token) {
        policy_->begin_token();
        for (std::uint32_t layer = 0; layer < log_.n_layers; layer++) {
            step_++;
            select(token, layer);
            prefetch(token, layer);
            policy_->layer_ran(layer);
        }
    }

    void run_prompt(std::size_t first, std::uint32_t rows) {
        policy_->begin_prompt(rows);
        for (std::uint32_t layer = 0; layer < log_.n_layers; layer++) {
            step_++;
            select_for_prompt(first, rows, layer);
            policy_->layer_ran(layer);
        }
    }

    // Those in memory first; where not all fit, those that were computed leave for the others (waves).
    void select_for_prompt(std::size_t first, std::uint32_t rows, std::uint32_t layer) {
        std::vector<std::uint32_t> count(log_.n_experts, 0);
        std::vector<double> weight(log_.n_experts, 0.0);
        for (std::uint32_t row = 0; row < rows; row++) {
            const std::uint16_t* chosen = log_.chosen(first + row, layer);
            for (std::uint32_t k = 0; k < log_.n_used && chosen[k] != RoutingLog::kNone; k++) {
                count[chosen[k]]++;
                weight[chosen[k]] += policy_->decay(rows - 1 - row);
            }
        }
        std::vector<std::uint32_t> experts = distinct(log_, first, rows, layer);
        const auto resident = [&](std::uint32_t e) { return cache_.resident(layer * log_.n_experts + e); };
        std::stable_partition(experts.begin(), experts.end(), resident);
        const bool all_fit = experts.size() <= cache_.capacity();
        for (const std::uint32_t e : experts) {
            const Key key = layer * log_.n_experts + e;
            if (all_fit || cache_.resident(key)) needed_[key] = step_;
            policy_->used_by(key, count[e], weight[e]);
        }
        for (const std::uint32_t e : experts) {
            const Key key = layer * log_.n_experts + e;
            result_.prompt_lookups++;
            if (!cache_.resident(key)) {
                result_.prompt_misses++;
                make_room(key, false);
                cache_.insert(key);
                policy_->fetched(key, false);
            }
            speculative_[key] = 0;
            if (!all_fit) needed_[key] = 0;
        }
    }

    void select(std::size_t token, std::uint32_t layer) {
        const std::uint16_t* chosen = log_.chosen(token, layer);
        for (std::uint32_t k = 0; k < log_.n_used; k++) needed_[layer * log_.n_experts + chosen[k]] = step_;
        judge(layer);
        for (std::uint32_t k = 0; k < log_.n_used; k++) {
            const Key key = layer * log_.n_experts + chosen[k];
            result_.lookups += counting_;
            if (!cache_.resident(key)) {
                result_.misses += counting_;
                make_room(key, false);
                cache_.insert(key);
                policy_->fetched(key, false);
            }
            result_.useful += counting_ && speculative_[key] != 0;
            speculative_[key] = 0;
            policy_->used(key);
        }
    }

    // Tells the likelihood how the guesses for this layer that were not resident turned out.
    void judge(std::uint32_t layer) {
        if (waiting_.size() != log_.n_layers) waiting_.resize(log_.n_layers);
        for (const Guess& guess : waiting_[layer]) {
            likelihood_.resolved(guess.distance, guess.rank, needed_[guess.key] == step_);
        }
        waiting_[layer].clear();
    }

    void prefetch(std::size_t token, std::uint32_t layer) {
        const std::uint32_t furthest = std::min(settings_.lookahead, log_.n_distances);
        std::vector<Guess> guesses;
        for (std::uint32_t distance = 1; distance <= furthest && layer + distance < log_.n_layers; distance++) {
            const std::uint32_t target = layer + distance;
            const std::uint16_t* ranks = log_.guessed(token, target, distance);
            for (std::uint32_t rank = 0; rank < log_.n_ranks && ranks[rank] != RoutingLog::kNone; rank++) {
                const Key key = target * log_.n_experts + ranks[rank];
                if (rank < log_.n_used) due_[key] = step_ + distance;
                if (!cache_.resident(key)) guesses.push_back({key, target, distance, rank});
            }
        }
        for (const Guess& guess : guesses) waiting_[guess.layer].push_back(guess);
        order_by_priority(guesses, layer);
        for (const Guess& guess : guesses) {
            if (likelihood_.probability(guess.distance, guess.rank) < settings_.bar || cache_.resident(guess.key)) {
                continue;
            }
            if (!make_room(guess.key, true)) break;
            cache_.insert(guess.key);
            policy_->fetched(guess.key, true);
            speculative_[guess.key] = 1;
            result_.prefetched += counting_;
        }
    }

    void order_by_priority(std::vector<Guess>& guesses, std::uint32_t layer) const {
        std::stable_sort(guesses.begin(), guesses.end(), [&](const Guess& a, const Guess& b) {
            return likelihood_.priority(a.distance, a.rank, a.layer - layer - 1) >
                   likelihood_.priority(b.distance, b.rank, b.layer - layer - 1);
        });
    }

    // Evicts until `key` fits; false if nothing may leave for a prefetch.
    bool make_room(Key key, bool prefetch) {
        if (!cache_.full(key)) return true;
        bool found = false, found_due = false;
        Key victim = 0, victim_due = 0;
        for (const Key k : cache_.pool_of(key)) {
            if (needed_[k] == step_) continue;
            const bool due = settings_.shield && due_[k] > step_;
            Key& best = due ? victim_due : victim;
            bool& any = due ? found_due : found;
            if (!any || policy_->leaves_before(k, best)) best = k;
            any = true;
        }
        if (!found && (prefetch || !found_due)) return false;
        const Key leaver = found ? victim : victim_due;
        cache_.erase(leaver);
        speculative_[leaver] = 0;
        policy_->evicted(leaver);
        return true;
    }

    const RoutingLog& log_;
    const SimulationSettings& settings_;
    Cache cache_;
    std::unique_ptr<EvictionPolicy> policy_;
    Likelihood likelihood_;
    SimulationResult result_;
    bool counting_ = false;
    std::uint64_t step_ = 0;                   // layers run so far
    std::vector<std::uint64_t> needed_;        // by key: the last step that selected it
    std::vector<std::uint64_t> due_;           // by key: the step it is predicted for
    std::vector<char> speculative_;            // by key: prefetched and not used yet
    std::vector<std::vector<Guess>> waiting_;  // by layer: guesses that were not resident
};

}  // namespace

SimulationResult simulate(const RoutingLog& log, const SimulationSettings& settings) {
    log.check();
    return Replay(log, settings).run();
}

namespace {

// What a pass asks of one layer.
struct Step {
    std::vector<Key> keys;
    std::uint32_t layer = 0;
    bool prompt = false;
    bool counting = false;
};

std::vector<Step> steps_of(const RoutingLog& log, std::uint32_t warm_tokens) {
    std::vector<Step> steps;
    std::size_t first = 0;
    std::size_t decoded = 0;
    for (const std::uint32_t rows : passes_of(log)) {
        const bool prompt = rows > 1;
        const bool counting = !prompt && decoded++ >= warm_tokens;
        for (std::uint32_t layer = 0; layer < log.n_layers; layer++) {
            Step step{distinct(log, first, rows, layer), layer, prompt, counting};
            for (Key& key : step.keys) key += layer * log.n_experts;
            steps.push_back(std::move(step));
        }
        first += rows;
    }
    return steps;
}

}  // namespace

SimulationResult belady(const RoutingLog& log, const SimulationSettings& settings) {
    log.check();
    const std::size_t n_keys = std::size_t{log.n_layers} * log.n_experts;
    constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
    const std::vector<Step> steps = steps_of(log, settings.warm_tokens);
    std::vector<std::vector<std::uint64_t>> next(steps.size());  // by step and key: the step that needs it again
    std::vector<std::uint64_t> seen(n_keys, kNever);
    for (std::size_t at = steps.size(); at-- > 0;) {
        for (const Key key : steps[at].keys) {
            next[at].push_back(seen[key]);
            seen[key] = at;
        }
    }
    Cache cache(log, settings);
    // By pool: what is needed last on top. Entries of keys that left or were used again are stale.
    std::vector<std::priority_queue<std::pair<std::uint64_t, Key>>> queues(settings.per_layer ? log.n_layers : 1);
    std::vector<std::uint64_t> needed_at(n_keys, kNever);
    SimulationResult result;
    for (std::size_t at = 0; at < steps.size(); at++) {
        const Step& step = steps[at];
        auto& queue = queues[settings.per_layer ? step.layer : 0];
        for (const Key key : step.keys) needed_at[key] = kNever - 1;  // until all are served none of them may leave
        for (const Key key : step.keys) {
            result.lookups += step.counting;
            result.prompt_lookups += step.prompt;
            if (cache.resident(key)) continue;
            result.misses += step.counting;
            result.prompt_misses += step.prompt;
            while (cache.full(key) && !queue.empty()) {
                const auto [when, leaver] = queue.top();
                queue.pop();
                if (cache.resident(leaver) && needed_at[leaver] == when) cache.erase(leaver);
            }
            if (!cache.full(key)) cache.insert(key);  // else a wave: read, computed and let go
        }
        for (std::size_t k = 0; k < step.keys.size(); k++) {
            needed_at[step.keys[k]] = next[at][k];
            queue.push({next[at][k], step.keys[k]});
        }
    }
    return result;
}

}  // namespace gannet
