#include "decode_ops.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "expert_batch.h"
#include "row_cut.h"

namespace gannet {
namespace {

// Per thread of ggml's team: the input in the type the weights' dot product takes.
thread_local ReadyVector vector;

// The input row that the expert of this rank takes: its own, or one for all.
const float* input_row(const ggml_tensor* input, std::uint32_t rank) {
    const std::size_t row = rank % static_cast<std::uint32_t>(input->ne[1]);
    return reinterpret_cast<const float*>(static_cast<const std::byte*>(input->data) + row * input->nb[1]);
}

}  // namespace

void LayerRun::release() {
    if (!holding) return;
    model->store().release(slots.data(), slots.size());
    model->store().layer_ran(layer);
    holding = false;
}

void LayerRun::publish() {
    if (scored != nullptr) lookahead->publish(*scored);
    scored = nullptr;
}

void LayerRun::fail(const char* why) {
    failed.store(true, std::memory_order_relaxed);
    model->store().fail(why);
}

void SerialOp::compute(ggml_tensor*, int ith, int, void* self) {
    if (ith != 0) return;
    const SerialOp& op = *static_cast<SerialOp*>(self);
    if (op.run->failed.load(std::memory_order_relaxed)) return;
    if (op.graph != nullptr && ggml_backend_graph_compute(op.cpu, op.graph) != GGML_STATUS_SUCCESS) {
        op.run->failed.store(true, std::memory_order_relaxed);
    }
    if (op.select != nullptr) op.select->select();
}

void SelectOp::select() const {
    const SelectOp& op = *this;
    LayerRun& run = *op.run;
    run.release();
    run.publish();
    if (run.failed.load(std::memory_order_relaxed)) return;
    ExpertStore& store = run.model->store();
    const auto n = static_cast<std::size_t>(op.ids->ne[0]);
    run.layer = op.layer;
    run.chosen.resize(n);
    for (std::size_t k = 0; k < n; k++) {
        run.chosen[k] = selected_expert(op.ids, static_cast<std::int64_t>(k), 0);
    }
    run.model->tap().selected(op.layer, op.ids, &run.lookahead->guesses(op.layer));
    run.lookahead->judge(op.layer, run.chosen.data(), n);
    store.selected(op.layer, run.chosen.data(), nullptr, nullptr, n);
    run.slots.assign(n, -1);
    run.holding = store.acquire_all(op.layer, run.chosen.data(), n, run.slots.data());
    if (!run.holding) {
        run.fail("there is not enough memory for the experts of one layer");
        return;
    }
    // One look at each: a read may land at any moment, and every rank must be in the order once.
    const auto last = static_cast<std::uint32_t>(store.index().layers()[op.layer].parts.size() - 1);
    run.order.resize(n);
    std::iota(run.order.begin(), run.order.end(), 0U);
    std::stable_partition(run.order.begin(), run.order.end(),
                          [&](std::uint32_t k) { return store.ready(run.slots[k], last); });
    if (run.lookahead->on()) run.lookahead->repeat(op.layer);
    if (op.input != nullptr) keep_input();
}

// The graph's allocator may give the input's memory to a result of the experts.
void SelectOp::keep_input() const {
    run->input_width = static_cast<std::size_t>(input->ne[0]);
    run->input.resize(static_cast<std::size_t>(input->ne[0] * input->ne[1]));
    for (std::int64_t row = 0; row < input->ne[1]; row++) {
        const auto* from = static_cast<const std::byte*>(input->data) + static_cast<std::size_t>(row) * input->nb[1];
        std::memcpy(run->input.data() + static_cast<std::size_t>(row) * run->input_width, from,
                    run->input_width * sizeof(float));
    }
}

void PredictOp::compute(ggml_tensor*, int ith, int nth, void* self) {
    const PredictOp& op = *static_cast<PredictOp*>(self);
    const std::uint64_t begin = now_ns();
    op.run->lookahead->score(op.site, ith, nth);
    if (ith != 0) return;
    op.run->scored = &op.site;
    count(op.run->model->counters().predict_ns, now_ns() - begin);
}

void ExpertOp::compute(ggml_tensor*, int ith, int, void* self) {
    ExpertOp& op = *static_cast<ExpertOp*>(self);
    LayerRun& run = *op.run;
    if (run.failed.load(std::memory_order_relaxed)) return;
    const std::uint64_t begin = now_ns();
    if (ith == 0) run.publish();
    ExpertStore& store = run.model->store();
    const ggml_tensor* weights = op.products[0].node->src[0];
    const ggml_tensor* input = op.products[0].node->src[1];
    const Cut cut(weights, 1);
    const auto n_products = static_cast<std::uint32_t>(op.products.size());
    const auto total = static_cast<std::uint32_t>(run.order.size()) * n_products * cut.chunks;
    const float* have = nullptr;
    for (std::uint32_t c = 0; (c = op.next.fetch_add(1, std::memory_order_relaxed)) < total;) {
        const std::uint32_t rank = run.order[c / (n_products * cut.chunks)];
        const Product& product = op.products[c / cut.chunks % n_products];
        const std::byte* data = store.wait(run.slots[rank], product.part);
        if (data == nullptr) {
            run.failed.store(true, std::memory_order_relaxed);
            break;
        }
        const float* x = input_row(input, rank);
        if (x != have) vector.set(product.kernel, x, input->ne[0]);
        have = x;
        const std::uint32_t chunk = c % cut.chunks;
        multiply_rows(product.kernel, rows_at(product.node->src[0], data), cut.begin(chunk), cut.end(chunk, weights),
                      vector, output_row(product.node, rank));
    }
    if (ith == 0) count(run.model->counters().expert_ns, now_ns() - begin);
}

void DenseOp::compute(ggml_tensor*, int ith, int nth, void* self) {
    DenseOp& op = *static_cast<DenseOp*>(self);
    if (ith == 0) op.run->publish();
    const ggml_tensor* input = op.products[0]->src[1];
    const auto share = op.products.size() == 1 ? static_cast<std::uint32_t>(nth) : 1U;
    bool ready = false;
    std::uint32_t c = op.next.fetch_add(1, std::memory_order_relaxed);
    std::uint32_t before = 0;  // chunks of the products passed by
    for (const ggml_tensor* node : op.products) {
        const ggml_tensor* weights = node->src[0];
        const Cut cut(weights, share);
        const Rows rows = rows_at(weights, static_cast<const std::byte*>(weights->data));
        for (; c < before + cut.chunks; c = op.next.fetch_add(1, std::memory_order_relaxed)) {
            if (!ready) vector.set(op.kernel, static_cast<const float*>(input->data), input->ne[0]);
            ready = true;
            multiply_rows(op.kernel, rows, cut.begin(c - before), cut.end(c - before, weights), vector,
                          static_cast<float*>(node->data));
        }
        before += cut.chunks;
    }
}

}  // namespace gannet
