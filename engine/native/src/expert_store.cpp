// The store's compute side; its reading side is expert_store_io.cpp, its control expert_store_control.cpp.
#include "expert_store.h"

#include <algorithm>
#include <map>
#include <new>
#include <stdexcept>
#include <utility>

namespace gannet {
namespace {

constexpr std::uint32_t kMinSlots = 2;  // a class: one to compute on, one to read into

std::vector<std::uint64_t> part_sizes(const LayerSpec& layer) {
    std::vector<std::uint64_t> sizes;
    for (const PartSpec& part : layer.parts) sizes.push_back(part.bytes);
    return sizes;
}

}  // namespace

ExpertStore::ExpertStore(ExpertIndex index, std::vector<std::string> paths, StoreSettings settings, Counters& counters)
    : index_(std::move(index)),
      paths_(std::move(paths)),
      settings_(settings),
      counters_(counters),
      residency_(index_.n_layers(), index_.n_experts(), settings.residency),
      queue_(settings.limits) {
    for (const std::string& path : paths_) {
        const DirectFile file(path, settings_.direct);
        direct_ = direct_ && file.is_direct();
        alignment_ = std::max(alignment_, file.alignment());
    }
    slot_of_.assign(std::size_t{index_.n_layers()} * index_.n_experts(), -1);
    make_classes(index_.layers());
    set_limits(settings_.cache_bytes);
    reserve_least();
    try {
        set_io_threads(settings_.io_threads);
    } catch (...) {
        stop();
        throw;
    }
}

ExpertStore::~ExpertStore() {
    stop();
}

void ExpertStore::stop() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
    }
    work_.notify_all();
    for (std::thread& t : threads_) t.join();
}

void ExpertStore::make_classes(const std::vector<LayerSpec>& layers) {
    std::map<std::vector<std::uint64_t>, std::uint32_t> by_sizes;
    std::vector<std::uint32_t> experts;
    for (const LayerSpec& layer : layers) {
        const auto [it, fresh] = by_sizes.try_emplace(part_sizes(layer), static_cast<std::uint32_t>(experts.size()));
        if (fresh) experts.push_back(0);
        experts[it->second] += layer.n_experts;
        class_of_layer_.push_back(it->second);
    }
    classes_.resize(experts.size());
    for (const auto& [sizes, c] : by_sizes) {
        Class& cls = classes_[c];
        cls.pool = std::make_unique<SlotPool>(sizes, alignment_, experts[c]);
        cls.bytes = cls.pool->slot_bytes() * experts[c];
    }
    for (std::uint32_t c = 0; c < classes_.size(); c++) {
        classes_[c].first = static_cast<std::uint32_t>(n_slots_);
        for (std::uint32_t s = experts[c]; s-- > 0;) classes_[c].uncommitted.push_back(classes_[c].first + s);
        class_of_slot_.insert(class_of_slot_.end(), experts[c], c);
        n_slots_ += experts[c];
    }
    slots_ = std::make_unique<Slot[]>(n_slots_);
}

// Each class gets the share of the budget that its experts have of all experts.
void ExpertStore::set_limits(std::uint64_t bytes) {
    double all = 0;
    for (const Class& c : classes_) all += static_cast<double>(c.bytes);
    for (Class& c : classes_) {
        const double share = static_cast<double>(bytes) * static_cast<double>(c.bytes) / all;
        const auto slots = static_cast<std::uint64_t>(share / static_cast<double>(c.pool->slot_bytes()));
        c.limit = static_cast<std::uint32_t>(
            std::clamp<std::uint64_t>(slots, std::min(kMinSlots, c.pool->max_slots()), c.pool->max_slots()));
    }
}

// The slots without which a class could not make progress hold memory from the start.
void ExpertStore::reserve_least() {
    for (Class& c : classes_) {
        while (c.used < std::min(kMinSlots, c.pool->max_slots())) {
            const std::uint32_t id = c.uncommitted.back();
            if (!commit(c, id)) throw std::bad_alloc();
            if (settings_.touch_ahead) {
                c.pool->touch(id - c.first);
                note_touched(c, id);
            }
            c.free.push_back(id);
        }
    }
}

// ---------------------------------------------------------------- time

void ExpertStore::begin_token() {
    const std::lock_guard<std::mutex> lock(mutex_);
    decoding_ = true;
    residency_.begin_token();
    observe_drive();
}

