// The store's reading side: what is asked of the drive, and the threads that ask it.
#include <algorithm>
#include <new>
#include <stdexcept>

#include "expert_store.h"

namespace gannet {
namespace {

constexpr std::uint32_t kMaxChunks = 64;  // chunk sets are 64-bit masks

std::uint64_t chunk_bits(std::uint32_t first, std::uint32_t last) {
    const std::uint64_t below_last = last >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << last) - 1;
    return below_last & ~((std::uint64_t{1} << first) - 1);
}

}  // namespace

ExpertStore::Span ExpertStore::span(Key key, std::uint32_t part) const {
    const PartSpec& spec = index_.layers()[layer_of(key)].parts[part];
    const std::uint64_t offset = spec.offset + spec.bytes * (key % index_.n_experts());
    Span s;
    s.file = spec.file;
    s.begin = offset / alignment_ * alignment_;
    s.shift = static_cast<std::uint32_t>(offset - s.begin);
    s.needed = s.shift + spec.bytes;
    const std::uint64_t fair = (s.needed + kMaxChunks - 1) / kMaxChunks;
    const std::uint64_t size = std::max(settings_.prefetch_chunk_bytes, fair);
    s.chunk = (size + alignment_ - 1) / alignment_ * alignment_;
    s.chunks = static_cast<std::uint32_t>((s.needed + s.chunk - 1) / s.chunk);
    return s;
}

void ExpertStore::request(std::uint32_t slot, std::uint32_t parts, bool demand) {
    const auto n = static_cast<std::uint32_t>(index_.layers()[layer_of(slots_[slot].key)].parts.size());
    if (demand) queue_.promote(slot);
    for (std::uint32_t p = 0; p < n; p++) {
        if ((parts >> p & 1U) != 0) request_part(slot, p, demand);
    }
}

// Queues the missing chunks: demand as whole runs, prefetch one by one.
void ExpertStore::request_part(std::uint32_t slot, std::uint32_t part, bool demand) {
    Part& p = slots_[slot].parts[part];
    if (p.state.load(std::memory_order_relaxed) == State::kFailed)
        p.state.store(State::kEmpty, std::memory_order_relaxed);
    if (p.missing == 0) return;
    p.state.store(State::kPending, std::memory_order_relaxed);
    const std::uint32_t chunks = span(slots_[slot].key, part).chunks;
    for (std::uint32_t first = 0; first < chunks;) {
        if ((p.missing >> first & 1U) == 0) {
            first++;
            continue;
        }
        std::uint32_t last = first + 1;
        while (demand && last < chunks && (p.missing >> last & 1U) != 0) last++;
        queue_.add({slot, part, first, last, demand});
        first = last;
    }
    p.pending |= p.missing;
    p.missing = 0;
}

// Gives up what a wrong prediction has not read yet.
void ExpertStore::cancel(std::uint32_t slot) {
    Slot& s = slots_[slot];
    bool gave_up = false;
    queue_.drop(slot, [&](const ReadChunk& chunk) {
        const std::uint64_t bits = chunk_bits(chunk.first, chunk.last);
        s.parts[chunk.part].pending &= ~bits;
        s.parts[chunk.part].missing |= bits;
        gave_up = true;
    });
    if (!gave_up) return;
    s.doomed = true;
    if (s.in_flight == 0) unbind(slot);
}

// The layer has chosen: predictions for it that were wrong leave the list and their reads stop.
void ExpertStore::cancel_wrong(std::uint32_t layer) {
    waiting_.remove_layer(layer);
    if (queue_.queued_prefetch() == 0) return;
    for (std::uint32_t e = 0; e < index_.layers()[layer].n_experts; e++) {
        const std::int32_t id = slot_of_[key_of(layer, e)];
        if (id < 0) continue;
        const Slot& s = slots_[static_cast<std::size_t>(id)];
        if (s.speculative && s.pins == 0) cancel(static_cast<std::uint32_t>(id));
    }
}

void ExpertStore::predict(Predicted* predicted, std::size_t n, double bar) {
    const std::lock_guard<std::mutex> lock(mutex_);
    bar_ = bar;
    if (n > 0) waiting_.remove_layer(predicted[0].layer);  // what an earlier layer thought of it
    for (std::size_t i = 0; i < n; i++) {
        residency_.expect(predicted[i].key);
        predicted[i].resident = slot_of_[predicted[i].key] >= 0;
        if (!predicted[i].resident) waiting_.add(predicted[i]);
    }
    wake_for_prefetch();
}

