#include "wave_plan.h"

#include <algorithm>

namespace gannet {
namespace {

constexpr std::size_t kRowsPerBatch = 2048;  // bounds the scratch memory of a batch

}  // namespace

WavePlan::WavePlan(StreamedModel& model, ggml_backend_t cpu)
    : model_(model), cpu_(cpu), batch_(cpu), forecast_(model, cpu) {}

WavePlan::~WavePlan() {
    if (in_layer_) reset();
}

ggml_status WavePlan::run(ggml_cgraph* graph) {
    reset();
    forecast_.begin(graph);
    ggml_status status = GGML_STATUS_SUCCESS;
    for (int i = 0; i < ggml_graph_n_nodes(graph) && status == GGML_STATUS_SUCCESS; i++) {
        ggml_tensor* node = ggml_graph_node(graph, i);
        if (node->op == GGML_OP_MUL_MAT_ID && model_.holds_experts(node->src[0])) {
            status = flush();
            if (status == GGML_STATUS_SUCCESS) status = experts(node);
        } else {
            segment_.push_back(node);
        }
    }
    if (status == GGML_STATUS_SUCCESS) status = flush();
    reset();
    return status;
}

// Lets go of what a run that was cut short, by an error or an exception, has left.
void WavePlan::reset() {
    segment_.clear();
    for (const Bound& b : bound_) model_.store().release(&b.slot, 1);
    bound_.clear();
    leave_layer();
}

ggml_status WavePlan::flush() {
    if (segment_.empty()) return GGML_STATUS_SUCCESS;
    const std::size_t n = segment_.size();
    ggml_context* context = ggml_init({ggml_graph_overhead_custom(n, false) + 1024, nullptr, true});
    ggml_cgraph* graph = ggml_new_graph_custom(context, n, false);
    for (ggml_tensor* node : segment_) ggml_graph_add_node(graph, node);
    const ggml_status status = ggml_backend_graph_compute(cpu_, graph);
    ggml_free(context);
    segment_.clear();
    return status;
}

ggml_status WavePlan::experts(ggml_tensor* node) {
    const Timed timed(model_.counters().expert_ns);
    const PartRef ref = model_.part_of(node->src[0]);
    if (!in_layer_ || layer_ != ref.layer) {
        leave_layer();
        enter_layer(ref.layer, node);
    }
    batch_.begin(node);
    return wave(ref.part);
}

void WavePlan::enter_layer(std::uint32_t layer, const ggml_tensor* product) {
    const ggml_tensor* ids = product->src[2];
    in_layer_ = true;
    layer_ = layer;
    model_.tap().selected(layer, ids, nullptr);
    ExpertStore& store = model_.store();
    const std::uint32_t n = store.index().layers()[layer].n_experts;
    std::vector<std::uint32_t> rows(n, 0);
    std::vector<double> weights(n, 0.0);
    for (std::int64_t t = 0; t < ids->ne[1]; t++) {
        const double weight = store.decay(static_cast<std::uint32_t>(ids->ne[1] - 1 - t));
        for (std::int64_t k = 0; k < ids->ne[0]; k++) {
            const std::uint32_t expert = selected_expert(ids, k, t);
            rows[expert]++;
            weights[expert] += weight;
        }
    }
    experts_.clear();
    rows_.clear();
    weights_.clear();
    for (std::uint32_t e = 0; e < n; e++) {
        if (rows[e] == 0) continue;
        experts_.push_back(e);
        rows_.push_back(rows[e]);
        weights_.push_back(weights[e]);
    }
    slots_.assign(experts_.size(), -1);
    store.selected(layer, experts_.data(), rows_.data(), weights_.data(), experts_.size());
    pinned_ = experts_.size() <= store.capacity(layer) &&
              store.acquire_all(layer, experts_.data(), experts_.size(), slots_.data());
    // The drive is busy with this layer now, and this thread would wait for it.
    if (pinned_) forecast_.publish(layer, product->src[1], (store.capacity(layer) - experts_.size()) / 2);
}

void WavePlan::leave_layer() {
    if (!in_layer_) return;
    if (pinned_) model_.store().release(slots_.data(), slots_.size());
    model_.store().layer_ran(layer_);
    in_layer_ = false;
}

// Asks for slots for experts that have none and moves those that got one to `bound_`.
void WavePlan::bind(std::vector<std::uint32_t>& unbound, std::uint32_t part) {
    std::vector<std::int32_t> slots(unbound.size(), -1);
    bound_.reserve(bound_.size() + unbound.size());  // what is pinned must be noted
    model_.store().acquire(layer_, unbound.data(), unbound.size(), 1U << part, slots.data());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < unbound.size(); i++) {
        if (slots[i] >= 0) {
            bound_.push_back({unbound[i], slots[i]});
        } else {
            unbound[kept++] = unbound[i];
        }
    }
    unbound.resize(kept);
}

// Computes those of `bound` whose part has arrived, and lets the slots of this wave alone go.
ggml_status WavePlan::compute_arrived(std::vector<Bound>& bound, std::uint32_t part) {
    ExpertStore& store = model_.store();
    ggml_status status = GGML_STATUS_SUCCESS;
    const auto fits = [&](const Bound& b) {
        return batch_.rows() == 0 || batch_.rows() + batch_.rows_of(b.expert) <= kRowsPerBatch;
    };
    const auto waiting = std::stable_partition(bound.begin(), bound.end(), [&](const Bound& b) {
        if (status != GGML_STATUS_SUCCESS || !fits(b) || !store.ready(b.slot, part)) return true;
        const std::byte* weights = store.wait(b.slot, part);
        if (weights == nullptr)
            status = GGML_STATUS_FAILED;
        else
            batch_.add(b.expert, weights);
        return false;
    });
    if (status == GGML_STATUS_SUCCESS) status = batch_.run();
    if (!pinned_) {
        for (auto b = waiting; b != bound.end(); ++b) store.release(&b->slot, 1);
    }
    bound.erase(waiting, bound.end());
    return status;
}

ggml_status WavePlan::wave(std::uint32_t part) {
    ExpertStore& store = model_.store();
    std::vector<std::uint32_t> unbound;
    std::vector<Bound> whole_layer;
    if (pinned_) {
        for (std::size_t i = 0; i < experts_.size(); i++) whole_layer.push_back({experts_[i], slots_[i]});
    } else {
        unbound = experts_;
    }
    std::vector<Bound>& bound = pinned_ ? whole_layer : bound_;
    ggml_status status = GGML_STATUS_SUCCESS;
    while ((!unbound.empty() || !bound.empty()) && status == GGML_STATUS_SUCCESS) {
        const std::uint64_t seen = store.progress();
        if (!unbound.empty()) bind(unbound, part);
        if (bound.empty()) {
            store.wait_progress(seen);  // reads in flight and other contexts hold all slots
            continue;
        }
        std::vector<std::int32_t> slots;
        for (const Bound& b : bound) slots.push_back(b.slot);
        store.wait_any(slots.data(), slots.size(), part);
        count(model_.counters().waves);
        status = compute_arrived(bound, part);
    }
    return status;
}

}  // namespace gannet
