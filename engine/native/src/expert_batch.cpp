#include "expert_batch.h"

#include <algorithm>

#include "row_cut.h"

namespace gannet {
namespace {

constexpr std::size_t kAlign = 64;
constexpr std::size_t kNodesPerExpert = 10;  // tensors, views and leaves included
// A chunk of weights that is read once wants to be long (kChunkBytes), one that is gone over again and
// again must stay in the first-level cache beside the input rows.
constexpr std::size_t kVectorsAtOnce = 4;
constexpr std::int64_t kCachedChunk = 28 << 10;

std::size_t padded(std::size_t n) {
    return (n + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

std::uint32_t selected_expert(const ggml_tensor* ids, std::int64_t k, std::int64_t token) {
    const auto* base = static_cast<const std::byte*>(ids->data);
    const auto at = static_cast<std::size_t>(k) * ids->nb[0] + static_cast<std::size_t>(token) * ids->nb[1];
    return static_cast<std::uint32_t>(*reinterpret_cast<const std::int32_t*>(base + at));
}

// Groups the rows by expert, in the order ggml groups them: by token, then by rank.
void ExpertBatch::begin(ggml_tensor* node) {
    node_ = node;
    entries_.clear();
    rows_ = 0;
    inputs_packed_ = false;
    const bool floats = node->src[1]->type == GGML_TYPE_F32 && node->type == GGML_TYPE_F32;
    const bool plain = floats && node->src[1]->ne[3] == 1 && node->src[1]->nb[0] == sizeof(float);
    ours_most_ = plain ? rows_multiplied_singly(node->src[0]->type) : 0;
    if (ours_most_ > 0) RowKernel::find(node->src[0]->type, kernel_);
    const ggml_tensor* ids = node->src[2];
    const std::int64_t n_experts = node->src[0]->ne[2];
    const std::int64_t inputs = node->src[1]->ne[1];  // input rows a token: 1, or one a rank
    first_.assign(static_cast<std::size_t>(n_experts) + 1, 0);
    for (std::int64_t t = 0; t < ids->ne[1]; t++) {
        for (std::int64_t k = 0; k < ids->ne[0]; k++) first_[selected_expert(ids, k, t) + 1]++;
    }
    for (std::size_t e = 1; e < first_.size(); e++) first_[e] += first_[e - 1];
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    source_.resize(first_.back());
    target_.resize(first_.back());
    for (std::int64_t t = 0; t < ids->ne[1]; t++) {
        for (std::int64_t k = 0; k < ids->ne[0]; k++) {
            const std::uint32_t at = next[selected_expert(ids, k, t)]++;
            source_[at] = static_cast<std::int32_t>(t * inputs + k % inputs);
            target_[at] = t * ids->ne[0] + k;
        }
    }
}

std::uint32_t ExpertBatch::rows_of(std::uint32_t expert) const {
    return first_[expert + 1] - first_[expert];
}

void ExpertBatch::add(std::uint32_t expert, const std::byte* weights) {
    entries_.push_back({expert, weights, 0, 0});
    rows_ += rows_of(expert);
}

std::byte* ExpertBatch::take(std::size_t bytes) {
    std::byte* p = scratch_.data() + used_;
    used_ += padded(bytes);
    return p;
}

std::size_t ExpertBatch::scratch_bytes() const {
    const auto columns = static_cast<std::size_t>(node_->src[1]->ne[0] + node_->ne[0]);
    return rows_ * (columns + 1) * sizeof(float) + entries_.size() * 4 * kAlign;
}

void ExpertBatch::append(ggml_context* c, ggml_cgraph* graph, const Entry& entry) {
    const ggml_tensor* w = node_->src[0];
    const ggml_tensor* x = node_->src[1];
    const std::int64_t n = rows_of(entry.expert);
    const std::uint32_t first = first_[entry.expert];

    ggml_tensor* input = ggml_new_tensor_2d(c, x->type, x->ne[0], x->ne[1] * x->ne[2]);
    input->nb[1] = x->ne[1] == 1 ? x->nb[2] : x->nb[1];
    input->data = x->data;
    ggml_tensor* which = ggml_new_tensor_1d(c, GGML_TYPE_I32, n);
    which->data = source_.data() + first;
    ggml_tensor* gathered = ggml_get_rows(c, input, which);
    gathered->data = take(ggml_nbytes(gathered));

    ggml_tensor* weights = ggml_new_tensor_3d(c, w->type, w->ne[0], w->ne[1], 1);
    weights->data = const_cast<std::byte*>(entry.weights);
    ggml_tensor* only = ggml_new_tensor_2d(c, GGML_TYPE_I32, 1, n);
    only->data = take(ggml_nbytes(only));
    std::fill_n(static_cast<std::int32_t*>(only->data), n, 0);
    ggml_tensor* column = ggml_reshape_3d(c, gathered, x->ne[0], 1, n);
    column->data = gathered->data;
    ggml_tensor* product = ggml_mul_mat_id(c, weights, column, only);
    std::copy_n(node_->op_params, sizeof node_->op_params / sizeof *node_->op_params, product->op_params);
    product->data = take(ggml_nbytes(product));

    ggml_tensor* output = ggml_new_tensor_2d(c, node_->type, node_->ne[0], node_->ne[1] * node_->ne[2]);
    output->nb[1] = node_->nb[1];
    output->data = node_->data;
    ggml_tensor* rows = ggml_reshape_2d(c, product, node_->ne[0], n);
    rows->data = product->data;
    ggml_tensor* where = ggml_new_tensor_1d(c, GGML_TYPE_I64, n);
    where->data = target_.data() + first;
    ggml_tensor* scattered = ggml_set_rows(c, output, rows, where);
    scattered->data = output->data;
    ggml_build_forward_expand(graph, scattered);
}

ggml_status ExpertBatch::run() {
    if (entries_.empty()) return GGML_STATUS_SUCCESS;
    const auto others =
        std::stable_partition(entries_.begin(), entries_.end(), [this](const Entry& entry) { return is_ours(entry); });
    ours_ = static_cast<std::size_t>(others - entries_.begin());
    const std::size_t nodes = entries_.size() * kNodesPerExpert + 2;
    const std::size_t need = (ggml_tensor_overhead() + 64) * nodes + ggml_graph_overhead_custom(nodes, false) + 4096;
    if (context_.size() < need) context_.resize(need);
    ggml_context* context = ggml_init({context_.size(), context_.data(), true});
    ggml_cgraph* graph = ggml_new_graph_custom(context, nodes, false);
    if (ours_ > 0) append_ours(context, graph);
    if (scratch_.size() < scratch_bytes() + kAlign) scratch_.resize(scratch_bytes() + kAlign);
    used_ =
        padded(reinterpret_cast<std::uintptr_t>(scratch_.data())) - reinterpret_cast<std::uintptr_t>(scratch_.data());
    for (auto entry = others; entry != entries_.end(); ++entry) append(context, graph, *entry);
    const ggml_status status = ggml_backend_graph_compute(cpu_, graph);
    ggml_free(context);
    inputs_packed_ = inputs_packed_ || (ours_ > 0 && status == GGML_STATUS_SUCCESS);
    entries_.clear();
    rows_ = 0;
    return status;
}

const std::byte* ExpertBatch::packed(std::int64_t row) const {
    const auto misaligned = reinterpret_cast<std::uintptr_t>(packed_.data()) % kAlign;
    return packed_.data() + (kAlign - misaligned) % kAlign + static_cast<std::size_t>(row) * packed_stride_;
}

// Cuts the experts that are computed our way into chunks of whole rows, a queue for the threads.
void ExpertBatch::queue_ours() {
    const ggml_tensor* w = node_->src[0];
    chunks_ = 0;
    for (std::size_t i = 0; i < ours_; i++) {
        Entry& entry = entries_[i];
        const std::int64_t bytes = rows_of(entry.expert) <= kVectorsAtOnce ? kChunkBytes : kCachedChunk;
        entry.chunk_rows = std::max<std::int64_t>(1, bytes / static_cast<std::int64_t>(w->nb[1]));
        entry.first_chunk = chunks_;
        chunks_ += static_cast<std::uint32_t>((w->ne[1] + entry.chunk_rows - 1) / entry.chunk_rows);
    }
    next_.store(0, std::memory_order_relaxed);
}

void ExpertBatch::append_ours(ggml_context* context, ggml_cgraph* graph) {
    static float nowhere;  // results go where the batch's own node points
    packed_stride_ = padded(kernel_.fast->packed_bytes(node_->src[1]->ne[0]));
    const std::size_t need = packed_stride_ * static_cast<std::size_t>(input_rows()) + kAlign;
    if (packed_.size() < need) packed_.resize(need);
    queue_ours();
    for (const ggml_custom_op_t op : {pack_inputs, multiply}) {
        if (op == pack_inputs && inputs_packed_) continue;
        ggml_tensor* t = ggml_custom_4d(context, GGML_TYPE_F32, 1, 1, 1, 1, nullptr, 0, op, GGML_N_TASKS_MAX, this);
        t->data = &nowhere;
        t->flags |= GGML_TENSOR_FLAG_COMPUTE;
        ggml_graph_add_node(graph, t);
    }
}

// Each thread its share of the node's input rows.
void ExpertBatch::pack_inputs(ggml_tensor*, int ith, int nth, void* self) {
    const ExpertBatch& batch = *static_cast<const ExpertBatch*>(self);
    const ggml_tensor* x = batch.node_->src[1];
    static thread_local std::vector<std::byte> quantized;
    quantized.resize(ggml_row_size(batch.kernel_.vector_type, x->ne[0]));
    for (std::int64_t row = ith; row < batch.input_rows(); row += nth) {
        const auto at =
            static_cast<std::size_t>(row / x->ne[1]) * x->nb[2] + static_cast<std::size_t>(row % x->ne[1]) * x->nb[1];
        const auto* from = reinterpret_cast<const float*>(static_cast<const std::byte*>(x->data) + at);
        batch.kernel_.quantize(from, quantized.data(), x->ne[0]);
        batch.kernel_.fast->pack(quantized.data(), x->ne[0], const_cast<std::byte*>(batch.packed(row)));
    }
}

void ExpertBatch::multiply(ggml_tensor*, int, int, void* self) {
    ExpertBatch& batch = *static_cast<ExpertBatch*>(self);
    std::size_t i = 0;
    for (std::uint32_t c; (c = batch.next_.fetch_add(1, std::memory_order_relaxed)) < batch.chunks_;) {
        while (i + 1 < batch.ours_ && batch.entries_[i + 1].first_chunk <= c) i++;
        batch.multiply_chunk(batch.entries_[i], c - batch.entries_[i].first_chunk);
    }
}

// Some rows of an expert's weights times all the input rows that chose the expert.
void ExpertBatch::multiply_chunk(const Entry& entry, std::uint32_t chunk) const {
    const ggml_tensor* w = node_->src[0];
    const Rows rows{entry.weights, w->nb[1], w->ne[0]};
    const std::int64_t begin = chunk * entry.chunk_rows;
    const std::int64_t end = std::min(begin + entry.chunk_rows, w->ne[1]);
    const std::uint32_t last = first_[entry.expert + 1];
    for (std::uint32_t at = first_[entry.expert]; at < last;) {
        const std::byte* vectors[kVectorsAtOnce];
        float* results[kVectorsAtOnce];
        std::size_t n = 0;
        for (; n < kVectorsAtOnce && at < last; n++, at++) {
            vectors[n] = packed(source_[at]);
            const auto to = static_cast<std::size_t>(target_[at]) * node_->nb[1];
            results[n] = reinterpret_cast<float*>(static_cast<std::byte*>(node_->data) + to);
        }
        kernel_.fast->multiply_many(rows, begin, end, vectors, n, results);
    }
}

}  // namespace gannet