void ExpertStore::begin_prompt(std::uint32_t n_tokens) {
    const std::lock_guard<std::mutex> lock(mutex_);
    decoding_ = false;
    waiting_.clear();
    residency_.begin_prompt(n_tokens);
}

double ExpertStore::decay(std::uint32_t tokens_ago) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return residency_.decay(tokens_ago);
}

bool ExpertStore::whole(const Slot& s, std::uint32_t n_parts) const {
    for (std::uint32_t p = 0; p < n_parts; p++) {
        if (s.parts[p].state.load(std::memory_order_relaxed) != State::kReady) return false;
    }
    return true;
}

void ExpertStore::selected(std::uint32_t layer, const std::uint32_t* experts, const std::uint32_t* rows,
                           const double* weights, std::size_t n) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto n_parts = static_cast<std::uint32_t>(index_.layers()[layer].parts.size());
    count(counters_.lookups, n);
    for (std::size_t i = 0; i < n; i++) {
        const Key key = key_of(layer, experts[i]);
        if (rows == nullptr) {
            residency_.used(key);
        } else {
            residency_.used(key, rows[i], weights[i]);
        }
        const std::int32_t id = slot_of_[key];
        if (id < 0) {
            count(counters_.misses);
            continue;
        }
        Slot& s = slots_[static_cast<std::size_t>(id)];
        const bool there = whole(s, n_parts);
        count(there ? counters_.hits : counters_.late_hits);
        if (s.speculative) count(there ? counters_.prefetch_useful : counters_.prefetch_late);
        s.speculative = false;
        s.pins++;  // not to be cancelled below; acquire pins for good
    }
    cancel_wrong(layer);
    for (std::size_t i = 0; i < n; i++) {
        const std::int32_t id = slot_of_[key_of(layer, experts[i])];
        if (id >= 0) slots_[static_cast<std::size_t>(id)].pins--;
    }
}

void ExpertStore::layer_ran(std::uint32_t layer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    residency_.layer_ran(layer);
}

// ---------------------------------------------------------------- slots

std::int32_t ExpertStore::victim(const Class& c, bool shielded) const {
    std::int32_t best = -1;
    Worth least;
    // Worth first, from tables that fit the caches; the slot itself is looked at for few.
    for (const Held& h : c.held) {
        if (best >= 0 && residency_.density(h.key) > least.density) continue;
        const Worth w = residency_.worth(h.key);
        if (best >= 0 && !(w < least)) continue;
        const Slot& s = slots_[h.slot];
        if (s.pins > 0 || s.in_flight > 0) continue;
        if (!shielded && residency_.shielded(h.key)) continue;
        best = static_cast<std::int32_t>(h.slot);
        least = w;
    }
    return best;
}

std::int32_t ExpertStore::take_slot(std::uint32_t cls, bool prefetch, std::size_t at_least) {
    Class& c = classes_[cls];
    if (!c.free.empty()) {
        const std::uint32_t id = c.free.back();
        c.free.pop_back();
        return static_cast<std::int32_t>(id);
    }
    if (c.used < std::max<std::size_t>(c.limit, at_least) && !c.uncommitted.empty()) {
        const std::uint32_t id = c.uncommitted.back();
        if (commit(c, id)) return static_cast<std::int32_t>(id);
    }
    std::int32_t id = victim(c, false);
    if (id < 0 && !prefetch) id = victim(c, true);
    if (id < 0) return -1;
    unbind(static_cast<std::uint32_t>(id));
    c.free.pop_back();  // unbind has put it there
    return id;
}

// Takes the last uncommitted slot; false when the system has no memory for it, and then asks for no more
// until the next resize: evicting still works.
bool ExpertStore::commit(Class& c, std::uint32_t id) {
    try {
        c.pool->commit(id - c.first);
    } catch (const std::bad_alloc&) {
        refused_ = true;
        c.limit = std::max(c.used, std::min(kMinSlots, c.pool->max_slots()));
        return false;
    }
    c.uncommitted.pop_back();
    c.used++;
    return true;
}

void ExpertStore::note_touched(Class& c, std::uint32_t id) {
    if (!slots_[id].touched) c.touched++;
    slots_[id].touched = true;
}

