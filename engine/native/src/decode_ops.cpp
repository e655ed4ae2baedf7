#include "decode_ops.h"

#include <algorithm>

#include "expert_batch.h"

namespace gannet {
namespace {

constexpr std::int64_t kRowsPerChunk = 64;

// Per thread of ggml's team: the input in the type the weights' dot product takes.
thread_local ReadyVector vector;

std::uint32_t chunks_of(std::int64_t rows) {
    return static_cast<std::uint32_t>((rows + kRowsPerChunk - 1) / kRowsPerChunk);
}

Rows rows_at(const ggml_tensor* weights, const std::byte* data) {
    return {data, weights->nb[1], weights->ne[0]};
}

// The input row that the expert of this rank takes: its own, or one for all.
const float* input_row(const ggml_tensor* input, std::uint32_t rank) {
    const std::size_t row = rank % static_cast<std::uint32_t>(input->ne[1]);
    return reinterpret_cast<const float*>(static_cast<const std::byte*>(input->data) + row * input->nb[1]);
}

float* output_row(const ggml_tensor* node, std::uint32_t rank) {
    return reinterpret_cast<float*>(static_cast<std::byte*>(node->data) + rank * node->nb[1]);
}

}  // namespace

void LayerRun::release() {
    if (!holding) return;
    model->store().release(slots.data(), slots.size());
    model->store().layer_ran(layer);
    holding = false;
}

void SelectOp::compute(ggml_tensor*, int ith, int, void* self) {
    if (ith != 0) return;
    const SelectOp& op = *static_cast<SelectOp*>(self);
    LayerRun& run = *op.run;
    run.release();
    if (run.failed.load(std::memory_order_relaxed)) return;
    ExpertStore& store = run.model->store();
    const auto n = static_cast<std::size_t>(op.ids->ne[0]);
    run.layer = op.layer;
    run.chosen.resize(n);
    for (std::size_t k = 0; k < n; k++) {
        run.chosen[k] = selected_expert(op.ids, static_cast<std::int64_t>(k), 0);
    }
    run.lookahead->judge(op.layer, run.chosen.data(), n);
    store.selected(op.layer, run.chosen.data(), nullptr, nullptr, n);
    run.slots.assign(n, -1);
    store.acquire_all(op.layer, run.chosen.data(), n, run.slots.data());
    run.holding = true;
    run.order.clear();
    const auto last = static_cast<std::uint32_t>(store.index().layers()[op.layer].parts.size() - 1);
    for (const bool there : {true, false}) {
        for (std::uint32_t k = 0; k < n; k++) {
            if (store.ready(run.slots[k], last) == there) run.order.push_back(k);
        }
    }
}

void PredictOp::compute(ggml_tensor*, int ith, int nth, void* self) {
    const PredictOp& op = *static_cast<PredictOp*>(self);
    const std::uint64_t begin = now_ns();
    op.run->lookahead->score(op.layer, static_cast<const float*>(op.input->data), ith, nth);
    if (ith != 0) return;
    op.run->scored = true;
    count(op.run->model->counters().predict_ns, now_ns() - begin);
}

void ExpertOp::compute(ggml_tensor*, int ith, int, void* self) {
    ExpertOp& op = *static_cast<ExpertOp*>(self);
    LayerRun& run = *op.run;
    if (run.failed.load(std::memory_order_relaxed)) return;
    const std::uint64_t begin = now_ns();
    if (ith == 0 && run.scored) {
        run.lookahead->publish(run.layer);
        run.scored = false;
    }
    ExpertStore& store = run.model->store();
    const ggml_tensor* weights = op.products[0].node->src[0];
    const ggml_tensor* input = op.products[0].node->src[1];
    const std::uint32_t chunks = chunks_of(weights->ne[1]);
    const auto n_products = static_cast<std::uint32_t>(op.products.size());
    const auto total = static_cast<std::uint32_t>(run.order.size()) * n_products * chunks;
    const float* have = nullptr;
    for (std::uint32_t c = 0; (c = op.next.fetch_add(1, std::memory_order_relaxed)) < total;) {
        const std::uint32_t rank = run.order[c / (n_products * chunks)];
        const Product& product = op.products[c / chunks % n_products];
        const std::byte* data = store.wait(run.slots[rank], product.part);
        if (data == nullptr) {
            run.failed.store(true, std::memory_order_relaxed);
            break;
        }
        const float* x = input_row(input, rank);
        if (x != have) vector.set(product.kernel, x, input->ne[0]);
        have = x;
        const std::int64_t first = std::int64_t{c % chunks} * kRowsPerChunk;
        const std::int64_t last = std::min(first + kRowsPerChunk, weights->ne[1]);
        multiply_rows(product.kernel, rows_at(product.node->src[0], data), first, last, vector,
                      output_row(product.node, rank));
    }
    if (ith == 0) count(run.model->counters().expert_ns, now_ns() - begin);
}

void DenseOp::compute(ggml_tensor*, int, int, void* self) {
    DenseOp& op = *static_cast<DenseOp*>(self);
    const ggml_tensor* weights = op.node->src[0];
    const auto* x = static_cast<const float*>(op.node->src[1]->data);
    bool ready = false;
    const std::uint32_t total = chunks_of(weights->ne[1]);
    for (std::uint32_t c = 0; (c = op.next.fetch_add(1, std::memory_order_relaxed)) < total;) {
        if (!ready) vector.set(op.kernel, x, weights->ne[0]);
        ready = true;
        const std::int64_t first = std::int64_t{c} * kRowsPerChunk;
        const std::int64_t last = std::min(first + kRowsPerChunk, weights->ne[1]);
        multiply_rows(op.kernel, rows_at(weights, static_cast<const std::byte*>(weights->data)), first, last, vector,
                      static_cast<float*>(op.node->data));
    }
}

}  // namespace gannet
