#include "wave_plan.h"

#include <algorithm>

namespace gannet {
namespace {

constexpr std::size_t kRowsPerBatch = 2048;  // bounds the scratch memory of a batch

}  // namespace

WavePlan::WavePlan(StreamedModel& model, ggml_backend_t cpu) : model_(model), cpu_(cpu), batch_(cpu) {}

WavePlan::~WavePlan() {
    leave_layer();
}

ggml_status WavePlan::run(ggml_cgraph* graph) {
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
    segment_.clear();
    leave_layer();
    return status;
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
        enter_layer(ref.layer, node->src[2]);
    }
    batch_.begin(node);
    return wave(ref.part);
}

void WavePlan::enter_layer(std::uint32_t layer, const ggml_tensor* ids) {
    in_layer_ = true;
    layer_ = layer;
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
    pinned_ = experts_.size() <= store.capacity(layer);
    if (pinned_) store.acquire_all(layer, experts_.data(), experts_.size(), slots_.data());
}

void WavePlan::leave_layer() {
    if (!in_layer_) return;
    if (pinned_) model_.store().release(slots_.data(), slots_.size());
    model_.store().layer_ran(layer_);
    in_layer_ = false;
}

// Asks for slots for experts that have none and moves those that got one to `bound`.
void WavePlan::bind(std::vector<std::uint32_t>& unbound, std::vector<Bound>& bound, std::uint32_t part) {
    std::vector<std::int32_t> slots(unbound.size(), -1);
    model_.store().acquire(layer_, unbound.data(), unbound.size(), 1U << part, slots.data());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < unbound.size(); i++) {
        if (slots[i] >= 0) {
            bound.push_back({unbound[i], slots[i]});
        } else {
            unbound[kept++] = unbound[i];
        }
    }
    unbound.resize(kept);
}

// Computes the bound experts whose part has arrived, and lets their slots go.
ggml_status WavePlan::compute_arrived(std::vector<Bound>& bound, std::uint32_t part) {
    ExpertStore& store = model_.store();
    ggml_status status = GGML_STATUS_SUCCESS;
    std::vector<Bound> waiting;
    std::vector<std::int32_t> done;
    for (const Bound& b : bound) {
        const bool full = batch_.rows() > 0 && batch_.rows() + batch_.rows_of(b.expert) > kRowsPerBatch;
        if (full || status != GGML_STATUS_SUCCESS || !store.ready(b.slot, part)) {
            waiting.push_back(b);
            continue;
        }
        done.push_back(b.slot);
        const std::byte* weights = store.wait(b.slot, part);
        if (weights == nullptr)
            status = GGML_STATUS_FAILED;
        else
            batch_.add(b.expert, weights);
    }
    if (status == GGML_STATUS_SUCCESS) status = batch_.run();
    if (!pinned_) store.release(done.data(), done.size());
    bound = std::move(waiting);
    return status;
}

ggml_status WavePlan::wave(std::uint32_t part) {
    ExpertStore& store = model_.store();
    std::vector<std::uint32_t> unbound;
    std::vector<Bound> bound;
    if (pinned_) {
        for (std::size_t i = 0; i < experts_.size(); i++) bound.push_back({experts_[i], slots_[i]});
    } else {
        unbound = experts_;
    }
    ggml_status status = GGML_STATUS_SUCCESS;
    while ((!unbound.empty() || !bound.empty()) && status == GGML_STATUS_SUCCESS) {
        if (!unbound.empty()) bind(unbound, bound, part);
        if (bound.empty()) {
            store.wait_progress();
            continue;
        }
        std::vector<std::int32_t> slots;
        for (const Bound& b : bound) slots.push_back(b.slot);
        store.wait_any(slots.data(), slots.size(), part);
        count(model_.counters().waves);
        status = compute_arrived(bound, part);
    }
    if (!pinned_) {
        for (const Bound& b : bound) store.release(&b.slot, 1);
    }
    return status;
}

}  // namespace gannet