void ExpertStore::bind(std::uint32_t id, Key key, bool speculative) {
    Slot& s = slots_[id];
    s.key = key;
    s.speculative = speculative;
    s.doomed = false;
    slot_of_[key] = static_cast<std::int32_t>(id);
    std::vector<Held>& held = class_of_slot(id).held;
    s.place = static_cast<std::uint32_t>(held.size());
    held.push_back({id, key});
    residency_.fetched(key, speculative);
    const auto n_parts = static_cast<std::uint32_t>(index_.layers()[layer_of(key)].parts.size());
    for (std::uint32_t p = 0; p < n_parts; p++) {
        const Span at = span(key, p);
        s.parts[p].state.store(State::kEmpty, std::memory_order_relaxed);
        s.parts[p].missing = at.chunks >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << at.chunks) - 1;
        s.parts[p].pending = 0;
        s.parts[p].shift = at.shift;
    }
}

void ExpertStore::unbind(std::uint32_t id) {
    Slot& s = slots_[id];
    const auto queued = [](const Part& p) { return p.pending != 0; };
    if (std::any_of(s.parts.begin(), s.parts.end(), queued)) queue_.forget(id);
    if (s.speculative) count(s.doomed ? counters_.prefetch_cancelled : counters_.prefetch_wasted);
    if (!s.doomed) count(counters_.evictions);
    slot_of_[s.key] = -1;
    s.key = kNone;
    s.doomed = false;
    s.speculative = false;
    Class& c = class_of_slot(id);
    c.held[s.place] = c.held.back();
    slots_[c.held[s.place].slot].place = s.place;
    c.held.pop_back();
    c.free.push_back(id);
}

// Takes up to `most` slots above the limit out of use, as far as pins and reads allow: unpin() and finish()
// come back for the rest.
std::vector<std::uint32_t> ExpertStore::take_surplus(Class& c, std::uint32_t most) {
    std::vector<std::uint32_t> taken;
    if (c.used <= c.limit) return taken;
    const std::uint32_t n = std::min(most, c.used - c.limit);
    if (c.free.size() < n) empty_least_worth(c, n - static_cast<std::uint32_t>(c.free.size()));
    while (taken.size() < n && !c.free.empty()) {
        taken.push_back(c.free.back());
        c.free.pop_back();
        c.used--;
    }
    return taken;
}

// The memory of these slots has gone back to the system.
void ExpertStore::uncommit(Class& c, const std::vector<std::uint32_t>& taken) {
    for (const std::uint32_t id : taken) {
        if (slots_[id].touched) c.touched--;
        slots_[id].touched = false;
        c.uncommitted.push_back(id);
    }
}

void ExpertStore::shrink(Class& c, std::uint32_t most) {
    const std::vector<std::uint32_t> taken = take_surplus(c, most);
    for (const std::uint32_t id : taken) c.pool->discard(id - c.first);
    uncommit(c, taken);
}

// Evicts up to n experts at once, predicted ones last: a look at all of them for each would take too long.
void ExpertStore::empty_least_worth(Class& c, std::uint32_t n) {
    struct Candidate {
        bool shielded;
        Worth worth;
        std::uint32_t id;
    };
    std::vector<Candidate> candidates;
    for (const Held& h : c.held) {
        const Slot& s = slots_[h.slot];
        if (s.pins > 0 || s.in_flight > 0) continue;
        candidates.push_back({residency_.shielded(h.key), residency_.worth(h.key), h.slot});
    }
    const auto last = candidates.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(n, candidates.size()));
    std::partial_sort(candidates.begin(), last, candidates.end(), [](const Candidate& a, const Candidate& b) {
        return a.shielded != b.shielded ? b.shielded : a.worth < b.worth;
    });
    std::for_each(candidates.begin(), last, [this](const Candidate& candidate) { unbind(candidate.id); });
}

// ---------------------------------------------------------------- compute

std::uint32_t ExpertStore::capacity(std::uint32_t layer) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return classes_[class_of_layer_[layer]].limit;
}

std::size_t ExpertStore::acquire(std::uint32_t layer, const std::uint32_t* experts, std::size_t n, std::uint32_t parts,
                                 std::int32_t* slots, std::size_t at_least) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return pin(layer, experts, n, parts, slots, at_least);
}

