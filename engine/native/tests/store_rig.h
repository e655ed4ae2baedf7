// A store over a file of known bytes, and a gate that holds its reads still.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "expert_store.h"
#include "model_on_disk.h"
#include "predictions.h"

namespace gannet {

// Reads wait here until it is opened: what happens "while a read is on its way" needs no clock.
class Gate {
  public:
    void pass(Key key) {
        std::unique_lock<std::mutex> lock(mutex_);
        arrived_.push_back(key);
        changed_.notify_all();
        changed_.wait(lock, [this] { return open_ || permits_ > 0; });
        if (!open_) permits_--;
    }
    void open() {
        const std::lock_guard<std::mutex> lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    void let(int reads) {
        const std::lock_guard<std::mutex> lock(mutex_);
        permits_ += reads;
        changed_.notify_all();
    }
    // Waits until so many reads have begun since construction; returns their keys in order.
    std::vector<Key> await(std::size_t reads) {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return arrived_.size() >= reads; });
        return arrived_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Key> arrived_;
    bool open_ = false;
    int permits_ = 0;
};

struct Rig {
    static constexpr std::uint64_t kSlotBytes = 3 * 12288;  // of the small layers

    explicit Rig(std::uint32_t slots, std::uint32_t io_threads = 4, bool gated = false, Shape shape = small(),
                 bool touch_ahead = false)
        : layers(make_layers(shape)), file(end_of(layers)) {
        StoreSettings settings;
        settings.cache_bytes = slots * kSlotBytes;
        settings.io_threads = io_threads;
        settings.prefetch_chunk_bytes = 4096;
        settings.touch_ahead = touch_ahead;
        if (gated) settings.before_read = [this](Key key) { gate.pass(key); };
        store = std::make_unique<ExpertStore>(ExpertIndex(layers), std::vector<std::string>{file.path()}, settings,
                                              counters);
    }
    ~Rig() { gate.open(); }
    Rig(const Rig&) = delete;
    Rig& operator=(const Rig&) = delete;

    static Shape small() {
        Shape shape;
        shape.last_layer_larger = false;
        return shape;
    }

    Key key(std::uint32_t layer, std::uint32_t expert) const { return layer * layers[0].n_experts + expert; }
    void predict(std::uint32_t layer, std::vector<std::uint32_t> experts) {
        std::vector<Predicted> all;
        for (const std::uint32_t e : experts) all.push_back(predicted(key(layer, e), layer, 1, 0.9));
        store->predict(all.data(), all.size(), 0.5);
    }
    void select(std::uint32_t layer, const std::vector<std::uint32_t>& experts) {
        store->selected(layer, experts.data(), nullptr, nullptr, experts.size());
    }
    // Everything of these experts is right, waiting for it.
    bool right(std::uint32_t layer, const std::vector<std::uint32_t>& experts, const std::vector<std::int32_t>& slots) {
        for (std::size_t i = 0; i < experts.size(); i++) {
            for (std::uint32_t p = 0; p < layers[layer].parts.size(); p++) {
                if (!is_expert(store->wait(slots[i], p), layers[layer], p, experts[i])) return false;
            }
        }
        return true;
    }
    // As a layer of one token does it. False when a byte is wrong or a read failed.
    bool run(std::uint32_t layer, const std::vector<std::uint32_t>& experts) {
        select(layer, experts);
        std::vector<std::int32_t> slots(experts.size(), -1);
        if (!store->acquire_all(layer, experts.data(), experts.size(), slots.data())) return false;
        const bool fine = right(layer, experts, slots);
        store->release(slots.data(), slots.size());
        store->layer_ran(layer);
        return fine;
    }
    bool resident(std::uint32_t layer, std::uint32_t expert) const {
        return store->resident()[key(layer, expert)] != 0;
    }

    std::vector<LayerSpec> layers;
    TempFile file;
    Counters counters;
    Gate gate;
    std::unique_ptr<ExpertStore> store;
};

}  // namespace gannet
