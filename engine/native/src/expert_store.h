// The cache of routed experts in memory, and the threads that fill it.
//
// Mechanism: which expert leaves is Residency's decision, what is read next IoQueue's, which
// prediction is worth a read WaitingList's. The store owns slots, reads and the lock around them.
//
// Threads. Compute threads call acquire, wait and release; any number of I/O threads (each with its
// own file handles) read into slots; control calls (resize, snapshots) come from anywhere. One mutex
// guards all state but the parts' ready flags, which are atomics so that a hit costs no lock.
//
// A thread with nothing to read gives memory to slots ahead of their use (touch_ahead): the system clears
// pages at the first touch, and a read into untouched memory would wait for that. Not while tokens are
// decoded: they read little, and clearing would take processor time from them.
//
// Life of a slot: free -> bound to a key -> its parts read -> pinned while a layer computes on it ->
// unpinned -> evicted. A slot that is pinned or has a read in flight is never evicted.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "direct_file.h"
#include "event_count.h"
#include "expert_index.h"
#include "io_queue.h"
#include "likelihood.h"
#include "residency.h"
#include "slot_pool.h"
#include "telemetry.h"
#include "waiting_list.h"

namespace gannet {

struct StoreSettings {
    std::uint64_t cache_bytes = 0;
    std::uint32_t io_threads = 8;
    bool direct = true;
    IoLimits limits;
    // Every read costs the processors some 40 microseconds, and demand waits for a guess's read under way.
    std::uint64_t prefetch_chunk_bytes = 1 << 20;
    std::uint64_t throttle_ns_per_mib = 0;  // slows every read down; for tests of slow drives
    bool touch_ahead = true;                // slots get memory before they are used; off where that is counted
    std::function<void(Key)> before_read;   // called without the lock; lets tests hold the drive still
    ResidencySettings residency;
};

constexpr std::uint32_t kAllParts = (1U << kMaxParts) - 1;

class ExpertStore {
  public:
    // Opens every file once (throws std::runtime_error naming it) and starts the I/O threads.
    ExpertStore(ExpertIndex index, std::vector<std::string> paths, StoreSettings settings, Counters& counters);
    ~ExpertStore();
    ExpertStore(const ExpertStore&) = delete;
    ExpertStore& operator=(const ExpertStore&) = delete;

    const ExpertIndex& index() const { return index_; }
    Counters& counters() { return counters_; }
    // False when some file is read through the page cache.
    bool direct() const { return direct_; }

    // ---- time, as the graphs run
    void begin_token();
    void begin_prompt(std::uint32_t n_tokens);
    // The router chose these distinct experts: counts them, drops the layer's wrong predictions.
    // rows and weights (rows decayed to now): by expert, or both null when each has one row.
    void selected(std::uint32_t layer, const std::uint32_t* experts, const std::uint32_t* rows, const double* weights,
                  std::size_t n);
    // What a use so many tokens ago is worth beside one made now.
    double decay(std::uint32_t tokens_ago) const;
    void layer_ran(std::uint32_t layer);

    // ---- compute
    // Slots that this layer can have pinned at once.
    std::uint32_t capacity(std::uint32_t layer) const;
    // Pins experts and asks for those of `parts` (bit set) they lack, all at once. Resident ones are
    // pinned before any other may evict. slots[i] is -1 where none could be had. Returns how many were.
    std::size_t acquire(std::uint32_t layer, const std::uint32_t* experts, std::size_t n, std::uint32_t parts,
                        std::int32_t* slots, std::size_t at_least = 0);
    // As acquire of all parts, but waits until all n have slots, even if the cache was made smaller than
    // that in the meantime (`at_least` slots may then hold memory until they are released). False, with
    // nothing pinned, when the system has no memory for so many.
    bool acquire_all(std::uint32_t layer, const std::uint32_t* experts, std::size_t n, std::int32_t* slots);
    bool ready(std::int32_t slot, std::uint32_t part) const;
    // First byte of the part in a pinned slot; blocks until it is there. nullptr when its read failed,
    // which sets the error: a read that nobody needed fails in silence and is asked for again.
    const std::byte* wait(std::int32_t slot, std::uint32_t part);
    // Blocks until at least one of n pinned slots has its part there or failed.
    void wait_any(const std::int32_t* slots, std::size_t n, std::uint32_t part);
    // Blocks until `done` says so; it is asked again whenever a read has landed.
    void wait_until(const std::function<bool()>& done);
    void release(const std::int32_t* slots, std::size_t n);
    // Changes whenever a slot may have become free: a read landed, a pin was released or memory given back.
    std::uint64_t progress() const;
    // Blocks until progress() is no longer what was `seen` before a failed acquire.
    void wait_progress(std::uint64_t seen);