// Wakes as many readers as may start on predictions.
void ExpertStore::wake_for_prefetch() {
    const std::size_t there = queue_.queued_prefetch() + waiting_.worth_reading(bar_) + warm_.size();
    wake_readers(std::min<std::size_t>(there, queue_.room_for_prefetch()));
}

double ExpertStore::idle_share() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return idle_.share();
}

// An idle thread gives the best waiting prediction a slot; false when there is none worth one.
bool ExpertStore::bind_prefetch() {
    Predicted best;
    while (queue_.has_room_for_prefetch() && waiting_.take_best(bar_, best)) {
        if (slot_of_[best.key] >= 0) continue;
        const std::int32_t slot = take_slot(class_of_layer_[best.layer], true, 0);
        if (slot < 0) return false;
        bind(static_cast<std::uint32_t>(slot), best.key, true);
        request(static_cast<std::uint32_t>(slot), kAllParts, false);
        count(counters_.prefetch_issued);
        return true;
    }
    return false;
}

void ExpertStore::recall(const std::vector<std::uint64_t>& uses, std::uint32_t n_used) {
    const std::lock_guard<std::mutex> lock(mutex_);
    residency_.recall(uses, n_used);
}

void ExpertStore::warm(std::vector<Key> keys) {
    const std::lock_guard<std::mutex> lock(mutex_);
    warm_.clear();
    for (const Key key : keys) {
        const bool known = key < slot_of_.size() && key % index_.n_experts() < index_.layers()[layer_of(key)].n_experts;
        if (known) warm_.push_back(key);
    }
    wake_readers(warm_.size());
}

// A thread with nothing else to read gives the next popular expert an empty slot; nothing is evicted for it.
bool ExpertStore::bind_warm() {
    while (queue_.has_room_for_prefetch() && !warm_.empty()) {
        const Key key = warm_.front();
        warm_.pop_front();
        const std::uint32_t cls = class_of_layer_[layer_of(key)];
        if (slot_of_[key] >= 0 || !has_empty_slot(classes_[cls])) continue;
        const std::int32_t slot = take_slot(cls, true, 0);
        if (slot < 0) continue;
        bind(static_cast<std::uint32_t>(slot), key, false);
        request(static_cast<std::uint32_t>(slot), kAllParts, false);
        return true;
    }
    return false;
}

void ExpertStore::start(const ReadChunk& chunk) {
    slots_[chunk.slot].in_flight++;
    if (queue_.serving_demand() + queue_.serving_prefetch() == 1) drive_since_ = now_ns();
}

// Tells the idle share what the drive did since the last token.
void ExpertStore::observe_drive() {
    const std::uint64_t now = now_ns();
    if (queue_.serving_demand() + queue_.serving_prefetch() > 0) {
        drive_busy_ += now - drive_since_;
        drive_since_ = now;
    }
    if (observed_ > 0)
        idle_.observe(static_cast<double>(drive_busy_) / 1e9, static_cast<double>(now - observed_) / 1e9);
    observed_ = now;
    drive_busy_ = 0;
}

void ExpertStore::finish(const ReadChunk& chunk, const std::string& error) {
    Slot& s = slots_[chunk.slot];
    Part& p = s.parts[chunk.part];
    const std::uint64_t bits = chunk_bits(chunk.first, chunk.last);
    queue_.finished(chunk);
    if (queue_.serving_demand() + queue_.serving_prefetch() == 0) drive_busy_ += now_ns() - drive_since_;
    s.in_flight--;
    p.pending &= ~bits;
    note_touched(class_of_slot(chunk.slot), chunk.slot);
    if (!error.empty()) {
        p.missing |= bits;
        p.state.store(State::kFailed, std::memory_order_release);
        last_read_ = error;
    } else if (p.pending == 0 && p.missing == 0) {
        p.state.store(State::kReady, std::memory_order_release);
    }
    if (s.doomed && s.in_flight == 0 && s.pins == 0) unbind(chunk.slot);
    shrink(class_of_slot(chunk.slot), 1);
    progress_++;
    if (waiters_ + slot_waiters_ > 0) landed_.notify_all();
}

void ExpertStore::set_prefetch_depth(std::uint32_t depth) {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.set_limits({std::max(1U, depth)});
    wake_for_prefetch();
}

