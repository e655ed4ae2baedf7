// The policies that the simulator compares; the engine uses only the one in residency.h.
#include <algorithm>
#include <cmath>
#include <list>
#include <stdexcept>
#include <unordered_map>

#include "simulation.h"

namespace gannet {

namespace {

class Shipped : public EvictionPolicy {
  public:
    explicit Shipped(const RoutingLog& log) : residency_(log.n_layers, log.n_experts) {}
    void begin_token() override { residency_.begin_token(); }
    void begin_prompt(std::uint32_t n_tokens) override { residency_.begin_prompt(n_tokens); }
    void used(Key key) override { residency_.used(key); }
    void used_by(Key key, std::uint32_t rows, double weight) override { residency_.used(key, rows, weight); }
    double decay(std::uint32_t tokens_ago) const override { return residency_.decay(tokens_ago); }
    void fetched(Key key, bool speculative) override { residency_.fetched(key, speculative); }
    void layer_ran(std::uint32_t layer) override { residency_.layer_ran(layer); }
    bool leaves_before(Key a, Key b) const override { return residency_.worth(a) < residency_.worth(b); }

  private:
    Residency residency_;
};

// Base of those that give every expert a number.
class Scored : public EvictionPolicy {
  public:
    explicit Scored(const RoutingLog& log)
        : n_layers_(log.n_layers), n_experts_(log.n_experts), last_(std::size_t{log.n_layers} * log.n_experts, 0) {}
    void begin_token() override { token_++; }
    void used(Key key) override {
        now_layer_ = key / n_experts_;
        last_[key] = ++clock_;
    }
    void fetched(Key key, bool) override { last_[key] = ++clock_; }
    bool leaves_before(Key a, Key b) const override {
        const double x = worth(a), y = worth(b);
        return x != y ? x < y : last_[a] < last_[b];
    }
    virtual double worth(Key key) const = 0;

  protected:
    std::size_t size() const { return last_.size(); }
    bool ran(std::uint32_t layer) const { return layer <= now_layer_; }
    // To the next turn of the key's layer, as a share of a token.
    double distance(Key key) const {
        const std::uint32_t layer = key / n_experts_;
        return static_cast<double>(ran(layer) ? layer + n_layers_ - now_layer_ : layer - now_layer_) / n_layers_;
    }
    std::uint64_t token() const { return token_; }

    std::uint32_t n_layers_;
    std::uint32_t n_experts_;
    std::uint64_t token_ = 0;
    std::uint64_t clock_ = 0;
    std::uint32_t now_layer_ = 0;
    std::vector<std::uint64_t> last_;
};

class Lru : public Scored {
  public:
    using Scored::Scored;
    double worth(Key) const override { return 0.0; }
};

class TurnLru : public Scored {
  public:
    explicit TurnLru(const RoutingLog& log) : Scored(log), at_(size(), 0) {}
    void used(Key key) override {
        Scored::used(key);
        at_[key] = token();
    }
    double worth(Key key) const override {
        const double turns = static_cast<double>(token() - at_[key]) + (ran(key / n_experts_) ? 1.0 : 0.0);
        return -turns - distance(key);
    }

  private:
    std::vector<std::uint64_t> at_;
};

class Lfu : public Scored {
  public:
    explicit Lfu(const RoutingLog& log) : Scored(log), count_(size(), 0.0) {}
    void used(Key key) override {
        Scored::used(key);
        count_[key] += 1.0;
    }
    void used_by(Key key, std::uint32_t rows, double) override {
        for (std::uint32_t r = 0; r < rows; r++) used(key);
    }
    double worth(Key key) const override { return count_[key]; }