    // ---- lookahead
    // All of one layer, in place of what was predicted of it before.
    // Shields these experts from eviction and queues those that are neither in memory nor on their way, of
    // which those at least `bar` probable are read; marks the others resident.
    void predict(Predicted* predicted, std::size_t n, double bar);
    // Trusts counts of former sessions, by key, of experts selected n_used a layer and token.
    void recall(const std::vector<std::uint64_t>& uses, std::uint32_t n_used);
    // Fills empty slots with these experts, in this order, while the drive has nothing else to read.
    void warm(std::vector<Key> keys);
    // Share of recent time, 0 to 1, in which the drive had nothing to do.
    double idle_share() const;

    // ---- control
    // How many threads read at the same time, at least one; takes effect as they finish their reads.
    void set_io_threads(std::uint32_t n);
    // Up to how many reads in service, demand ones among them, another guess is started; at least one.
    void set_prefetch_depth(std::uint32_t depth);
    // Sets the cache's size, at least two slots a class; returns the bytes set. Shrinks as pins allow.
    std::uint64_t resize(std::uint64_t bytes);
    std::uint64_t cache_bytes() const;
    std::uint64_t used_bytes() const;
    // Memory that slots hold, whether they are used now or not: what the system would get back.
    std::uint64_t held_bytes() const;
    std::size_t queued_demand() const;
    std::size_t queued_prefetch() const;
    // The answer being computed cannot be: take_error() will say this, if nothing was wrong before.
    void fail(const std::string& why);
    // The first failure that ended an answer since the last call, or empty.
    std::string take_error();
    // By key: 1 when resident.
    std::vector<std::uint8_t> resident() const;
    std::vector<std::uint64_t> uses() const;
    std::vector<std::uint64_t> last_uses() const;  // by key, as Residency's

  private:
    static constexpr Key kNone = ~Key{0};
    static constexpr std::uint32_t kShrinkStep = 16;  // slots taken out of use under one lock
    enum class State : std::uint8_t { kEmpty, kPending, kReady, kFailed };

    struct Part {
        std::atomic<State> state{State::kEmpty};
        std::uint64_t missing = 0;  // by chunk: neither read nor queued
        std::uint64_t pending = 0;  // by chunk: queued or in flight
        std::uint32_t shift = 0;    // where the data begins in the aligned read
    };
    struct Slot {
        std::array<Part, kMaxParts> parts;
        Key key = kNone;
        std::uint32_t place = 0;  // in its class's list of held slots
        std::uint32_t pins = 0;
        std::uint32_t in_flight = 0;
        bool speculative = false;  // bound by a prediction, not used yet
        bool doomed = false;       // to be freed when its reads in flight have ended
        bool touched = false;      // it was touched since it was committed: it holds memory
    };
    struct Held {
        std::uint32_t slot = 0;
        Key key = kNone;
    };
    struct Class {
        std::unique_ptr<SlotPool> pool;
        std::uint32_t first = 0;  // id of its first slot
        std::uint32_t limit = 0;  // slots that may hold memory
        std::uint32_t used = 0;   // slots that do, or will as soon as they are read into
        std::uint32_t touched = 0;
        std::uint64_t bytes = 0;  // of all its experts in the file, the share of the budget
        std::vector<Held> held;   // its slots that hold an expert, in any order: what may be evicted
        std::vector<std::uint32_t> uncommitted;
        std::vector<std::uint32_t> free;
    };
    struct Span {  // of one part in its file
        std::uint32_t file = 0;
        std::uint64_t begin = 0;   // aligned
        std::uint64_t needed = 0;  // from begin to the last byte of data
        std::uint32_t shift = 0;
        std::uint64_t chunk = 0;  // bytes, a multiple of the alignment
        std::uint32_t chunks = 0;
    };
    std::uint32_t layer_of(Key key) const { return key / index_.n_experts(); }
    Key key_of(std::uint32_t layer, std::uint32_t expert) const { return layer * index_.n_experts() + expert; }
    Class& class_of_slot(std::uint32_t slot) { return classes_[class_of_slot_[slot]]; }
    Span span(Key key, std::uint32_t part) const;
    void make_classes(const std::vector<LayerSpec>& layers);
    void set_limits(std::uint64_t bytes);