void ExpertStore::set_io_threads(std::uint32_t n) {
    const std::lock_guard<std::mutex> lock(mutex_);
    io_threads_ = std::max(1U, n);
    while (threads_.size() < io_threads_) {
        threads_.emplace_back([this, number = static_cast<std::uint32_t>(threads_.size())] { io_main(number); });
    }
    work_.notify_all();
}

bool ExpertStore::next_read(std::uint32_t thread, ReadChunk& out) {
    if (thread >= io_threads_) return false;
    if (!queue_.next(out) && !((bind_prefetch() || bind_warm()) && queue_.next(out))) return false;
    wake_for_prefetch();  // those that slept while there was no room
    return true;
}

// Wakes as many I/O threads as there are reads for; all, where some of them are not to read.
void ExpertStore::wake_readers(std::size_t n) {
    if (n == 0 || idle_threads_ == 0) return;
    if (threads_.size() > io_threads_) {
        work_.notify_all();
    } else {
        work_.notify(static_cast<int>(std::min<std::size_t>(n, idle_threads_)));
    }
}

// What a thread that is to read no more would have read next is for another one, which may sleep.
void ExpertStore::hand_on() {
    wake_readers(queue_.queued_demand());
    wake_for_prefetch();
}

// Gives the next slot that will be used its memory; false when none is without, or another thread does it.
bool ExpertStore::touch_ahead(std::unique_lock<std::mutex>& lock) {
    if (!settings_.touch_ahead || decoding_ || touching_ || resizing_ > 0 || refused_) return false;
    return std::any_of(classes_.begin(), classes_.end(), [&](Class& c) { return touch_next(c, lock); });
}

bool ExpertStore::touch_next(Class& c, std::unique_lock<std::mutex>& lock) {
    if (c.used >= c.limit || c.uncommitted.empty()) return false;
    const std::uint32_t id = c.uncommitted.back();
    if (!commit(c, id)) return false;
    note_touched(c, id);
    touching_ = true;
    lock.unlock();
    c.pool->touch(id - c.first);
    lock.lock();
    touching_ = false;
    c.free.push_back(id);
    shrink(c, 1);  // the cache may have been made smaller meanwhile
    progress_++;
    if (slot_waiters_ > 0) landed_.notify_all();
    return true;
}

void ExpertStore::io_main(std::uint32_t number) {
    std::vector<DirectFile> files(paths_.size());
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stop_) {
        ReadChunk chunk;
        if (!next_read(number, chunk)) {
            if (number < io_threads_ && touch_ahead(lock)) continue;
            const std::uint32_t seen = work_.now();
            idle_threads_++;
            lock.unlock();
            work_.wait(seen);
            lock.lock();
            idle_threads_--;
            continue;
        }
        const Key key = slots_[chunk.slot].key;
        start(chunk);
        lock.unlock();
        if (settings_.before_read) settings_.before_read(key);
        const std::string error = read(files, chunk, key);
        lock.lock();
        finish(chunk, error);
        if (number >= io_threads_) hand_on();
    }
}

// Reads the chunk into its slot. Returns what went wrong, or an empty string. Called without the lock.
std::string ExpertStore::read(std::vector<DirectFile>& files, const ReadChunk& chunk, Key key) {
    const Span at = span(key, chunk.part);
    const std::uint64_t begin = chunk.first * at.chunk;
    const std::uint64_t needed = std::min(chunk.last * at.chunk, at.needed) - begin;
    const std::uint64_t size = (needed + alignment_ - 1) / alignment_ * alignment_;
    const std::uint64_t t0 = now_ns();
    try {
        DirectFile& file = files[at.file];
        if (!file.is_open()) file = DirectFile(paths_[at.file], settings_.direct);
        const Class& c = classes_[class_of_slot_[chunk.slot]];
        file.read(at.begin + begin, c.pool->region(chunk.slot - c.first, chunk.part) + begin, size, needed);
    } catch (const std::exception& e) {
        count(counters_.reads);
        return paths_[at.file] + ": reading " + index_.layers()[layer_of(key)].parts[chunk.part].tensor +
               " failed: " + e.what();
    }
    if (settings_.throttle_ns_per_mib > 0) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(settings_.throttle_ns_per_mib * size >> 20));
    }
    count(counters_.read_ns, now_ns() - t0);
    count(counters_.bytes_read, size);
    count(counters_.reads);
    return {};
}

}  // namespace gannet