  private:
    std::vector<double> count_;
};

// The longer of the last two gaps between uses: what LIRS (Jiang and Zhang 2002) ranks by.
class Lirs : public Scored {
  public:
    explicit Lirs(const RoutingLog& log) : Scored(log), at_(size(), 0), gap_(size(), 1u << 20) {}
    void used(Key key) override {
        Scored::used(key);
        if (at_[key] != 0) gap_[key] = token() - at_[key];
        at_[key] = token();
    }
    double worth(Key key) const override {
        return -static_cast<double>(std::max(gap_[key], token() - at_[key])) - distance(key);
    }

  private:
    std::vector<std::uint64_t> at_;
    std::vector<std::uint64_t> gap_;
};

// Uses halved every so many tokens (LRFU, Lee et al. 2001).
class Decay : public Scored {
  public:
    Decay(const RoutingLog& log, double half_life) : Scored(log), half_life_(half_life), count_(size(), 0.0) {}
    void begin_token() override {
        Scored::begin_token();
        weight_ *= std::exp2(1.0 / half_life_);
        if (weight_ > 1e200) {
            for (double& count : count_) count /= weight_;
            weight_ = 1.0;
        }
    }
    void used(Key key) override {
        Scored::used(key);
        count_[key] += weight_;
    }
    void used_by(Key key, std::uint32_t rows, double) override {
        for (std::uint32_t r = 0; r < rows; r++) used(key);
    }
    double worth(Key key) const override { return count_[key]; }

  private:
    double half_life_;
    double weight_ = 1.0;
    std::vector<double> count_;
};

// Chance of use at the next turn, from a short and a long half-life, over the time until that turn:
// hits per slot and time, the measure of LHD (Beckmann et al. 2018).
class Mix : public Scored {
  public:
    Mix(const RoutingLog& log, double h1, double h2, double share, double offset)
        : Scored(log), half_{h1, h2}, share_{share, 1.0 - share}, offset_(offset) {
        for (auto& counts : count_) counts.assign(size(), 0.0);
    }
    void begin_token() override {
        Scored::begin_token();
        for (int i = 0; i < 2; i++) {
            weight_[i] *= std::exp2(1.0 / half_[i]);
            if (weight_[i] > 1e200) {
                for (double& count : count_[i]) count /= weight_[i];
                tokens_[i] /= weight_[i];
                weight_[i] = 1.0;
            }
            tokens_[i] += weight_[i];
        }
    }
    void used(Key key) override {
        Scored::used(key);
        for (int i = 0; i < 2; i++) count_[i][key] += weight_[i];
    }
    void used_by(Key key, std::uint32_t rows, double) override {
        for (std::uint32_t r = 0; r < rows; r++) used(key);
    }
    double worth(Key key) const override {
        double chance = 1e-6;
        for (int i = 0; i < 2; i++) {
            const double turns = ran(key / n_experts_) ? tokens_[i] : tokens_[i] - weight_[i];
            chance += share_[i] * count_[i][key] / std::max(turns, 1e-9);
        }
        return chance / (distance(key) + offset_);
    }