std::size_t ExpertStore::pin(std::uint32_t layer, const std::uint32_t* experts, std::size_t n, std::uint32_t parts,
                             std::int32_t* slots, std::size_t at_least) {
    std::size_t got = 0;
    for (std::size_t i = 0; i < n; i++) {
        slots[i] = slot_of_[key_of(layer, experts[i])];
        if (slots[i] < 0) continue;
        Slot& s = slots_[static_cast<std::size_t>(slots[i])];
        s.pins++;
        s.doomed = false;
    }
    for (std::size_t i = 0; i < n; i++) {
        if (slots[i] < 0) {
            slots[i] = take_slot(class_of_layer_[layer], false, at_least);
            if (slots[i] < 0) continue;
            bind(static_cast<std::uint32_t>(slots[i]), key_of(layer, experts[i]), false);
            slots_[static_cast<std::size_t>(slots[i])].pins++;
        }
        got++;
    }
    pins_ += got;
    // First the parts that are computed first, of every expert: their products wait for one another.
    for (std::uint32_t p = 0; p < kMaxParts; p++) {
        for (std::size_t i = 0; i < n; i++) {
            if (slots[i] >= 0) request(static_cast<std::uint32_t>(slots[i]), parts & 1U << p, true);
        }
    }
    wake_readers(queue_.queued_demand());
    return got;
}

bool ExpertStore::acquire_all(std::uint32_t layer, const std::uint32_t* experts, std::size_t n, std::int32_t* slots) {
    std::unique_lock<std::mutex> lock(mutex_);
    refused_ = false;
    while (pin(layer, experts, n, kAllParts, slots, n) < n) {
        unpin(slots, n);
        // Reads in flight, other contexts' pins, a resize that is under way and a slot being touched hold slots.
        const bool others =
            pins_ > 0 || leaving_ > 0 || touching_ || queue_.serving_demand() + queue_.serving_prefetch() > 0;
        if (refused_ && !others) return false;
        const std::uint64_t seen = progress_;
        slot_waiters_++;
        while (others && progress_ == seen) sleep_until_landed(lock);
        slot_waiters_--;
    }
    return true;
}

bool ExpertStore::ready(std::int32_t slot, std::uint32_t part) const {
    const State s = slots_[static_cast<std::size_t>(slot)].parts[part].state.load(std::memory_order_acquire);
    return s == State::kReady || s == State::kFailed;
}

const std::byte* ExpertStore::wait(std::int32_t slot, std::uint32_t part) {
    const std::int32_t one[] = {slot};
    if (!ready(slot, part)) wait_any(one, 1, part);
    const auto id = static_cast<std::uint32_t>(slot);
    const Part& p = slots_[id].parts[part];
    if (p.state.load(std::memory_order_acquire) != State::kReady) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (error_.empty()) error_ = last_read_;
        return nullptr;
    }
    const Class& c = classes_[class_of_slot_[id]];
    return c.pool->region(id - c.first, part) + p.shift;
}

void ExpertStore::wait_any(const std::int32_t* slots, std::size_t n, std::uint32_t part) {
    const auto any = [&] {
        return std::any_of(slots, slots + n, [&](std::int32_t s) { return s >= 0 && ready(s, part); });
    };
    if (!any()) wait_until(any);
}

void ExpertStore::wait_until(const std::function<bool()>& done) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (waiters_++ == 0) stall_begin_ = now_ns();
    while (!done()) sleep_until_landed(lock);
    if (--waiters_ == 0) count(counters_.stall_ns, now_ns() - stall_begin_);
}

void ExpertStore::sleep_until_landed(std::unique_lock<std::mutex>& lock) {
    const std::uint32_t seen = landed_.now();
    lock.unlock();
    landed_.wait(seen);
    lock.lock();
}

void ExpertStore::release(const std::int32_t* slots, std::size_t n) {
    const std::lock_guard<std::mutex> lock(mutex_);
    unpin(slots, n);
    if (slot_waiters_ > 0) landed_.notify_all();
}

void ExpertStore::unpin(const std::int32_t* slots, std::size_t n) {
    for (std::size_t i = 0; i < n; i++) {
        if (slots[i] < 0) continue;
        slots_[static_cast<std::size_t>(slots[i])].pins--;
        pins_--;
        progress_++;
    }
    for (Class& c : classes_) {
        if (resizing_ == 0) shrink(c, kShrinkStep);
    }
}

std::uint64_t ExpertStore::progress() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return progress_;
}

void ExpertStore::wait_progress(std::uint64_t seen) {
    std::unique_lock<std::mutex> lock(mutex_);
    slot_waiters_++;
    while (progress_ == seen) sleep_until_landed(lock);
    slot_waiters_--;
}

}  // namespace gannet