    void stop();

    // All below: with mutex_ held.
    std::size_t pin(std::uint32_t layer, const std::uint32_t* experts, std::size_t n, std::uint32_t parts,
                    std::int32_t* slots, std::size_t at_least);
    void unpin(const std::int32_t* slots, std::size_t n);
    bool commit(Class& c, std::uint32_t slot);
    void note_touched(Class& c, std::uint32_t slot);
    void reserve_least();
    bool shrink_some();
    std::int32_t take_slot(std::uint32_t cls, bool prefetch, std::size_t at_least);
    std::int32_t victim(const Class& c, bool shielded) const;
    void bind(std::uint32_t slot, Key key, bool speculative);
    void unbind(std::uint32_t slot);
    std::vector<std::uint32_t> take_surplus(Class& c, std::uint32_t most);
    void uncommit(Class& c, const std::vector<std::uint32_t>& taken);
    void shrink(Class& c, std::uint32_t most);
    void empty_least_worth(Class& c, std::uint32_t n);
    void request(std::uint32_t slot, std::uint32_t parts, bool demand);
    void request_part(std::uint32_t slot, std::uint32_t part, bool demand);
    void cancel(std::uint32_t slot);
    void cancel_wrong(std::uint32_t layer);
    bool bind_prefetch();
    bool bind_warm();
    bool touch_ahead(std::unique_lock<std::mutex>& lock);
    bool touch_next(Class& c, std::unique_lock<std::mutex>& lock);
    bool has_empty_slot(const Class& c) const {
        return !c.free.empty() || (c.used < c.limit && !c.uncommitted.empty());
    }
    bool next_read(std::uint32_t thread, ReadChunk& out);
    void wake_readers(std::size_t n);
    void wake_for_prefetch();
    void hand_on();
    void sleep_until_landed(std::unique_lock<std::mutex>& lock);
    void start(const ReadChunk& chunk);
    void finish(const ReadChunk& chunk, const std::string& error);
    void observe_drive();
    bool whole(const Slot& s, std::uint32_t n_parts) const;

    void io_main(std::uint32_t number);
    std::string read(std::vector<DirectFile>& files, const ReadChunk& chunk, Key key);

    ExpertIndex index_;
    std::vector<std::string> paths_;
    StoreSettings settings_;
    Counters& counters_;
    std::size_t alignment_ = 4096;
    bool direct_ = true;

    std::vector<Class> classes_;
    std::vector<std::uint32_t> class_of_layer_;
    std::vector<std::uint32_t> class_of_slot_;
    std::unique_ptr<Slot[]> slots_;
    std::size_t n_slots_ = 0;

    mutable std::mutex mutex_;
    EventCount work_;                    // I/O threads: something to read
    EventCount landed_;                  // compute threads: something was read, failed or was released
    std::uint32_t idle_threads_ = 0;     // I/O threads that sleep
    std::vector<std::int32_t> slot_of_;  // by key, -1 when not resident
    Residency residency_;
    IoQueue queue_;
    WaitingList waiting_;
    std::deque<Key> warm_;  // experts for empty slots, best first
    double bar_ = 0.0;      // least probability of a prediction that is read
    DriveIdle idle_;
    std::uint64_t drive_since_ = 0;  // when the first of the reads in service began
    std::uint64_t drive_busy_ = 0;   // ns with a read in service since observed_
    std::uint64_t observed_ = 0;
    std::string error_;      // ended an answer, not fetched yet
    std::string last_read_;  // why the last failed read failed
    std::uint64_t progress_ = 0;
    std::uint64_t pins_ = 0;          // of all slots
    std::uint32_t resizing_ = 0;      // calls of resize() that give memory back
    std::uint32_t leaving_ = 0;       // slots whose memory is on its way back to the system
    bool decoding_ = false;           // the last thing computed was a token, not a prompt
    bool touching_ = false;           // a thread gives a slot its memory without the lock
    bool refused_ = false;            // the system gave no memory the last time it was asked
    std::uint32_t slot_waiters_ = 0;  // threads that sleep until progress_ changes
    std::uint32_t waiters_ = 0;
    std::uint64_t stall_begin_ = 0;
    bool stop_ = false;
    std::uint32_t io_threads_ = 0;  // of threads_, those that read; the others sleep
    std::vector<std::thread> threads_;
};

}  // namespace gannet