  private:
    double half_[2];
    double share_[2];
    double offset_;
    double weight_[2] = {1.0, 1.0};
    double tokens_[2] = {0.0, 0.0};  // the sum of the weights of all tokens
    std::vector<double> count_[2];
};

// Long count times what the age since the last use was seen to do to it, over the time to the next turn.
class Aged : public Scored {
  public:
    Aged(const RoutingLog& log, double half_life, double offset)
        : Scored(log), half_life_(half_life), offset_(offset), sum_(size(), 0.0), at_(size(), 0), before_(size(), 0) {}
    void begin_token() override {
        Scored::begin_token();
        weight_ *= std::exp2(1.0 / half_life_);
        if (weight_ > 1e200) {
            for (double& sum : sum_) sum /= weight_;
            tokens_ /= weight_;
            weight_ = 1.0;
        }
        tokens_ += weight_;
        for (int b = 0; b < kBuckets; b++) {
            expected_[b] *= 0.99;
            actual_[b] *= 0.99;
        }
    }
    void used(Key key) override {
        Scored::used(key);
        sum_[key] += weight_;
        before_[key] = at_[key];
        at_[key] = token();
    }
    void used_by(Key key, std::uint32_t rows, double) override {
        used(key);
        sum_[key] += weight_ * (rows - 1);
    }
    void layer_ran(std::uint32_t layer) override {
        if (tokens_ <= weight_) return;
        for (Key key = layer * n_experts_; key < (layer + 1) * n_experts_; key++) {
            const bool now = at_[key] == token();
            const int b = bucket(token() - (now ? before_[key] : at_[key]));
            expected_[b] += ((now ? sum_[key] - weight_ : sum_[key]) + prior_ * weight_) / (tokens_ - weight_);
            actual_[b] += now;
        }
    }
    double worth(Key key) const override {
        const bool turn = ran(key / n_experts_);
        const double turns = turn ? tokens_ : tokens_ - weight_;
        const int b = bucket(token() + (turn ? 1 : 0) - at_[key]);
        const double rate = (sum_[key] + prior_ * weight_) / std::max(turns, 1e-9);
        return std::min(rate * (actual_[b] + 4.0) / (expected_[b] + 4.0), 1.0) / (distance(key) + offset_);
    }

  private:
    static constexpr int kBuckets = 16;
    static int bucket(std::uint64_t age) {
        int b = 0;
        while (age > 1 && b < kBuckets - 1) {
            age = (age + 1) / 2;
            b++;
        }
        return b;
    }
    double half_life_;
    double offset_;
    double prior_ = 0.05;
    double weight_ = 1.0;
    double tokens_ = 0.0;
    double expected_[kBuckets] = {};
    double actual_[kBuckets] = {};
    std::vector<double> sum_;
    std::vector<std::uint64_t> at_;
    std::vector<std::uint64_t> before_;
};

// ARC (Megiddo and Modha 2003): seen once and seen again, the border moved by hits on what was evicted.
class Arc : public EvictionPolicy {
  public:
    Arc(const RoutingLog& log, std::uint32_t slots)
        : slots_(slots), list_(std::size_t{log.n_layers} * log.n_experts, 0), last_(list_.size(), 0) {}
    void used(Key key) override {
        last_[key] = ++clock_;
        if (list_[key] == 1) {
            if (fresh_[key]) {
                fresh_[key] = false;
            } else {
                move(key, 2);
            }
        }
    }
    void fetched(Key key, bool) override {
        if (ghost_[0].forget(key)) {
            target_ = std::min<double>(slots_, target_ + std::max(1.0, ratio(1, 0)));
            move(key, 2);
        } else if (ghost_[1].forget(key)) {
            target_ = std::max(0.0, target_ - std::max(1.0, ratio(0, 1)));
            move(key, 2);
        } else {
            move(key, 1);
            fresh_[key] = true;
        }
        last_[key] = ++clock_;
    }
    void evicted(Key key) override {
        ghost_[list_[key] - 1].remember(key, slots_);
        move(key, 0);
    }
    bool leaves_before(Key a, Key b) const override {
        if (list_[a] == list_[b]) return last_[a] < last_[b];
        const char first = static_cast<double>(count_[1]) > target_ ? 1 : 2;
        return list_[a] == first;
    }

  private:
    struct Ghosts {
        std::list<Key> order;
        std::unordered_map<Key, std::list<Key>::iterator> at;
        bool forget(Key key) {
            const auto found = at.find(key);
            if (found == at.end()) return false;
            order.erase(found->second);
            at.erase(found);
            return true;
        }
        void remember(Key key, std::size_t most) {
            order.push_back(key);
            at[key] = std::prev(order.end());
            if (order.size() > most) {
                at.erase(order.front());
                order.pop_front();
            }
        }
    };
    double ratio(int a, int b) const {
        return static_cast<double>(ghost_[a].order.size()) / static_cast<double>(ghost_[b].order.size() + 1);
    }
    void move(Key key, char list) {
        count_[static_cast<int>(list_[key])]--;
        count_[static_cast<int>(list)]++;
        list_[key] = list;
    }

