// One model whose experts stream: its index, its store and its two buffer types.
//
// Handed to llama.cpp as two buffer types. The expert type is address space only: nothing is stored
// in it, graphs that name a tensor in it are computed from the store. The resident type is ordinary
// memory that is filled from the file by direct reads, begun at once, not through llama.cpp's mapping.
//
// Owned by Python; must outlive every llama.cpp model and context made with its buffer types.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "expert_store.h"
#include "ggml_abi.h"
#include "resident_weights.h"
#include "router_correction.h"
#include "routing_tap.h"
#include "telemetry.h"

namespace gannet {

struct ModelSettings {
    StoreSettings store;
    std::uint32_t lookahead = 1;  // layers predicted ahead; 0 is off
    std::uint32_t width = 0;      // experts predicted a layer; 0: as many as its router selects
    double prefetch_bar = -1.0;   // least probability of a prediction that is read; below 0: by the drive's idle time
};

class StreamedModel {
  public:
    // tensors: those that every token needs.
    StreamedModel(std::vector<std::string> paths, std::vector<LayerSpec> layers, std::vector<TensorPlace> tensors,
                  ModelSettings settings);
    StreamedModel(const StreamedModel&) = delete;
    StreamedModel& operator=(const StreamedModel&) = delete;

    ggml_backend_buffer_type_t expert_type() { return abi::handle(&expert_type_); }
    ggml_backend_buffer_type_t resident_type() { return abi::handle(&resident_type_); }
    bool holds_experts(const ggml_tensor* t) const { return is_in(t, &expert_type_); }
    bool holds_resident(const ggml_tensor* t) const { return is_in(t, &resident_type_); }

    ExpertStore& store() { return *store_; }
    ResidentReader& resident() { return resident_.reader(); }
    const ResidentWeights& resident_weights() const { return resident_; }
    Counters& counters() { return counters_; }
    RoutingTap& tap() { return *tap_; }
    RouterCorrections& corrections() { return *corrections_; }
    // Layers predicted ahead; a change takes effect with the next token.
    std::uint32_t lookahead() const { return lookahead_.load(std::memory_order_relaxed); }
    void set_lookahead(std::uint32_t distance) { lookahead_.store(distance, std::memory_order_relaxed); }
    // Experts predicted a layer; 0: as many as its router selects. As lookahead.
    std::uint32_t width() const { return width_.load(std::memory_order_relaxed); }
    void set_width(std::uint32_t width) { width_.store(width, std::memory_order_relaxed); }
    // Least probability of a prediction that is read; below 0 it follows how idle the drive is. As lookahead.
    double prefetch_bar() const { return prefetch_bar_.load(std::memory_order_relaxed); }
    void set_prefetch_bar(double bar) { prefetch_bar_.store(bar, std::memory_order_relaxed); }
    // The part a MUL_MAT_ID's weights are, and the store's layer.
    PartRef part_of(const ggml_tensor* weights) const;

  private:
    static bool is_in(const ggml_tensor* t, const abi::BufferType* type);

    std::atomic<std::uint32_t> lookahead_;
    std::atomic<std::uint32_t> width_;
    std::atomic<double> prefetch_bar_;
    Counters counters_;
    ResidentWeights resident_;
    std::unique_ptr<ExpertStore> store_;
    std::unique_ptr<RoutingTap> tap_;
    std::unique_ptr<RouterCorrections> corrections_;
    abi::BufferType expert_type_{};
    abi::BufferType resident_type_{};
};

}  // namespace gannet