    std::uint32_t slots_;
    double target_ = 0.0;
    std::uint64_t clock_ = 0;
    std::int64_t count_[3] = {0, 0, 0};
    Ghosts ghost_[2];
    std::vector<char> list_;  // 0 absent, 1 seen once, 2 seen again
    std::vector<std::uint64_t> last_;
    std::unordered_map<Key, bool> fresh_;
};

// 2Q (Johnson and Shasha 1994): a queue for what came once, a quarter of the cache; then LRU.
class TwoQueues : public EvictionPolicy {
  public:
    TwoQueues(const RoutingLog& log, std::uint32_t slots)
        : slots_(slots),
          main_(std::size_t{log.n_layers} * log.n_experts, 0),
          last_(main_.size(), 0),
          left_(main_.size(), 0) {}
    void used(Key key) override {
        clock_++;
        if (main_[key] != 0) last_[key] = clock_;
    }
    void fetched(Key key, bool) override {
        main_[key] = left_[key] != 0 && evictions_ - left_[key] < slots_ / 2;
        if (main_[key] == 0) queue_size_++;
        last_[key] = ++clock_;
    }
    void evicted(Key key) override {
        evictions_++;
        if (main_[key] == 0) {
            queue_size_--;
            left_[key] = evictions_;
        }
    }
    bool leaves_before(Key a, Key b) const override {
        if (main_[a] == main_[b]) return last_[a] < last_[b];
        const char first = queue_size_ > slots_ / 4 ? 0 : 1;
        return main_[a] == first;
    }

  private:
    std::uint32_t slots_;
    std::uint32_t queue_size_ = 0;
    std::uint64_t clock_ = 0;
    std::uint64_t evictions_ = 0;
    std::vector<char> main_;
    std::vector<std::uint64_t> last_;
    std::vector<std::uint64_t> left_;
};

// The numbers after a policy's name, "mix:8,64:0.5:1" -> 8, 64, 0.5, 1.
std::vector<double> numbers(const std::string& name) {
    std::vector<double> found;
    std::string digits;
    for (const char c : name.substr(std::min(name.find(':'), name.size())) + ":") {
        if (c != ':' && c != ',') {
            digits += c;
        } else if (!digits.empty()) {
            found.push_back(std::stod(digits));
            digits.clear();
        }
    }
    return found;
}

}  // namespace

std::unique_ptr<EvictionPolicy> make_policy(const std::string& name, const RoutingLog& log, std::uint32_t slots) {
    const std::string kind = name.substr(0, name.find(':'));
    const std::vector<double> n = numbers(name);
    const bool positive = std::all_of(n.begin(), n.end(), [](double x) { return x >= 0.0; });
    if (kind == "shipped") return std::make_unique<Shipped>(log);
    if (kind == "lru") return std::make_unique<Lru>(log);
    if (kind == "turn-lru") return std::make_unique<TurnLru>(log);
    if (kind == "lfu") return std::make_unique<Lfu>(log);
    if (kind == "lirs") return std::make_unique<Lirs>(log);
    if (kind == "arc") return std::make_unique<Arc>(log, slots);
    if (kind == "2q") return std::make_unique<TwoQueues>(log, slots);
    if (kind == "decay" && n.size() == 1 && n[0] > 0.0) return std::make_unique<Decay>(log, n[0]);
    if (kind == "aged" && n.size() == 2 && n[0] > 0.0 && n[1] >= 0.0) return std::make_unique<Aged>(log, n[0], n[1]);
    if (kind == "mix" && n.size() == 4 && positive && n[0] > 0.0 && n[1] > 0.0) {
        return std::make_unique<Mix>(log, n[0], n[1], n[2], n[3]);
    }
    throw std::invalid_argument("no eviction policy '" + name + "'");
}

}  // namespace gannet
